#include "baselines/gavel/least_ratio.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "baselines/gavel/share_system.hpp"

namespace berth::gavel {
namespace {

using Array = Eigen::ArrayXd;

constexpr int kMaxIterations = 80;
constexpr double kStepBack = 0.995;
constexpr double kProveBelow = 1e-1;   // of the ratio: the gap from which on bounds are worked out
constexpr double kRefineBelow = 1e-3;  // likewise, systems solved to the last digits
constexpr double kRounding = 1e-12;    // of the ratio

std::size_t U(Eigen::Index i) {
  return static_cast<std::size_t>(i);
}

// Columns are shares and c = -rho; rows as share_system.hpp.
class RatioSearch {
 public:
  RatioSearch(const Problem& problem, std::span<const double> alone, std::span<const double> since)
      : alone_(alone), since_(since), n_(problem.jobs()), types_(problem.types()), shares_(n_ * types_) {
    program_.workers.assign(problem.workers.begin(), problem.workers.end());
    program_.members.assign(U(n_), 1.0);
    program_.gang.assign(problem.gang.begin(), problem.gang.end());
    program_.worth.resize(U(shares_));
    for (int i = 0; i < problem.jobs(); ++i) {
      for (int j = 0; j < problem.types(); ++j) {
        program_.worth[program_.at(j, i)] = problem.throughput[problem.at(i, j)] / problem.remaining[U(i)];
      }
    }
    program_.least.assign(U(n_), 0.0);
    program_.rise.assign(U(n_), 1.0);
    for (Eigen::Index i = 0; i < n_; ++i) floor_ = std::max(floor_, since[U(i)] / alone[U(i)]);
    system_ = ShareSystem::Make(program_);
    rows_ = static_cast<Eigen::Index>(system_->rows());
    for (Array* array : {&x_, &rx_, &bx_, &dx_}) array->resize(shares_ + 1);
    for (Array* array : {&s_, &z_, &rz_, &bz_, &dz_, &ds_, &sz_, &w2_}) array->resize(rows_);
    need_.resize(n_);
    z_.setZero();
  }

  LpStatus Run(const EnoughRatio& enough, double time_limit_s, Allocation& best, RatioBounds& bounds) {
    const auto begin = std::chrono::steady_clock::now();
    if (!Start(best, bounds.reached)) return LpStatus::kError;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= time_limit_s)
        return LpStatus::kTimeLimit;
      Linearize();
      const double product = (s_ * z_).sum();
      refine_ = product <= kRefineBelow * -x_[shares_];
      if (product <= kProveBelow * -x_[shares_]) {
        Improve(best, bounds);
        if (enough(bounds)) return LpStatus::kOptimal;
      }
      if (!(product > 1e-15 * -x_[shares_]) || !Step(product / static_cast<double>(rows_))) break;
    }
    return LpStatus::kError;
  }

 private:
  double Spare(Eigen::Index i, double rho) const { return rho * alone_[U(i)] - since_[U(i)]; }

  // Inside: the given shares less a tenth, a ratio above what they reach.
  bool Start(const Allocation& best, double reached) {
    for (Eigen::Index i = 0; i < n_; ++i) {
      for (Eigen::Index j = 0; j < types_; ++j) x_[j * n_ + i] = 0.9 * best[U(i * types_ + j)];
    }
    x_[shares_] = -(floor_ + 1.3 * (reached - floor_) + 1e-9 * reached);
    // An empty share has no slack: some of the time that is left over.
    for (Eigen::Index k = 0; k < shares_; ++k) x_[k] = std::max(x_[k], 1e-4);
    Linearize();
    s_ = Slack().max(1e-3);
    for (Eigen::Index i = 0; i < n_; ++i)
      s_[shares_ + n_ + i] = std::max(s_[shares_ + n_ + i], 1e-3 * need_[i]);
    // Prices: those of least s z with G' z = e_c, moved inside (Mehrotra 1992, §7, in the metric of s).
    w2_ = s_.square();
    if (!system_->Factorize(w2_.data(), 0.0)) return false;
    bx_.setZero();
    bx_[shares_] = 1.0;
    rz_.setZero();
    system_->Solve(bx_.data(), rz_.data(), dx_.data(), dz_.data(), refine_);
    sz_ = dz_ * s_;
    sz_ += std::max(0.0, -1.5 * sz_.minCoeff());
    sz_ += 0.5 * sz_.mean();
    z_ = sz_ / s_;
    return std::isfinite(z_.sum()) && z_.minCoeff() > 0.0;
  }

