#include "tests/drawn_process.hpp"

#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "tests/catch.hpp"

namespace berth::test {

int Below(Stream& stream, int n) {
  return static_cast<int>(stream.Below(static_cast<std::uint32_t>(n)));
}

DrawnProcess DrawProcess(Stream& stream, std::uint64_t seed) {
  const bool sliced = Below(stream, 3) == 0, divided = !sliced && Below(stream, 4) == 0;
  const bool tuned = !sliced && !divided && Below(stream, 6) == 0;
  std::string features, actions = "start";
  const auto maybe = [&](int one_in, const char* feature, const std::vector<const char*>& its_actions) {
    if (Below(stream, one_in) != 0) return;
    features += (features.empty() ? "" : ";") + std::string(feature);
    for (const char* action : its_actions) {
      if (Below(stream, 5) != 0) actions += "," + std::string(action);
    }
  };
  // Where nodes are limited no part of a GPU is offered.
  maybe(3, divided ? "topology(placement=consolidate,nodes_per_rack=1)"
                   : "topology(placement=consolidate,nodes_per_rack=1,cpus_per_node=40,cpus_per_gpu=4)",
        {"gather", "place"});
  maybe(sliced ? 1 : 1000000, "partitions(reconfig_s=100)", {"layout"});
  maybe(divided ? 1 : 1000000, "sharing", {"share"});
  maybe(tuned ? 1 : 1000000, "goodput(model=known)", {"scale", "batch"});
  maybe(2, "elasticity(min_factor=0.3,max_factor=3,measured=false)", {"resize"});
  maybe(3, Below(stream, 2) == 0 ? "checkpoints(gb=50,interval=600)" : "checkpoints(gb=50,shared=true)", {"checkpoint"});
  const std::string spot = std::string(",spot_mtbf_h=3,spot_notice_s=900,spot_types=") +
                           (tuned ? "t4:rtx2080ti" : "p100:v100");
  maybe(3, ("failures(mtbf_h=10,repair_h=1" + (sliced ? "" : spot) + ")").c_str(), {});
  maybe(4, "latency(cadence=both,period_s=500,launch_s=20)", {});
  maybe(3, Below(stream, 2) == 0 ? "power(cap_w=2500,heat=true)"
                                 : "power(node_cap_w=240,electricity_price=0.1:0.3)", {"clock", "cap"});
  maybe(3, Below(stream, 2) == 0 ? "services(rate_per_s=20:10,replicas=2:1)"
                                 : "services(rate_per_s=9,replicas=2,share=0.5)", {"replicas"});
  maybe(4, "stages(depends=0.3,cpu_core_s=0.2,gpu_prep_s=0.1)", {"offload"});
  maybe(4, "estimates(by=completion)", {});
  if (!sliced && !tuned && Below(stream, 2) == 0) actions += ",pack";
  if (Below(stream, 2) == 0) actions += ",reject";
  if (Below(stream, 3) == 0) actions += ",wait";
  ScenarioSettings settings;
  settings.cluster = ParseCluster(sliced  ? "a100=4/4,h100=2/1"
                                  : tuned ? "t4=16/4,a100_40gb=4/2,rtx2080ti=3/1"
                                          : "v100=5/2,p100=3/1,k80=4/2");
  settings.features = ParseFeatures(features);
  settings.clock = Clock::Parse(Below(stream, 2) == 0 ? "event" : "rounds(360)");
  const std::string workload = std::string("synthetic(rate=6,jobs=25,gangs=1:0.7/2:0.2/4:0.1") +
                               (sliced ? ",table=modern" : "") + (divided ? ",parts=250:0.25/400:0.25/600:0.2" : "") +
                               ",slo=true)";
  const std::string adaptive = "adaptive(mix=newtrace,rate=60,jobs=25)";
  DrawnProcess drawn{MakeWorkload(tuned ? adaptive : workload, settings)->Make(seed, Split::kEvaluate, 0, 0), {}, 0};
  drawn.mdp.actions = ResolveActions(actions);
  drawn.mdp.preemptive = Below(stream, 3) != 0;
  drawn.mdp.work_conserving = drawn.mdp.preemptive && Below(stream, 2) == 0;
  drawn.mdp.on_change = false;
  drawn.visible = Below(stream, 3) == 0 ? 4 : 0;
  return drawn;
}

std::int32_t DrawLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::vector<std::int32_t> legal;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) legal.push_back(static_cast<std::int32_t>(a));
  }
  REQUIRE(!legal.empty());
  return legal[stream.Below(static_cast<std::uint32_t>(legal.size()))];
}

}  // namespace berth::test
