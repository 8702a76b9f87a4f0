// The scheduling environment of the textbooks: one task at a time, the action says which GPU it goes to. It
// is there to learn and to teach with; SchedEnv is the decision process that policies are exported from. The
// observation, action and reward are those of resource-allocation examples such as Mao et al., HotNets 2016
// (DeepRM), reduced to one task.
//
//   TaskPlacementOptions options;
//   options.reward = "jct";
//   const std::unique_ptr<VecEnv> env = MakeTaskPlacement(source, options, /*num_envs=*/16, /*threads=*/2);
//
// The task at hand is the one that has waited longest; nobody passes it. Where no GPU can take it the clock
// runs until one can. A gang also takes the lowest-numbered other idle GPUs of the type. Tasks run to their
// ends.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/gym/rewards.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {

// Minus the mean utilisation that the step's observation shows.
inline constexpr const char* kMeanUtilization = "mean_utilization";

struct TaskPlacementOptions {
  std::string reward = kMeanUtilization;  // or a sum of terms as MdpSpec::reward
  double tau_s = 36000.0;                 // discount = exp(-dt / tau_s)
  std::uint64_t seed = 0;
  Split split = Split::kTrain;
  int episode_jobs = 300;  // as SchedEnvOptions: a generated episode is truncated when so many have arrived
  Window jobs;             // of a fixed scenario
};

// One environment. Observation [1 + N], N = GPUs of the cluster: tasks that wait, the one at hand included;
// then of each GPU its utilisation now, in the order of the cluster: 1 while a task holds it, which is whole,
// else 0. Actions [N]: the GPU, which must be idle and of a type that can run the task and has room for its
// gang. Members as SchedEnv's.
class TaskPlacement {
 public:
  // Throws Error for a cluster with features: which of them hold a GPU is not for one number to say.
  TaskPlacement(std::shared_ptr<const ScenarioSource> source, const TaskPlacementOptions& options,
                std::uint32_t index);

  struct Outcome {
    double reward = 0.0, discount = 1.0;
    bool terminated = false, truncated = false;
  };
  // Throws Error for a cluster with features or of other GPUs in number than the first environment's first.
  void Begin(std::uint32_t episode);
  Outcome Step(int action);  // REQUIRES: legal in the mask

  // Channels [1 + N] with meaning and range, for a cluster of `gpus`.
  static ChannelInfo Channel(int index, int episode_jobs);
  ObservationLayout layout() const { return {.global_channels = 1 + num_actions()}; }
  int num_actions() const { return static_cast<int>(mask_.size()); }
  std::span<const float> observation() const { return observation_; }
  bool moved() const { return true; }
  std::span<const std::uint8_t> mask() const { return mask_; }
  std::uint32_t episode() const { return episode_; }
  std::span<const std::int32_t> history() const { return history_; }
  double MeanJct() const { return done_jobs_ > 0 ? done_jct_ / done_jobs_ : 0.0; }
  double episode_return() const { return return_; }
  const Simulator& simulator() const { return *simulator_; }
  const Reward& reward() const { return *reward_; }     // REQUIRES: another one than the mean utilisation
  static std::span<const int> visible() { return {}; }  // jobs, by the rows of the observation: it has none

 private:
  ClusterView View() const { return simulator_->View(Knowledge::kNone); }
  bool Advance();      // to the next decision point; false when the episode terminated
  bool Offer();        // observation and mask; is there a choice?
  void RunToChoice();  // lets time pass until there is one, or the episode ends
  bool Cut();          // truncates where the episode's last task has arrived and more would come
  double Utilization() const;
  double Paid() const { return reward_ ? reward_->Running(*simulator_) : 0.0; }

  std::shared_ptr<const ScenarioSource> source_;
  TaskPlacementOptions options_;
  std::uint32_t index_, episode_ = 0;
  std::optional<Reward> reward_;  // none: the mean utilisation
  std::optional<Simulator> simulator_;
  Decision decision_;
  std::vector<int> devices_;
  std::vector<float> observation_;
  std::vector<std::uint8_t> mask_;
  std::vector<std::int32_t> history_;
  bool terminated_ = false, truncated_ = false, endless_ = true;
  double return_ = 0.0, paid_ = 0.0, done_jct_ = 0.0;
  int done_jobs_ = 0;
};

// N of them on `threads` workers; the same bits on any number of threads.
std::unique_ptr<VecEnv> MakeTaskPlacement(std::shared_ptr<const ScenarioSource> source,
                                          const TaskPlacementOptions& options, int num_envs, int threads);

}  // namespace berth
