#include "baselines/gavel/share_columns.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace berth::gavel {
namespace {

constexpr int kMostIterations = 200;
constexpr double kStepBack = 0.995;  // of the way to the boundary
constexpr double kLeastCentring = 1e-4;
// What is kept for a later start: where the gap is what so many jobs are of all, between two bounds.
constexpr double kKeptJobs = 10.0, kLeastKept = 1e-3, kMostKept = 0.1;

double Length(const ShareValues& at, const ShareValues& step) {
  const auto steepest = [](const Eigen::ArrayXd& a, const Eigen::ArrayXd& d) { return (-d / a).maxCoeff(); };
  const double most = std::max({steepest(at.share, step.share), steepest(at.time, step.time),
                                steepest(at.worth, step.worth), steepest(at.type, step.type)});
  return most > 0.0 ? std::min(1.0 / most, 1e3) : 1e3;
}
void Move(ShareValues& at, const ShareValues& step, double length) {
  at.share += length * step.share, at.time += length * step.time;
  at.worth += length * step.worth, at.type += length * step.type;
}

}  // namespace

ColumnProgram::ColumnProgram(const ShareProgram& program, const ShareColumns& columns, ShareAim aim)
    : program_(program), columns_(columns), aim_(aim), n_(program.classes()), types_(program.types()) {
  const auto k = static_cast<Eigen::Index>(columns.type.size());
  for (ShareValues* values : {&slack_, &price_, &dslack_, &dprice_, &product_}) {
    values->share.setZero(k), values->time.setZero(n_), values->worth.setZero(n_),
        values->type.setZero(types_);
  }
  k_.resize(k), t_.resize(k), centred_.resize(k);
  for (Eigen::ArrayXd* of_class : {&mean_, &one_, &cross_, &two_, &a_, &b_}) of_class->resize(n_);
  schur_.resize(types_ + 1, types_ + 1);
  right_.resize(types_);
}

LpStatus ColumnProgram::Solve(double gap, double time_limit_s, const std::function<double()>& passed) {
  // A start from before is centred first, so that what is kept does not leave the path.
  if (!started_ || !Step(kept_.mu, 1.0)) Start();
  started_ = false;
  kept_ = {};
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    const double left = Gap();
    if (!std::isfinite(left)) return LpStatus::kError;
    if (kept_.columns.type.empty() && left <= KeptGap() * Unit()) {
      kept_ = {columns_, slack_.share, price_.time, price_.worth, price_.type, level_, left / rows_};
    }
    if (left <= gap * Unit()) return LpStatus::kOptimal;
    if (passed() >= time_limit_s) return LpStatus::kTimeLimit;
    if (!Step(left / rows_, kLeastCentring)) return LpStatus::kError;
  }
  return LpStatus::kError;
}

// What the coming or going of a few jobs moves the optimum by: nearer to it a start would be off the path.
double ColumnProgram::KeptGap() const {
  return std::clamp(kKeptJobs / jobs_, kLeastKept, kMostKept);
}

double ColumnProgram::Unit() const {
  if (aim_ == ShareAim::kLogs) return jobs_;
  if (aim_ == ShareAim::kLevel) return std::abs(level_);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < n_; ++i) sum += members(i) * slack_.worth[i];
  return sum;
}

// What the prices of worth are parts of: the sum of members rise price is 1.
double ColumnProgram::Count() {
  double unit = 0.0;
  jobs_ = 0.0;
  rows_ = static_cast<double>(types_);
  for (Eigen::Index i = 0; i < n_; ++i) {
    unit += members(i) * rise(i);
    jobs_ += members(i);
    rows_ += members(i) * static_cast<double>(last(i) - first(i) + (aim_ == ShareAim::kLevel ? 2 : 1));
  }
  return unit;
}

