#include "tools/reproduce/queueing_theory.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

// Sizes are cut into cells of equal ratio: a cell's relative width is 5e-4, so the midpoint rule's error is
// of order 1e-7 and far below any measurement.
constexpr int kCells = 60000;
constexpr double kNothing = 1e-16;  // probability that is left out beyond the last cell

struct Grid {
  double low, ratio;
};

Grid SizeGrid(const SizeDistribution& sizes) {
  const double low = sizes.low() > 0.0 ? sizes.low() : 1e-9 * sizes.mean();
  double high = sizes.mean();
  while (high < sizes.high() && 1.0 - sizes.Cdf(high) > kNothing) high *= 2.0;
  high = std::min(high, sizes.high());
  return {low, std::pow(high / low, 1.0 / kCells)};
}

// Sum over cells of f(middle, probability of the cell, width); sizes below the grid count as its lowest.
template <class F>
double OverSizes(const SizeDistribution& sizes, F f) {
  const Grid grid = SizeGrid(sizes);
  double sum = f(grid.low, sizes.Cdf(grid.low), grid.low);
  double x = grid.low, below = sizes.Cdf(x);
  const double middle = std::sqrt(grid.ratio);
  for (int i = 0; i < kCells; ++i) {
    const double next = grid.low * std::pow(grid.ratio, i + 1);
    const double cdf = sizes.Cdf(next);
    sum += f(x * middle, cdf - below, next - x);
    x = next;
    below = cdf;
  }
  return sum;
}

// 2 x 2 matrices, row by row.
using Matrix = std::array<double, 4>;

Matrix Times(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}
Matrix Inverse(const Matrix& a) {
  const double det = a[0] * a[3] - a[1] * a[2];
  return {a[3] / det, -a[1] / det, -a[2] / det, a[0] / det};
}

}  // namespace

double ErlangB(int servers, double offered) {
  double lost = 1.0;
  for (int c = 1; c <= servers; ++c) lost = offered * lost / (c + offered * lost);
  return lost;
}

double ErlangC(int servers, double offered) {
  BERTH_CHECK(offered < servers, offered, " offered to ", servers);
  const double lost = ErlangB(servers, offered);
  return lost / (1.0 - offered / servers * (1.0 - lost));
}

double WaitMMc(int servers, double rate, double mean_size) {
  return ErlangC(servers, rate * mean_size) / (servers / mean_size - rate);
}

LossSystem MMcK(int servers, int capacity, double rate, double mean_size) {
  BERTH_CHECK(capacity >= servers, capacity, " in system, ", servers, " servers");
  double p = 1.0, all = 1.0, waiting = 0.0;  // unnormalised chances of 0, 1, ... jobs: birth and death
  for (int n = 1; n <= capacity; ++n) {
    p *= rate * mean_size / std::min(n, servers);
    all += p;
    waiting += p * std::max(0, n - servers);
  }
  const double lost = p / all;
  return {lost, waiting / all / (rate * (1.0 - lost))};  // Little's law for the queue
}

double WaitMG1(double rate, const SizeDistribution& sizes) {
  return 0.5 * rate * sizes.Moment(2) / (1.0 - rate * sizes.mean());
}

double WaitSjf(double rate, const SizeDistribution& sizes) {
  const double residual = 0.5 * rate * sizes.Moment(2);
  return OverSizes(sizes, [&](double x, double probability, double) {
    const double idle = 1.0 - rate * sizes.PartialMoment(1, x);
    return probability * residual / (idle * idle);
  });
}

// Waiting: (rate/2) (E[S^2; S <= x] + x^2 P(S > x)) / (1 - rho(x))^2 over the sizes x; residence: the
// integral of dt / (1 - rho(t)) up to the size, which over all sizes is that of P(S > t) / (1 - rho(t)).
double DelaySrpt(double rate, const SizeDistribution& sizes) {
  const double in_system = OverSizes(sizes, [&](double x, double probability, double width) {
    const double idle = 1.0 - rate * sizes.PartialMoment(1, x);
    const double longer = 1.0 - sizes.Cdf(x);
    const double waiting = 0.5 * rate * (sizes.PartialMoment(2, x) + x * x * longer) / (idle * idle);
    // The first cell reaches down to 0, where next to nothing is served yet.
    return probability * waiting + width * longer / idle;
  });
  return in_system - sizes.mean();
}

