// The blocks descendants and spending, the cost of jobs that are held back, and who is put beside whom, by hand.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/signals/potential.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/channel_ranges.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

constexpr double kHour = 3600.0;

struct Shown {
  std::vector<float> row;
  ObservationLayout layout;
  float Job(int row_of, int channel) const {
    return row[U(layout.jobs_offset() + row_of * layout.job_channels + channel)];
  }
  float Type(int type, int channel) const {
    return row[U(layout.types_offset() + type * layout.type_channels + channel)];
  }
  float Pair(int row_of, int type, int channel) const {
    return row[U(layout.pairs_offset() + (row_of * layout.g + type) * layout.pair_channels + channel)];
  }
};

Shown Show(Simulator& simulator, const std::string& block, Knowledge knowledge = Knowledge::kOracle,
           const std::string& actions = kStartAlone) {
  MdpSpec mdp;
  mdp.actions = ResolveActions(actions);
  mdp.encoder = "observation(blocks=" + block + ")";
  mdp.knowledge = knowledge;
  const ClusterView view = simulator.View(knowledge);
  DecisionPoint point(mdp);
  point.Begin(view);
  point.Start(view);
  point.Gather(view);
  point.Observe(view, 0);
  const auto seen = point.observation();
  return {{seen.begin(), seen.end()}, point.layout()};
}

void RequireRanges(const Shown& shown, const std::string& block) {
  test::RequireRanges(EncoderOf("observation(blocks=" + block + ")"), shown.layout, shown.row);
}

Simulator WithStages(const std::string& after) {
  // Hours of work 4, 1, 1, 8, 2; the last has a gang of 2.
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}},
                                     {{0, 4 * kHour}, {0, kHour}, {0, kHour}, {0, 8 * kHour}, {0, 2 * kHour, 0, 2}});
  data.features = ParseFeatures("stages(after=" + after + ")");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  return simulator;
}

}  // namespace

TEST_CASE("power: GPUs that state no watts show none") {
  ScenarioData data = test::TinyData({{"v", 2}}, {{1.0}}, {{0, kHour}});
  data.features = ParseFeatures("power");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const Shown shown = Show(simulator, "power:1");
  CHECK(shown.Type(0, 0) == 0.0F);
  CHECK(shown.row[U(shown.layout.global_offset())] == 0.0F);
}

TEST_CASE("ranges hold for weights of any size") {
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}}, {{0, kHour}, {0, kHour}, {0, kHour}, {0, kHour}});
  data.jobs.weight = {1e-300, 1e300, 1e-300, 1e300};
  data.features = ParseFeatures("stages(after=2>0:3>1)");  // two wait
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  RequireRanges(Show(simulator, "queue:1"), "queue:1");
  RequireRanges(Show(simulator, "queue:1+held_back:1"), "queue:1+held_back:1");
}