// Inside all bounds, and on all rows: half of what time and GPUs allow, and prices that pay for everything.
void ColumnProgram::Start() {
  const auto each = [this](Eigen::Index i) { return 0.5 / static_cast<double>(last(i) - first(i)); };
  Eigen::ArrayXd used = Eigen::ArrayXd::Zero(types_);
  for (Eigen::Index i = 0; i < n_; ++i) {
    for (Eigen::Index k = first(i); k < last(i); ++k) used[type(k)] += members(i) * gang(i) * each(i);
  }
  const double unit = Count();
  level_ = kLpInfinity;
  // A type without GPUs has no columns, and its row bounds nothing.
  for (Eigen::Index j = 0; j < types_; ++j)
    slack_.type[j] = program_.workers[U(j)] > 0.0 ? program_.workers[U(j)] : 1.0;
  for (Eigen::Index i = 0; i < n_; ++i) {
    slack_.time[i] = 1.0;
    slack_.worth[i] = -program_.least[U(i)];
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      const double share = each(i) * std::min(1.0, 0.5 * program_.workers[U(type(k))] / used[type(k)]);
      slack_.share[k] = share;
      slack_.time[i] -= share;
      slack_.worth[i] += columns_.worth[U(k)] * share;
      slack_.type[type(k)] -= members(i) * gang(i) * share;
    }
    if (aim_ == ShareAim::kLevel) level_ = std::min(level_, slack_.worth[i] / rise(i));
  }
  level_ = aim_ == ShareAim::kLevel ? level_ - 0.1 * std::abs(level_) - 1e-6 : 0.0;
  double most = 0.0;
  for (Eigen::Index i = 0; i < n_; ++i) {
    slack_.worth[i] -= rise(i) * level_;
    price_.worth[i] =
        aim_ == ShareAim::kSum ? 1.0 : 1.0 / (aim_ == ShareAim::kLevel ? unit : slack_.worth[i]);
    double best = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) best = std::max(best, columns_.worth[U(k)]);
    most += members(i) * best * price_.worth[i];
  }
  const double gpus = std::accumulate(program_.workers.begin(), program_.workers.end(), 0.0);
  price_.type = Eigen::ArrayXd::Constant(types_, most / gpus);
  for (Eigen::Index i = 0; i < n_; ++i) {
    const auto cost = [&](Eigen::Index k) {
      return gang(i) * price_.type[type(k)] - columns_.worth[U(k)] * price_.worth[i];
    };
    price_.time[i] = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) price_.time[i] = std::max(price_.time[i], -cost(k));
    price_.time[i] += most / jobs_;
    for (Eigen::Index k = first(i); k < last(i); ++k) price_.share[k] = price_.time[i] + cost(k);
  }
}

// Weak duality: kLevel workers . price + sum members (time price - least price) - c; kLogs the same without
// c, and - sum members (log price + 1) - sum members log u; kSum without either.
double ColumnProgram::Gap() const {
  double sum = (slack_.type * price_.type).sum();
  for (Eigen::Index i = 0; i < n_; ++i) {
    double of_class = slack_.time[i] * price_.time[i];
    const double product = slack_.worth[i] * price_.worth[i];
    if (aim_ != ShareAim::kSum)
      of_class += aim_ == ShareAim::kLevel ? product : product - 1.0 - std::log(product);
    for (Eigen::Index k = first(i); k < last(i); ++k) of_class += slack_.share[k] * price_.share[k];
    sum += members(i) * of_class;
  }
  return sum;
}

// `mu`: the mean of the products that are to be 0.
bool ColumnProgram::Step(double mu, double least_centring) {
  Factorize();
  if (factor_.info() != Eigen::Success) return false;
  const double of_worth = aim_ == ShareAim::kLevel ? 0.0 : 1.0;  // what price u is to be
  product_.share = slack_.share * price_.share, product_.time = slack_.time * price_.time;
  product_.worth = slack_.worth * price_.worth - of_worth, product_.type = slack_.type * price_.type;
  Direction();
  const double rest = 1.0 - std::min({1.0, Length(slack_, dslack_), Length(price_, dprice_)});
  const double centre = std::max(rest * rest * rest, least_centring) * mu;
  product_.share += dslack_.share * dprice_.share - centre;
  product_.time += dslack_.time * dprice_.time - centre;
  product_.worth += dslack_.worth * dprice_.worth - (aim_ == ShareAim::kLevel ? centre : 0.0);
  product_.type += dslack_.type * dprice_.type - centre;
  Direction();
  const double primal = std::min(1.0, kStepBack * Length(slack_, dslack_)),
               dual = std::min(1.0, kStepBack * Length(price_, dprice_));
  Move(slack_, dslack_, primal);
  level_ += primal * dlevel_;
  Move(price_, dprice_, dual);
  return std::isfinite(level_);
}

// The determinant of the class's two equations without share `out`: k_out (1 - k_out ...) in terms that are
// all positive, since one share often has nearly all of the sum.
double ColumnProgram::Without(Eigen::Index i, Eigen::Index out, double r, double a) const {
  double sum = 0.0, moment = 0.0, variance = 0.0;
  for (Eigen::Index k = first(i); k < last(i); ++k) {
    if (k == out) continue;
    sum += k_[k];
    moment += k_[k] * columns_.worth[U(k)];
  }
  if (aim_ == ShareAim::kSum) return sum + r;
  if (sum <= 0.0) return r * a;
  const double mean = moment / sum;
  for (Eigen::Index k = first(i); k < last(i); ++k) {
    const double apart = columns_.worth[U(k)] - mean;
    variance += k == out ? 0.0 : k_[k] * apart * apart;
  }
  return (sum + r) * (variance + a) + sum * r * mean * mean;
}

