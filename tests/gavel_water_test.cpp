// Water filling against linear programs that know nothing of levels, prices or bottlenecks.
#include <algorithm>
#include <cmath>

#include "baselines/gavel/water_filling.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::gavel {
namespace {

// 1 to 9 jobs on 1 to 4 types: gangs, types that a job cannot use, weights equal or a thousandfold apart, jobs
// alike, GPUs to spare or short.
Problem WaterProblem(std::uint32_t round) {
  Stream random(41, Purpose::kTest, Split::kTrain, round);
  Problem problem;
  const int types = 1 + static_cast<int>(random.Below(4));
  const std::uint32_t most = 1 + random.Below(9);
  for (int j = 0; j < types; ++j) {
    problem.type_names.push_back("type" + std::to_string(j));
    problem.workers.push_back(1 + static_cast<int>(random.Below(most)));
  }
  problem.tenants = {{1.0, false}, {random.Uniform(0.1, 5.0), false}, {3.0, true}, {0.5, true}};
  const int jobs = 1 + static_cast<int>(random.Below(9));
  const bool unlike = random.Below(2) == 1;
  for (int i = 0; i < jobs; ++i) {
    problem.key.push_back(i);
    problem.tenant.push_back(static_cast<int>(random.Below(4)));
    if (i > 0 && random.Below(5) == 0) {  // as the one before
      problem.gang.push_back(problem.gang.back());
      problem.weight.push_back(problem.weight.back());
      for (int j = 0; j < types; ++j)
        problem.throughput.push_back(problem.throughput[problem.at(i - 1, j)]);
      continue;
    }
    problem.gang.push_back(1 << random.Below(3));
    problem.weight.push_back(unlike ? Exp(random.Uniform(-3.5, 3.5)) : 1.0 + random.Below(2));
    const auto can = static_cast<int>(random.Below(static_cast<std::uint32_t>(types)));
    for (int j = 0; j < types; ++j) {
      const bool runs = j == can || random.Below(4) > 0;
      problem.throughput.push_back(runs ? random.Uniform(0.2, 8.0) : 0.0);
    }
  }
  return problem;
}

// max net_i with these nets at least, to a billionth or, where rounding leaves nothing, ten or a hundred; [m, G] worth of a
// job's time. Infinite where there is no such allocation.
double MostWith(const Problem& problem, const std::vector<double>& worth, int i,
                const std::vector<double>& least) {
  LpSolver solver;
  LpSolution solution;
  for (const double slack : {1e-9, 1e-8, 1e-7}) {
    LpModel model;
    model.maximize = true;
    std::vector<double> cost(worth.size(), 0.0);
    for (int j = 0; j < problem.types(); ++j) cost[problem.at(i, j)] = worth[problem.at(i, j)];
    AddShares(problem, cost, model);
    AddBaseRows(problem, model);
    for (int k = 0; k < problem.jobs(); ++k) {
      const double floor = least[static_cast<std::size_t>(k)];
      if (floor <= 0.0) continue;
      for (int j = 0; j < problem.types(); ++j)
        model.AddEntry(static_cast<int>(problem.at(k, j)), worth[problem.at(k, j)] / floor);
      model.EndRow(1.0 - slack, kLpInfinity);
    }
    if (solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal) return solution.objective;
  }
  return kLpInfinity;
}

std::vector<double> NetWorth(const Problem& problem) {
  std::vector<double> worth = problem.throughput;
  const std::vector<double> proportional = ProportionalThroughput(problem);
  for (std::size_t k = 0; k < worth.size(); ++k) worth[k] /= proportional[k / problem.workers.size()];
  return worth;
}

// By how much, of its level, some job could rise without lowering one at or below its own level: levels that
// can be had and where nobody can are the lexicographic optimum.
double CouldRise(const Problem& problem, const std::vector<double>& net) {
  const std::vector<double> worth = NetWorth(problem);
  double worst = 0.0;
  std::vector<double> level(net.size());
  for (std::size_t i = 0; i < net.size(); ++i) level[i] = net[i] * problem.gang[i] / problem.weight[i];
  for (std::size_t i = 0; i < net.size(); ++i) {
    std::vector<double> least = net;
    for (std::size_t k = 0; k < net.size(); ++k) {
      if (level[k] > level[i] * (1.0 + 1e-9)) least[k] = 0.0;
    }
    worst = std::max(worst, MostWith(problem, worth, static_cast<int>(i), least) / net[i] - 1.0);
  }
  return worst;
}

// The definition, round by round (an entity's weight goes to its jobs that rise, by weight, or to the first
// of them): all rise as far as a program lets them, then a program for each says whether it could
// rise alone. [m] net.
std::vector<double> RoundByRound(const Problem& problem) {
  const std::size_t m = problem.key.size();
  const std::vector<double> worth = NetWorth(problem);
  std::vector<double> net(m, 0.0);
  std::vector<char> stands(m, 0);
  LpSolver solver;
  LpSolution solution;
  while (std::count(stands.begin(), stands.end(), 1) < static_cast<int>(m)) {
    std::vector<double> rate(m, 0.0);
    for (std::size_t e = 0; e < problem.tenants.size(); ++e) {
      double sum = 0.0;
      for (std::size_t i = 0; i < m; ++i) {
        if (stands[i] == 0 && problem.tenant[i] == static_cast<int>(e)) sum += problem.weight[i];
      }
      for (std::size_t i = 0; i < m; ++i) {
        if (stands[i] != 0 || problem.tenant[i] != static_cast<int>(e)) continue;
        const Entity& entity = problem.tenants[e];
        rate[i] = entity.weight * (entity.fifo ? 1.0 : problem.weight[i] / sum) / problem.gang[i];
        if (entity.fifo) break;
      }
    }
    LpModel model;
    model.maximize = true;
    AddShares(problem, {}, model);
    const int time = model.AddColumn(1.0, 0.0, kLpInfinity);
    AddBaseRows(problem, model);
    for (std::size_t i = 0; i < m; ++i) {
      const double unit = std::max(net[i], rate[i]);
      if (unit <= 0.0) continue;
      for (int j = 0; j < problem.types(); ++j) {
        const std::size_t at = problem.at(static_cast<int>(i), j);
        model.AddEntry(static_cast<int>(at), worth[at] / unit);
      }
      model.AddEntry(time, -rate[i] / unit);
      model.EndRow(net[i] / unit * (1.0 - 1e-9), kLpInfinity);
    }
    REQUIRE(solver.Solve(model, LpMethod::kSimplex, solution) == LpStatus::kOptimal);
    for (std::size_t i = 0; i < m; ++i) net[i] += solution.objective * rate[i];
    double least = kLpInfinity;  // somebody stands after every round
    std::vector<double> rise(m, kLpInfinity);
    for (std::size_t i = 0; i < m; ++i) {
      if (rate[i] <= 0.0) continue;
      const double most = MostWith(problem, worth, static_cast<int>(i), net);
      const double best = *std::max_element(worth.begin() + static_cast<std::ptrdiff_t>(i) * problem.types(),
                                            worth.begin() + static_cast<std::ptrdiff_t>(i + 1) * problem.types());
      REQUIRE(std::isfinite(most));
      rise[i] = (most - net[i]) / (net[i] > 0.0 ? net[i] : best);
      least = std::min(least, rise[i]);
    }
    for (std::size_t i = 0; i < m; ++i) {
      if (rate[i] > 0.0 && rise[i] <= std::max(least, 1e-7)) stands[i] = 1;
    }
  }
  return net;
}

double Apart(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(a[i] - b[i]) / std::max(1e-3, std::abs(b[i])));
  return worst;
}

}  // namespace

TEST_CASE("gavel water: nobody of 1,000 instances can rise but at the cost of one no higher", "[gavel][lp]") {
  int failed = 0;
  double worst = 0.0;
  for (std::uint32_t round = 0; round < 1000; ++round) {
    const Problem problem = WaterProblem(round);
    const bool by_tenant = round % 2 == 1;
    const std::vector<double> expected = by_tenant ? RoundByRound(problem) : std::vector<double>();
    for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kEmbedding}) {
      WaterFilling filling(method);
      WaterLevels levels;
      REQUIRE(filling.Solve(problem, {.by_tenant = by_tenant}, levels));
      const double off = by_tenant ? Apart(levels.promised, expected) : CouldRise(problem, levels.promised);
      const double given = Apart(levels.net, levels.promised);
      worst = std::max({worst, off, given});
      if (off > 1e-6 || given > 1e-6) {
        ++failed;
        UNSCOPED_INFO("round " << round << ", method " << static_cast<int>(method) << ": off by " << off
                               << ", given " << given);
      }
    }
  }
  INFO("worst " << worst);
  CHECK(failed == 0);
}

}  // namespace berth::gavel
