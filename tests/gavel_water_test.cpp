// Water filling against linear programs that know nothing of levels, prices or bottlenecks.
#include <algorithm>
#include <cmath>

#include "baselines/gavel/water_filling.hpp"
#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::gavel {
namespace {

// What floors give way by, of their size, for rounding.
constexpr long double kFloor = 1e-12L;

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

// max cost . x  subject to  A x <= b, x >= 0: a dense tableau of long doubles with Bland's rule (Bland 1977), in
// two phases. Small and slow, and none of ours: with 1e-13 of the levels for its rounding.
class Tableau {
 public:
  explicit Tableau(std::vector<long double> cost) : cost_(std::move(cost)) {}
  void AddRow(std::vector<long double> row, long double b) {
    rows_.push_back(std::move(row));
    rows_.back().push_back(b);
  }
  // Not a number where no x does.
  long double Maximize() {
    const std::size_t n = cost_.size(), r = rows_.size();
    // Columns: x, slacks, the artificial one that every row may go below its bound by, b.
    width_ = n + r + 2;
    basis_.resize(r);
    std::size_t least = 0;
    for (std::size_t k = 0; k < r; ++k) {
      std::vector<long double> row(width_, 0.0L);
      std::copy_n(rows_[k].begin(), n, row.begin());
      row[n + k] = 1.0L, row[n + r] = -1.0L, row.back() = rows_[k].back();
      rows_[k] = std::move(row);
      basis_[k] = n + k;
      if (rows_[k].back() < rows_[least].back()) least = k;
    }
    goal_.assign(width_, 0.0L);
    if (rows_[least].back() < 0.0L) {
      goal_[n + r] = -1.0L;
      Pivot(least, n + r);
      Run(n + r + 1);
      if (goal_.back() > kSmall) return std::nanl("");
      for (std::size_t k = 0; k < r; ++k) {
        if (basis_[k] != n + r) continue;
        for (std::size_t c = 0; c < n + r; ++c) {
          if (std::abs(rows_[k][c]) > kSmall) {
            Pivot(k, c);
            break;
          }
        }
      }
    }
    goal_.assign(width_, 0.0L);
    std::copy_n(cost_.begin(), n, goal_.begin());
    for (std::size_t k = 0; k < r; ++k) Clear(goal_, k, basis_[k]);
    Run(n + r);
    return -goal_.back();
  }

 private:
  static constexpr long double kSmall = 1e-14L;
  void Clear(std::vector<long double>& row, std::size_t by, std::size_t column) {
    const long double times = row[column];
    if (times == 0.0L) return;
    for (std::size_t c = 0; c < width_; ++c) row[c] -= times * rows_[by][c];
    row[column] = 0.0L;
  }
  void Pivot(std::size_t out, std::size_t column) {
    const long double by = rows_[out][column];
    for (long double& value : rows_[out]) value /= by;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      if (k != out) Clear(rows_[k], out, column);
    }
    Clear(goal_, out, column);
    basis_[out] = column;
  }
  void Run(std::size_t columns) {
    for (;;) {
      std::size_t in = 0;
      while (in < columns && goal_[in] <= kSmall) ++in;
      if (in == columns) return;
      std::size_t out = rows_.size();
      long double shortest = 0.0L;
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        if (rows_[k][in] <= kSmall) continue;
        const long double length = std::max(0.0L, rows_[k].back()) / rows_[k][in];
        if (out < rows_.size() && (length > shortest || (length == shortest && basis_[k] > basis_[out]))) continue;
        out = k, shortest = length;
      }
      REQUIRE(out < rows_.size());  // everything here is bounded
      Pivot(out, in);
    }
  }
  std::vector<long double> cost_, goal_;
  std::vector<std::vector<long double>> rows_;
  std::vector<std::size_t> basis_;
  std::size_t width_ = 0;
};

