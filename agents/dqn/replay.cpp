#include "agents/dqn/replay.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {
namespace {

// Draws that cannot be used are drawn again; a buffer may hold nothing else.
constexpr int kMaxRedraws = 10000;
constexpr std::int32_t kNoSlot = -1;

}  // namespace

Replay::Replay(int capacity, int n_step, int envs, int observation_size, int actions)
    : n_step_(n_step),
      rows_(capacity + 1),
      envs_(envs),
      observations_(observation_size),
      masks_(actions),
      now_(envs, observation_size, actions) {
  BERTH_CHECK(capacity > n_step && n_step >= 1, capacity, " ", n_step);
  const std::size_t size = Flat(rows_, 0);
  for (auto* slots : {&observation_, &mask_, &final_observation_, &final_mask_}) slots->assign(size, kNoSlot);
  action_.resize(size);
  reward_.resize(size);
  discount_.resize(size);
  end_.resize(size);
}

StepBuffers Replay::Now() {
  return now_.buffers();
}

StepBuffers Replay::Outcome(std::span<const std::int32_t> actions) {
  if (stored_ == 0) Keep(current_, current_);  // of Reset, which wrote them unseen
  std::copy(actions.begin(), actions.end(), action_.begin() + static_cast<std::ptrdiff_t>(Flat(current_, 0)));
  // Environments that leave it so do not know what is legal at the end.
  std::fill(now_.final_mask.begin(), now_.final_mask.end(), std::uint8_t{0});
  StepBuffers out = now_.buffers();
  out.signal = out.reward;
  return out;
}

void Replay::Advance() {
  const std::size_t width = masks_.width();
  for (std::int32_t env = 0; env < envs_; ++env) {
    const auto e = static_cast<std::size_t>(env);
    const std::size_t flat = Flat(current_, env);
    reward_[flat] = now_.reward[e];
    discount_[flat] = now_.discount[e];
    end_[flat] = now_.terminated[e] ? kTerminated : now_.truncated[e] ? kTruncated : kNone;
    if (end_[flat] != kTruncated) continue;
    const std::uint8_t* legal = now_.final_mask.data() + e * width;
    if (std::find(legal, legal + width, 1) == legal + width) continue;
    final_observation_[flat] = observations_.AddOrShare(
        now_.final_observation.data() + e * observations_.width(), observation_[flat]);
    final_mask_[flat] = masks_.AddOrShare(legal, mask_[flat]);
  }
  const std::int32_t before = current_;
  current_ = Next(current_);
  stored_ = std::min<std::int64_t>(stored_ + 1, rows_ - 1);
  Keep(current_, before);
}

void Replay::Drop(std::size_t flat) {
  for (auto* slot : {&observation_[flat], &final_observation_[flat]}) {
    if (*slot >= 0) observations_.Release(*slot);
    *slot = kNoSlot;
  }
  for (auto* slot : {&mask_[flat], &final_mask_[flat]}) {
    if (*slot >= 0) masks_.Release(*slot);
    *slot = kNoSlot;
  }
}

void Replay::Keep(std::int32_t row, std::int32_t before) {
  for (std::int32_t env = 0; env < envs_; ++env) {
    const auto e = static_cast<std::size_t>(env);
    const std::size_t flat = Flat(row, env);
    Drop(flat);
    observation_[flat] = observations_.AddOrShare(now_.observation.data() + e * observations_.width(),
                                                  observation_[Flat(before, env)]);
    mask_[flat] = masks_.AddOrShare(now_.action_mask.data() + e * masks_.width(), mask_[Flat(before, env)]);
  }
}

std::int32_t Replay::Oldest() const {
  return static_cast<std::int32_t>((current_ - stored_ + rows_) % rows_);
}

