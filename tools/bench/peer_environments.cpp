#include "tools/bench/peer_environments.hpp"

#include <cstdlib>
#include <vector>

#include "agents/tasks/cart_pole.hpp"
#include "env/base/check.hpp"
#include "tools/bench/env_work.hpp"
#include "tools/bench/measure.hpp"

namespace berth::bench {
namespace {

constexpr double kSeconds = 2.0;  // of one repeat, as bench_envpool.py

// Every number that stands behind `key`.
std::vector<double> NumbersAfter(const std::string& output, const std::string& key) {
  std::vector<double> numbers;
  for (std::size_t at = output.find(key); at != std::string::npos; at = output.find(key, at + 1))
    numbers.push_back(std::strtod(output.c_str() + at + key.size(), nullptr));
  if (numbers.empty()) throw Error(Join("expected a line with '", key, "', found '", output, "'"));
  return numbers;
}

// EnvPool states wall time alone, so ours is by wall time too.
double StepCartPole(int repeat) {
  CartPole env(/*num_envs=*/64, /*gamma=*/0.99, static_cast<std::uint64_t>(repeat));
  RandomActor actor(env);
  actor.Step(1000);
  std::int64_t steps = 0;
  const double begin = WallSeconds();
  while (WallSeconds() < begin + kSeconds) steps += actor.Step(1000);
  return static_cast<double>(steps) / (WallSeconds() - begin);
}

double EnvPoolRate(const std::string& output) {
  const std::size_t at = output.find("num_envs=64 batch=64 threads=1:");
  if (at == std::string::npos)
    throw Error(Join("expected a line 'num_envs=64 batch=64 threads=1: ...', found '", output, "'"));
  return NumbersAfter(output.substr(at), "median ").front();
}

double StepCluster(int) {
  const auto env = DefaultEnv(/*num_envs=*/256, /*threads=*/1);
  RandomActor actor(*env);
  return RatesPerCpuSecond(kSeconds, 1, [&] { return actor.Step(64); }).front();
}

double JumanjiRate(const std::string& output) {
  return SpreadOf(NumbersAfter(output, "'steps_per_cpu_s': ")).median;
}

constexpr PeerEnvironment kRows[] = {
    {"env_cartpole", "CartPole-v1 alone, 64 environments on one thread, wall time: EnvPool", "steps/s",
     "bench_envpool.py", StepCartPole, EnvPoolRate},
    {"env_scheduling",
     "256 scheduling environments alone, random legal actions: ours on the default workload with Q=32, "
     "Jumanji's "
     "JobShop on 20 jobs and 10 machines",
     "steps/CPU-s", "bench_jumanji.py", StepCluster, JumanjiRate},
};

}  // namespace

std::span<const PeerEnvironment> PeerEnvironments() {
  return kRows;
}

}  // namespace berth::bench
