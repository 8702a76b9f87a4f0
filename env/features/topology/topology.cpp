#include "env/features/topology/topology.hpp"

#include <algorithm>
#include <array>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/features/topology/cluster_layout.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

const std::vector<std::string> kRules = {"lowest", "best_fit", "consolidate", "spread"};
const std::vector<std::string> kSlowdowns = {"auto", "model", "none"};

void CheckName(const char* setting, const std::string& found, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), found) != known.end()) return;
  throw Error(Join("feature 'topology': ", setting, ": expected one of ", Listed(known), ", found '", found,
                   "'", DidYouMean(found, known)));
}

void CheckList(const char* setting, std::size_t found, std::size_t types) {
  if (found == 0 || found == 1 || found == types) return;
  throw Error(Join("feature 'topology': ", setting, ": expected one value, or one for each of ", types,
                   " GPU types, found ", found));
}

}  // namespace

std::span<const Field<TopologySettings>> TopologySettings::Fields() {
  using S = TopologySettings;
  constexpr double kSlowest = 1e-6;  // GB/s
  static const std::array kFields = {
      Field<S>{"nodes_per_rack", &S::nodes_per_rack, "nodes of a type in a rack; 0 = one rack holds all"},
      Field<S>{"placement", &S::placement,
               "of orders without devices: lowest | best_fit | consolidate | spread"},
      Field<S>{"slowdown", &S::slowdown,
               "of spread gangs: auto (measured where the table has it, else the model) | model (ring "
               "all-reduce of the gradients) | none"},
      Field<S>{"node_gb_s", &S::node_gb_s, "GB/s between GPUs of a node", kSlowest},
      Field<S>{"network_gb_s", &S::network_gb_s, "GB/s between nodes of a rack", kSlowest},
      Field<S>{"rack_gb_s", &S::rack_gb_s, "GB/s between racks", kSlowest},
      Field<S>{"gradient_gb", &S::gradient_gb,
               "GB that a gang exchanges each step, of job types that do not state it"},
      Field<S>{"cpus_per_node", &S::cpus_per_node, "CPU cores of a node, by type; none = no limit"},
      Field<S>{"node_memory_gb", &S::node_memory_gb, "memory of a node, GB, by type; none = no limit"},
      Field<S>{"further_per_node", &S::further_per_node,
               "a third resource of a node, by type; none = no limit"},
      Field<S>{"cpus_per_gpu", &S::cpus_per_gpu,
               "CPU cores that each GPU's process takes, of jobs that "
               "state no demand"},
      Field<S>{"memory_gb_per_gpu", &S::memory_gb_per_gpu, "memory likewise, GB"},
  };
  return kFields;
}

PlacementRule TopologySettings::Rule() const {
  const auto at = std::find(kRules.begin(), kRules.end(), placement) - kRules.begin();
  BERTH_CHECK(at < static_cast<std::ptrdiff_t>(kRules.size()), placement);
  return static_cast<PlacementRule>(at);
}

void TopologySettings::Check(const ScenarioData& scenario) const {
  CheckName("placement", placement, kRules);
  CheckName("slowdown", slowdown, kSlowdowns);
  if (!(node_gb_s >= network_gb_s && network_gb_s >= rack_gb_s)) {
    throw Error(Join("feature 'topology': expected node_gb_s >= network_gb_s >= rack_gb_s, found ", node_gb_s,
                     ", ", network_gb_s, ", ", rack_gb_s));
  }
  const std::size_t types = NumWholeTypes(scenario);
  CheckList("cpus_per_node", cpus_per_node.size(), types);
  CheckList("node_memory_gb", node_memory_gb.size(), types);
  CheckList("further_per_node", further_per_node.size(), types);
  const std::size_t jobs = scenario.jobs.arrival.size();
  if (jobs > 0 && scenario.jobs.demand.size() > jobs * kResourceKinds) {
    throw Error(Join("feature 'topology': expected demands for at most ", kResourceKinds,
                     " resources (CPU cores, memory, one more), found ", scenario.jobs.demand.size() / jobs));
  }
}

int TopologySettings::LargestGang(const ScenarioData& scenario, int job, int type) const {
  const NodeCapacity capacity = CapacityOf(*this, scenario, type);
  const NodeDemand demand = DemandOf(*this, scenario, job);
  const GpuType& gpus = scenario.cluster.types[static_cast<std::size_t>(type)];
  const int whole = gpus.count / gpus.gpus_per_node, rest = gpus.count % gpus.gpus_per_node;
  const auto room = [&](int devices) { return Room(devices, capacity, demand); };
  // At most as many as devices, so it fits.
  return whole * room(gpus.gpus_per_node) + room(rest);
}

}  // namespace berth