TEST_CASE("ranges hold for a gang of one on 200 GPUs") {
  ScenarioData data = test::TinyData({{"v", 200}}, {{1.0}}, {{0, kHour}});
  data.jobs.gang_min = {1}, data.jobs.gang_max = {200};
  data.features = ParseFeatures("elasticity(scaling=linear,measured=false)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.StartAt(0, 0, 200);
  REQUIRE(simulator.Apply(decision).ok());
  const Shown shown = Show(simulator, "elasticity:1");
  CHECK(shown.Job(0, 1) == 200.0F);
  RequireRanges(shown, "elasticity:1");
}

TEST_CASE("descendants: what hangs on a job, by hand") {
  // 1 and 3 wait for 0, 2 for 1; 4 stands alone. Best sets of 0: itself 4, with 1 5/2, with 1 and 2 6/3 = 2;
  // 3 with its 8 would raise that. Of 4: two GPUs for two hours, 4.
  Simulator simulator = WithStages("1>0:2>1:3>0");
  const Shown shown = Show(simulator, "descendants:1");
  enum { kPresent, kDescendants, kChain, kWorth, kTurn };
  CHECK(shown.Job(0, kDescendants) == Approx(std::log(4.0)));
  CHECK(shown.Job(0, kChain) == Approx(std::log(12.0 / 4.0)));  // 0, then 3
  CHECK(shown.Job(0, kWorth) == Approx(std::log(4.0 / 2.0)));
  CHECK(shown.Job(0, kTurn) == Approx(1.0 / 8.0));
  CHECK(shown.Job(1, kDescendants) == 0.0F);
  CHECK(shown.Job(1, kChain) == 0.0F);
  CHECK(shown.Job(1, kWorth) == 0.0F);
  CHECK(shown.Job(1, kTurn) == Approx(3.0 / 8.0));
  // Blind, only how many.
  const Shown blind = Show(simulator, "descendants:1", Knowledge::kBlind);
  CHECK(blind.Job(0, kDescendants) == Approx(std::log(4.0)));
  CHECK((blind.Job(0, kChain) == 0.0F && blind.Job(0, kWorth) == 0.0F && blind.Job(0, kTurn) == 0.0F));
}

TEST_CASE("descendants: who waits for two counts half behind each") {
  // 1 waits for 0 and 4: half of its hour behind each. 0: 4, with it 4.5 / 1.5 = 3.
  Simulator simulator = WithStages("1>0:1>4");
  CHECK(Show(simulator, "descendants:1").Job(0, 3) == Approx(std::log(4.0 / 3.0)));
}

TEST_CASE("descendants: who is reached by two ways counts once") {
  // A diamond: 1 and 2 wait for 0, 3 for both. Behind 0 are three; the best set of it takes 1 and 2 in, 6/3 = 2,
  // and half of 3 by each way is one job of 8 hours, which would raise that.
  Simulator simulator = WithStages("1>0:2>0:3>1:3>2");
  const Shown shown = Show(simulator, "descendants:1");
  CHECK(shown.Job(0, 1) == Approx(std::log(4.0)));
  CHECK(shown.Job(0, 2) == Approx(std::log(13.0 / 4.0)));  // 0, 1 or 2, 3
  CHECK(shown.Job(0, 3) == Approx(std::log(4.0 / 2.0)));
  CHECK(Show(simulator, "descendants:1", Knowledge::kBlind).Job(0, 1) == Approx(std::log(4.0)));
}

TEST_CASE("descendants: a diamond of one short job behind two, by hand") {
  // 4 waits for 1 and 2, both for 3 (8 hours); 4 of two GPUs for two hours is 4. 3 with 1 and 2: 10 / 3, which 4,
  // half of it by each way, would raise.
  Simulator simulator = WithStages("1>3:2>3:4>1:4>2");
  const Shown shown = Show(simulator, "descendants:1");
  enum { kPresent, kDescendants, kChain, kWorth };
  CHECK(shown.Job(1, kDescendants) == Approx(std::log(4.0)));  // jobs 0 and 3 are shown
  CHECK(shown.Job(1, kChain) == Approx(std::log(11.0 / 8.0)));
  CHECK(shown.Job(1, kWorth) == Approx(std::log(8.0 / (10.0 / 3.0))));
}

TEST_CASE("descendants: a ladder whose ways double at every rung takes no longer than its jobs") {
  // Rungs of two jobs that both wait for both of the rung before: 2^40 ways through 40 rungs.
  constexpr int kRungs = 40;
  std::vector<test::TinyJob> jobs = {{0, kHour}};
  std::string after;
  for (int job = 1; job <= 2 * kRungs; ++job) {
    jobs.push_back({0, kHour});
    const int rung = (job - 1) / 2;
    for (const int parent : rung == 0 ? std::vector{0} : std::vector{2 * rung - 1, 2 * rung})
      after += (after.empty() ? "" : ":") + std::to_string(job) + ">" + std::to_string(parent);
  }
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}}, jobs);
  data.features = ParseFeatures("stages(after=" + after + ")");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const Shown shown = Show(simulator, "descendants:1");
  CHECK(shown.Job(0, 1) == Approx(std::log(1.0 + 2 * kRungs)));
  CHECK(shown.Job(0, 2) == Approx(std::log(1.0 + kRungs)));
  CHECK(shown.Job(0, 3) == Approx(0.0).margin(1e-6));  // all are an hour's
}

