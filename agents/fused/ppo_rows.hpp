// The loss of proximal policy optimisation (agents/ppo_loss.hpp) and its gradient, a row at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace berth {

struct PpoCoefficients {
  double clip = 0.2, value_clip = 0.0, vf_coef = 0.5, ent_coef = 0.0;
  double rows = 1.0;  // of the whole minibatch: what the sums are divided by
};

struct PpoRow {
  std::span<const std::uint8_t> mask;  // [A]
  std::int64_t action;
  float old_log_prob, advantage, returns, old_value;
};

// Sums over rows, as PpoSums; figures[3] is a maximum.
struct PpoTotals {
  double policy_loss = 0, value_loss = 0, entropy = 0;
  std::array<double, 4> figures{};
};

class PpoRows {
 public:
  explicit PpoRows(std::size_t actions) : shifted_(actions), probability_(actions) {}
  // Adds the row to `totals`, and to d_scores [A] and d_value the gradient of
  // (policy_loss + vf_coef value_loss - ent_coef entropy) / rows.
  void Add(const PpoCoefficients& c, const PpoRow& row, std::span<const float> scores, float value,
           std::span<float> d_scores, float& d_value, PpoTotals& totals);

 private:
  std::vector<float> shifted_, probability_;  // [A]
};

}  // namespace berth
