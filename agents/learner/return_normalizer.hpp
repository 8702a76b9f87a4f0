// Scales rewards by the running standard deviation of the discounted return (VecNormalize of
// Stable-Baselines3; Engstrom et al. 2020, "Implementation matters"). The mean is not subtracted: that would
// change the task.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"

namespace berth {

class ReturnNormalizer {
 public:
  explicit ReturnNormalizer(int num_envs);
  // One step of every environment, [N] each: moves the statistics.
  void Update(std::span<const float> reward, std::span<const float> discount,
              std::span<const std::uint8_t> terminated, std::span<const std::uint8_t> truncated);
  // Steps of a rollout, [T, N] each, as VecNormalize does while it plays: a reward is scaled by what was
  // known at its step.
  void NormalizeSteps(std::span<float> reward, std::span<const float> discount,
                      std::span<const std::uint8_t> terminated, std::span<const std::uint8_t> truncated);
  // Multiply a reward by this and clip to +-kClip.
  double Scale() const;
  float Normalize(float reward) const;
  double variance() const { return variance_; }
  void Save(h5::Writer& out, const std::string& dataset) const;
  void Load(const h5::Reader& in, const std::string& dataset);

  static constexpr float kClip = 10.0F;

 private:
  std::vector<double> return_;                         // [N] discounted, of the episode so far
  double mean_ = 0.0, variance_ = 1.0, count_ = 1e-4;  // as VecNormalize starts
};

}  // namespace berth
