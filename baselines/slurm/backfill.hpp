// Slurm's sched/backfill: jobs start out of order where that delays nobody before them, as their time limits
// say. Follows _attempt_backfill of backfill.c and _will_run_test of select/cons_tres, Slurm 22.05.
#pragma once

#include <functional>
#include <vector>

#include "baselines/slurm/node_space.hpp"
#include "baselines/slurm/nodes.hpp"

namespace berth {

// A job that holds GPUs, and until when it may.
struct SlurmRunning {
  double end;  // s
  std::vector<SlurmTake> takes;
};

struct SlurmPending {
  int job = -1, partition = 0, user = 0;
  double limit = 0.0;       // s
  bool may_reserve = true;  // old enough for bf_min_age_reserve
};

// Reused between passes; thread rule: one thread at a time.
class SlurmBackfill {
 public:
  explicit SlurmBackfill(const SlurmSettings& settings) : settings_(settings) {}
  // Tries `queue` in its order; `start` is called for each that starts now and takes what it is told from
  // `free`.
  void Pass(const ClusterView& view, SlurmNodeTable& nodes, const std::vector<SlurmPending>& queue,
            std::vector<SlurmRunning> running, std::vector<int>& free,
            const std::function<void(const SlurmPending&, const std::vector<SlurmTake>&)>& start);

 private:
  bool Try(const ClusterView& view, SlurmNodeTable& nodes, const SlurmPending& pending,
           const std::vector<int>& free);
  // When the job would start on nodes `may`, -1 = never; `takes_` is where.
  double WillRun(const ClusterView& view, SlurmNodeTable& nodes, int job, const std::vector<int>& free);
  // The same of all these nodes at once, whatever their types.
  double WillRunOn(const ClusterView& view, SlurmNodeTable& nodes, int job, const std::vector<int>& free);

  const SlurmSettings& settings_;
  SlurmNodeSpace space_;
  std::vector<SlurmRunning> running_;  // by end
  std::vector<char> may_;
  std::vector<int> future_;
  std::vector<SlurmTake> takes_;
};

}  // namespace berth
