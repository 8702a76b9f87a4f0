// The loss of proximal policy optimisation (agents/ppo/ppo_loss.hpp) and its gradient, state by state.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "agents/nn/fused/ppo_losses.hpp"

namespace berth {

struct PpoRow {
  std::span<const std::uint8_t> mask;  // [A]
  std::int64_t action;
  float old_log_prob, advantage, returns, old_value;
};

// Sums over rows, as PpoSums; figures[3] is a maximum.
struct PpoTotals {
  double policy_loss = 0, value_loss = 0, entropy = 0;
  std::array<double, 4> figures{};
  void Add(const PpoTotals& more) {
    policy_loss += more.policy_loss;
    value_loss += more.value_loss;
    entropy += more.entropy;
    for (std::size_t f = 0; f < 3; ++f) figures[f] += more.figures[f];
    figures[3] = figures[3] < more.figures[3] ? more.figures[3] : figures[3];
  }
};

class PpoRows {
 public:
  explicit PpoRows(std::size_t actions)
      : shifted_(actions), power_(actions), alone_(actions), probability_(actions) {}
  // Adds rows that share scores and value to `totals`, and to d_scores [A] and d_value the gradient of
  // (policy_loss + vf_coef value_loss - ent_coef entropy) / rows. One exponential a score serves all of them.
  void Add(const PpoCoefficients& c, std::span<const PpoRow> rows, std::span<const float> scores, float value,
           std::span<float> d_scores, float& d_value, PpoTotals& totals);

 private:
  void AddOne(const PpoCoefficients& c, const PpoRow& row, std::span<const float> scores, float value,
              std::span<float> d_scores, float& d_value, PpoTotals& totals);

  std::vector<float> shifted_, power_;         // [A] of rows together
  std::vector<float> alone_, probability_;     // [A] of a row alone
  std::vector<const std::uint8_t*> masks_;     // [rows]
  std::vector<float> sums_, means_, c0_, c1_;  // [rows]
};

}  // namespace berth
