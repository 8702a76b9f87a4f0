#include "agents/search/mirrored_noise.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::search {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.99;  // of Adam

}  // namespace

MirroredNoise::MirroredNoise(const Space& space, const MirroredNoiseSettings& settings, std::uint64_t seed)
    : settings_(settings), scales_(space.scales), stream_(seed, Purpose::kExplore) {
  const int population = settings.population;
  BERTH_CHECK(population >= 2 && population % 2 == 0, "a population of ", population);
  const std::size_t n = space.start.size();
  for (std::size_t i = 0; i < n; ++i) center_.push_back(space.start[i] / scales_[i]);
  mean_.resize(n);
  square_.resize(n);
  noise_.assign(U(population / 2), std::vector<float>(n));
  points_.assign(U(population + 1), std::vector<double>(n));
}

const std::vector<std::vector<double>>& MirroredNoise::Ask() {
  for (std::size_t pair = 0; pair < noise_.size(); ++pair) {
    for (float& value : noise_[pair]) value = static_cast<float>(stream_.Normal());
    for (std::size_t i = 0; i < center_.size(); ++i) {
      points_[2 * pair][i] = (center_[i] + settings_.step * noise_[pair][i]) * scales_[i];
      points_[2 * pair + 1][i] = (center_[i] + -settings_.step * noise_[pair][i]) * scales_[i];
    }
  }
  points_.back() = mean();
  return points_;
}

double MirroredNoise::Tell(const Costs& costs, double spent) {
  BERTH_CHECK(costs.of.size() == points_.size(), "a row a point");
  const double value = Values({{costs.of.back()}, costs.reference, 0, costs.may_be_none})[0];
  Descend(Gradient(costs), settings_.learning_rate * (1.0 - 0.9 * spent));
  return value;
}

// The estimate up to a factor, which Adam does not see: the differences in units of their root mean square.
std::vector<double> MirroredNoise::Gradient(const Costs& costs) const {
  std::vector<double> differences;  // [pairs] mean over workloads of what it costs more than its mirror
  double square = 0.0;
  for (std::size_t pair = 0; pair < noise_.size(); ++pair) {
    const std::vector<double>&one = costs.of[2 * pair], &mirror = costs.of[2 * pair + 1];
    double sum = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double difference = costs.More(one[i], mirror[i]);
      if (!std::isnan(difference)) sum += difference / static_cast<double>(one.size());
    }
    differences.push_back(sum);
    square += sum * sum;
  }
  const double unit = std::sqrt(square / static_cast<double>(differences.size())) + 1e-12;
  std::vector<double> gradient(center_.size(), 0.0);
  for (std::size_t pair = 0; pair < noise_.size(); ++pair) {
    const double factor = differences[pair] / unit / static_cast<double>(noise_.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += factor * noise_[pair][i];
  }
  return gradient;
}

// One step of Adam.
void MirroredNoise::Descend(std::span<const double> gradient, double rate) {
  ++steps_;
  const double debias_mean = 1.0 - std::pow(kBeta1, steps_), debias_square = 1.0 - std::pow(kBeta2, steps_);
  for (std::size_t i = 0; i < center_.size(); ++i) {
    mean_[i] = kBeta1 * mean_[i] + (1.0 - kBeta1) * gradient[i];
    square_[i] = kBeta2 * square_[i] + (1.0 - kBeta2) * gradient[i] * gradient[i];
    center_[i] -= rate * (mean_[i] / debias_mean) / (std::sqrt(square_[i] / debias_square) + 1e-8);
  }
}

std::vector<double> MirroredNoise::mean() const {
  std::vector<double> point = center_;
  for (std::size_t i = 0; i < point.size(); ++i) point[i] *= scales_[i];
  return point;
}

std::vector<double> MirroredNoise::State() const {
  std::vector<double> state{static_cast<double>(steps_), static_cast<double>(stream_.position())};
  for (const std::vector<double>* part : {&center_, &mean_, &square_})
    state.insert(state.end(), part->begin(), part->end());
  return state;
}

void MirroredNoise::Restore(std::span<const double> state) {
  const std::size_t n = center_.size();
  BERTH_CHECK(state.size() == 2 + 3 * n, state.size(), " numbers");
  steps_ = static_cast<int>(Counter(state[0], 1e9));
  stream_.Seek(Counter(state[1], 9e15));
  const double* from = state.data() + 2;
  for (std::vector<double>* part : {&center_, &mean_, &square_}) {
    std::copy(from, from + n, part->begin());
    from += n;
  }
}

}  // namespace berth::search
