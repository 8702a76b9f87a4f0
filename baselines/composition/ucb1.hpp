// UCB1 (Auer, Cesa-Bianchi & Fischer 2002, Figure 1): each arm once, then the one with the greatest
// mean + sqrt(2 ln n / n_arm). Deterministic: ties go to the first. Rewards lie in [0, 1].
#pragma once

#include <vector>

namespace berth {

class Ucb1 {
 public:
  explicit Ucb1(int arms) : sum_(static_cast<std::size_t>(arms), 0.0), count_(sum_.size(), 0) {}
  int Choose() const;
  void Reward(int arm, double reward);
  int plays(int arm) const { return count_[static_cast<std::size_t>(arm)]; }

 private:
  std::vector<double> sum_;
  std::vector<int> count_;
  int plays_ = 0;
};

}  // namespace berth
