#include "tools/solve/certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

std::vector<double> Worths(const Problem& problem, std::span<const double> worth, std::span<const double> x) {
  std::vector<double> reached(U(problem.jobs()), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    for (int j = 0; j < problem.types(); ++j) reached[U(i)] += worth[problem.at(i, j)] * x[problem.at(i, j)];
  }
  return reached;
}

double Best(const Problem& problem, std::span<const double> worth, int job) {
  double best = 0.0;
  for (int j = 0; j < problem.types(); ++j) {
    if (problem.workers[U(j)] > 0) best = std::max(best, worth[problem.at(job, j)]);
  }
  return best;
}

Certificate Begin(const Problem& problem, std::span<const double> x, std::span<const double> job_price,
                  std::span<const double> type_price) {
  Certificate certificate;
  certificate.violation = Violation(problem, x);
  certificate.job_price.assign(job_price.begin(), job_price.end());
  certificate.type_price.assign(type_price.begin(), type_price.end());
  return certificate;
}

}  // namespace

double Violation(const Problem& problem, std::span<const double> x) {
  double worst = 0.0;
  const auto violate = [&worst](double excess, double size) {
    const double part = excess / std::max(1.0, size);
    if (!(part <= worst)) worst = std::isnan(part) ? std::numeric_limits<double>::infinity() : part;
  };
  std::vector<double> used(problem.workers.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    double time = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      const double share = x[problem.at(i, j)];
      violate(-share, 1.0);
      time += share;
      used[U(j)] += problem.gang[U(i)] * share;
    }
    violate(time - 1.0, 1.0);
  }
  for (int j = 0; j < problem.types(); ++j)
    violate(used[U(j)] - problem.workers[U(j)], problem.workers[U(j)]);
  return worst;
}

double PricedBound(const Problem& problem, std::span<const double> worth, std::span<const double> job_price,
                   std::span<const double> type_price) {
  double bound = 0.0;
  for (int j = 0; j < problem.types(); ++j) bound += problem.workers[U(j)] * std::max(0.0, type_price[U(j)]);
  for (int i = 0; i < problem.jobs(); ++i) {
    double time = 0.0;
    for (int j = 0; j < problem.types(); ++j) {
      if (problem.workers[U(j)] == 0) continue;  // no x there is above 0
      time = std::max(time, std::max(0.0, job_price[U(i)]) * worth[problem.at(i, j)] -
                                problem.gang[U(i)] * std::max(0.0, type_price[U(j)]));
    }
    bound += time;
  }
  return bound;
}

Certificate CertifyLevel(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                         std::span<const double> job_price, std::span<const double> type_price) {
  Certificate certificate = Begin(problem, x, job_price, type_price);
  const std::vector<double> reached = Worths(problem, worth, x);
  certificate.value = *std::min_element(reached.begin(), reached.end());
  double sum = 0.0;
  for (const double price : job_price) sum += std::max(0.0, price);
  certificate.bound = PricedBound(problem, worth, job_price, type_price) / sum;
  certificate.gap = (certificate.bound - certificate.value) / certificate.value;
  return certificate;
}

Certificate CertifySum(const Problem& problem, std::span<const double> value, std::span<const double> x,
                       std::span<const double> type_price) {
  const std::vector<double> one(problem.key.size(), 1.0);
  Certificate certificate = Begin(problem, x, one, type_price);
  for (const double reached : Worths(problem, value, x)) certificate.value += reached;
  certificate.bound = PricedBound(problem, value, one, type_price);
  certificate.gap = (certificate.bound - certificate.value) / certificate.value;
  return certificate;
}

