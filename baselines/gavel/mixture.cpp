#include "baselines/gavel/mixture.hpp"

#include <algorithm>
#include <climits>
#include <cmath>

namespace berth::gavel {
namespace {

constexpr int kLevelColumn = INT_MAX;  // the column of s
constexpr int kMaxPivots = 200;
constexpr double kEntering = 1e-12, kPivot = 1e-11;

}  // namespace

// The first point alone: s is its largest component, the other types have slack.
void Mixture::Start() {
  std::size_t most = 0;
  for (std::size_t j = 1; j < types_; ++j) {
    if (At(0, j) > At(0, most)) most = j;
  }
  basis_.clear();
  for (std::size_t j = 0; j < types_; ++j)
    basis_.push_back(j == most ? kLevelColumn : -1 - static_cast<int>(j));
  basis_.push_back(0);
}

// Rows: sum_k mu_k u_kj + slack_j - s = 0 for every type, sum_k mu_k = 1. The inverse by Gauss and Jordan
// with the largest pivot of a column.
bool Mixture::SolveBasis() {
  const std::size_t n = types_ + 1;
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t c = 0; c < n; ++c) {
    for (std::size_t j = 0; j < types_; ++j) {
      double entry = 0.0;
      if (basis_[c] == kLevelColumn) {
        entry = -1.0;
      } else if (basis_[c] >= 0) {
        entry = At(static_cast<std::size_t>(basis_[c]), j);
      } else if (static_cast<int>(j) == -1 - basis_[c]) {
        entry = 1.0;
      }
      matrix[j * n + c] = entry;
    }
    matrix[types_ * n + c] = basis_[c] >= 0 && basis_[c] != kLevelColumn ? 1.0 : 0.0;
  }
  inverse_.assign(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) inverse_[j * n + j] = 1.0;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::abs(matrix[r * n + c]) > std::abs(matrix[pivot * n + c])) pivot = r;
    }
    const double by = matrix[pivot * n + c];
    if (!(std::abs(by) > kPivot)) return false;
    for (std::size_t k = 0; k < n; ++k) {
      std::swap(matrix[pivot * n + k], matrix[c * n + k]);
      std::swap(inverse_[pivot * n + k], inverse_[c * n + k]);
      matrix[c * n + k] /= by;
      inverse_[c * n + k] /= by;
    }
    for (std::size_t r = 0; r < n; ++r) {
      const double part = matrix[r * n + c];
      if (r == c || part == 0.0) continue;
      for (std::size_t k = 0; k < n; ++k) {
        matrix[r * n + k] -= part * matrix[c * n + k];
        inverse_[r * n + k] -= part * inverse_[c * n + k];
      }
    }
  }
  multiplier_.resize(n);
  for (std::size_t c = 0; c < n; ++c) multiplier_[c] = inverse_[c * n + types_];
  // s alone has a cost: its row of the inverse is the dual.
  const auto level =
      static_cast<std::size_t>(std::find(basis_.begin(), basis_.end(), kLevelColumn) - basis_.begin());
  if (level == n) return false;
  dual_.assign(inverse_.begin() + static_cast<std::ptrdiff_t>(level * n),
               inverse_.begin() + static_cast<std::ptrdiff_t>((level + 1) * n));
  return true;
}

// The column goes in where that leaves no multiplier negative.
bool Mixture::Pivot(int entering) {
  const std::size_t n = types_ + 1;
  std::size_t leaving = n;
  double least = 0.0;
  for (std::size_t c = 0; c < n; ++c) {
    double change = 0.0;
    if (entering >= 0) {
      for (std::size_t j = 0; j < types_; ++j)
        change += inverse_[c * n + j] * At(static_cast<std::size_t>(entering), j);
      change += inverse_[c * n + types_];
    } else {
      change = inverse_[c * n + static_cast<std::size_t>(-1 - entering)];
    }
    if (basis_[c] == kLevelColumn || !(change > kPivot)) continue;
    const double ratio = std::max(0.0, multiplier_[c]) / change;
    if (leaving == n || ratio < least || (ratio == least && basis_[c] < basis_[leaving]))
      least = ratio, leaving = c;
  }
  if (leaving == n) return false;
  basis_[leaving] = entering;
  return SolveBasis();
}

void Mixture::Take() {
  const std::size_t n = types_ + 1;
  std::vector<double> mixed(types_, 0.0);
  double whole = 0.0;
  for (std::size_t c = 0; c < n; ++c) {
    if (basis_[c] < 0 || basis_[c] == kLevelColumn) continue;
    const double part = std::max(0.0, multiplier_[c]);
    whole += part;
    for (std::size_t j = 0; j < types_; ++j) mixed[j] += part * At(static_cast<std::size_t>(basis_[c]), j);
  }
  value_ = *std::max_element(mixed.begin(), mixed.end()) / whole;
  prices_.resize(types_);
  double sum = 0.0;
  for (std::size_t j = 0; j < types_; ++j) sum += prices_[j] = std::max(0.0, -dual_[j]);
  for (double& price : prices_) price /= sum;
}

bool Mixture::Solve() {
  if (points_.size() == types_ || basis_.empty()) Start();
  if (!SolveBasis()) return false;
  const std::size_t count = points_.size() / types_;
  for (int pivot = 0; pivot < kMaxPivots; ++pivot) {
    // Reduced costs: price . point - level for a point, the price itself for a slack.
    int entering = kLevelColumn;
    double least = -kEntering * std::max(1.0, std::abs(dual_[types_]));
    for (std::size_t k = 0; k < count; ++k) {
      double cost = -dual_[types_];
      for (std::size_t j = 0; j < types_; ++j) cost -= dual_[j] * At(k, j);
      if (cost < least) least = cost, entering = static_cast<int>(k);
    }
    for (std::size_t j = 0; j < types_; ++j) {
      if (-dual_[j] < least) least = -dual_[j], entering = -1 - static_cast<int>(j);
    }
    if (entering == kLevelColumn) {
      Take();
      return std::isfinite(value_);
    }
    if (!Pivot(entering)) return false;
  }
  return false;
}

}  // namespace berth::gavel
