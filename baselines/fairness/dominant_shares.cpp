#include "baselines/fairness/dominant_shares.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
DominantShares::DominantShares(std::vector<double> capacity, std::vector<double> weight)
    : capacity_(std::move(capacity)), left_(capacity_), weight_(std::move(weight)) {
  held_.assign(capacity_.size() * weight_.size(), 0.0);
}

void DominantShares::Take(int tenant, int resource, double amount) {
  held_[U(tenant) * capacity_.size() + U(resource)] += amount;
  left_[U(resource)] -= amount;
}

void DominantShares::Take(int tenant, std::span<const double> demand) {
  BERTH_CHECK(demand.size() == capacity_.size(), demand.size(), " demands, ", capacity_.size(), " resources");
  for (std::size_t r = 0; r < demand.size(); ++r) Take(tenant, static_cast<int>(r), demand[r]);
}

bool DominantShares::Fits(std::span<const double> demand) const {
  return std::equal(demand.begin(), demand.end(), left_.begin(), std::less_equal<>());
}

double DominantShares::Share(int tenant) const {
  double share = 0.0;
  for (std::size_t r = 0; r < capacity_.size(); ++r) {
    if (capacity_[r] > 0.0) share = std::max(share, held_[U(tenant) * capacity_.size() + r] / capacity_[r]);
  }
  return share / weight_[U(tenant)];
}

int DominantShares::Poorest(std::span<const int> candidates) const {
  int poorest = -1;
  for (int tenant : candidates) {
    if (poorest < 0 || Share(tenant) < Share(poorest)) poorest = tenant;
  }
  return poorest;
}

std::vector<int> ProgressiveFilling(std::vector<double> capacity, std::vector<double> weight,
                                    const std::vector<std::vector<double>>& demand) {
  std::vector<int> tasks(demand.size(), 0), all(demand.size());
  std::iota(all.begin(), all.end(), 0);
  for (const auto& one : demand) {
    BERTH_CHECK(std::any_of(one.begin(), one.end(), [](double d) { return d > 0.0; }),
                "a task needs nothing");
  }
  DominantShares shares(std::move(capacity), std::move(weight));
  for (;;) {
    const int tenant = shares.Poorest(all);
    if (tenant < 0 || !shares.Fits(demand[U(tenant)])) return tasks;
    shares.Take(tenant, demand[U(tenant)]);
    ++tasks[U(tenant)];
  }
}

}  // namespace berth