Replay::Draw Replay::Window(std::int64_t step) const {
  Draw draw = {step, kNoSlot, kNoSlot, {}};
  auto flat = static_cast<std::size_t>(step);
  const auto size = Flat(rows_, 0), stride = static_cast<std::size_t>(envs_);
  for (int k = 0; k < n_step_; ++k) {
    if (end_[flat] == kTruncated && final_observation_[flat] < 0) return draw;
    draw.outcome.Add(reward_[flat], discount_[flat], end_[flat] == kTerminated);
    if (end_[flat] == kTruncated) {
      draw.to_observation = final_observation_[flat];
      draw.to_mask = final_mask_[flat];
      return draw;
    }
    const bool ended = end_[flat] == kTerminated;
    flat += stride;
    if (flat >= size) flat -= size;
    draw.to_observation = observation_[flat];  // of another episode after a termination: worth 0
    draw.to_mask = mask_[flat];
    if (ended) return draw;
  }
  return draw;
}

Replay::Draw Replay::Sample(Stream& stream) const {
  BERTH_CHECK(Ready(), stored_, " ", n_step_);
  const auto starts = static_cast<std::uint32_t>(stored_ - n_step_ + 1);
  for (int redraw = 0; redraw < kMaxRedraws; ++redraw) {
    const auto row = static_cast<std::int32_t>((static_cast<std::uint32_t>(Oldest()) + stream.Below(starts)) %
                                               static_cast<std::uint32_t>(rows_));
    const auto env = static_cast<std::int32_t>(stream.Below(static_cast<std::uint32_t>(envs_)));
    const Draw draw = Window(static_cast<std::int64_t>(Flat(row, env)));
    if (draw.outcome.length > 0) return draw;
  }
  throw Error(kNothingToLearnFrom);
}

Replay::Step Replay::At(std::int64_t step) const {
  const auto s = static_cast<std::size_t>(step);
  return {observation_[s], mask_[s],     final_observation_[s],  final_mask_[s],
          reward_[s],      discount_[s], end_[s] == kTerminated, end_[s] == kTruncated};
}

TdBatch::Joins Replay::Follows(std::int64_t before, std::int64_t step) const {
  const auto b = static_cast<std::size_t>(before);
  const bool next = (b + static_cast<std::size_t>(envs_)) % Flat(rows_, 0) == static_cast<std::size_t>(step);
  if (!next || end_[b] != kNone) return TdBatch::Joins::kNot;
  return discount_[b] == 1.0F ? TdBatch::Joins::kSameState : TdBatch::Joins::kNextState;
}

std::vector<std::int64_t> Replay::Held() const {
  std::vector<std::int64_t> rows;
  std::int32_t row = Oldest();
  for (std::int64_t k = 0; k <= stored_; ++k, row = Next(row)) {
    if (observation_[Flat(row, 0)] < 0) break;  // Reset has written, nothing was kept yet
    for (std::int32_t env = 0; env < envs_; ++env) rows.push_back(static_cast<std::int64_t>(Flat(row, env)));
  }
  return rows;
}

std::vector<std::int64_t> Replay::Drawable() const {
  std::vector<std::int64_t> steps;
  const std::int64_t complete = std::max<std::int64_t>(stored_ - n_step_ + 1, 0) * envs_;
  for (const std::int64_t step : Held()) {
    if (static_cast<std::int64_t>(steps.size()) == complete) break;
    steps.push_back(step);
  }
  std::erase_if(steps, [&](std::int64_t step) { return Window(step).outcome.length == 0; });
  return steps;
}

void Replay::Examples(int count, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const {
  observation.clear();
  mask.clear();
  std::vector<std::int64_t> held = Held();
  held.resize(static_cast<std::size_t>(steps()));
  if (held.empty()) {
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(count, envs_));
    observation.assign(now_.observation.begin(),
                       now_.observation.begin() + static_cast<std::ptrdiff_t>(n * observations_.width()));
    mask.assign(now_.action_mask.begin(),
                now_.action_mask.begin() + static_cast<std::ptrdiff_t>(n * masks_.width()));
    return;
  }
  const std::size_t rows = std::min(static_cast<std::size_t>(count), held.size());
  for (std::size_t k = 0; k < rows; ++k) {
    const std::int64_t step = held[held.size() * k / rows];
    observation.insert(observation.end(), Observation(step), Observation(step) + observations_.width());
    mask.insert(mask.end(), Mask(step), Mask(step) + masks_.width());
  }
}

}  // namespace berth
