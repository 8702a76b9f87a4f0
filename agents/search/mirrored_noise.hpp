// An evolution strategy for many numbers, such as a network's weights: the gradient of the cost is estimated
// from pairs of points with mirrored noise on all numbers (Salimans et al. 2017, arXiv:1703.03864), and
// followed by Adam (Kingma and Ba 2015). What a policy gradient loses in the noise of arrivals is the same
// for all points of a generation and drops out; noise on the weights changes every decision of a run in one
// direction, while noise on actions averages out over thousands of them.
//
// Ask gives the points of the pairs, one after the other, and the centre last, whose value Tell gives back.
// A point without a cost on a workload counts there as one that is as bad as its mirror.
#pragma once

#include "agents/search/optimiser.hpp"
#include "env/base/rng.hpp"

namespace berth::search {

struct MirroredNoiseSettings {
  double step = 0.1;            // standard deviation of the noise, in scales
  double learning_rate = 0.05;  // of Adam, in scales; falls with the budget, linearly to a tenth of it
  int population = 32;          // points of pairs; even
};

class MirroredNoise final : public Optimiser {
 public:
  MirroredNoise(const Space& space, const MirroredNoiseSettings& settings, std::uint64_t seed);

  const std::vector<std::vector<double>>& Ask() override;
  double Tell(const Costs& costs, double spent) override;
  std::vector<double> mean() const override;
  double step() const override { return settings_.step; }
  std::vector<double> State() const override;
  void Restore(std::span<const double> state) override;

 private:
  std::vector<double> Gradient(const Costs& costs) const;
  void Descend(std::span<const double> gradient, double rate);

  MirroredNoiseSettings settings_;
  std::vector<double> scales_;                  // [n]
  std::vector<double> center_, mean_, square_;  // [n] in scales; Adam's moments
  int steps_ = 0;
  Stream stream_;
  std::vector<std::vector<float>> noise_;    // [pairs][n]
  std::vector<std::vector<double>> points_;  // [2 pairs + 1][n]
};

}  // namespace berth::search
