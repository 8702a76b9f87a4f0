#include "env/features/topology/communication.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"
#include "env/features/topology/topology.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/feature.hpp"

namespace berth {
namespace {

// Of the slowest link in a ring through all members.
double SlowestLink(const TopologySettings& settings, Extent extent) {
  if (extent.nodes <= 1) return settings.node_gb_s;
  return extent.racks <= 1 ? settings.network_gb_s : settings.rack_gb_s;
}

// Spread over consolidated as the table has them; 0 = not measured.
double MeasuredSpread(const ThroughputTable& table, std::size_t types, const PlacedGang& gang) {
  if (table.unconsolidated.empty()) return 0.0;
  const auto size = std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang.width);
  if (size == table.gang_sizes.end() || *size != gang.width) return 0.0;
  const auto s = static_cast<std::size_t>(size - table.gang_sizes.begin());
  const std::size_t at = (U(gang.job_type) * table.gang_sizes.size() + s) * types + U(gang.type);
  return table.alone[at] > 0.0 ? table.unconsolidated[at] / table.alone[at] : 0.0;
}

double Factor(const TopologySettings& settings, const ClusterLayout& layout, const ThroughputTable& table,
              const JobTypeTraits& traits, const PlacedGang& gang, Extent extent) {
  if (gang.width <= 1 || settings.slowdown == "none") return 1.0;
  Extent least;
  least.nodes = layout.FewestNodes(gang.type, gang.width);
  if (settings.slowdown == "auto") {
    if (extent.nodes <= least.nodes && extent.racks <= 1) return 1.0;
    const double measured = MeasuredSpread(table, layout.gpus_per_node.size(), gang);
    if (measured > 0.0) return extent.nodes <= least.nodes ? 1.0 : measured;
  }
  if (settings.nodes_per_rack > 0) least.racks = (least.nodes - 1) / settings.nodes_per_rack + 1;
  const double gradient = StatedOr(traits.gradient_gb, gang.job_type, settings.gradient_gb);
  const double longer = RingAllReduceSeconds(gang.width, gradient, SlowestLink(settings, extent)) -
                        RingAllReduceSeconds(gang.width, gradient, SlowestLink(settings, least));
  return 1.0 / (1.0 + gang.rate * std::max(0.0, longer));
}

}  // namespace

double RingAllReduceSeconds(int gang, double gb, double gb_s) {
  return gang <= 1 ? 0.0 : 2.0 * (gang - 1) / gang * gb / gb_s;
}

PlacedGang AtItsSteps(const FeatureStates& features, int job, PlacedGang gang) {
  for (const FeatureState& feature : features.Of(Hook::kStepsOf)) {
    if (const std::optional<OtherSteps> steps = feature.StepsOf(job, gang.type))
      gang.job_type = steps->job_type, gang.rate /= steps->worth;
  }
  return gang;
}

double SpreadFactor(const Scenario& scenario, const ClusterLayout& layout, const PlacedGang& gang,
                    Extent extent) {
  const ScenarioData& data = scenario.data();
  return Factor(*data.features.Find<TopologySettings>(), layout, data.throughputs, data.traits, gang, extent);
}

double SpreadFactor(const ClusterView& view, int job, int type, int width, Extent extent) {
  const PlacedGang gang = {view.JobType(job), type, width, view.RateAt(job, type, width)};
  return Factor(*view.features().Find<TopologySettings>(), *view.Find<PlacementState>()->layout,
                view.throughputs(), view.traits(), AtItsSteps(view.feature_states(), job, gang), extent);
}

}  // namespace berth
