#include "agents/learner/rollout.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "agents/learner/stopwatch.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Of bytes that are 0 or 1, eight at a time.
std::size_t CountOnes(std::span<const std::uint8_t> bytes) {
  std::size_t ones = 0, k = 0;
  for (; k + 8 <= bytes.size(); k += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + k, sizeof word);
    ones += static_cast<std::size_t>(std::popcount(word));
  }
  for (; k < bytes.size(); ++k) ones += bytes[k];
  return ones;
}

}  // namespace

Rollout::Rollout(int n_steps, const AgentSetup& setup, Replicas& replicas, Workers& workers)
    : n_steps_(n_steps),
      envs_(setup.num_envs),
      all_envs_(setup.all_envs()),
      size_(U(n_steps) * U(setup.num_envs)),
      workers_(workers),
      rows_(n_steps + 1, setup.num_envs, setup.row(), setup.num_actions, setup.device.is_cuda()),
      remembered_(setup.num_envs, setup.layout.size(), setup.memory),
      last_value_(U(setup.num_envs)),
      starts_(size_),
      fresh_(U(setup.num_envs)),
      actions_(U(setup.num_envs)) {
  for (std::vector<float>* column : {&value_, &log_prob_, &final_value_}) column->resize(size_);
  const int parts = std::min(replicas.count(), envs_);
  for (int p = 0; p < parts; ++p) {
    const PartRange range = PartOf(envs_, p, parts);
    const int count = static_cast<int>(range.end - range.begin);
    parts_.push_back({static_cast<int>(range.begin),
                      static_cast<int>(range.end),
                      Actor(setup, replicas[p], count, replicas.fused(p)),
                      {},
                      {},
                      {}});
    parts_.back().final_rows.resize(U(count) * U(setup.row()));
    parts_.back().final_scores.resize(U(count) * U(setup.num_actions));
    parts_.back().final_values.resize(U(count));
  }
  for (int i = 0; i < envs_; ++i) {
    explore_.emplace_back(setup.seed, Purpose::kExplore, Split::kTrain,
                          static_cast<std::uint32_t>(setup.first_env() + i));
  }
}

StepBuffers Rollout::First() {
  begun_ = false;
  return remembered_.any() ? remembered_.Observed(rows_.First(0)) : rows_.First(0);
}

void Rollout::MakeFirstRows() {
  if (remembered_.any() && !begun_) remembered_.Begin(rows_.First(0).observation);
}

void Rollout::Invalidate() {
  for (Part& part : parts_) part.actor.Invalidate();
}

// The last row may not have been written: the actors know it.
void Rollout::Continue() {
  rows_.CopyMasks(n_steps_, 0);
  for (const Part& part : parts_) {
    for (int i = part.begin; i < part.end; ++i) {
      const auto last = part.actor.observation(i - part.begin);
      std::copy(last.begin(), last.end(), rows_.Observation(0, i).begin());
    }
  }
  Invalidate();
}

void Rollout::Restart() {
  collected_ = false;
  Invalidate();
}

void Rollout::Evaluate(int step, Part& part) {
  const std::size_t width = U(rows_.observation_size()), begin = U(part.begin), count = U(part.end) - begin;
  part.actor.Evaluate(rows_.ObservationRow(step).subspan(begin * width, count * width),
                      std::span<const std::uint8_t>(fresh_).subspan(begin, count));
}

void Rollout::Act(int step, Part& part) {
  Evaluate(step, part);
  const std::size_t width = U(rows_.actions());
  const std::uint8_t* masks = rows_.Mask(step, 0).data();
  const std::span<std::int64_t> taken = rows_.action();
  for (int i = part.begin; i < part.end; ++i) {
    const std::size_t k = U(step) * U(envs_) + U(i);
    const MaskedSample sample =
        SampleMasked(part.actor.scores(i - part.begin), {masks + U(i) * width, width}, explore_[U(i)]);
    actions_[U(i)] = sample.action;
    taken[k] = sample.action;
    log_prob_[k] = sample.log_prob;
    value_[k] = part.actor.values()[U(i - part.begin)];
    starts_[k] = part.actor.changed(i - part.begin);
  }
}

