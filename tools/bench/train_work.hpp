// Training on fixed work through the learners' library: what rows about training measure, and what is run in
// turn with the peers' programs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "agents/train/learn_api.hpp"

namespace berth::bench {

// The same work as a program that --peers runs: observation, network, optimiser, minibatches, epochs, and the
// mask but for DQN, whose peer knows none.
struct TrainCase {
  const char* name;
  const char* what;
  const char* agent;
  const char* network;
  const char* task;  // of BenchTrainRequest
  int num_envs;
  std::int64_t steps;
  const char* peer;    // arguments of bench_sb3.py; --steps, --repeats, --seed and --threads come beside
  double peer_target;  // at least as many times as fast as the peer in the same run; 0 = not stated
};
std::span<const TrainCase> TrainCases();
const TrainCase& FindTrainCase(const std::string& name);

// Opens libberth_learn.so. Throws CannotRun where this build has none.
const LearnApi& Learners();

// On the case's task; the seed is that of the repeat.
BenchTrainOutcome Train(const TrainCase& of, std::int64_t steps, int threads, std::uint64_t seed,
                        std::function<void()> on_clock = nullptr);

inline double PerSecond(const BenchTrainOutcome& outcome) {
  return static_cast<double>(outcome.steps) / outcome.wall_s;
}

}  // namespace berth::bench
