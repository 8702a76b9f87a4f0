#include "tools/validation_budget.hpp"

#include <algorithm>

namespace berth {

bool ValidationBudget::WantsPlan(double wall_s, double fraction) const {
  if (fraction <= 0.0 || wall_s / fraction < kShortest) return false;
  return !planned_ || (workloads_ == 0 && fraction >= 1.0);
}

void ValidationBudget::Plan(double wall_s, double fraction, double run_s) {
  planned_ = true;
  run_s_ = run_s;
  const double runs = (kShare * wall_s / fraction - spent_s_) / run_s;  // that there is time for
  workloads_ = runs < kFewest * (2 + baselines_)
                   ? 0
                   : static_cast<int>(std::clamp<double>(runs / (2 * kTimes + baselines_), kFewest, kMost));
}

double ValidationBudget::Cost(bool first) const {
  return run_s_ * workloads_ * (first ? 2 + baselines_ : 2);
}

bool ValidationBudget::Affords(double wall_s, double fraction) const {
  if (workloads_ == 0 || fraction <= 0.0) return false;
  if (fraction >= 1.0) return true;  // the others left it its time
  const double now = spent_s_ + Cost(!any_);
  return now <= kShare * wall_s && now + Cost(false) <= kShare * wall_s / fraction;
}

void ValidationBudget::Spend(double seconds, bool validation) {
  spent_s_ += seconds;
  any_ = any_ || validation;
}

}  // namespace berth
