#include "agents/replay.hpp"

#include <algorithm>

#include "env/check.hpp"

namespace berth {
namespace {

// Draws that start with a truncated step are drawn again; episodes of one truncated step alone would never
// end.
constexpr int kMaxRedraws = 10000;

}  // namespace

Replay::Replay(int capacity, int n_step, int envs, int observation_size, int actions, bool pinned)
    : n_step_(n_step),
      rows_(capacity + 1, envs, observation_size, actions, pinned),
      reward_(static_cast<std::size_t>(n_step)),
      discount_(static_cast<std::size_t>(n_step)),
      terminated_(static_cast<std::size_t>(n_step)),
      truncated_(static_cast<std::size_t>(n_step)) {
  BERTH_CHECK(capacity > n_step && n_step >= 1, capacity, " ", n_step);
}

void Replay::Advance() {
  current_ = Next(current_);
  stored_ = std::min<std::int64_t>(stored_ + 1, rows_.rows() - 1);
}

int Replay::Oldest() const {
  return static_cast<int>((current_ - stored_ + rows_.rows()) % rows_.rows());
}

Replay::Draw Replay::Sample(Stream& stream) {
  BERTH_CHECK(Ready(), stored_, " ", n_step_);
  const auto starts = static_cast<std::uint32_t>(stored_ - n_step_ + 1);
  const int envs = rows_.envs();
  for (int redraw = 0; redraw < kMaxRedraws; ++redraw) {
    const int first =
        static_cast<int>((Oldest() + stream.Below(starts)) % static_cast<std::uint32_t>(rows_.rows()));
    const int env = static_cast<int>(stream.Below(static_cast<std::uint32_t>(envs)));
    int row = first;
    for (std::size_t k = 0; k < reward_.size(); ++k) {
      const std::size_t flat =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(envs) + static_cast<std::size_t>(env);
      reward_[k] = rows_.reward()[flat];
      discount_[k] = rows_.discount()[flat];
      terminated_[k] = rows_.terminated()[flat];
      truncated_[k] = rows_.truncated()[flat];
      row = Next(row);
    }
    const NStep outcome = NStepReturn(reward_, discount_, terminated_, truncated_);
    if (outcome.length == 0) continue;
    const int to = (first + outcome.length) % rows_.rows();
    return {static_cast<std::int64_t>(first) * envs + env, static_cast<std::int64_t>(to) * envs + env,
            outcome};
  }
  throw Error(
      "replay buffer: expected steps that can be learnt from, found only episodes of one truncated step");
}

void Replay::Examples(int count, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const {
  if (stored_ == 0) {
    rows_.Examples(current_, 1, count, observation, mask);
  } else {
    rows_.Examples(Oldest(), static_cast<int>(stored_), count, observation, mask);
  }
}

void Replay::Save(h5::Writer& out, const std::string& group) const {
  out.Array<std::int64_t>(group + "/position", std::vector<std::int64_t>{current_, stored_});
  // Oldest to newest, then the current observations.
  const auto n = static_cast<std::size_t>(rows_.envs());
  std::vector<float> observation, reward, discount;
  std::vector<std::uint8_t> mask, terminated, truncated;
  std::vector<std::int64_t> action;
  StepRows& rows = const_cast<StepRows&>(rows_);
  int row = Oldest();
  for (std::int64_t k = 0; k <= stored_; ++k, row = Next(row)) {
    const StepBuffers of = rows.Outcome(row, row);
    observation.insert(observation.end(), of.observation.begin(), of.observation.end());
    mask.insert(mask.end(), of.action_mask.begin(), of.action_mask.end());
    if (k == stored_) break;
    reward.insert(reward.end(), of.reward.begin(), of.reward.end());
    discount.insert(discount.end(), of.discount.begin(), of.discount.end());
    terminated.insert(terminated.end(), of.terminated.begin(), of.terminated.end());
    truncated.insert(truncated.end(), of.truncated.begin(), of.truncated.end());
    const auto actions = rows.action().subspan(static_cast<std::size_t>(row) * n, n);
    action.insert(action.end(), actions.begin(), actions.end());
  }
  out.Array<float>(group + "/observation", observation);
  out.Array<std::uint8_t>(group + "/mask", mask);
  if (stored_ == 0) return;
  out.Array<float>(group + "/reward", reward);
  out.Array<float>(group + "/discount", discount);
  out.Array<std::uint8_t>(group + "/terminated", terminated);
  out.Array<std::uint8_t>(group + "/truncated", truncated);
  out.Array<std::int64_t>(group + "/action", action);
}

void Replay::Load(const h5::Reader& in, const std::string& group) {
  const auto position = in.Array<std::int64_t>(group + "/position", 2);
  if (position[0] < 0 || position[0] >= rows_.rows() || position[1] < 0 || position[1] >= rows_.rows()) {
    throw Error(Join(in.path(), ": ", group, "/position: expected a row and a count below ", rows_.rows(),
                     ", found ", position[0], " and ", position[1]));
  }
  current_ = static_cast<int>(position[0]);
  stored_ = position[1];
  const auto n = static_cast<std::int64_t>(rows_.envs());
  const auto observation =
      in.Array<float>(group + "/observation", (stored_ + 1) * n * rows_.observation_size());
  const auto mask = in.Array<std::uint8_t>(group + "/mask", (stored_ + 1) * n * rows_.actions());
  std::vector<float> reward, discount;
  std::vector<std::uint8_t> terminated, truncated;
  std::vector<std::int64_t> action;
  if (stored_ > 0) {
    reward = in.Array<float>(group + "/reward", stored_ * n);
    discount = in.Array<float>(group + "/discount", stored_ * n);
    terminated = in.Array<std::uint8_t>(group + "/terminated", stored_ * n);
    truncated = in.Array<std::uint8_t>(group + "/truncated", stored_ * n);
    action = in.Array<std::int64_t>(group + "/action", stored_ * n);
  }
  int row = Oldest();
  for (std::int64_t k = 0; k <= stored_; ++k, row = Next(row)) {
    const StepBuffers of = rows_.Outcome(row, row);
    const auto copy = [k](const auto& from, const auto& to) {
      std::copy_n(from.begin() + k * static_cast<std::int64_t>(to.size()), to.size(), to.begin());
    };
    copy(observation, of.observation);
    copy(mask, of.action_mask);
    if (k == stored_) break;
    copy(reward, of.reward);
    copy(discount, of.discount);
    copy(terminated, of.terminated);
    copy(truncated, of.truncated);
    copy(action, rows_.action().subspan(static_cast<std::size_t>(row) * static_cast<std::size_t>(n),
                                        static_cast<std::size_t>(n)));
  }
}

}  // namespace berth
