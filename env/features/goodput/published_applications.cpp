// The applications of Pollux (OSDI 2021, table 1) and Sia (SOSP 2023, table 2) in few numbers: the
// seven-parameter speed model of Pollux (sec. 3.2) fitted to the step times that both artifacts measured,
// root mean square error of their logarithms 0.03 to 0.13 (yolov3 on A100s 0.27), and tenths of their
// trainings. Sources: petuum/adaptdl, branch osdi21-artifact, simulator/traces (Apache License 2.0; T4, and
// all trainings); siasosp23/artifacts, sia-simulator (RTX 2080 Ti, A100 of 40 GB), of which the fits alone
// are here.
#include <array>
#include <vector>

#include "env/features/goodput/application.hpp"

namespace berth {
namespace {

struct Speed {
  const char* gpus;
  int min_local, max_local;
  goodput::SpeedModel model;
};

// Of a tenth of the training: what its end is in progress; steps until then and gradient noise scale, in
// samples (var / sqr times the initial batch, Pollux, eq. 4), at the initial and at the largest batch.
struct Part {
  double progress;
  double steps, noise;
  double steps_at_most, noise_at_most;
};

struct Published {
  const char* name;
  int initial_batch, max_batch;
  std::vector<Speed> speeds;
  std::vector<Part> parts;
};

// clang-format off
const std::vector<Published>& PublishedTable() {
  static const std::vector<Published> kPublished = {
    {"bert", 12, 384,
     {{"t4", 4, 12, {0.1719, 0.05861, 1.386, 0.009431, 0.2842, 0.009633, 1.902}},
      {"a100_40gb", 4, 48, {0.09728, 0.004746, 0.0352, 0.003392, 0.03115, 0.005708, 1.577}},
      {"rtx2080ti", 4, 12, {0.1593, 0.02257, 0.5628, 0.02344, 0.3413, 0.06595, 1.845}}},
     {{7387, 7387, 423, 244, 1.122e4}, {1.477e4, 1.477e4, 1124, 480, 1.279e4}}},
    {"cifar10", 128, 4096,
     {{"t4", 32, 1024, {0.01742, 0.0007008, 0.1221, 0.002642, 0.03285, 0.0008808, 2.073}},
      {"a100_40gb", 32, 4096, {0.02448, 8.715e-05, 0.01423, 0.0007983, 0.01347, 0.00145, 2.611}},
      {"rtx2080ti", 32, 1024, {0.03554, 0.0002583, 0.08834, 0.001518, 0.06453, 0.004498, 2.959}}},
     {{3907, 3906, 152.7, 594, 299.5}, {7813, 7812, 1565, 836, 3873},
      {1.172e4, 1.172e4, 2531, 1030, 6633}, {1.562e4, 1.562e4, 3304, 1201, 9627},
      {1.953e4, 1.953e4, 4267, 1359, 1.336e4}, {2.344e4, 2.344e4, 5436, 1501, 2.318e4},
      {2.734e4, 2.734e4, 7768, 1633, 4.461e4}, {3.125e4, 3.125e4, 1.232e4, 1760, 9.246e4},
      {3.516e4, 3.516e4, 2.154e4, 1885, 1.419e5}, {3.906e4, 3.906e4, 2.888e4, 2011, 1.381e5}}},
    {"deepspeech2", 20, 640,
     {{"t4", 10, 80, {0.3111, 0.02384, 0.4871, 0.009819, 0.08399, 0.001364, 1.413}},
      {"a100_40gb", 10, 320, {0.4306, 0.01354, 0.2321, 0.01161, 0.1619, 0.01538, 1.882}},
      {"rtx2080ti", 10, 80, {0.3762, 0.01253, 0.0671, 0.01563, 0.07843, 0.01866, 1.18}}},
     {{2854, 2854, 11.98, 498, 19.3}, {5707, 5708, 594.2, 637, 1112},
      {8561, 8561, 2118, 751, 2418}, {1.141e4, 1.142e4, 8758, 856, 4568},
      {1.427e4, 1.427e4, 1.659e4, 954, 7824}, {1.712e4, 1.712e4, 3.007e4, 1048, 3.926e4},
      {1.998e4, 1.998e4, 1.068e5, 1142, 1.01e5}, {2.283e4, 2.283e4, 1.101e7, 1235, 2.729e5},
      {2.568e4, 2.568e4, 1.684e5, 1329, 1.151e5}, {2.854e4, 2.854e4, 4.034e5, 1423, 9.886e4}}},
    {"imagenet", 200, 12800,
     {{"t4", 20, 200, {0.06411, 0.004481, 0.2996, 0.006642, 0.07664, 0.0006031, 2.473}},
      {"a100_40gb", 20, 800, {0.09402, 0.0008458, 0.007204, 0.001219, 0.01121, 0.00116, 1}},
      {"rtx2080ti", 20, 200, {0.1197, 0.001858, 0.1822, 0.006339, 0.1027, 0.02144, 2.133}}},
     {{5.765e4, 5.765e4, 2938, 3097, 2917}, {1.153e5, 1.153e5, 5684, 4999, 1.112e4},
      {1.73e5, 1.73e5, 5984, 6811, 1.225e4}, {2.306e5, 2.306e5, 9539, 8132, 2.937e4},
      {2.883e5, 2.883e5, 1.146e4, 9280, 4.55e4}, {3.459e5, 3.459e5, 1.129e4, 1.047e4, 3.936e4},
      {4.036e5, 4.036e5, 1.228e4, 1.158e4, 5.148e4}, {4.612e5, 4.612e5, 1.438e4, 1.254e4, 2.297e5},
      {5.189e5, 5.189e5, 1.426e4, 1.35e4, 1.958e5}, {5.765e5, 5.765e5, 1.433e4, 1.446e4, 1.774e5}}},
    {"ncf", 256, 32768,
     {{"t4", 32, 32768, {0.006961, 6.276e-07, 0.0146, 0.0005417, 0.004883, 1.396e-06, 1}}},
     {{1.942e4, 1.942e4, 1.857e4, 171, 2.072e5}, {3.884e4, 3.884e4, 7.669e6, 325, 1.867e6},
      {5.825e4, 5.825e4, 2.975e5, 480, 1.697e6}, {7.767e4, 7.767e4, 6.902e6, 635, 1.684e6},
      {9.709e4, 9.709e4, 7.49e6, 788, 4.193e6}, {1.165e5, 1.165e5, 2.077e7, 940, 8.124e6},
      {1.359e5, 1.359e5, 1.831e7, 1092, 7.095e6}, {1.553e5, 1.553e5, 4.783e7, 1244, 5.701e7},
      {1.748e5, 1.748e5, 3.925e7, 1396, 6.502e7}, {1.942e5, 1.942e5, 5.913e7, 1548, 6.369e7}}},
    {"yolov3", 8, 512,
     {{"t4", 4, 8, {0.1871, 0.02539, 0.7492, 0.01072, 0.1283, 0.01744, 1.108}},
      {"a100_40gb", 4, 32, {0.3128, 0.01833, 0.06339, 0.01703, 0.09151, 0.02284, 1}},
      {"rtx2080ti", 4, 8, {0.362, 0.01425, 0.3318, 0.00785, 0.2042, 0.01713, 1}}},
     {{1.034e4, 1.034e4, 1.182, 600, 0.4729}, {2.069e4, 2.069e4, 327.9, 978, 369.9},
      {3.103e4, 3.103e4, 380.7, 1329, 418.7}, {4.138e4, 4.138e4, 522.8, 1660, 474.3},
      {5.172e4, 5.172e4, 468.2, 1969, 547}, {6.207e4, 6.207e4, 597, 2246, 701.9},
      {7.241e4, 7.241e4, 714.2, 2497, 902.5}, {8.276e4, 8.276e4, 1159, 2730, 1096},
      {9.31e4, 9.31e4, 2026, 2939, 1571}, {1.034e5, 1.034e5, 5153, 3143, 1702}}},
  };
  return kPublished;
}
// clang-format on

}  // namespace

std::vector<Application> PublishedApplications() {
  std::vector<Application> applications;
  for (const Published& of : PublishedTable()) {
    TrainingRun least{of.initial_batch, {}, {}, {}, {}}, most{of.max_batch, {}, {}, {}, {}};
    for (const Part& part : of.parts) {
      for (TrainingRun* run : {&least, &most})
        run->progress.push_back(part.progress), run->sqr.push_back(1.0);
      least.iterations.push_back(part.steps), least.var.push_back(part.noise / of.initial_batch);
      most.iterations.push_back(part.steps_at_most),
          most.var.push_back(part.noise_at_most / of.initial_batch);
    }
    Application application{of.name, TrainingCurve({least, most}), {}};
    for (const Speed& speed : of.speeds)
      application.speeds.push_back({speed.gpus, {}, speed.min_local, speed.max_local, speed.model});
    applications.push_back(std::move(application));
  }
  return applications;
}

}  // namespace berth
