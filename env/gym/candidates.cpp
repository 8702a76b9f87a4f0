#include "env/gym/candidates.hpp"

#include <algorithm>

namespace berth {

bool PassesOver(const ClusterView& view, const MdpSpec& mdp) {
  if ((mdp.preemptive ? view.active() : view.waiting()).empty()) return true;
  return mdp.on_change && !view.capacity_changed() && view.arrived().empty() && view.completed().empty();
}

std::span<const int> Candidates::List(const ClusterView& view, const MdpSpec& mdp, const Plan* placed) {
  const std::span<const int> source = mdp.preemptive ? view.active() : view.waiting();
  const bool sighted = mdp.knowledge >= Knowledge::kEstimate;
  jobs_.clear();
  keyed_.clear();
  for (int job : source) {
    if (placed != nullptr && placed->Placed(job)) continue;
    if (mdp.order == QueueOrder::kArrival) {
      jobs_.push_back(job);
    } else if (sighted) {
      keyed_.emplace_back(view.RemainingSteps(job) / view.BestRate(job), job);
    } else {
      keyed_.emplace_back(mdp.knowledge >= Knowledge::kBlind ? view.AttainedSeconds(job) : view.Arrival(job),
                          job);
    }
  }
  std::sort(keyed_.begin(), keyed_.end());  // ties by arrival
  for (const auto& [key, job] : keyed_) jobs_.push_back(job);
  return jobs_;
}

void KeepUnseen(const ClusterView& view, std::span<const int> candidates, std::span<const int> visible,
                Plan& plan) {
  if (visible.size() == candidates.size()) return;
  auto seen = visible.begin();
  for (int job : candidates) {
    if (seen != visible.end() && *seen == job) {
      ++seen;
    } else if (view.IsRunning(job)) {
      plan.Keep(view, job);
    }
  }
}

}  // namespace berth
