// What the Sia artifact's simulator chose, played back: every job gets the configurations that it had there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "baselines/adaptive/sia_configurations.hpp"
#include "env/sim/scheduler.hpp"

namespace berth::sia {

// The nodes are not recorded: jobs are placed as the artifact places them, so the feature `goodput` must have
// its rules (rules=sia). Thread rule: one thread at a time.
class Playback final : public Scheduler {
 public:
  // `path`: JSON, plain or gzip, [[seconds, {job's name: configuration}], ...], ascending; an entry each time
  // that a choice changed, configurations by their index as Configurations lists them. `names`: of the
  // scenario's jobs, in its order. Throws Error that names the file where it is none such.
  Playback(const std::string& path, const std::vector<std::string>& names);

  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override;  // throws Error where the cluster has fewer configurations
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  std::map<double, std::map<int, int>> choices_;  // by time: configurations of jobs
  int most_ = -1;                                 // the largest configuration
  std::string path_;
  Configurations configurations_;
};

}  // namespace berth::sia