// Of a class let k be slack over price of its shares and w their worth; r and a the same of its rows of
// time and worth. With w = mean + v, the mean weighted by k, its own two equations are
//   (sum k + r) t' + r mean l = A,   r mean t' + (sum k v^2 + a + r mean^2) l = B,   t = t' - mean l,
// of positive terms all, and share j answers to type prices with -k_j and to these with -k_j (t' - v_j l).
void ColumnProgram::Factorize() {
  schur_.setZero();
  for (Eigen::Index i = 0; i < n_; ++i) {
    double sum = 0.0, first_moment = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      k_[k] = slack_.share[k] / price_.share[k];
      sum += k_[k];
      first_moment += k_[k] * columns_.worth[U(k)];
    }
    const double mean = mean_[i] = first_moment / sum;
    double variance = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      centred_[k] = columns_.worth[U(k)] - mean;
      variance += k_[k] * centred_[k] * centred_[k];
    }
    const double r = slack_.time[i] / price_.time[i], a = slack_.worth[i] / price_.worth[i];
    // The inverse of its two equations, or of the first where the second has nothing to decide.
    const bool both_open = aim_ != ShareAim::kSum;
    const double over = 1.0 / (both_open ? (sum + r) * (variance + a) + sum * r * mean * mean : sum + r);
    one_[i] = both_open ? (variance + a + r * mean * mean) * over : over;
    cross_[i] = both_open ? -r * mean * over : 0.0;
    two_[i] = both_open ? (sum + r) * over : 0.0;
    const double load = members(i) * gang(i);
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      const double by_time = one_[i] - cross_[i] * centred_[k], by_level = cross_[i] - two_[i] * centred_[k];
      schur_(type(k), type(k)) += load * gang(i) * k_[k] * over * Without(i, k, r, a);
      for (Eigen::Index l = first(i); l < k; ++l) {
        const double both = k_[k] * k_[l] * (by_time - by_level * centred_[l]);
        schur_(std::max(type(k), type(l)), std::min(type(k), type(l))) -= load * gang(i) * both;
      }
      // To the level, which stands in the second equation with `rise`.
      schur_(types_, type(k)) += load * rise(i) * k_[k] * by_level;
    }
    schur_(types_, types_) -= members(i) * rise(i) * rise(i) * two_[i];
  }
  for (Eigen::Index j = 0; j < types_; ++j) schur_(j, j) += slack_.type[j] / price_.type[j];
  const Eigen::ArrayXd diagonal = schur_.diagonal().head(types_);
  factor_.compute(schur_.topLeftCorner(types_, types_));
  for (double part = 1e-13; factor_.info() != Eigen::Success && part < 1e-6; part *= 10.0) {
    schur_.diagonal().head(types_) = (diagonal * (1.0 + part)).matrix();
    factor_.compute(schur_.topLeftCorner(types_, types_));
  }
  border_ = schur_.row(types_).head(types_).transpose();
  by_border_ = factor_.solve(border_);
  corner_ = schur_(types_, types_) - border_.dot(by_border_);
}

// slack dprice + price dslack = -product, and all rows stay as they are.
void ColumnProgram::Direction() {
  right_.setZero();
  for (Eigen::Index j = 0; j < types_; ++j) right_[j] = -product_.type[j] / price_.type[j];
  double of_level = 0.0;
  for (Eigen::Index i = 0; i < n_; ++i) {
    double sum = 0.0, spread = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      t_[k] = -product_.share[k] / slack_.share[k];
      sum += k_[k] * t_[k];
      spread += k_[k] * centred_[k] * t_[k];
    }
    const double time = product_.time[i] / price_.time[i], worth = product_.worth[i] / price_.worth[i];
    a_[i] = sum - time;
    b_[i] = -spread - worth - mean_[i] * time;
    const double dt = one_[i] * a_[i] + cross_[i] * b_[i], dl = cross_[i] * a_[i] + two_[i] * b_[i];
    const double load = members(i) * gang(i);
    for (Eigen::Index k = first(i); k < last(i); ++k)
      right_[type(k)] += load * k_[k] * (t_[k] - dt + centred_[k] * dl);
    of_level += members(i) * rise(i) * dl;
  }
  dprice_.type = factor_.solve(right_).array();
  dlevel_ = aim_ != ShareAim::kLevel ? 0.0 : (of_level - border_.dot(dprice_.type.matrix())) / corner_;
  dprice_.type -= dlevel_ * by_border_.array();
  dslack_.type.setZero();
  for (Eigen::Index i = 0; i < n_; ++i) {
    double sum = 0.0, spread = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      const double dp = gang(i) * dprice_.type[type(k)];
      t_[k] -= dp;
      sum += k_[k] * dp;
      spread += k_[k] * centred_[k] * dp;
    }
    const double a = a_[i] - sum, b = b_[i] + spread + rise(i) * dlevel_;
    const double dt = one_[i] * a + cross_[i] * b, dl = cross_[i] * a + two_[i] * b;
    dprice_.time[i] = dt + mean_[i] * dl;
    dprice_.worth[i] = dl;
    double time = 0.0, worth = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      const double share = dslack_.share[k] = k_[k] * (t_[k] - dt + centred_[k] * dl);
      dprice_.share[k] = dt + gang(i) * dprice_.type[type(k)] - centred_[k] * dl;
      time += share;
      worth += columns_.worth[U(k)] * share;
      dslack_.type[type(k)] -= members(i) * gang(i) * share;
    }
    dslack_.time[i] = -time;
    dslack_.worth[i] = worth - rise(i) * dlevel_;
  }
}

}  // namespace berth::gavel
