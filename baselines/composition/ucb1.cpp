#include "baselines/composition/ucb1.hpp"

#include <cmath>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth {

int Ucb1::Choose() const {
  int best = 0;
  double greatest = -1.0;
  for (std::size_t arm = 0; arm < count_.size(); ++arm) {
    if (count_[arm] == 0) return static_cast<int>(arm);
    const double bound = sum_[arm] / count_[arm] + std::sqrt(2.0 * Log(plays_) / count_[arm]);
    if (bound > greatest) greatest = bound, best = static_cast<int>(arm);
  }
  return best;
}

void Ucb1::Reward(int arm, double reward) {
  BERTH_CHECK(reward >= 0.0 && reward <= 1.0, "reward ", reward);
  sum_[static_cast<std::size_t>(arm)] += reward;
  ++count_[static_cast<std::size_t>(arm)];
  ++plays_;
}

}  // namespace berth