  // Slack of every row at x, negative where it is broken.
  const Array& Slack() {
    const double c = x_[shares_];
    x_[shares_] = 0.0;
    system_->Multiply(x_.data(), bz_.data());
    x_[shares_] = c;
    bz_ = -bz_;
    bz_.segment(shares_, n_) += 1.0;
    bz_.segment(shares_ + n_, n_) -= need_;
    for (Eigen::Index j = 0; j < types_; ++j) bz_[shares_ + 2 * n_ + j] += program_.workers[U(j)];
    return bz_;
  }

  // need_i(rho) = 1 / (rho alone_i - since_i), its slope in c and the curvature of the Lagrangian.
  void Linearize() {
    const double rho = -x_[shares_];
    curvature_ = 0.0;
    for (Eigen::Index i = 0; i < n_; ++i) {
      const double need = 1.0 / Spare(i, rho);
      need_[i] = need;
      program_.rise[U(i)] = alone_[U(i)] * need * need;
      curvature_ += 2.0 * z_[shares_ + n_ + i] * alone_[U(i)] * alone_[U(i)] * need * need * need;
    }
  }

  bool Step(double mu) {
    system_->MultiplyTransposed(z_.data(), rx_.data());
    rx_[shares_] -= 1.0;
    rz_ = s_ - Slack();
    w2_ = s_ / z_;
    if (!system_->Factorize(w2_.data(), curvature_)) return false;
    sz_ = s_ * z_;
    Direction(1.0);
    const double primal = PrimalLength(), dual = Length(dz_, z_);
    const double rest = ((s_ + primal * ds_) * (z_ + dual * dz_)).mean() / mu;
    const double centring = std::clamp(rest * rest * rest, 1e-5, 1.0);
    sz_ += ds_ * dz_ - centring * mu;
    Direction(1.0 - centring);
    const double length = kStepBack * PrimalLength();
    x_ += length * dx_;
    s_ += length * ds_;
    z_ += kStepBack * Length(dz_, z_) * dz_;
    // The slack that the convex rows really have, where it has not run far from the linear one.
    Linearize();
    const Array& slack = Slack();
    for (Eigen::Index i = 0; i < n_; ++i) {
      const Eigen::Index row = shares_ + n_ + i;
      if (slack[row] > 0.5 * s_[row]) s_[row] = slack[row];
    }
    return std::isfinite(x_.sum()) && s_.minCoeff() > 0.0 && z_.minCoeff() > 0.0;
  }

  void Direction(double part) {
    bx_ = -part * rx_;
    bz_ = sz_ / z_ - part * rz_;
    system_->Solve(bx_.data(), bz_.data(), dx_.data(), dz_.data(), refine_);
    ds_ = -(sz_ + s_ * dz_) / z_;
  }

  // How far until a component is 0, 1 at most.
  static double Length(const Array& step, const Array& at) {
    const double most = (step / at).minCoeff();
    return most < 0.0 ? std::min(1.0, -1.0 / most) : 1.0;
  }
  double PrimalLength() const {
    const double room = -x_[shares_] - floor_;  // rho stays above the floor
    const double length = Length(ds_, s_);
    return dx_[shares_] > 0.0 ? std::min(length, 0.9 * room / dx_[shares_]) : length;
  }

