// A point inside of a program, near the path of one like it (share_columns.hpp).
#include <algorithm>

#include "baselines/gavel/share_columns.hpp"

namespace berth::gavel {
namespace {

constexpr double kJoining = 1e-3;    // of time, a share that was not there before
constexpr double kMostNew = 0.9;     // of time, that a new class may have at first
constexpr double kOffPath = 0.25;    // what a type leaves, of what the path leaves of it, and the other way
constexpr double kMostMoved = 0.02;  // of a type's GPUs

}  // namespace

bool ColumnProgram::StartFrom(const ShareStart& before, std::span<const int> its_class) {
  Count();
  double mu = before.mu;
  price_.type = before.type_price;
  Eigen::ArrayXd room = Eigen::ArrayXd::Constant(n_, 0.5 * (1.0 - kMostNew));
  for (Eigen::Index i = 0; i < n_; ++i) TakeBefore(before, its_class[U(i)], i, room[i]);
  if (aim_ == ShareAim::kLevel) {
    double sum = 0.0;
    for (Eigen::Index i = 0; i < n_; ++i) sum += members(i) * rise(i) * price_.worth[i];
    mu /= sum, price_.type /= sum, price_.time /= sum, price_.worth /= sum;
    MeetLevel(mu);
  }
  FitTypes(mu, room);
  PriceAll(mu);
  const auto inside = [](const ShareValues& at) {
    return at.share.minCoeff() > 0.0 && at.time.minCoeff() > 0.0 && at.worth.minCoeff() > 0.0 &&
           at.type.minCoeff() > 0.0;
  };
  kept_.mu = mu;
  return started_ = inside(slack_) && inside(price_);
}

double ColumnProgram::WorthOf(Eigen::Index i) const {
  double worth = -program_.least[U(i)];
  for (Eigen::Index k = first(i); k < last(i); ++k) worth += columns_.worth[U(k)] * slack_.share[k];
  return worth;
}

// Shares and prices that a class had; of a new one what it would take of the type where it is best off.
void ColumnProgram::TakeBefore(const ShareStart& before, int old, Eigen::Index i, double& room) {
  const auto gpus = [&](Eigen::Index k) { return gang(i) * price_.type[type(k)]; };
  const auto worth = [&](Eigen::Index k) { return columns_.worth[U(k)]; };
  Eigen::Index best = first(i);
  for (Eigen::Index k = first(i); k < last(i); ++k) {
    slack_.share[k] = kJoining;
    if (worth(k) * gpus(best) > worth(best) * gpus(k)) best = k;
  }
  if (old < 0) {
    double wanted = 1.0 / gpus(best);
    if (aim_ == ShareAim::kLevel) wanted = before.level * rise(i) / worth(best);
    if (aim_ == ShareAim::kSum) wanted = worth(best) > gpus(best) ? 1.0 : 0.0;
    slack_.share[best] = std::clamp(wanted, kJoining, kMostNew);
    price_.worth[i] = aim_ == ShareAim::kLevel ? gpus(best) / worth(best) : 1.0;
    price_.time[i] = kLpInfinity;
    return;
  }
  double left = 1.0;
  for (std::size_t b = before.columns.begin[U(old)]; b < before.columns.begin[U(old) + 1]; ++b) {
    const double share = before.share[static_cast<Eigen::Index>(b)];
    left -= share;
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      if (type(k) == before.columns.type[b]) slack_.share[k] = share;
    }
  }
  room = 0.5 * left;
  price_.time[i] = before.time_price[old], price_.worth[i] = before.worth_price[old];
}

// Everyone with a price of weight to where the path has its row: above the level that they have on average.
void ColumnProgram::MeetLevel(double mu) {
  double level = 0.0;
  for (Eigen::Index i = 0; i < n_; ++i) level += members(i) * price_.worth[i] * WorthOf(i);
  for (Eigen::Index i = 0; i < n_; ++i) {
    if (price_.worth[i] * level <= mu) continue;
    const double least = program_.least[U(i)];
    const double by = (rise(i) * level + mu / price_.worth[i] + least) / (WorthOf(i) + least);
    for (Eigen::Index k = first(i); k < last(i); ++k) slack_.share[k] *= std::clamp(by, 0.5, 2.0);
  }
}

// Shares of a type so much larger or smaller that they leave what the path leaves of it; of time `room`
// stays.
void ColumnProgram::FitTypes(double mu, const Eigen::ArrayXd& room) {
  Eigen::ArrayXd used = Eigen::ArrayXd::Zero(types_), scale = Eigen::ArrayXd::Ones(types_);
  for (Eigen::Index i = 0; i < n_; ++i) {
    for (Eigen::Index k = first(i); k < last(i); ++k) used[type(k)] += members(i) * gang(i) * slack_.share[k];
  }
  for (Eigen::Index j = 0; j < types_; ++j) {
    slack_.type[j] = program_.workers[U(j)] > 0.0 ? program_.workers[U(j)] : 1.0;
    const double gpus = slack_.type[j], left = gpus - used[j];
    const double path = mu / price_.type[j], least = std::min(path, kMostMoved * gpus);
    if (left < kOffPath * least) scale[j] = (gpus - least) / used[j];
    if (kOffPath * left > path) scale[j] = std::min((gpus - path) / used[j], 1.0 + kMostMoved);
  }
  level_ = aim_ == ShareAim::kLevel ? kLpInfinity : 0.0;
  for (Eigen::Index i = 0; i < n_; ++i) {
    double time = 0.0;
    for (Eigen::Index k = first(i); k < last(i); ++k) time += slack_.share[k] *= scale[type(k)];
    const double by = std::min(1.0, (1.0 - room[i]) / time);
    for (Eigen::Index k = first(i); k < last(i); ++k) {
      slack_.share[k] *= by;
      slack_.type[type(k)] -= members(i) * gang(i) * slack_.share[k];
    }
    slack_.time[i] = 1.0 - by * time;
    slack_.worth[i] = WorthOf(i);
    if (aim_ == ShareAim::kLevel) level_ = std::min(level_, slack_.worth[i] / rise(i) - mu * jobs_);
  }
  for (Eigen::Index i = 0; i < n_; ++i) slack_.worth[i] -= rise(i) * level_;
}

// No price below what the path has, and of time so much that no share costs less than it is worth.
void ColumnProgram::PriceAll(double mu) {
  price_.type = price_.type.max(0.1 * mu / slack_.type);
  for (Eigen::Index i = 0; i < n_; ++i) {
    if (aim_ == ShareAim::kLogs) price_.worth[i] = 1.0 / slack_.worth[i];
    const auto gain = [&](Eigen::Index k) {
      return columns_.worth[U(k)] * price_.worth[i] - gang(i) * price_.type[type(k)];
    };
    double time = std::min(price_.time[i], 2.0 * mu / slack_.time[i]);
    for (Eigen::Index k = first(i); k < last(i); ++k)
      time = std::max(time, gain(k) + 0.5 * mu / slack_.share[k]);
    price_.time[i] = time;
    for (Eigen::Index k = first(i); k < last(i); ++k) price_.share[k] = time - gain(k);
  }
}

}  // namespace berth::gavel
