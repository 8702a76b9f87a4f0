#include "baselines/adaptive/pollux_objective.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth::pollux {

int FairReplicas(int gpus, int jobs) {
  BERTH_CHECK(gpus >= 1 && jobs >= 1, gpus, " ", jobs);
  return (gpus + jobs - 1) / jobs;
}

std::vector<double> LinearSpeedups(int max_replicas, int fair) {
  std::vector<double> table;
  for (int r = 0; r <= max_replicas; ++r) table.push_back(static_cast<double>(r) / fair);
  return table;
}

// Eight nodes at a time: bytes that are not 0 set their highest bit, and bytes are added in pairs.
Extent ExtentOf(std::span<const std::uint8_t> row) {
  constexpr std::uint64_t kHigh = 0x8080808080808080u, kEven = 0x00FF00FF00FF00FFu;
  Extent extent;
  std::size_t n = 0;
  for (std::uint64_t word = 0; n + 8 <= row.size(); n += 8) {
    std::memcpy(&word, row.data() + n, 8);
    if (word == 0) continue;
    const std::uint64_t some = ((((word & ~kHigh) + ~kHigh) | word) & kHigh) >> 7;
    extent.nodes += static_cast<int>(some * 0x0101010101010101u >> 56);
    const std::uint64_t pairs = (word & kEven) + (word >> 8 & kEven);
    extent.replicas += static_cast<int>(pairs * 0x0001000100010001u >> 48);
  }
  for (; n < row.size(); ++n) {
    extent.nodes += row[n] > 0;
    extent.replicas += row[n];
  }
  return extent;
}

Objective::Objective(const Problem& problem) : problem_(&problem) {
  BERTH_CHECK(problem.present.jobs() == jobs() && problem.present.nodes() == nodes(), problem.present.jobs(),
              " x ", problem.present.nodes(), " for ", jobs(), " x ", nodes());
  const int gpus = std::accumulate(problem.node_gpus.begin(), problem.node_gpus.end(), 0);
  BERTH_CHECK(gpus >= 1, "no GPUs");
  for (const int n : problem.node_gpus) BERTH_CHECK(n >= 0 && n <= kMostOfNode, n);
  const double scale = static_cast<double>(nodes()) / gpus;
  for (int j = 0; j < jobs(); ++j) {
    const Job& job = problem.jobs[U(j)];
    BERTH_CHECK(job.node_rows >= 1 && job.max_replicas >= 1 && job.min_replicas <= job.max_replicas,
                job.node_rows, " ", job.min_replicas, " ", job.max_replicas);
    BERTH_CHECK(job.speedup.size() == U(job.node_rows) * U(job.max_replicas + 1), job.speedup.size());
    const double factor =
        std::max(job.age - job.restarts * problem.restart_delay, 0.0) / (job.age + problem.restart_delay);
    begin_.push_back(moved_.size());
    for (const double speedup : job.speedup) moved_.push_back(CostAt(speedup * scale * factor));
    const Extent present = ExtentOf(problem.present.row(j));
    const int replicas = std::min(present.replicas, job.max_replicas);  // above: not legal, so never asked
    kept_.push_back(CostAt(job.speedup[Column(j, present.nodes, replicas)] * scale));
  }
}

double Objective::CostAt(double scaled) const {
  const double p = problem_->power;
  if (p == 0.0) return -Log(std::max(scaled, kFloor));
  if (p == -1.0) return 1.0 / (scaled + kFloor);
  return (p < 0.0 ? 1.0 : -1.0) * Pow(scaled + kFloor, p);
}

double Objective::Cost(int job, std::span<const std::uint8_t> row) const {
  const std::span<const std::uint8_t> present = problem_->present.row(job);
  if (std::equal(row.begin(), row.end(), present.begin())) return KeptCost(job);
  const Extent extent = ExtentOf(row);
  return MovedCost(job, extent.nodes, extent.replicas);
}

double Objective::Cost(const Allocation& allocation) const {
  double cost = 0.0;
  for (int j = 0; j < jobs(); ++j) cost += Cost(j, allocation.row(j));
  return cost;
}

double Objective::FitnessOf(double cost) const {
  if (jobs() == 0) return 0.0;
  const double p = problem_->power, mean = std::abs(cost) / jobs();
  if (p == 0.0) return Exp(-cost / jobs());
  return p == -1.0 ? 1.0 / mean : Pow(mean, 1.0 / p);
}

double Objective::Utility(const Allocation& allocation) const {
  std::vector<char> active(U(nodes()));
  double speedups = 0.0;
  for (int j = 0; j < jobs(); ++j) {
    const std::span<const std::uint8_t> row = allocation.row(j);
    const Extent extent = ExtentOf(row);
    if (extent.nodes == 0) continue;
    speedups += problem_->jobs[U(j)].speedup[Column(j, extent.nodes, extent.replicas)];
    for (std::size_t n = 0; n < row.size(); ++n) active[n] |= static_cast<char>(row[n] > 0);
  }
  int gpus = 0;
  for (int n = 0; n < nodes(); ++n) gpus += active[U(n)] ? problem_->node_gpus[U(n)] : 0;
  return gpus > 0 ? speedups / gpus : 0.0;
}

bool Objective::Legal(const Allocation& allocation) const {
  std::vector<int> used(U(nodes())), spanning(U(nodes()));
  for (int j = 0; j < jobs(); ++j) {
    const std::span<const std::uint8_t> row = allocation.row(j);
    const Extent extent = ExtentOf(row);
    const Job& job = problem_->jobs[U(j)];
    if (extent.replicas > job.max_replicas) return false;
    if (extent.replicas > 0 && extent.replicas < job.min_replicas) return false;
    for (int n = 0; n < nodes(); ++n) {
      used[U(n)] += row[U(n)];
      spanning[U(n)] += extent.nodes > 1 && row[U(n)] > 0;
    }
  }
  for (int n = 0; n < nodes(); ++n)
    if (used[U(n)] > problem_->node_gpus[U(n)] || spanning[U(n)] > 1) return false;
  return true;
}

}  // namespace berth::pollux