TEST_CASE("descendants: who has seconds left counts as a minute") {
  ScenarioData data = test::TinyData({{"v", 8}}, {{1.0}}, {{0, 6.0}, {0, kHour}});
  data.features = ParseFeatures("stages(after=1>0)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const Shown shown = Show(simulator, "descendants:1");
  CHECK(shown.Job(0, 2) == Approx(std::log((1.0 + 60.0) / 1.0)));  // minutes; of 6 s it would be ln 601
  const std::string meaning = EncoderOf("observation(blocks=descendants:1)").job[2].meaning;
  CHECK(meaning.find("a minute at least") != std::string::npos);
}

TEST_CASE("spending: a step's price on each type, by hand") {
  ScenarioData data = test::TinyData({{"v", 2}, {"k", 2}, {"x", 2}}, {{2.0, 1.0, 0.0}}, {{0, 100}});
  data.cluster.types[0].price_per_hour = 3.0, data.cluster.types[1].price_per_hour = 1.0;
  data.cluster.types[2].price_per_hour = 0.5;
  data.cluster.types[0].peak_power_w = 300, data.cluster.types[1].peak_power_w = 200;
  data.cluster.types[2].peak_power_w = 100;
  for (GpuType& type : data.cluster.types) type.idle_power_w = 50;
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const Shown shown = Show(simulator, "spending:1");
  enum { kDearer, kDearerLoad, kHungrier };
  CHECK(shown.Pair(0, 0, kDearer) == Approx(std::log(1.5)));  // 3 / 2 against 1 / 1
  CHECK(shown.Pair(0, 1, kDearer) == 0.0F);
  CHECK(shown.Pair(0, 2, kDearer) == 5.0F);  // it cannot run there
  CHECK(shown.Pair(0, 0, kHungrier) == 0.0F);  // 250 / 2 against 150 / 1
  CHECK(shown.Pair(0, 1, kHungrier) == Approx(std::log(150.0 / 125.0)));
  CHECK(shown.Pair(0, 0, kDearerLoad) == Approx(std::log(1.5) * std::log(1.0 / 6.0)));  // one of six GPUs
  for (int type = 0; type < 3; ++type) {  // as shares of the dearest and of what draws most beyond idling
    CHECK(shown.Type(type, 0) == Approx(std::vector{1.0, 1.0 / 3.0, 0.5 / 3.0}[U(type)]));
    CHECK(shown.Type(type, 1) == Approx(std::vector{1.0, 0.6, 0.2}[U(type)]));
  }
  // The columns of starts are the types, also where there are other commands.
  const Shown beside = Show(simulator, "spending:1", Knowledge::kOracle, "start,reject");
  REQUIRE(beside.layout.pair_channels >= shown.layout.pair_channels);
  for (int type = 0; type < 3; ++type) {
    for (int channel = 0; channel < shown.layout.pair_channels; ++channel)
      CHECK(beside.Pair(0, type, channel) == shown.Pair(0, type, channel));
  }
}

TEST_CASE("learning signal: who is held back is in what is still to be paid, so to let them go costs nothing") {
  // Job 1 waits for 0 or does not; at the start and when 0 is done both cost the same.
  for (const char* name : {"wspt", "work", "critical_ratio"}) {
    std::vector<double> phi[2];
    for (const bool waits : {false, true}) {
      ScenarioData data = test::TinyData({{"v", 1}}, {{1.0}}, {{0, 100}, {0, 300}});
      data.cluster.types[0].price_per_hour = 1.0;
      data.jobs.deadline = {1000.0, 1000.0};
      data.features = ParseFeatures(waits ? "stages(after=1>0)" : "stages");
      Simulator simulator{Scenario(std::move(data))};
      MdpSpec mdp;
      mdp.reward = name == std::string("wspt") ? "jct" : name == std::string("work") ? "cost" : "deadline";
      for (const PotentialInfo& info : Potentials()) {
        if (info.name != std::string(name)) continue;
        Params params(ParseSpec(name), info.params);
        const auto potential = info.make(params, mdp);
        REQUIRE(simulator.AdvanceToDecision());
        potential->Begin(simulator);
        phi[waits].push_back(potential->Of(simulator, 2, false).known);
        Decision decision;
        decision.Start(0, 0);
        REQUIRE(simulator.Apply(decision).ok());
        REQUIRE(simulator.AdvanceToDecision());
        REQUIRE(simulator.now() == 100.0);
        phi[waits].push_back(potential->Of(simulator, 2, false).known);
      }
    }
    CAPTURE(name);
    REQUIRE(phi[0].size() == 2);
    CHECK(phi[0] == phi[1]);
  }
}

TEST_CASE("pack: a short job is not held up by a long one where hosts are chosen for who ends soonest") {
  // Beside each other two of type 0 keep 0.6 each, of type 1 0.9, one of each 0.8 (type 0) and 0.5. Hours left: 0
  // and 3 (of type 0) 1 and 10, 1 and 2 (of type 1) 100 and 200.
  ScenarioData data = test::TinyData(
      {{"v", 4}}, {{1.0}, {1.0}},
      {{0, kHour, 0}, {0, 100 * kHour, 1}, {0, 200 * kHour, 1}, {0, 10 * kHour, 0}});
  data.throughputs.pairs = {0.6, 0.6, 0.8, 0.5, 0.5, 0.8, 0.9, 0.9};
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  REQUIRE(view.PairRate(0, 1, 0) == 0.8);
  const auto host_of = [&](const std::string& pack, const std::vector<int>& hosts, int job, const ClusterView& seen) {
    const ActionInfo& info = *ParseActions("start,pack").front().info;
    Params params(ParseSpec(pack), info.params);
    const auto kind = info.make(params);
    Plan plan;
    plan.Begin(seen, /*preemptive=*/true);
    for (const int host : hosts) plan.Put(seen, host, 0);
    if (kind->Legal(seen, plan, job, {0, 0}) != Legality::kYes) return -1;
    kind->Put(seen, plan, job, {0, 0});
    return plan.HostOf(job);
  };
  // 0 would lose 0.2 / 1 and 1 gain 0.5 / 100; 1 would lose 0.5 / 100 and 0 gain 0.8 / 1.
  CHECK(host_of("pack", {0}, 1, view) == 0);
  CHECK(host_of("pack(host=soonest)", {0}, 1, view) == -1);
  CHECK(host_of("pack(host=soonest)", {1}, 0, view) == 1);
  // 2 keeps 0.9 beside 1, as 1 does, which gains 0.9 / 200 - 0.1 / 100; beside 3 it would lose 0.2 / 10.
  CHECK(host_of("pack(host=soonest)", {3, 1}, 2, view) == 1);
  // 0 beside 3 keeps 0.6, beside 1 0.8: 0.6 - 0.04 against 0.8 - 0.005.
  CHECK(host_of("pack(host=soonest)", {3, 1}, 0, view) == 1);
  // Blind, as `together`.
  CHECK(host_of("pack(host=soonest)", {0}, 1, simulator.View(Knowledge::kBlind)) == 0);
}

}  // namespace berth
