#include "env/sim/accounts.hpp"

#include "env/base/index.hpp"
#include "env/sim/core.hpp"

namespace berth {

double HeldSeconds(const SimCore& core, int type) {
  double held = core.BusySeconds(type);
  for (const FeatureState& feature : core.state().features.Of(Hook::kUsed))
    held += feature.Used(core.now(), type).held_s;
  return held;
}

double UsedEnergyJ(const SimCore& core) {
  const SimState& s = core.state();
  for (const FeatureState& feature : s.features.Of(Hook::kEnergyJ)) {
    if (const std::optional<double> joules = feature.EnergyJ(s.now)) return *joules;
  }
  double joules = 0.0;
  for (int g = 0; g < core.scenario().num_types(); ++g) {
    const GpuType& type = core.scenario().data().cluster.types[U(g)];
    double busy = core.BusySeconds(g);
    for (const FeatureState& feature : s.features.Of(Hook::kUsed)) busy += feature.Used(s.now, g).busy_s;
    joules += busy * type.peak_power_w + (type.count * s.now - busy) * type.idle_power_w;
  }
  return joules;
}

double UsedCost(const SimCore& core) {
  double cost = 0.0;
  for (const FeatureState& feature : core.state().features.Of(Hook::kEnergyCost))
    cost += feature.EnergyCost(core.now()).value_or(0.0);
  for (int g = 0; g < core.scenario().num_types(); ++g)
    cost += HeldSeconds(core, g) / 3600.0 * core.scenario().data().cluster.types[U(g)].price_per_hour;
  return cost;
}

}  // namespace berth
