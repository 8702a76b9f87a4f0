// What the update of one rank needs to know of all ranks' rollouts, so that it is the update of one process
// that played them all: which rows share an observation, advantages (their mean and deviation over a
// minibatch), and the outcomes that move the reward's scale. Observations stay where they were played. Alone
// these are views of the rank's own rollout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learner/return_normalizer.hpp"
#include "agents/ranks/ranks.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

// [T, N of all ranks]
struct JoinedOutcomes {
  std::span<const float> reward, discount;
  std::span<const std::uint8_t> terminated, truncated;
};
struct JoinedEstimates {
  std::span<const float> advantage, value, returns;
  std::span<const std::uint8_t> starts;
};

// Owns outcomes of one vector step after the other.
struct OutcomeRows {
  std::vector<float> reward, discount;
  std::vector<std::uint8_t> terminated, truncated;
  void Add(const StepBuffers& step);
  void clear();
  JoinedOutcomes view() const { return {reward, discount, terminated, truncated}; }
};

class JoinedRollout {
 public:
  // Each gives back its argument alone; of several ranks spans of own memory, until the next call.
  JoinedOutcomes Join(const Ranks& ranks, const JoinedOutcomes& own);
  JoinedEstimates Join(const Ranks& ranks, const JoinedEstimates& own);

 private:
  std::vector<float> reward_, discount_, advantage_, value_, returns_;
  std::vector<std::uint8_t> terminated_, truncated_, starts_;
};

// Scales this rank's rewards, [T, N], by the statistics of all ranks' environments, step by step as one
// process with all of them. `own` are the outcomes that stand beside `reward`.
void NormalizeSteps(const Ranks& ranks, const JoinedOutcomes& own, JoinedRollout& joined,
                    ReturnNormalizer& normalizer, std::span<float> reward);

// Rows of a minibatch, [T, N of all ranks], whose groups begin at `begin`: keeps those of this rank's
// environments, numbered as its own [T, N], with what stands beside each.
void KeepOwnRows(const Ranks& ranks, std::vector<std::int64_t>& rows, std::vector<std::int64_t>& begin,
                 std::vector<float>& beside);

}  // namespace berth
