#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "agents/gpu/device.hpp"
#include "agents/learner/agent.hpp"
#include "agents/learner/stopwatch.hpp"
#include "agents/nn/kernels/gemm.hpp"
#include "agents/tasks/classic_control.hpp"
#include "agents/tasks/synthetic_pairs.hpp"
#include "agents/tasks/synthetic_task.hpp"
#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// Of all threads of this process, s.
double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::unique_ptr<BatchEnv> MakeTask(const BenchTrainRequest& request) {
  const std::array<std::string, 3> names = {"synthetic", "pairs", "cartpole"};
  if (request.num_envs < 1)
    throw Error(Join("bench: expected at least 1 environment, found ", request.num_envs));
  if (request.task == names[0]) {
    return std::make_unique<SyntheticTask>(request.num_envs, /*gamma=*/0.99, request.seed);
  }
  if (request.task == names[1]) {
    return std::make_unique<SyntheticPairs>(request.num_envs, /*gamma=*/0.99, request.seed);
  }
  if (request.task == names[2]) {
    return std::make_unique<CartPole>(request.num_envs, /*gamma=*/0.99, request.seed);
  }
  throw Error(Join("bench: unknown task '", request.task, "'", DidYouMean(request.task, names),
                   "; expected synthetic, pairs or cartpole"));
}

// The best of a few products of 512 x 512 x 512 on one thread, ours and LibTorch's: what the machine gives
// now to whoever asks for nothing but multiply-adds.
double GemmRate() {
  constexpr std::int64_t kSize = 512;
  const torch::NoGradGuard no_grad;
  const torch::Tensor a = torch::ones({kSize, kSize}), b = torch::ones({kSize, kSize});
  torch::Tensor c = torch::empty({kSize, kSize});
  double best = 1e9;
  for (int repeat = 0; repeat < 12; ++repeat) {
    double before = CpuSeconds();
    kernels::Multiply(a.data_ptr<float>(), b.data_ptr<float>(), kSize, kSize, kSize, c.data_ptr<float>());
    best = std::min(best, CpuSeconds() - before);
    before = CpuSeconds();
    at::mm_out(c, a, b);
    best = std::min(best, CpuSeconds() - before);
  }
  return 2e-9 * static_cast<double>(kSize * kSize * kSize) / best;
}

double MeanReturn(const EpisodeStats& stats) {
  return stats.episodes > 0 ? stats.return_sum / static_cast<double>(stats.episodes) : 0.0;
}

}  // namespace

BenchTrainOutcome BenchTraining(const BenchTrainRequest& request) {
  at::set_num_threads(1);
  std::unique_ptr<BatchEnv> task;
  BatchEnv* env = request.env;
  if (env == nullptr) {
    task = MakeTask(request);
    env = task.get();
  }
  AgentSetup setup;
  setup.network = request.network;
  setup.layout = env->layout();
  setup.num_actions = env->num_actions();
  setup.num_envs = env->num_envs();
  setup.seed = request.seed;
  setup.threads = request.threads;
  setup.device = ChooseDevice(request.device).device;
  const std::unique_ptr<Agent> agent = MakeAgent(request.agent, setup);
  env->Reset(agent->First());

  BenchTrainOutcome outcome;
  outcome.gemm_gflops = GemmRate();
  // Schedules move as in a run of all these steps.
  const auto total = static_cast<double>(request.warmup_steps + request.steps);
  std::int64_t done = 0;
  const auto play = [&] {
    const Played played = agent->Play(*env, std::min(static_cast<double>(done) / total, 1.0));
    done += played.steps;
    return played;
  };
  while (done < request.warmup_steps) play();
  outcome.first_return = MeanReturn(env->TakeStats());
  const std::int64_t steps_before = done, updates_before = agent->updates();
  const double multiply_adds_before = agent->multiply_adds();
  if (request.on_clock) request.on_clock();
  const double cpu_before = CpuSeconds();
  Stopwatch wall;
  while (done - steps_before < request.steps) {
    const Played played = play();
    outcome.env_s += played.env_s;
    outcome.act_s += played.act_s;
    outcome.learn_s += played.learn_s;
    outcome.passes_s += played.passes_s;
    outcome.loss_s += played.loss_s;
    outcome.optimise_s += played.optimise_s;
  }
  outcome.wall_s = wall.Lap();
  outcome.cpu_s = CpuSeconds() - cpu_before;
  if (request.on_clock) request.on_clock();
  outcome.steps = done - steps_before;
  outcome.updates = agent->updates() - updates_before;
  outcome.last_return = MeanReturn(env->TakeStats());
  outcome.multiply_adds_per_step =
      (agent->multiply_adds() - multiply_adds_before) / static_cast<double>(outcome.steps);
  outcome.gemm_gflops = std::max(outcome.gemm_gflops, GemmRate());
  if (outcome.multiply_adds_per_step > 0.0) {
    outcome.bound_steps_per_cpu_s = 1e9 * outcome.gemm_gflops / (2.0 * outcome.multiply_adds_per_step);
  }
  return outcome;
}

}  // namespace berth
