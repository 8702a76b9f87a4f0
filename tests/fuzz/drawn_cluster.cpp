#include "tests/fuzz/drawn_cluster.hpp"

#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/failures/failures.hpp"
#include "env/features/table.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth::fuzz {
namespace {

struct Cluster {
  const char* text;
  const char* workload;
  const char* needs;  // a feature without which that makes no sense
};
constexpr Cluster kClusters[] = {
    {"v100=5/2,p100=3,k80=4/2", "synthetic(rate=6,jobs=10,gangs=1:0.6/2:0.3/4:0.1,slo=true)", ""},
    {"v100=5/2,p100=3,k80=4/2", "synthetic(rate=20,jobs=14,gangs=1:0.7/2:0.2/4:0.1,parts=250:0.25/400:0.25/600:0.2)", "sharing"},
    {"a100=4/4,h100=2", "synthetic(rate=6,jobs=10,table=modern)", "partitions(reconfig_s=100)"},
    {"t4=8/4,a100_40gb=4/2,rtx2080ti=3", "adaptive(mix=newtrace,rate=60,jobs=10)", "goodput(model=known)"},
    {"v100=2,k80=1", "toy(jobs=12)", ""}};
constexpr const char* kFeatures[] = {"topology(placement=consolidate,nodes_per_rack=1)",
                                     "topology(placement=consolidate,nodes_per_rack=1,cpus_per_node=40,cpus_per_gpu=4)",
                                     "elasticity(min_factor=0.3,max_factor=3,measured=false)",
                                     "checkpoints(gb=50,interval=600)",
                                     "checkpoints(gb=50,shared=true)",
                                     "failures(mtbf_h=3,repair_h=1)",
                                     "latency(cadence=both,period_s=500,launch_s=20)",
                                     "power(cap_w=2500,heat=true)",
                                     "power(node_cap_w=240,electricity_price=0.1:0.3)",
                                     "services(rate_per_s=0.5:0.2,replicas=2:1)",
                                     "services(rate_per_s=0.3,replicas=2,share=0.5)",
                                     "stages(depends=0.3,cpu_core_s=0.2,gpu_prep_s=0.1)",
                                     "estimates(by=completion)",
                                     "monitoring(period_s=600)",
                                     "forecast"};

}  // namespace

Scenario DrawnCluster(Input& in) {
  const Cluster& cluster = kClusters[in.Below(std::size(kClusters))];
  std::string features = cluster.needs;
  for (int more = in.Below(5); more > 0; --more) {
    const std::string feature = kFeatures[in.Below(std::size(kFeatures))];
    const std::string name = feature.substr(0, feature.find('('));
    if (features.find(name) == std::string::npos) features += (features.empty() ? "" : ";") + feature;
  }
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster.text);
  settings.features = ParseFeatures(features);
  switch (in.Below(4)) {
    case 0: settings.clock = {ClockKind::kRounds, 360.0}; break;
    case 1: settings.clock = {ClockKind::kReferenceRounds, 360.0}; break;
    case 2: settings.clock = {ClockKind::kHpc}; break;
    default: settings.clock = {ClockKind::kEvent};
  }
  const bool costly = in.Coin();
  if (costly) settings.costs = {7.0, 5.0, 3.0};
  // Tables are read anew for each workload, which takes longer than all else.
  static std::map<std::string, std::shared_ptr<const ScenarioSource>> made;
  if (made.size() > 2000) made.clear();
  auto& workload = made[Join(cluster.workload, " ", cluster.text, " ", features, " ", settings.clock.ToString(), " ", costly)];
  if (workload == nullptr) workload = MakeWorkload(cluster.workload, settings);
  return workload->Make(in.Byte(), Split::kEvaluate, 0, 0);
}

Scenario WithOutages(const Scenario& scenario, Input& in) {
  const Features& features = scenario.data().features;
  if (features.Find<FailureSettings>() != nullptr) return scenario;
  std::string events;
  for (int more = in.Below(6); more > 0; --more) {
    const int down = 40 * in.Byte(), up = down + 1 + 80 * in.Byte(), notice = 20 * in.Byte();
    const bool all = in.Below(4) == 0;  // of every type, so that now and then no GPU is there
    const int only = in.Below(scenario.num_types());
    for (int g = 0; g < scenario.num_types(); ++g) {
      const GpuType& type = scenario.data().cluster.types[U(g)];
      if (PartOf(scenario.data(), g).whole != g || (!all && g != only)) continue;
      for (int node = 0; node * type.gpus_per_node < type.count; ++node)
        events += Join(events.empty() ? "" : "|", down, ":", up, ":node:", type.name, "/", node, ":", notice);
    }
  }
  if (events.empty()) return scenario;
  ScenarioData data = scenario.data();
  data.features = ParseFeatures(Join(ToString(features), features.any() ? ";" : "", "failures(mtbf_h=0,events=", events, ")"));
  return Scenario(std::move(data));
}

}  // namespace berth::fuzz