// Levels are jobs in system, phases those of the arrivals. Level n has the chances p R^n with A0 + R A1 + R^2
// A2 = 0, the least solution by its fixed point; p from the balance of level 0.
double DelayMmppM1(const ArrivalModel& arrivals, double mean_size) {
  BERTH_CHECK(arrivals.kind == ArrivalModel::Kind::kMmpp, arrivals.spec);
  const double served = 1.0 / mean_size;
  const double* rate = arrivals.rate;
  const double* leave = arrivals.leave;
  const Matrix within = {-leave[0] - rate[0], leave[0], leave[1], -leave[1] - rate[1]};  // at level 0
  const Matrix inverse = Inverse({within[0] - served, within[1], within[2], within[3] - served});
  Matrix r = {0, 0, 0, 0};
  for (double change = 1.0; change > 1e-15;) {
    const Matrix square = Times(r, r);
    const Matrix next = Times({-rate[0] - served * square[0], -served * square[1], -served * square[2],
                               -rate[1] - served * square[3]},
                              inverse);
    change = 0.0;
    for (std::size_t i = 0; i < 4; ++i) change = std::max(change, std::abs(next[i] - r[i]));
    r = next;
  }
  const double p0 = within[2] + served * r[2], p1 = -within[0] - served * r[0];  // left null vector
  const Matrix sum = Inverse({1.0 - r[0], -r[1], -r[2], 1.0 - r[3]});            // of all powers of R
  const Matrix weighted = Times(r, Times(sum, sum));
  const auto total = [&](const Matrix& m) { return p0 * (m[0] + m[1]) + p1 * (m[2] + m[3]); };
  return total(weighted) / total(sum) * arrivals.mean_gap_s - mean_size;  // Little's law
}

std::vector<double> WaitPriority(std::span<const PriorityClass> classes) {
  double residual = 0.0;
  for (const PriorityClass& c : classes) residual += 0.5 * c.rate * c.second;
  std::vector<double> waits;
  double above = 0.0;  // load of the more urgent
  for (const PriorityClass& c : classes) {
    const double with = above + c.rate * c.mean;
    waits.push_back(residual / ((1.0 - above) * (1.0 - with)));
    above = with;
  }
  return waits;
}

// From the lowest class up: W_p = (W_0 / (1 - rho) - sum over lower i of rho_i W_i (1 - b_i / b_p)) /
// (1 - sum over higher i of rho_i (1 - b_p / b_i)).
std::vector<double> WaitAgeing(std::span<const PriorityClass> classes, std::span<const double> growth) {
  double residual = 0.0, load = 0.0;
  for (const PriorityClass& c : classes) residual += 0.5 * c.rate * c.second, load += c.rate * c.mean;
  std::vector<double> waits(classes.size());
  for (std::size_t p = classes.size(); p-- > 0;) {
    double above = residual / (1.0 - load), below = 1.0;
    for (std::size_t i = p + 1; i < classes.size(); ++i) {
      above -= classes[i].rate * classes[i].mean * waits[i] * (1.0 - growth[i] / growth[p]);
    }
    for (std::size_t i = 0; i < p; ++i)
      below -= classes[i].rate * classes[i].mean * (1.0 - growth[p] / growth[i]);
    waits[p] = above / below;
  }
  return waits;
}

std::vector<double> WaitPriorityMMc(int servers, std::span<const double> rates, double mean_size) {
  double offered = 0.0;
  for (double rate : rates) offered += rate * mean_size;
  const double residual = ErlangC(servers, offered) * mean_size / servers;
  std::vector<double> waits;
  double above = 0.0;
  for (double rate : rates) {
    const double with = above + rate * mean_size / servers;
    waits.push_back(residual / ((1.0 - above) * (1.0 - with)));
    above = with;
  }
  return waits;
}

std::vector<double> DelayPreemptivePriority(std::span<const PriorityClass> classes) {
  std::vector<double> delays;
  double above = 0.0, residual = 0.0;  // of this class and the more urgent: lighter ones are not there for it
  for (const PriorityClass& c : classes) {
    const double with = above + c.rate * c.mean;
    residual += 0.5 * c.rate * c.second;
    delays.push_back(c.mean / (1.0 - above) + residual / ((1.0 - above) * (1.0 - with)) - c.mean);
    above = with;
  }
  return delays;
}

}  // namespace berth
