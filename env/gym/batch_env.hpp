// The face that learners see: N environments stepped together into buffers that the caller owns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/gym/observation.hpp"

namespace berth {

// Struct-of-arrays, row-major. Sizes: N environments, D = observation_size, A = num_actions.
struct StepBuffers {
  std::span<float> observation;         // [N, D] after the step; after an episode's end: of the new episode
  std::span<std::uint8_t> action_mask;  // [N, A] 1 = legal, for `observation`; at least one a row
  std::span<float> reward;              // [N] of the step just taken
  std::span<std::uint8_t> terminated;   // [N] the episode ended: nothing follows
  std::span<std::uint8_t> truncated;    // [N] it was cut: bootstrap from final_observation
  std::span<float> discount;  // [N] of this step: multiplies the value of what follows (gamma included)
  std::span<float> final_observation;  // [N, D] written only where terminated or truncated
  // [N, A] 1 = legal, for final_observation; written only where truncated. Empty = not wanted. A row may
  // allow nothing: there would be nothing to choose.
  std::span<std::uint8_t> final_mask;
  // [N] 1 on entry. An environment that can tell writes 0 where the observation is that of its step before,
  // and leaves the row alone: micro-actions of one instant see one observation. Empty = every row is written.
  std::span<std::uint8_t> fresh;
  // [N] what to learn from in place of the reward, where the environment has such (learning_signal.hpp).
  // An environment that has none leaves it alone. Written after `reward`, so both may be one memory. Empty =
  // not wanted.
  std::span<float> signal;
  // [N] how many jobs arrived during the step, and their work: GPU s, each job alone on its fastest type. 0
  // within an instant; an environment without arrivals leaves both alone. Empty = not wanted.
  std::span<float> new_jobs, new_work;
};

// Owns the memory of one set of buffers.
struct StepStorage {
  StepStorage(int num_envs, int observation_size, int num_actions);
  StepBuffers buffers();
  std::vector<float> observation, reward, signal, discount, final_observation;
  std::vector<std::uint8_t> action_mask, terminated, truncated, final_mask;
};

struct EpisodeStats {  // summed over the episodes that ended since the last TakeStats
  std::int64_t episodes = 0;
  double return_sum = 0.0;    // undiscounted
  std::int64_t measured = 0;  // of the episodes, those that have the metric: in a cluster's a job completed
  double metric_sum = 0.0;    // over those: the environment's own headline figure, named metric_name()
  // The same of the episodes under way, so that long first episodes are not dark.
  std::int64_t running = 0;
  double running_return_sum = 0.0, running_metric_sum = 0.0;
  // Jobs in the system as the episodes that ended began, and as they ended. Ends above begins: more arrives
  // than is worked off. 0 where there is no queue.
  double backlog_begin_sum = 0.0, backlog_end_sum = 0.0;
};

// Thread rule: one caller, but for StepRange; Step may use own workers and gives the same bits on any number.
// Episodes restart by themselves: a step that ends one returns the first observation of the next.
class BatchEnv {
 public:
  virtual ~BatchEnv() = default;
  virtual int num_envs() const = 0;
  virtual int num_actions() const = 0;
  virtual ObservationLayout layout() const = 0;  // observation_size = layout().size()
  virtual std::string metric_name() const { return "return"; }
  // Begins episode 0 of every environment; writes observation and action_mask.
  virtual void Reset(const StepBuffers& out) = 0;
  // As Reset, but each environment goes on with the episode after its present one. An environment that does
  // not number its episodes begins anew.
  virtual void NextEpisodes(const StepBuffers& out) { Reset(out); }
  // actions [N], each legal in the mask last written. Writes every buffer.
  virtual void Step(std::span<const std::int32_t> actions, const StepBuffers& out) {
    StepRange(0, num_envs(), actions, out);
  }
  // The same of environments [begin, end) alone: reads and writes their rows of the whole [N] spans.
  // Different threads may step ranges that do not overlap at the same time.
  virtual void StepRange(int begin, int end, std::span<const std::int32_t> actions,
                         const StepBuffers& out) = 0;
  virtual EpisodeStats TakeStats() = 0;
  // All that is needed to continue bit for bit; Load writes observation and action_mask as they were.
  virtual std::vector<std::uint8_t> SaveState() const = 0;
  virtual void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) = 0;
};

}  // namespace berth
