#include "agents/learner/return_normalizer.hpp"

#include <algorithm>
#include <cmath>

namespace berth {

ReturnNormalizer::ReturnNormalizer(int num_envs) : return_(static_cast<std::size_t>(num_envs), 0.0) {}

void ReturnNormalizer::Update(std::span<const float> reward, std::span<const float> discount,
                              std::span<const std::uint8_t> terminated,
                              std::span<const std::uint8_t> truncated) {
  const auto n = static_cast<double>(return_.size());
  double mean = 0.0;
  for (std::size_t i = 0; i < return_.size(); ++i) {
    return_[i] = return_[i] * discount[i] + reward[i];
    mean += return_[i] / n;
  }
  double variance = 0.0;
  for (const double r : return_) variance += (r - mean) * (r - mean) / n;
  // Moments of two samples joined (Chan et al. 1979).
  const double delta = mean - mean_;
  const double total = count_ + n;
  variance_ = (variance_ * count_ + variance * n + delta * delta * count_ * n / total) / total;
  mean_ += delta * n / total;
  count_ = total;
  for (std::size_t i = 0; i < return_.size(); ++i) {
    if (terminated[i] || truncated[i]) return_[i] = 0.0;
  }
}

void ReturnNormalizer::NormalizeSteps(std::span<float> reward, std::span<const float> discount,
                                      std::span<const std::uint8_t> terminated,
                                      std::span<const std::uint8_t> truncated) {
  const std::size_t n = return_.size();
  for (std::size_t begin = 0; begin < reward.size(); begin += n) {
    const auto step = reward.subspan(begin, n);
    Update(step, discount.subspan(begin, n), terminated.subspan(begin, n), truncated.subspan(begin, n));
    for (float& r : step) r = Normalize(r);
  }
}

double ReturnNormalizer::Scale() const {
  return 1.0 / std::sqrt(variance_ + 1e-8);
}

float ReturnNormalizer::Normalize(float reward) const {
  return std::clamp(static_cast<float>(reward * Scale()), -kClip, kClip);
}

void ReturnNormalizer::Save(h5::Writer& out, const std::string& dataset) const {
  std::vector<double> state = {mean_, variance_, count_};
  state.insert(state.end(), return_.begin(), return_.end());
  out.Array<double>(dataset, state);
}

void ReturnNormalizer::Load(const h5::Reader& in, const std::string& dataset) {
  const auto state = in.Array<double>(dataset, static_cast<std::int64_t>(return_.size()) + 3);
  mean_ = state[0];
  variance_ = state[1];
  count_ = state[2];
  std::copy(state.begin() + 3, state.end(), return_.begin());
}

}  // namespace berth
