// What rows about environments step: the default environment, and a player of random legal actions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"

namespace berth::bench {

// `berth train`'s own: the default workload and cluster, preemptive, oracle, rounds(360), episodes of 300
// jobs after up to 100 of warm-up by srpt; Q = 32.
std::unique_ptr<BatchEnv> DefaultEnv(int num_envs, int threads);

// The same environment, which plays its episodes with random legal actions: the first legal one from a random
// place on, which costs little beside a step and is counted in it.
class RandomActor {
 public:
  explicit RandomActor(BatchEnv& env);
  std::int64_t Step(int times);  // steps of all environments together

 private:
  BatchEnv& env_;
  StepStorage storage_;
  std::vector<std::int32_t> actions_;
  Stream stream_;
};

}  // namespace berth::bench