// The values of the final observations of episodes that were cut at this step.
void Rollout::ValueFinals(int step, Part& part) {
  const auto truncated = rows_.truncated().subspan(U(step) * U(envs_), U(envs_));
  std::size_t count = 0;
  for (int i = part.begin; i < part.end; ++i) {
    if (!truncated[U(i)]) continue;
    const auto row = rows_.FinalObservation(i);
    std::copy(row.begin(), row.end(),
              part.final_rows.begin() + static_cast<std::ptrdiff_t>(count++ * row.size()));
  }
  if (count == 0) return;
  part.actor.Forward(std::span<const float>(part.final_rows).first(count * U(rows_.observation_size())),
                     std::span<float>(part.final_scores).first(count * U(rows_.actions())),
                     std::span<float>(part.final_values).first(count));
  count = 0;
  for (int i = part.begin; i < part.end; ++i) {
    if (truncated[U(i)]) final_value_[U(step) * U(envs_) + U(i)] = part.final_values[count++];
  }
}

void Rollout::Play(Part& part, BatchEnv& env) {
  part.act_s = part.env_s = 0.0;
  Stopwatch watch;
  for (int step = 0; step < n_steps_; ++step) {
    Act(step, part);
    part.act_s += watch.Lap();
    StepBuffers outcome = rows_.Outcome(step, step + 1);
    std::fill(fresh_.begin() + part.begin, fresh_.begin() + part.end, std::uint8_t{1});
    outcome.fresh = fresh_;
    const StepBuffers observed = remembered_.any() ? remembered_.Observed(outcome) : outcome;
    if (parts_.size() == 1) {
      env.Step(actions_, observed);
    } else {
      env.StepRange(part.begin, part.end, actions_, observed);
    }
    for (int i = part.begin; remembered_.any() && i < part.end; ++i)
      remembered_.Follow(i, part.actor.state(i - part.begin), part.actor.next(i - part.begin), observed,
                         outcome);
    part.env_s += watch.Lap();
    ValueFinals(step, part);
  }
  Evaluate(n_steps_, part);
  std::copy(part.actor.values().begin(), part.actor.values().end(), last_value_.begin() + part.begin);
  part.act_s += watch.Lap();
}

Played Rollout::Collect(BatchEnv& env) {
  MakeFirstRows();
  begun_ = true;
  workers_.Run(static_cast<int>(parts_.size()), [&](int p) { Play(parts_[U(p)], env); });
  collected_ = true;
  Played played;
  played.steps = static_cast<std::int64_t>(n_steps_) * all_envs_;
  for (const Part& part : parts_) {
    played.act_s += part.act_s / static_cast<double>(parts_.size());
    played.env_s += part.env_s / static_cast<double>(parts_.size());
  }
  return played;
}

double Rollout::UniformEntropy(const Ranks& ranks) const {
  std::vector<std::int64_t> rows_with(U(rows_.actions()) + 1);  // so many legal actions
  for (std::size_t k = 0; k < size_; ++k) {
    ++rows_with[CountOnes(rows_.Mask(static_cast<std::int64_t>(k)))];
  }
  std::array<double, 2> sum = {0.0, static_cast<double>(size_)};
  for (std::size_t legal = 2; legal < rows_with.size(); ++legal)
    sum[0] += static_cast<double>(rows_with[legal]) * std::log(static_cast<double>(legal));
  if (ranks.many()) ranks.group().Sum(sum);
  return sum[0] / sum[1];
}

// Spread evenly over the steps; the observation of each is that of its instant's first. Row 0 holds what the
// next rollout begins with already (Continue), mask and all.
void Rollout::Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const {
  observation.clear();
  mask.clear();
  const std::int64_t all = static_cast<std::int64_t>(collected_ ? n_steps_ : 1) * envs_;
  const auto count = std::min<std::int64_t>(rows, all);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t row = all * k / count;
    std::int64_t head = row;
    while (head >= envs_ && starts_[static_cast<std::size_t>(head)] == 0) head -= envs_;
    const auto seen = rows_.Observation(head);
    const auto legal = rows_.Mask(head < envs_ ? head : row);
    observation.insert(observation.end(), seen.begin(), seen.end());
    mask.insert(mask.end(), legal.begin(), legal.end());
  }
}

}  // namespace berth