  // The iterate made feasible, and what its prices prove. A share may have come out a rounding below 0.
  void Improve(Allocation& best, RatioBounds& bounds) {
    const Array share = x_.head(shares_).max(0.0);
    std::vector<double> used(U(types_), 0.0);
    Array time = Array::Zero(n_);
    for (Eigen::Index j = 0; j < types_; ++j) time += share.segment(j * n_, n_);
    time = time.max(1.0);
    for (Eigen::Index j = 0; j < types_; ++j) {
      for (Eigen::Index i = 0; i < n_; ++i) used[U(j)] += program_.gang[U(i)] * share[j * n_ + i] / time[i];
      used[U(j)] = std::max(1.0, used[U(j)] / program_.workers[U(j)]);
    }
    double worst = 0.0;
    for (Eigen::Index i = 0; i < n_; ++i) {
      double speed = 0.0;
      for (Eigen::Index j = 0; j < types_; ++j)
        speed += program_.worth[U(j * n_ + i)] * share[j * n_ + i] / used[U(j)];
      const double ratio = (since_[U(i)] + time[i] / speed) / alone_[U(i)];
      worst = std::isfinite(ratio) ? std::max(worst, ratio) : kLpInfinity;
    }
    if (worst < bounds.reached) {
      bounds.reached = worst;
      for (Eigen::Index i = 0; i < n_; ++i) {
        for (Eigen::Index j = 0; j < types_; ++j)
          best[U(i * types_ + j)] = share[j * n_ + i] / time[i] / used[U(j)];
      }
    }
    const double proven = std::max(floor_, Proven(bounds.reached));
    // What contradicts the ratio that is reached proves nothing.
    if (proven <= bounds.reached * (1.0 + kRounding)) bounds.least = std::max(bounds.least, proven);
  }

  // With prices z of jobs and p of types, sum_i z_i need_i(rho) > sum_j workers_j p_j + sum_i max(0, max_j
  // z_i worth_ij - gang_i p_j) leaves no allocation of ratio rho. The left side is convex and falls: one
  // Newton step from the right ends to the left of where the two meet, further ones come closer from there.
  double Proven(double from) const {
    double most = 0.0;
    for (Eigen::Index j = 0; j < types_; ++j) most += program_.workers[U(j)] * z_[shares_ + 2 * n_ + j];
    for (Eigen::Index i = 0; i < n_; ++i) {
      double gain = 0.0;
      for (Eigen::Index j = 0; j < types_; ++j) {
        gain = std::max(gain, z_[shares_ + n_ + i] * program_.worth[U(j * n_ + i)] -
                                  program_.gang[U(i)] * z_[shares_ + 2 * n_ + j]);
      }
      most += gain;
    }
    double rho = from, proven = 0.0;
    for (int round = 0; round < 4; ++round) {
      double need = 0.0, slope = 0.0;
      for (Eigen::Index i = 0; i < n_; ++i) {
        const double its = 1.0 / Spare(i, rho), price = z_[shares_ + n_ + i];
        need += price * its;
        slope += price * alone_[U(i)] * its * its;
      }
      if (need >= most) proven = std::max(proven, rho);
      rho += (need - most) / slope;
      if (!(rho > floor_)) break;
    }
    return proven;
  }

  std::span<const double> alone_, since_;
  Eigen::Index n_, types_, shares_, rows_ = 0;
  ShareProgram program_;
  std::unique_ptr<ShareSystem> system_;
  double floor_ = 0.0, curvature_ = 0.0;
  bool refine_ = true;
  Array x_, s_, z_, rx_, rz_, bx_, bz_, dx_, dz_, ds_, sz_, w2_, need_;
};

}  // namespace

LpStatus LeastRatio(const Problem& problem, std::span<const double> alone, std::span<const double> since,
                    const EnoughRatio& enough, double time_limit_s, Allocation& x, RatioBounds& bounds) {
  if (problem.types() > ShareSystem::kMostTypes) return LpStatus::kError;
  return RatioSearch(problem, alone, since).Run(enough, time_limit_s, x, bounds);
}

}  // namespace berth::gavel
