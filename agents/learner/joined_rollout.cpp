#include "agents/learner/joined_rollout.hpp"

#include "env/base/check.hpp"

namespace berth {
namespace {

// Everything of a row in one message.
struct Outcome {
  float reward, discount;
  std::uint8_t terminated, truncated;
};
struct Estimate {
  float advantage, value, returns;
  std::uint8_t start;
};

}  // namespace

void OutcomeRows::Add(const StepBuffers& step) {
  reward.insert(reward.end(), step.reward.begin(), step.reward.end());
  discount.insert(discount.end(), step.discount.begin(), step.discount.end());
  terminated.insert(terminated.end(), step.terminated.begin(), step.terminated.end());
  truncated.insert(truncated.end(), step.truncated.begin(), step.truncated.end());
}

void OutcomeRows::clear() {
  reward.clear(), discount.clear(), terminated.clear(), truncated.clear();
}

JoinedOutcomes JoinedRollout::Join(const Ranks& ranks, const JoinedOutcomes& own) {
  if (!ranks.many()) return own;
  std::vector<Outcome> rows(own.reward.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    rows[k] = {own.reward[k], own.discount[k], own.terminated[k], own.truncated[k]};
  const std::vector<Outcome> all = ranks.JoinColumns<Outcome>(rows);
  for (auto* column : {&reward_, &discount_}) column->resize(all.size());
  for (auto* column : {&terminated_, &truncated_}) column->resize(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    reward_[k] = all[k].reward, discount_[k] = all[k].discount;
    terminated_[k] = all[k].terminated, truncated_[k] = all[k].truncated;
  }
  return {reward_, discount_, terminated_, truncated_};
}

JoinedEstimates JoinedRollout::Join(const Ranks& ranks, const JoinedEstimates& own) {
  if (!ranks.many()) return own;
  std::vector<Estimate> rows(own.advantage.size());
  for (std::size_t k = 0; k < rows.size(); ++k)
    rows[k] = {own.advantage[k], own.value[k], own.returns[k], own.starts[k]};
  const std::vector<Estimate> all = ranks.JoinColumns<Estimate>(rows);
  for (auto* column : {&advantage_, &value_, &returns_}) column->resize(all.size());
  starts_.resize(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    advantage_[k] = all[k].advantage, value_[k] = all[k].value, returns_[k] = all[k].returns;
    starts_[k] = all[k].start;
  }
  return {advantage_, value_, returns_, starts_};
}

void NormalizeSteps(const Ranks& ranks, const JoinedOutcomes& own, JoinedRollout& joined,
                    ReturnNormalizer& normalizer, std::span<float> reward) {
  if (!ranks.many()) return normalizer.NormalizeSteps(reward, own.discount, own.terminated, own.truncated);
  const JoinedOutcomes all = joined.Join(ranks, own);
  const auto envs = static_cast<std::size_t>(ranks.envs()), n = static_cast<std::size_t>(ranks.all_envs());
  for (std::size_t t = 0; t * envs < reward.size(); ++t) {
    normalizer.Update(all.reward.subspan(t * n, n), all.discount.subspan(t * n, n),
                      all.terminated.subspan(t * n, n), all.truncated.subspan(t * n, n));
    for (float& r : reward.subspan(t * envs, envs)) r = normalizer.Normalize(r);
  }
}

void KeepOwnRows(const Ranks& ranks, std::vector<std::int64_t>& rows, std::vector<std::int64_t>& begin,
                 std::vector<float>& beside) {
  BERTH_CHECK(beside.size() == rows.size() && !begin.empty(), beside.size(), " ", rows.size());
  const std::int64_t all = ranks.all_envs(), first = ranks.first_env(), envs = ranks.envs();
  std::size_t kept = 0, kept_groups = 0;
  for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
    const auto from = static_cast<std::size_t>(begin[g]), to = static_cast<std::size_t>(begin[g + 1]);
    const std::int64_t env = rows[from] % all - first;  // a group is of one environment
    if (env < 0 || env >= envs) continue;
    begin[kept_groups++] = static_cast<std::int64_t>(kept);
    for (std::size_t k = from; k < to; ++k, ++kept) {
      rows[kept] = rows[k] / all * envs + env;
      beside[kept] = beside[k];
    }
  }
  begin[kept_groups] = static_cast<std::int64_t>(kept);
  begin.resize(kept_groups + 1);
  rows.resize(kept);
  beside.resize(kept);
}

}  // namespace berth