Certificate CertifyLogs(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                        std::span<const double> type_price) {
  std::vector<double> price = Worths(problem, worth, x);
  double sum = 0.0, bound = 0.0;
  for (double& of_job : price) sum += std::log(of_job), of_job = 1.0 / of_job;
  for (int j = 0; j < problem.types(); ++j) bound += problem.workers[U(j)] * std::max(0.0, type_price[U(j)]);
  for (int i = 0; i < problem.jobs(); ++i) {
    // The type that is worth most for what it costs where time costs t; t grows while that costs less than 1.
    const auto cost = [&](int j, double t) {
      return problem.gang[U(i)] * std::max(0.0, type_price[U(j)]) + t;
    };
    const auto best = [&](double t) {
      int most = -1;
      for (int j = 0; j < problem.types(); ++j) {
        if (problem.workers[U(j)] == 0) continue;
        if (most < 0 || worth[problem.at(i, j)] * cost(most, t) > worth[problem.at(i, most)] * cost(j, t))
          most = j;
      }
      return most;
    };
    double low = 0.0, high = 1.0;
    for (int halving = 0; halving < 55; ++halving) {
      const double t = 0.5 * (low + high);
      (cost(best(t), t) < 1.0 ? low : high) = t;
    }
    const int most = best(high);
    bound += high + std::log(worth[problem.at(i, most)] / cost(most, high)) - 1.0;
  }
  Certificate certificate = Begin(problem, x, price, type_price);
  certificate.value = sum;
  certificate.bound = bound;
  certificate.gap = (bound - sum) / problem.jobs();
  return certificate;
}

Certificate CertifyRatio(const Problem& problem, std::span<const double> alone, std::span<const double> since,
                         std::span<const double> x, std::span<const double> job_price,
                         std::span<const double> type_price) {
  Certificate certificate = Begin(problem, x, job_price, type_price);
  const std::vector<double> speed = EffectiveThroughput(problem, x);
  double floor = 0.0;
  for (int i = 0; i < problem.jobs(); ++i) {
    certificate.value =
        std::max(certificate.value, (since[U(i)] + problem.remaining[U(i)] / speed[U(i)]) / alone[U(i)]);
    floor = std::max(floor, since[U(i)] / alone[U(i)]);
  }
  const double most = PricedBound(problem, problem.throughput, job_price, type_price);
  const auto impossible = [&](double rho) {
    double asked = 0.0;
    for (int i = 0; i < problem.jobs(); ++i)
      asked += std::max(0.0, job_price[U(i)]) * problem.remaining[U(i)] / (rho * alone[U(i)] - since[U(i)]);
    return asked > most;
  };
  double low = floor, high = certificate.value;
  for (int halving = 0; halving < 60 && high - low > 1e-15 * high; ++halving) {
    const double middle = 0.5 * (low + high);
    (impossible(middle) ? low : high) = middle;
  }
  certificate.bound = low;
  certificate.gap = (certificate.value - low) / certificate.value;
  return certificate;
}

Certificate CertifyWater(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                         std::span<const WaterStage> stages) {
  Certificate certificate = Begin(problem, x, {}, {});
  const std::vector<double> level = Worths(problem, worth, x);
  certificate.value = *std::min_element(level.begin(), level.end());
  std::vector<double> rise(level.size(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < problem.jobs(); ++i)  // all its time at its best
    rise[U(i)] = std::max(0.0, Best(problem, worth, i) - level[U(i)]);
  std::vector<double> proven = rise;
  for (const WaterStage& stage : stages) {
    double kept = 0.0;
    std::vector<double> price(level.size(), 0.0);
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (level[i] > stage.level * (1.0 + kSameLevel)) continue;  // has more: it may be lowered
      price[i] = std::max(0.0, stage.job_price[i]);
      kept += price[i] * level[i];
    }
    const double spare = std::max(0.0, PricedBound(problem, worth, price, stage.type_price) - kept);
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (level[i] >= stage.level * (1.0 - kSameLevel) && price[i] > 0.0)
        proven[i] = std::min(proven[i], spare / price[i]);
    }
  }
  for (std::size_t i = 0; i < level.size(); ++i)
    certificate.gap = std::max(certificate.gap, proven[i] / level[i]);
  certificate.bound = certificate.value * (1.0 + certificate.gap);
  return certificate;
}

}  // namespace berth::gavel
