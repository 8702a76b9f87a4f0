#include "baselines/gavel/share_program.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/index.hpp"

namespace berth::gavel {
bool ShareProgram::rises() const {
  return std::any_of(rise.begin(), rise.end(), [](double r) { return r > 0.0; });
}

void StateShares(const Problem& problem, std::span<const double> worth, std::span<const double> least,
                 double rise, ShareProgram& program, JobClasses& classes) {
  if (least.empty()) {
    Classify(problem, worth, {}, classes);
  } else {
    Classify(problem, worth, {least}, classes);
  }
  const std::size_t n = classes.first.size();
  program.workers.assign(problem.workers.begin(), problem.workers.end());
  program.members = classes.members;
  program.gang.resize(n);
  program.worth.resize(n * problem.workers.size());
  program.rise.assign(n, rise);
  program.least.assign(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const int job = classes.first[k];
    program.gang[k] = problem.gang[U(job)];
    if (!least.empty()) program.least[k] = least[U(job)];
    for (int j = 0; j < problem.types(); ++j) {
      program.worth[program.at(j, static_cast<int>(k))] = worth[problem.at(job, j)];
    }
  }
}

void SpreadShares(const JobClasses& classes, const ShareAnswer& answer, int types, Allocation& x) {
  const std::size_t n = classes.first.size(), m = classes.of_job.size();
  x.resize(m * U(types));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < U(types); ++j) {
      x[i * U(types) + j] = std::clamp(answer.x[j * n + U(classes.of_job[i])], 0.0, 1.0);
    }
  }
}

// Any prices >= 0 of types (p) and of worth rows (z, with sum members rise z = 1 after division) bound the
// level: c <= sum_j workers_j p_j + sum_i members_i (max(0, max_j z_i worth_ij - gang_i p_j) - z_i least_i).
// Without rises, least and with z = 1 that is the bound of the sum of all worth.
ShareProof Prove(const ShareProgram& program, const ShareAnswer& answer) {
  const int n = program.classes(), types = program.types();
  ShareProof proof;
  const auto violate = [&proof](double excess, double scale) {
    const double size = excess / (1.0 + scale);
    if (!(size <= proof.infeasibility)) proof.infeasibility = std::isnan(size) ? INFINITY : size;
  };
  std::vector<double> used(U(types), 0.0);
  const bool rises = program.rises();
  proof.reached = rises ? INFINITY : 0.0;
  double unit = rises ? 0.0 : 1.0;
  for (int i = 0; i < n; ++i) {
    double time = 0.0, worth = 0.0;
    for (int j = 0; j < types; ++j) {
      const double share = answer.x[program.at(j, i)];
      violate(-share, std::abs(share));
      time += share;
      worth += program.worth[program.at(j, i)] * share;
      used[U(j)] += program.members[U(i)] * program.gang[U(i)] * share;
    }
    violate(time - 1.0, 1.0);
    if (program.rise[U(i)] > 0.0) {
      proof.reached = std::min(proof.reached, (worth - program.least[U(i)]) / program.rise[U(i)]);
    } else {
      violate(program.least[U(i)] - worth, std::abs(worth));
      if (!rises) proof.reached += program.members[U(i)] * worth;
    }
    unit += program.members[U(i)] * program.rise[U(i)] * std::max(0.0, answer.price[U(i)]);
  }
  for (int j = 0; j < types; ++j) violate(used[U(j)] - program.workers[U(j)], program.workers[U(j)]);
  if (unit == 0.0) return proof;
  for (int j = 0; j < types; ++j)
    proof.bound += program.workers[U(j)] * std::max(0.0, answer.type_price[U(j)]) / unit;
  for (int i = 0; i < n; ++i) {
    const double price = std::max(0.0, answer.price[U(i)]) / unit;
    double most = 0.0;
    for (int j = 0; j < types; ++j) {
      most = std::max(most, price * program.worth[program.at(j, i)] -
                                program.gang[U(i)] * std::max(0.0, answer.type_price[U(j)]) / unit);
    }
    proof.bound += program.members[U(i)] * (most - price * program.least[U(i)]);
  }
  return proof;
}

}  // namespace berth::gavel
