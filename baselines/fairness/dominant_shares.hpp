// Dominant resource fairness (Ghodsi et al., NSDI 2011): progressive filling of tenants' dominant shares.
#pragma once

#include <span>
#include <vector>

namespace berth {

// What each of several tenants holds of several resources. Sizes: R resources, N tenants.
class DominantShares {
 public:
  // `capacity` [R] > 0; `weight` [N] > 0.
  DominantShares(std::vector<double> capacity, std::vector<double> weight);
  void Take(int tenant, std::span<const double> demand);  // [R]
  void Take(int tenant, int resource, double amount);
  bool Fits(std::span<const double> demand) const;
  double Share(int tenant) const;  // max over resources of held / capacity, over the weight
  double left(int resource) const { return left_[static_cast<std::size_t>(resource)]; }
  // The least share among `candidates` (indices of tenants), the first on ties; -1 when there is none.
  int Poorest(std::span<const int> candidates) const;

 private:
  std::vector<double> capacity_, left_;  // [R]
  std::vector<double> weight_;           // [N]
  std::vector<double> held_;             // [N, R]
};

// Algorithm 1 of the paper: tasks of tenant i need demand[i] [R] each, of which there are as many as one
// likes; the poorest tenant takes one after another until its next does not fit. [N] tasks taken.
std::vector<int> ProgressiveFilling(std::vector<double> capacity, std::vector<double> weight,
                                    const std::vector<std::vector<double>>& demand);

}  // namespace berth
