// Jobs that adapt on a cluster whose nodes fail, are reclaimed and are capped: schedulers written for such jobs get to
// the end without breaking an invariant, and leave GPUs that are about to go.
#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr const char* kReclaimed =
    "failures(mtbf_h=60,node_mtbf_h=60,node_repair_h=1,spot_types=t4,spot_mtbf_h=2,spot_notice_s=600)";

Scenario AdaptiveUnder(const std::string& features, const std::string& cluster, const std::string& workload,
                       std::uint64_t seed = 3) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = {ClockKind::kRounds, 60.0};
  settings.features = ParseFeatures(features);
  return MakeWorkload(workload, settings)->Make(seed, Split::kEvaluate, 0, 0);
}

// Decides once; false = the run is over.
bool DecideOnce(Simulator& sim, Scheduler& scheduler, Decision& decision) {
  if (!sim.AdvanceToDecision()) return false;
  decision.Clear();
  scheduler.Decide(sim.View(scheduler.knowledge()), decision);
  const ApplyResult applied = sim.Apply(decision);
  INFO(Explain(applied, decision, sim));
  REQUIRE(applied.ok());
  REQUIRE(CheckInvariants(sim) == "");
  return true;
}

void RunToEnd(Simulator& sim, Scheduler& scheduler) {
  scheduler.Reset(sim.View(scheduler.knowledge()));
  Decision decision;
  while (DecideOnce(sim, scheduler, decision)) {
  }
  CHECK_FALSE(sim.stalled());
  CHECK(sim.finished());
}

bool AllServe(const Simulator& sim, int job) {
  const auto devices = sim.state().Devices(job);
  return std::all_of(devices.begin(), devices.end(), [&](int device) { return sim.state().InService(device); });
}

}  // namespace

// Loading data holds the step up, so another batch leaves its rate as it is and uses the GPU for another share of it.
TEST_CASE("goodput combined: power follows a batch whose step takes as long as before", "[features]") {
  for (const char* rules : {"goodput", "goodput(rules=pollux)", "goodput(batch=submitted)"}) {
    const Scenario scenario = AdaptiveUnder(Join(rules, ";stages(cpu_core_s=4,cores_per_gpu=2);power(heat=true)"),
                                            "t4=32/4,a100_40gb=16/8", "adaptive(mix=helios,rate=60,jobs=12)");
    const std::unique_ptr<Scheduler> scheduler = MakeScheduler("srpt", AllSchedulers());
    Simulator sim(scenario, {});
    RunToEnd(sim, *scheduler);
  }
}

TEST_CASE("goodput combined: failures, notices, caps and prices to the end", "[features]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  // Long notices and long starts, so that both happen at once.
  const std::string spot = Join(kReclaimed, ";checkpoints(interval=600)");
  const std::string all = Join(spot,
                               ";power(cap_w=3000,heat=true,clocks=0.5:0.75:1,electricity_price=0.1:0.3);"
                               "topology(nodes_per_rack=2);latency(seconds=30);elasticity;sharing;estimates;monitoring");
  for (const char* spec : {"pollux(rounds=100)", "pollux(search=genetic,population=20,generations=5)", "sia",
                           "gavel_tuned", "optimus_tuned", "tiresias", "themis", "elastic_srpt", "srpt"}) {
    for (const std::string& others : {spot, all}) {
      for (const char* rules : {"goodput(restart_s=300)", "goodput(rules=pollux)", "goodput(rules=sia,batch=submitted)"}) {
        CAPTURE(spec, others, rules);
        const Scenario scenario =
            AdaptiveUnder(Join(rules, ";", others), "t4=32/4,a100_40gb=16/8", "adaptive(mix=helios,rate=60,jobs=12)");
        const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
        Simulator sim(scenario, {});
        RunToEnd(sim, *scheduler);
      }
    }
  }
}

// Leases last longer than a notice: of two jobs whose GPUs go, the type may have room for one alone.
TEST_CASE("goodput combined: leases give way to notices", "[features]") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    Simulator sim(AdaptiveUnder(Join("goodput;", kReclaimed), "t4=64/4", "adaptive(jobs=40)", seed), {});
    RunToEnd(sim, *MakeScheduler("themis", AllSchedulers()));
  }
}

// One job on two nodes of one GPU. Its node is to go with a notice of 600 s; it is on the other one before that, and
// nothing interrupts it. Sia may not count a job that starts (restart_s=300) as bound to GPUs that nobody may start on.
TEST_CASE("goodput combined: a job leaves the node under notice", "[features]") {
  for (const char* spec : {"pollux", "sia", "gavel_tuned"}) {
    CAPTURE(spec);
    const auto run = [&](const std::string& failures, double until) {
      const Scenario scenario =
          AdaptiveUnder(Join("goodput(restart_s=300)", failures), "t4=32/4", "adaptive(rate=0,jobs=1)");
      const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
      Simulator sim(scenario, {});
      scheduler->Reset(sim.View(scheduler->knowledge()));
      Decision decision;
      while (sim.now() < until && DecideOnce(sim, *scheduler, decision)) {
      }
      return sim;
    };
    const Simulator before = run("", 120.0);
    REQUIRE(before.state().running.size() == 1);
    const int node = before.scenario().NodeOf(before.state().Devices(0)[0]);
    const Simulator after = run(Join(";failures(mtbf_h=0,events=800:4000:node:t4/", node, ":600)"), 1000.0);
    CHECK(after.state().running.size() == 1);
    CHECK(AllServe(after, 0));
    CHECK(after.state().interruptions[0] == 0);
  }
}

}  // namespace berth
