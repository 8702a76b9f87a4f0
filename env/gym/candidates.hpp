// Whom a decision point is about: shared by the process in training and frozen policies.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "env/gym/mdp.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// True where the MDP passes over the present decision point and leaves everything as it is: nobody to place,
// or nothing arrived or completed (MdpSpec::on_change).
bool PassesOver(const ClusterView& view, const MdpSpec& mdp);

// The candidates of a decision point in the stated order. Thread rule: one thread at a time; reused between
// points, and then allocates only where the list outgrows all before it.
class Candidates {
 public:
  // Active jobs when preemptive, waiting ones otherwise; without those that `placed` names, if any.
  std::span<const int> List(const ClusterView& view, const MdpSpec& mdp, const Plan* placed = nullptr);

 private:
  std::vector<int> jobs_;
  std::vector<std::pair<double, int>> keyed_;
};

// Running candidates beyond the visible keep their GPUs. `visible` is in the order of `candidates`.
void KeepUnseen(const ClusterView& view, std::span<const int> candidates, std::span<const int> visible,
                Plan& plan);

}  // namespace berth
