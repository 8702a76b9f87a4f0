// CMA-ES: the (mu/mu_w, lambda) evolution strategy with covariance matrix adaptation, as in Hansen, "The CMA
// Evolution Strategy: A Tutorial", arXiv:1604.00772, Figure 6, with its default settings (Table 1, positive
// weights). Minimises; only the order of the values matters.
//
//   CmaEs search({start, scales}, /*seed=*/0);
//   while (...) { points = search.Ask(); values = ...; search.Tell(values); }
//   search.mean();
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "agents/search/optimiser.hpp"
#include "env/base/rng.hpp"

namespace berth::search {

class CmaEs final : public Optimiser {
 public:
  static constexpr int kLeastPopulation = 4;  // of fewer one is the better half: nothing recombines

  // Coordinate i starts at start[i] with standard deviation scales[i]. population 0 = 4 + 3 ln n, else
  // REQUIRES at least kLeastPopulation.
  CmaEs(const Space& space, std::uint64_t seed, int population = 0);

  const std::vector<std::vector<double>>& Ask() override;
  // values[k] is of the k-th point of the last Ask; NaN counts as the worst. Where all are NaN the order of
  // the points would be chance: the search stays where it is.
  void Tell(std::span<const double> values);
  double Tell(const Costs& costs, double spent) override;  // the best value, NaN of none

  std::vector<double> mean() const override;
  double step() const override { return sigma_; }  // overall, in units of `scales`
  std::vector<double> State() const override;
  void Restore(std::span<const double> state) override;

 private:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::MatrixXd;
  void Decompose();

  Vector scales_, mean_, path_c_, path_sigma_, weights_, axis_;  // axis_: square roots of C's eigenvalues
  Matrix covariance_, basis_, sample_;  // basis_: eigenvectors; sample_: y_k, by column
  double sigma_ = 1.0, mu_eff_, c_c_, c_sigma_, c_1_, c_mu_, damping_, expected_norm_;
  int generation_ = 0;
  Stream stream_;
  std::vector<std::vector<double>> points_;
};

}  // namespace berth::search
