// What Pollux asks of an allocation of GPUs (Qiao et al., OSDI 2021, section 4.2, FITNESS_p; `Problem` of
// petuum/adaptdl, osdi21-artifact, simulator/pollux.py): the power mean over jobs of how much faster each
// runs than on its fair share, less what a restart costs. Plain data: no simulator, and nothing is chosen
// here.
//
//   Problem problem{.node_gpus = {4, 4}, .jobs = {...}, .present = Allocation(jobs, 2)};
//   const Objective objective(problem);
//   objective.Fitness(allocation)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/base/index.hpp"

namespace berth::pollux {

inline constexpr int kMostOfNode = 255;          // GPUs: entries are bytes
inline constexpr int kMostReplicas = 255 * 255;  // of a job

// GPUs of each job on each node, [jobs, nodes]. A row is a job's; no entry exceeds kMostOfNode.
class Allocation {
 public:
  Allocation() = default;
  Allocation(int jobs, int nodes) : jobs_(jobs), nodes_(nodes), gpus_(U(jobs) * U(nodes)) {}
  int jobs() const { return jobs_; }
  int nodes() const { return nodes_; }
  std::span<std::uint8_t> row(int job) { return {gpus_.data() + U(job) * U(nodes_), U(nodes_)}; }
  std::span<const std::uint8_t> row(int job) const { return {gpus_.data() + U(job) * U(nodes_), U(nodes_)}; }
  std::span<const std::uint8_t> all() const { return gpus_; }
  bool operator==(const Allocation&) const = default;

 private:
  int jobs_ = 0, nodes_ = 0;
  std::vector<std::uint8_t> gpus_;
};

struct Job {
  // [node_rows, max_replicas + 1]: goodput on (nodes, replicas) over that on the fair share; row k is of k +
  // 1 nodes, the last one of more, too. Column 0 is 0. A fitted model knows one node and several: two rows.
  std::vector<double> speedup;
  int node_rows = 1;
  int min_replicas = 0;  // fewer are none
  int max_replicas = 1;  // up to kMostReplicas
  double age = 0.0;      // s since submission
  int restarts = 0;      // starts but for the first
};

struct Problem {
  std::vector<int> node_gpus;   // [nodes], each 0..kMostOfNode
  std::vector<Job> jobs;        // who comes first wins where a repair must choose
  Allocation present;           // [jobs, nodes]
  double power = -1.0;          // of the mean: 1 = average, 0 = geometric, lower = fairer
  double restart_delay = 30.0;  // s
};

// What each job would have if all were equal, GPUs: ceil(gpus / jobs). adaptdl counts them as on one node.
int FairReplicas(int gpus, int jobs);
// `goodput`(nodes, replicas) as Job::speedup, in units of goodput(1, fair); replicas below nodes are 0, and
// so is all where the fair share makes no progress.
template <typename GoodputOf>
std::vector<double> SpeedupTable(int node_rows, int max_replicas, int fair, const GoodputOf& goodput) {
  std::vector<double> table(U(node_rows) * U(max_replicas + 1));
  const double base = goodput(1, fair);
  for (int k = 1; base > 0.0 && k <= node_rows; ++k) {
    for (int r = k; r <= max_replicas; ++r) table[U((k - 1) * (max_replicas + 1) + r)] = goodput(k, r) / base;
  }
  return table;
}
// A job nobody knows: as fast as it has GPUs. One row.
std::vector<double> LinearSpeedups(int max_replicas, int fair);

// Nodes and GPUs of a row.
struct Extent {
  int nodes = 0, replicas = 0;
};
Extent ExtentOf(std::span<const std::uint8_t> row);

// Keeps a reference to the problem. Any thread.
class Objective {
 public:
  static constexpr double kFloor = 1e-3;  // what a job without GPUs counts as, so that a mean exists