// max time, net_i >= least_i + rate_i time for all, over the allocations; [m, G] worth of a job's time.
double Longest(const Problem& problem, const std::vector<double>& worth, const std::vector<double>& least,
               const std::vector<double>& rate) {
  const std::size_t m = problem.key.size(), types = problem.workers.size(), shares = worth.size();
  std::vector<long double> row(shares + 1, 0.0L);
  const auto none = row;
  row[shares] = 1.0L;
  Tableau tableau(row);
  for (std::size_t j = 0; j < types; ++j) {
    row = none;
    for (std::size_t i = 0; i < m; ++i) row[i * types + j] = problem.gang[i];
    tableau.AddRow(row, problem.workers[j]);
  }
  for (std::size_t i = 0; i < m; ++i) {
    row = none;
    std::fill_n(row.begin() + static_cast<std::ptrdiff_t>(i * types), types, 1.0L);
    tableau.AddRow(row, 1.0L);
  }
  for (std::size_t i = 0; i < m; ++i) {
    const long double unit = least[i] > 1e-6 ? least[i] : 1.0L;
    if (least[i] <= 0.0 && rate[i] <= 0.0) continue;
    row = none;
    for (std::size_t j = 0; j < types; ++j) row[i * types + j] = -worth[i * types + j] / unit;
    row[shares] = rate[i] / unit;
    tableau.AddRow(row, -least[i] / unit * (1.0L - kFloor));
  }
  return static_cast<double>(tableau.Maximize());
}
// max net_i with these nets at least.
double MostWith(const Problem& problem, const std::vector<double>& worth, std::size_t i,
                std::vector<double> least) {
  std::vector<double> rate(least.size(), 0.0);
  least[i] = 0.0;
  rate[i] = 1.0;
  return Longest(problem, worth, least, rate);
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
    double most = kLpInfinity;
    for (const double slack : {0.0, 1e-11, 1e-10, 1e-9}) {  // levels that can be had but for their last digits
      std::vector<double> least = net;
      for (std::size_t k = 0; k < net.size(); ++k) {
        least[k] = level[k] > level[i] * (1.0 + 1e-9) ? 0.0 : net[k] * (1.0 - slack);
      }
      most = MostWith(problem, worth, i, least);
      if (std::isfinite(most)) break;
    }
    worst = std::max(worst, std::isfinite(most) ? most / net[i] - 1.0 : kLpInfinity);
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
    const double time = Longest(problem, worth, net, rate);
    REQUIRE(std::isfinite(time));
    for (std::size_t i = 0; i < m; ++i) net[i] += time * rate[i];
    double least = kLpInfinity;  // somebody stands after every round
    std::vector<double> rise(m, kLpInfinity);
    for (std::size_t i = 0; i < m; ++i) {
      if (rate[i] <= 0.0) continue;
      const double most = MostWith(problem, worth, i, net);
      const double best = *std::max_element(worth.begin() + static_cast<std::ptrdiff_t>(i) * problem.types(),
                                            worth.begin() + static_cast<std::ptrdiff_t>(i + 1) * problem.types());
      REQUIRE(std::isfinite(most));
      rise[i] = (most - net[i]) / std::max(net[i], 1e-3 * best);
      least = std::min(least, rise[i]);
    }
    for (std::size_t i = 0; i < m; ++i) {
      if (rate[i] > 0.0 && rise[i] <= std::max(least, 1e-8)) stands[i] = 1;
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
  std::string failed;
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
      if (off <= 1e-6 && given <= 1e-6) continue;
      failed += Join("round ", round, ", method ", static_cast<int>(method), ": off by ", off, ", given ", given, "\n");
    }
  }
  CHECK(failed == "");
}

