// Training with the learner on a GPU and the environments on the CPU's threads, by environments and network;
// beside each the same without overlap, and on the CPU alone. One command fills the table of
// agents/gpu/README.md: berth bench --only device.
#include <algorithm>
#include <string>
#include <thread>

#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/train_work.hpp"

namespace berth::bench {
namespace {

// n_steps 32, four minibatches an epoch whatever the environments are, Stable-Baselines3's coefficients as in
// train_work.cpp: 256 environments are the peers' cases B and D.
struct DeviceCase {
  const char* network;
  const char* task;
  int envs;
  const char* precision = "float32";
};

std::string AgentOf(const DeviceCase& of, const std::string& more) {
  return Join("ppo(n_steps=32,minibatch=", 8 * of.envs,
              ",epochs=4,lr=0.0003,lr_schedule=constant,target_kl=0,lambda_within_instant=0.95,normalize_"
              "reward=false",
              more, ")");
}

BenchTrainOutcome TrainOn(const DeviceCase& of, const char* device, const std::string& more,
                          std::int64_t steps, std::uint64_t seed) {
  BenchTrainRequest request;
  request.agent = AgentOf(of, more);
  request.network = of.network;
  request.task = of.task;
  request.num_envs = of.envs;
  request.device = device;
  request.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  request.warmup_steps = std::int64_t{32} * of.envs * 6;  // past the captures
  request.steps = steps;
  request.seed = seed;
  return Learners().bench_training(request);
}

Measured OnDevice(const DeviceCase& of, const BenchSetup& setup) {
  constexpr std::int64_t kSteps = 1 << 21;
  try {
    Learners().device("cuda", "");
  } catch (const Error&) {
    throw CannotRun("needs a GPU (berth train --device cuda says what is missing)");
  }
  const std::string precision = Join(",precision=", of.precision);
  Measured measured;
  std::vector<double> in_turn, cpu;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    const auto seed = static_cast<std::uint64_t>(repeat);
    const BenchTrainOutcome outcome =
        TrainOn(of, "cuda", Join(",learner=device,overlap=true", precision), kSteps, seed);
    measured.values.push_back(PerSecond(outcome));
    in_turn.push_back(PerSecond(TrainOn(of, "cuda", Join(",learner=device", precision), kSteps, seed)));
    cpu.push_back(PerSecond(TrainOn(of, "cpu", "", kSteps / 16, seed)));
    const double all = outcome.env_s + outcome.act_s + outcome.learn_s;
    measured.detail = {{"stages",
                        {{"environments", outcome.env_s / all},
                         {"waiting for actions", outcome.act_s / all},
                         {"waiting for the update", outcome.learn_s / all}}},
                       {"steps", outcome.steps},
                       {"updates", outcome.updates}};
  }
  measured.detail["device"] = Learners().device("cuda", "");
  measured.detail["steps_per_s_without_overlap"] = SpreadOf(in_turn).median;
  measured.detail["steps_per_s_on_the_cpu"] = SpreadOf(cpu).median;
  measured.note = Join("without overlap ", static_cast<std::int64_t>(SpreadOf(in_turn).median),
                       " steps/s, on the CPU's ", std::thread::hardware_concurrency(), " threads ",
                       static_cast<std::int64_t>(SpreadOf(cpu).median), "; ", Learners().device("cuda", ""));
  return measured;
}

constexpr DeviceCase kDeviceCases[] = {
    {"mlp(hidden=64x64)", "synthetic", 256},
    {"mlp(hidden=64x64)", "synthetic", 1024},
    {"mlp(hidden=64x64)", "synthetic", 4096},
    {"mlp(hidden=256x256)", "synthetic", 256},
    {"mlp(hidden=256x256)", "synthetic", 1024},
    {"mlp(hidden=256x256)", "synthetic", 4096},
    {"pair_scorer", "pairs", 256},
    {"pair_scorer", "pairs", 1024},
    {"mlp(hidden=256x256)", "synthetic", 4096, "tf32"},
    {"mlp(hidden=256x256)", "synthetic", 4096, "bf16"},
};

template <int kCase>
Measured DeviceCaseOf(const BenchSetup& setup) {
  return OnDevice(kDeviceCases[kCase], setup);
}

constexpr BenchRow kDeviceRows[] = {
    {"device/ppo_b", "PPO on a GPU, case B: 64x64, 256 environments, minibatches of 2,048", "steps/s",
     Bound::kAtLeast, 2e6, 0, DeviceCaseOf<0>},
    {"device/ppo_b_1024", "the same with 1,024 environments, minibatches of 8,192", "steps/s", Bound::kNone,
     0, 0, DeviceCaseOf<1>},
    {"device/ppo_b_4096", "... 4,096 environments, minibatches of 32,768", "steps/s", Bound::kNone, 0, 0,
     DeviceCaseOf<2>},
    {"device/ppo_d", "PPO on a GPU, case D: 256x256, 256 environments, minibatches of 2,048", "steps/s",
     Bound::kAtLeast, 1e6, 0, DeviceCaseOf<3>},
    {"device/ppo_d_1024", "the same with 1,024 environments, minibatches of 8,192", "steps/s", Bound::kNone,
     0, 0, DeviceCaseOf<4>},
    {"device/ppo_d_4096", "... 4,096 environments, minibatches of 32,768", "steps/s", Bound::kNone, 0, 0,
     DeviceCaseOf<5>},
    {"device/pair_scorer", "PPO on a GPU, pair-scoring network, task pairs (Q=32, G=3), 256 environments",
     "steps/s", Bound::kAtLeast, 1e6, 0, DeviceCaseOf<6>},
    {"device/pair_scorer_1024", "the same with 1,024 environments", "steps/s", Bound::kNone, 0, 0,
     DeviceCaseOf<7>},
    {"device/ppo_d_4096_tf32", "ppo_d_4096 with products in TF32", "steps/s", Bound::kNone, 0, 0,
     DeviceCaseOf<8>},
    {"device/ppo_d_4096_bf16", "... in bf16", "steps/s", Bound::kNone, 0, 0, DeviceCaseOf<9>},
};

}  // namespace

std::span<const BenchRow> DeviceRows() {
  return kDeviceRows;
}

}  // namespace berth::bench