  explicit Objective(const Problem& problem);  // BERTH_CHECKs its sizes
  const Problem& problem() const { return *problem_; }
  int jobs() const { return static_cast<int>(problem_->jobs.size()); }
  int nodes() const { return static_cast<int>(problem_->node_gpus.size()); }

  // What a job adds to a sum that is to be small: with s = speedup x nodes / GPUs (a node's worth of GPUs at
  // perfect speedup is 1), (s + 1e-3)^p for p < 0, its negative for p > 0, -log max(s, 1e-3) for p = 0.
  // Moved: s times max(age - delay x restarts, 0) / (age + delay). 0 <= replicas <= max_replicas.
  double MovedCost(int job, int nodes, int replicas) const {
    return moved_[begin_[U(job)] + Column(job, nodes, replicas)];
  }
  double KeptCost(int job) const { return kept_[U(job)]; }  // of the present row
  double Cost(int job, std::span<const std::uint8_t> row) const;
  double Cost(const Allocation& allocation) const;  // of all jobs
  // The mean from that sum: (sum / jobs)^(1/p). Larger is better.
  double FitnessOf(double cost) const;
  double Fitness(const Allocation& allocation) const { return FitnessOf(Cost(allocation)); }
  // Sum of speedups over the GPUs of nodes in use: adaptdl's second objective, 0 where none is.
  double Utility(const Allocation& allocation) const;

  // No node gives more than it has, or hosts two jobs that span nodes; every job has none or between its
  // least and its most.
  bool Legal(const Allocation& allocation) const;
  // Makes it so by taking away, as adaptdl's `_repair`: of jobs that span nodes the first on a node stays,
  // and all after a second one lose what they have there; a job above its most keeps GPUs in the order of
  // `shuffle`(nodes), which returns a permutation [nodes]; then nodes fill up from the first job on.
  template <typename Shuffle>
  void Repair(Allocation& allocation, const Shuffle& shuffle) const;

 private:
  std::size_t Column(int job, int nodes, int replicas) const {
    const Job& j = problem_->jobs[U(job)];
    const int row = nodes < 1 ? 0 : (nodes < j.node_rows ? nodes : j.node_rows) - 1;
    return U(row * (j.max_replicas + 1) + replicas);
  }
  double CostAt(double scaled) const;

  const Problem* problem_;
  std::vector<std::size_t> begin_;  // [jobs] of moved_
  std::vector<double> moved_, kept_;
};

template <typename Shuffle>
void Objective::Repair(Allocation& allocation, const Shuffle& shuffle) const {
  const int nodes = this->nodes();
  std::vector<int> count(U(nodes)), used(U(nodes));
  for (int j = 0; j < jobs(); ++j) {
    const std::span<std::uint8_t> row = allocation.row(j);
    const Extent before = ExtentOf(row);
    if (before.nodes == 0) continue;
    for (int n = 0; n < nodes; ++n) {
      if (row[U(n)] == 0) continue;
      count[U(n)] += before.nodes > 1;
      if (count[U(n)] > 1) row[U(n)] = 0;
    }
    const Job& job = problem_->jobs[U(j)];
    if (before.replicas > job.max_replicas && ExtentOf(row).replicas > job.max_replicas) {
      int left = job.max_replicas;
      for (const int n : shuffle(nodes)) {
        if (row[U(n)] > left) row[U(n)] = static_cast<std::uint8_t>(left);
        left -= row[U(n)];
      }
    }
    int total = 0;
    for (int n = 0; n < nodes; ++n) {
      if (row[U(n)] == 0) continue;
      const int room = problem_->node_gpus[U(n)] - used[U(n)];
      if (row[U(n)] > room) row[U(n)] = static_cast<std::uint8_t>(room);
      used[U(n)] += row[U(n)];
      total += row[U(n)];
    }
    if (total >= job.min_replicas) continue;
    for (int n = 0; n < nodes; ++n) row[U(n)] = 0;  // what it leaves stays idle, as in adaptdl
  }
}

}  // namespace berth::pollux