// 60 jobs fourteenfold on 10 types, and the same with weights a billionth apart: 840 classes, of which an interior
// point tells the prices; the 60 classes are solved whole.
// Two jobs, one twice as fast as the other, for which two GPUs are the same: whoever asks for a point inside gets halves, not a corner.
TEST_CASE("gavel water: of equal allocations interior points give one from the inside", "[gavel][lp]") {
  Problem problem;
  problem.type_names = {"a", "b"};
  problem.workers = {1, 1};
  problem.key = {0, 1};
  problem.gang = {1, 1};
  problem.weight = {1.0, 1.0};
  problem.throughput = {1.0, 1.0, 2.0, 2.0};
  for (const LpMethod method : {LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    CAPTURE(static_cast<int>(method));
    WaterFilling filling(method);
    WaterLevels levels;
    REQUIRE(filling.Solve(problem, {}, levels));
    for (const double share : levels.x) CHECK(share == Approx(0.5).epsilon(1e-3));
  }
}

TEST_CASE("gavel water: levels of many classes are those of few", "[gavel][lp]") {
  for (const int gpus : {30, 100, 300}) {
    Stream random(42, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(gpus));
    Problem alike;
    for (int j = 0; j < 10; ++j) {
      alike.type_names.push_back("type" + std::to_string(j));
      alike.workers.push_back(1 + static_cast<int>(random.Below(static_cast<std::uint32_t>(2 * gpus))));
    }
    for (int i = 0; i < 840; ++i) {
      alike.key.push_back(i);
      alike.gang.push_back(i < 60 ? 1 << random.Below(3) : alike.gang[static_cast<std::size_t>(i - 60)]);
      alike.weight.push_back(i < 60 ? random.Uniform(1.0, 10.0) : alike.weight[static_cast<std::size_t>(i - 60)]);
      for (int j = 0; j < 10; ++j)
        alike.throughput.push_back(i < 60 ? Exp(random.Normal()) : alike.throughput[alike.at(i - 60, j)]);
    }
    Problem apart = alike;
    for (int i = 0; i < 840; ++i) apart.weight[static_cast<std::size_t>(i)] *= 1.0 + 1e-9 * (i / 60);
    WaterFilling filling(LpMethod::kEmbedding);
    WaterLevels few, many;
    REQUIRE(filling.Solve(alike, {}, few));
    REQUIRE(filling.Solve(apart, {}, many));
    INFO(gpus << " GPUs of a type");
    CHECK(std::count(many.saturated.begin(), many.saturated.end(), true) == 840);
    CHECK(Apart(many.promised, few.promised) <= 1e-7);
    CHECK(Apart(many.net, few.net) <= 1e-7);
  }
}

// Weights a million times apart, on one GPU of each type: the least level is 7e-7 of what the proportional split
// gives it, and an end of the method at 1e-8 of the program was 3e-5 of that.
TEST_CASE("gavel: a point inside has the levels of small weights too", "[gavel]") {
  Problem problem;
  problem.type_names = {"t0", "t1", "t2"};
  problem.workers = {1, 1, 1};
  problem.key = {0, 1, 2, 3, 4};
  problem.gang = {2, 2, 2, 4, 1};
  problem.weight = {2.0, 0.001, 1000.0, 1.0, 1000.0};
  problem.throughput = {1.0, 0.0, 0.0, 37.0, 0.0, 0.0, 449.0, 0.0, 0.0, 129.0, 0.0, 1.0, 1.0, 0.0, 0.0};
  problem.tenant.assign(5, 0);
  problem.tenants = {{1.0, false}};
  // Jobs 0, 1, 2 and 4 share t0, a third of the GPUs: at level c each has c weight / gang of what the proportional
  // split gives it, a third of that in time, and all of them c / 3 sum weight GPUs. Job 3 has more on t2 alone.
  const double c = 3.0 / (2.0 + 0.001 + 1000.0 + 1000.0);
  for (const LpMethod method : {LpMethod::kSimplex, LpMethod::kInteriorPoint, LpMethod::kEmbedding}) {
    WaterFilling filling(method);
    WaterLevels levels;
    REQUIRE(filling.Solve(problem, {}, levels));
    for (const std::size_t i : {0, 1, 2, 4}) {
      CAPTURE(i);
      CHECK(levels.net[i] == Approx(c * problem.weight[i] / problem.gang[i]).epsilon(1e-6));
    }
  }
}

}  // namespace berth::gavel
