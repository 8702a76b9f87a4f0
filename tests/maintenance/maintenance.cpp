#include "tests/maintenance/maintenance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/observation_block.hpp"

namespace berth::test {
namespace {

struct ClosedNodes {
  static constexpr ChannelInfo kType[] = {{"closed", "share of its nodes' devices that are closed", 0, 1}};
  static void Type(const ClusterView& view, int type, float* f) {
    const auto* state = view.Find<MaintenanceState>();
    if (state == nullptr) return;
    const int first = view.first_device(type), count = view.cluster().types[U(type)].count;
    int closed = 0;
    for (int d = first; d < first + count; ++d) closed += state->closed[U(view.NodeOf(d))] > 0;
    f[0] = static_cast<float>(closed) / static_cast<float>(count);
  }
};

BlockInfo MaintenanceBlock() {
  return RowBlock<ClosedNodes>::Info("maintenance", 1, "which nodes are closed");
}

}  // namespace

std::span<const Field<MaintenanceSettings>> MaintenanceSettings::Fields() {
  using S = MaintenanceSettings;
  static const std::array kFields = {
      Field<S>{"nodes", &S::nodes, "that are closed, an entry each"},
      Field<S>{"start_h", &S::start_h, "hours from the scenario's begin, an entry each"},
      Field<S>{"hours", &S::hours, "that it takes", 1e-3, 1e4},
  };
  return kFields;
}

void MaintenanceSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock(kName, scenario.clock);
  if (nodes.size() != start_h.size()) {
    throw Error(Join("feature 'maintenance': start_h: expected ", nodes.size(),
                     " entries, one a node, found ", start_h.size()));
  }
  int known = 0;
  for (const GpuType& type : scenario.cluster.types) known += (type.count - 1) / type.gpus_per_node + 1;
  for (const double node : nodes) {
    if (node < 0.0 || node >= known || node != std::floor(node))
      throw Error(Join("feature 'maintenance': nodes: expected 0 to ", known - 1, ", found ", node));
  }
}

std::unique_ptr<FeatureState> MaintenanceSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<MaintenanceState>(*this, scenario);
}

MaintenanceState::MaintenanceState(const MaintenanceSettings& settings, const Scenario& scenario)
    : closed(U(scenario.num_nodes()), 0), settings_(&settings) {}

void MaintenanceState::Start(SimCore& core) {
  for (std::size_t i = 0; i < settings_->nodes.size(); ++i) {
    const double begin = settings_->start_h[i] * 3600.0;
    closings_.push_back({static_cast<int>(settings_->nodes[i]), begin, begin + settings_->hours * 3600.0});
    core.SetTimer({begin, kCloses, static_cast<int>(i)});
  }
}

bool MaintenanceState::OnTimer(SimCore& core, const Timer& timer) {
  const Closing& closing = closings_[U(timer.index)];
  const bool closes = timer.kind == kCloses;
  if (closes) core.SetTimer({closing.end_s, kReopens, timer.index});
  int& here = closed[U(closing.node)];
  here += closes ? 1 : -1;
  if (here != (closes ? 1 : 0)) return false;  // by another entry too
  for (int d = 0; d < core.scenario().num_gpus(); ++d) {
    if (core.scenario().NodeOf(d) != closing.node) continue;
    core.SetService(d, kClosed, closes);
    for (int job : core.state().HoldersOf(d)) {
      if (core.state().phase[U(job)] == JobPhase::kRunning) core.Interrupt(job);
    }
  }
  return true;
}

std::string MaintenanceState::Violation(const InvariantInput& in) const {
  for (int d = 0; d < in.scenario.num_gpus(); ++d) {
    const bool shut = closed[U(in.scenario.NodeOf(d))] > 0;
    if (((in.state.out_of_service[U(d)] & kClosed) != 0) != shut)
      return Join("device ", d, ": its node and its service disagree");
    for (int job : in.state.HoldersOf(d)) {
      if (shut && in.state.phase[U(job)] == JobPhase::kRunning)
        return Join("job ", job, " runs on device ", d, " of a closed node");
    }
  }
  return "";
}

void MaintenanceState::Measure(const SimCore& core, std::span<double> figures) const {
  for (const Closing& closing : closings_) {
    const double seconds = std::min(core.now(), closing.end_s) - closing.begin_s;
    for (int d = 0; d < core.scenario().num_gpus() && seconds > 0.0; ++d)
      figures[0] += core.scenario().NodeOf(d) == closing.node ? seconds / 3600.0 : 0.0;
  }
}

void MaintenanceState::AddLanes(double now, std::vector<FeatureLane>& lanes) const {
  for (const Closing& closing : closings_) {
    if (closing.begin_s < now)
      lanes.push_back(
          {Join("node ", closing.node), "maintenance", closing.begin_s, std::min(now, closing.end_s)});
  }
}

FeatureModule MaintenanceFeature() {
  static constexpr TimerKind kTimers[] = {kCloses, kReopens};
  static constexpr MetricInfo kMetrics[] = {{"closed_gpu_hours", "GPU-hours of closed nodes"}};
  static constexpr BlockInfo (*kBlocks[])() = {MaintenanceBlock};
  FeatureModule module = ModuleOf<MaintenanceSettings>();
  module.timers = kTimers;
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth::test
