#include "agents/search/cma_es.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/check.hpp"

namespace berth::search {

CmaEs::CmaEs(const Space& space, std::uint64_t seed, int population) : stream_(seed, Purpose::kScheduler) {
  const auto& [start, scales] = space;
  BERTH_CHECK(start.size() == scales.size() && !start.empty(), "start and scales of one size");
  const auto n = static_cast<Eigen::Index>(start.size());
  const double dim = static_cast<double>(n);
  BERTH_CHECK(population == 0 || population >= kLeastPopulation, "a population of ", population);
  const int lambda = population > 0 ? population : 4 + static_cast<int>(3.0 * std::log(dim));
  const int mu = lambda / 2;
  scales_ = Eigen::Map<const Vector>(scales.data(), n);
  mean_ = Eigen::Map<const Vector>(start.data(), n).cwiseQuotient(scales_);
  // Eq. 49, 53: logarithmic weights of the better half.
  weights_.resize(mu);
  for (int i = 0; i < mu; ++i) weights_[i] = std::log((lambda + 1) / 2.0) - std::log(i + 1.0);
  weights_ /= weights_.sum();
  mu_eff_ = 1.0 / weights_.squaredNorm();  // eq. 8
  // Eq. 55-58.
  c_sigma_ = (mu_eff_ + 2.0) / (dim + mu_eff_ + 5.0);
  damping_ = 1.0 + 2.0 * std::max(0.0, std::sqrt((mu_eff_ - 1.0) / (dim + 1.0)) - 1.0) + c_sigma_;
  c_c_ = (4.0 + mu_eff_ / dim) / (dim + 4.0 + 2.0 * mu_eff_ / dim);
  c_1_ = 2.0 / ((dim + 1.3) * (dim + 1.3) + mu_eff_);
  c_mu_ = std::min(1.0 - c_1_, 2.0 * (mu_eff_ - 2.0 + 1.0 / mu_eff_) / ((dim + 2.0) * (dim + 2.0) + mu_eff_));
  expected_norm_ = std::sqrt(dim) * (1.0 - 1.0 / (4.0 * dim) + 1.0 / (21.0 * dim * dim));
  path_c_ = path_sigma_ = Vector::Zero(n);
  covariance_ = Matrix::Identity(n, n);
  sample_.resize(n, lambda);
  points_.assign(static_cast<std::size_t>(lambda), std::vector<double>(start.size()));
  Decompose();
}

const std::vector<std::vector<double>>& CmaEs::Ask() {
  Vector z(mean_.size());
  for (Eigen::Index k = 0; k < sample_.cols(); ++k) {
    for (double& draw : z) draw = stream_.Normal();
    sample_.col(k) = basis_ * axis_.cwiseProduct(z);  // eq. 38, 39
    const Vector point = (mean_ + sigma_ * sample_.col(k)).cwiseProduct(scales_);
    std::copy(point.begin(), point.end(), points_[static_cast<std::size_t>(k)].begin());
  }
  return points_;
}

void CmaEs::Tell(std::span<const double> values) {
  BERTH_CHECK(values.size() == points_.size(), "a value a point");
  if (std::all_of(values.begin(), values.end(), [](double v) { return std::isnan(v); })) return;
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](int k) {
    const double v = values[static_cast<std::size_t>(k)];
    return std::isnan(v) ? HUGE_VAL : v;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });

  Vector step = Vector::Zero(mean_.size());
  Matrix rank_mu = Matrix::Zero(mean_.size(), mean_.size());
  for (Eigen::Index i = 0; i < weights_.size(); ++i) {
    const Vector y = sample_.col(order[static_cast<std::size_t>(i)]);
    step += weights_[i] * y;
    rank_mu += weights_[i] * y * y.transpose();
  }
  mean_ += sigma_ * step;  // eq. 42
  ++generation_;

  const Vector whitened = basis_ * (basis_.transpose() * step).cwiseQuotient(axis_);
  path_sigma_ = (1.0 - c_sigma_) * path_sigma_ + std::sqrt(c_sigma_ * (2.0 - c_sigma_) * mu_eff_) * whitened;
  const double norm = path_sigma_.norm();  // eq. 43
  const double dim = static_cast<double>(mean_.size());
  const double unbiased = norm / std::sqrt(1.0 - std::pow(1.0 - c_sigma_, 2.0 * generation_));
  const bool moves = unbiased < (1.4 + 2.0 / (dim + 1.0)) * expected_norm_;  // h_sigma
  path_c_ *= 1.0 - c_c_;                                                     // eq. 45
  if (moves) path_c_ += std::sqrt(c_c_ * (2.0 - c_c_) * mu_eff_) * step;
  const double missing = moves ? 0.0 : c_1_ * c_c_ * (2.0 - c_c_);
  covariance_ *= 1.0 + missing - c_1_ - c_mu_;  // eq. 47
  covariance_ += c_1_ * path_c_ * path_c_.transpose() + c_mu_ * rank_mu;
  sigma_ *= std::exp(c_sigma_ / damping_ * (norm / expected_norm_ - 1.0));  // eq. 44
  Decompose();
}

double CmaEs::Tell(const Costs& costs, double /*spent*/) {
  const std::vector<double> values = Values(costs);
  Tell(values);
  double best = std::nan("");
  for (const double value : values) best = std::fmin(best, value);
  return best;
}

std::vector<double> CmaEs::State() const {
  std::vector<double> state{sigma_, static_cast<double>(generation_),
                            static_cast<double>(stream_.position())};
  for (const Vector* part : {&mean_, &path_c_, &path_sigma_})
    state.insert(state.end(), part->begin(), part->end());
  state.insert(state.end(), covariance_.data(), covariance_.data() + covariance_.size());
  return state;
}

void CmaEs::Restore(std::span<const double> state) {
  const Eigen::Index n = mean_.size();
  BERTH_CHECK(static_cast<Eigen::Index>(state.size()) == 3 + 3 * n + n * n, state.size(), " numbers");
  sigma_ = state[0];
  generation_ = static_cast<int>(Counter(state[1], 1e9));
  stream_.Seek(Counter(state[2], 9e15));
  const double* from = state.data() + 3;
  for (Vector* part : {&mean_, &path_c_, &path_sigma_}) {
    *part = Eigen::Map<const Vector>(from, n);
    from += n;
  }
  covariance_ = Eigen::Map<const Matrix>(from, n, n);
  Decompose();
}

std::vector<double> CmaEs::mean() const {
  const Vector point = mean_.cwiseProduct(scales_);
  return {point.begin(), point.end()};
}

void CmaEs::Decompose() {
  covariance_ = 0.5 * (covariance_ + covariance_.transpose().eval());
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(covariance_);
  basis_ = solver.eigenvectors();
  axis_ = solver.eigenvalues().cwiseMax(1e-20).cwiseSqrt();
}

}  // namespace berth::search
