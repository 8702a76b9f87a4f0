#include "baselines/placement/node_limits.hpp"

#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"

namespace berth {

void NodeLimits::Begin(const ClusterView& view) {
  left_.clear();
  const PlacementState* placement = view.Find<PlacementState>();
  if (placement == nullptr || placement->free.left.empty()) return;
  layout_ = placement->layout;
  demand_ = placement->demand;
  left_ = placement->free.left;
}

bool NodeLimits::Holds(int job, int device) const {
  return left_.empty() || Room(1, left_[U(layout_->HostOf(device))], (*demand_)[U(job)]) > 0;
}

bool NodeLimits::Take(int job, int device) {
  if (!Holds(job, device)) return false;
  if (left_.empty()) return true;
  NodeCapacity& own = left_[U(layout_->HostOf(device))];
  for (std::size_t r = 0; r < own.size(); ++r) own[r] -= (*demand_)[U(job)][r];
  return true;
}

void NodeLimits::Give(int job, std::span<const int> devices) {
  if (left_.empty()) return;
  for (int d : devices) {
    NodeCapacity& own = left_[U(layout_->HostOf(d))];
    for (std::size_t r = 0; r < own.size(); ++r) own[r] += (*demand_)[U(job)][r];
  }
}

}  // namespace berth
