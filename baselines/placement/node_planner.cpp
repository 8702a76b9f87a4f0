#include "baselines/placement/node_planner.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"

namespace berth {
namespace {

constexpr NodeDemand kNothing{};

}  // namespace

void NodePlanner::Reset(const ClusterView& view) {
  demand_ = nullptr;
  if (const PlacementState* placement = view.Find<PlacementState>()) {
    layout_ = placement->layout;
    demand_ = placement->demand;
  } else {
    std::vector<GpuType> types(view.types().begin(), view.types().end());
    for (int type = 0; type < view.num_types(); ++type) {  // all devices, in service and in this part or not
      const int end = type + 1 < view.num_types() ? view.first_device(type + 1) : view.num_gpus();
      types[U(type)].count = end - view.first_device(type);
    }
    layout_ = std::make_shared<const ClusterLayout>(MakeLayout(types, /*nodes_per_rack=*/0));
  }
  free_ = nullptr;
}

void NodePlanner::Begin(const ClusterView& view) {
  taken_.assign(U(view.num_gpus()), 0);
  released_.assign(U(view.num_gpus()), 0);
  if (const auto* placement = view.Find<PlacementState>()) {
    free_ = std::make_unique<FreeNodes>(placement->free);
    return;
  }
  free_ = std::make_unique<FreeNodes>(FreeNodes{NodeRooms(layout_), {}});
  for (int d = 0; d < view.num_gpus(); ++d) {
    if (view.DeviceFree(d)) free_->rooms.Add(layout_->NodeOf(d), 1);
  }
}

const NodeDemand& NodePlanner::DemandOf(int job) const {
  return demand_ == nullptr ? kNothing : (*demand_)[U(job)];
}

bool NodePlanner::Left(const ClusterView& view, int device) const {
  return taken_[U(device)] == 0 && (view.DeviceFree(device) || released_[U(device)] != 0);
}

bool NodePlanner::Choose(const ClusterView& view, int job, int type, PlacementRule rule) {
  chosen_.clear();
  const int gang = view.Gang(job);
  if (!ChooseNodes(rule, *free_, type, gang, DemandOf(job), shares_)) return false;
  for (const NodeShare& share : shares_) {
    int left = share.members;
    for (int d = layout_->first_device[U(share.node)]; left > 0; ++d) {
      if (Left(view, d)) chosen_.push_back(d), --left;
    }
  }
  job_ = job;
  const Extent extent{static_cast<int>(shares_.size()), layout_->RacksOf(chosen_)};
  factor_ = view.Find<PlacementState>() == nullptr ? 1.0 : SpreadFactor(view, job, type, gang, extent);
  return true;
}

void NodePlanner::Take() {
  for (const NodeShare& share : shares_) free_->Take(share.node, share.members, DemandOf(job_));
  for (int d : chosen_) taken_[U(d)] = 1;
}

void NodePlanner::Return(const ClusterView& view, int job, int members) {
  for (int d : view.Devices(job)) {
    free_->Take(layout_->NodeOf(d), -members, DemandOf(job));
    released_[U(d)] = members > 0;
  }
}

void NodePlanner::Release(const ClusterView& view, int job) {
  Return(view, job, 1);
}

void NodePlanner::TakeBack(const ClusterView& view, int job) {
  Return(view, job, -1);
}

}  // namespace berth
