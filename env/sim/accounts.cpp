#include "env/sim/accounts.hpp"

#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/simulator.hpp"

namespace berth {

double HeldSeconds(const Simulator& sim, int type) {
  const double busy = sim.BusySeconds(type);
  return sim.state().services ? busy + ServedOn(sim.state(), type).alone_s : busy;
}

double UsedEnergyJ(const Simulator& sim) {
  const SimState& s = sim.state();
  if (s.power) return EnergyJ(*s.power, s.now);
  double joules = 0.0;
  for (int g = 0; g < sim.scenario().num_types(); ++g) {
    const GpuType& type = sim.scenario().data().cluster.types[U(g)];
    const double busy = sim.BusySeconds(g) + (s.services ? ServedOn(s, g).busy_s : 0.0);
    joules += busy * type.peak_power_w + (type.count * s.now - busy) * type.idle_power_w;
  }
  return joules;
}

double UsedCost(const Simulator& sim) {
  const SimState& s = sim.state();
  const Features& features = sim.scenario().data().features;
  if (s.power && !features.power->electricity_price.empty())
    return ElectricityCost(*features.power, *s.power, s.now);
  double cost = 0.0;
  for (int g = 0; g < sim.scenario().num_types(); ++g)
    cost += HeldSeconds(sim, g) / 3600.0 * sim.scenario().data().cluster.types[U(g)].price_per_hour;
  return cost;
}

}  // namespace berth
