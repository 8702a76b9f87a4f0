// What prices prove of jobs that share GPUs in pairs.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "env/base/index.hpp"
#include "tools/solve/certificate.hpp"

namespace berth::gavel {
namespace {

// The two largest gains of different jobs of a kind from a GPU shared with one of another.
using TwoBest = std::array<double, 2>;

// The most that a job alone, or two together, gain from one GPU of a type beyond what their time costs.
double MostGain(const PackedProblem& problem, std::span<const double> price, std::span<const double> time,
                int type, std::vector<TwoBest>& best) {
  const Problem& base = problem.base;
  const int kinds = problem.kind.empty() ? base.jobs() : problem.kinds;
  const auto rate = [&](int kind, int other) { return problem.beside[base.at(kind * kinds + other, type)]; };
  const auto gain = [&](int job, double at) { return price[U(job)] * at - time[U(job)]; };
  double most = 0.0;
  best.assign(U(kinds) * U(kinds),
              {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  for (int i = 0; i < base.jobs(); ++i) {
    const double alone = base.throughput[base.at(i, type)];
    if (alone <= 0.0) continue;
    most = std::max(most, gain(i, alone) / base.gang[U(i)]);
    if (base.gang[U(i)] != 1) continue;
    const int kind = problem.kind.empty() ? i : problem.kind[U(i)];
    for (int other = 0; other < kinds; ++other) {
      TwoBest& its = best[U(kind) * U(kinds) + U(other)];
      const double found = gain(i, rate(kind, other));
      its[1] = std::max(its[1], std::min(its[0], found));
      its[0] = std::max(its[0], found);
    }
  }
  for (int a = 0; a < kinds; ++a) {
    for (int b = a; b < kinds; ++b) {
      if (rate(a, b) <= 0.0 || rate(b, a) <= 0.0) continue;
      const TwoBest& its = best[U(a) * U(kinds) + U(b)];
      most = std::max(most, its[0] + (a == b ? its[1] : best[U(b) * U(kinds) + U(a)][0]));
    }
  }
  return most;
}

}  // namespace

double PackedViolation(const PackedProblem& problem, const PackedAllocation& x) {
  const Problem& base = problem.base;
  std::vector<double> time(base.key.size(), 0.0), used(base.workers.size(), 0.0);
  double worst = 0.0;
  const auto violate = [&worst](double excess, double size) {
    const double part = excess / std::max(1.0, size);
    if (!(part <= worst)) worst = std::isnan(part) ? std::numeric_limits<double>::infinity() : part;
  };
  const auto use = [&](int job, double share) {
    violate(-share, 1.0);
    time[U(job)] += share;
  };
  for (int j = 0; j < base.types(); ++j) {
    for (int i = 0; i < base.jobs(); ++i) {
      use(i, x.alone[base.at(i, j)]);
      used[U(j)] += base.gang[U(i)] * x.alone[base.at(i, j)];
    }
    for (std::size_t p = 0; p < x.pairs.size(); ++p) {
      const double share = x.together[base.at(static_cast<int>(p), j)];
      const auto [a, b] = x.pairs[p];
      // One job twice, or two that cannot share, may have none of it.
      if (a == b || problem.Beside(a, b, j) <= 0.0 || problem.Beside(b, a, j) <= 0.0) violate(share, 1.0);
      use(a, share), use(b, share);
      used[U(j)] += share;
    }
    violate(used[U(j)] - base.workers[U(j)], base.workers[U(j)]);
  }
  for (const double its : time) violate(its - 1.0, 1.0);
  return worst;
}

Certificate CertifyPackedLevel(const PackedProblem& problem, std::span<const double> scale,
                               const PackedAllocation& x, std::span<const double> job_price,
                               std::span<const double> time_price) {
  const Problem& base = problem.base;
  Certificate certificate;
  certificate.violation = PackedViolation(problem, x);
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  certificate.value = std::numeric_limits<double>::infinity();
  double asked = 0.0;
  for (std::size_t i = 0; i < speed.size(); ++i) {
    certificate.value = std::min(certificate.value, scale[i] * speed[i]);
    certificate.job_price.push_back(std::max(0.0, job_price[i]));
    certificate.time_price.push_back(std::max(0.0, time_price[i]));
    asked += certificate.job_price[i] / scale[i];
    certificate.bound += certificate.time_price[i];
  }
  std::vector<TwoBest> best;
  for (int j = 0; j < base.types(); ++j) {
    const double most = base.workers[U(j)] > 0
                            ? MostGain(problem, certificate.job_price, certificate.time_price, j, best)
                            : 0.0;
    certificate.type_price.push_back(most);
    certificate.bound += base.workers[U(j)] * most;
  }
  certificate.bound /= asked;
  certificate.gap = (certificate.bound - certificate.value) / certificate.value;
  return certificate;
}

}  // namespace berth::gavel
