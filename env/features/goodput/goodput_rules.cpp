// What the simulators of the artifacts hold in code and not in files.
#include <algorithm>
#include <map>

#include "env/features/goodput/goodput.hpp"
#include "env/predict/goodput/published_fit.hpp"

namespace berth {

void ApplyRules(const std::string& rules, Application& application) {
  if (rules == "exact") return;
  if (application.name == "yolov3" && rules == "pollux") {  // applications.py
    for (SpeedOnType& speed : application.speeds) speed.max_local = std::min(speed.max_local, 8);
  }
  if (application.name == "ncf") application.most_gpus = 1, application.fixed_batch = 32768;
  application.restart_s = 30.0;
  if (rules != "sia") return;
  struct Sia {
    double restart_s, told_s, slowdown;
  };
  // Delays of a start (job.py), what the policy takes them to be (sia.py) and slow-downs (applications.py).
  static const std::map<std::string, Sia> kSia = {
      {"cifar10", {50.0, 30.0, 1.8}}, {"ncf", {15.0, 30.0, 1.5}},    {"imagenet", {250.0, 250.0, 1.2}},
      {"yolov3", {80.0, 45.0, 1.2}},  {"bert", {120.0, 120.0, 1.2}}, {"deepspeech2", {25.0, 25.0, 1.2}},
  };
  const auto found = kSia.find(application.name);
  if (found != kSia.end())
    application.restart_s = found->second.restart_s, application.told_restart_s = found->second.told_s,
    application.slowdown = found->second.slowdown;
  if (application.name != "deepspeech2") return;
  for (SpeedOnType& speed : application.speeds) {
    if (speed.gpus == "rtx") speed.max_local = std::min(speed.max_local, 57);
  }
}

goodput::SpeedModel FitByRules(const std::string& rules, std::span<const goodput::Observation> seen) {
  if (rules == "exact") return goodput::FitSpeed(seen);
  return goodput::FitSpeedAsPublished(seen, rules == "sia" ? 1e-5 : 0.0);
}

}  // namespace berth
