// The MDP face: N simulators as batched buffers.
#pragma once

#include <functional>
#include <memory>

#include "env/gym/batch_env.hpp"
#include "env/gym/mdp.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

struct SchedEnvOptions {
  MdpSpec mdp;
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  // The episode is truncated when this many more jobs have arrived and others would come: a generator never
  // ends, and a fixed scenario of more jobs is cut at random into pieces of warmup_jobs + episode_jobs. One
  // of no more than that is all of each episode, which is truncated where some of its jobs are yet to come,
  // and else runs to its end; as it does where all jobs come at once or the reward is paid at the end, of a
  // generator too.
  int episode_jobs = 300;
  Window jobs;            // of a fixed scenario: the jobs to train on, so that the rest can test
  int warmup_jobs = 100;  // it starts after a uniform number of arrivals in [0, warmup_jobs] ...
  std::function<std::unique_ptr<Scheduler>()> warmup;  // ... decided by this scheduler; none = no warm-up
  // Where several processes share a run's environments: environment i here is first_env + i of all_envs, with
  // that one's workloads; 0 = these are all. LoadState then takes a state of all of them.
  int first_env = 0, all_envs = 0;
  std::string signal = "reward";  // what StepBuffers::signal holds (signals/learning_signal.hpp)
};

// N environments, each with a simulator of its own.
class VecEnv : public BatchEnv {
 public:
  virtual const Simulator& simulator(int env) const = 0;  // at its present decision point
};

// N environments on `threads` workers. The same bits on any number of threads.
std::unique_ptr<VecEnv> MakeVecEnv(std::shared_ptr<const ScenarioSource> source,
                                   const SchedEnvOptions& options, int num_envs, int threads);

// The state of one VecEnv with the environments of all `parts`, in their order.
std::vector<std::uint8_t> JoinEnvStates(std::span<const std::vector<std::uint8_t>> parts);

}  // namespace berth
