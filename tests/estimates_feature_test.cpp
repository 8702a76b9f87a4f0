// The feature estimates: schedulers see what is believed, the simulator runs the truth, and what ran is
// learned.
#include <bit>
#include <cmath>

#include "baselines/preemptive/pair_features.hpp"
#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/estimates/estimates.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "tests/audit.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using Book = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::TinyData;

// One job type of gang 1 on types a (truth 1 step/s) and b (2); believed 3 and 1.5.
ScenarioData Misled(const std::vector<test::TinyJob>& jobs) {
  ScenarioData data = TinyData({{"a", 1}, {"b", 1}}, {{1.0, 2.0}}, jobs);
  for (std::size_t size = 0; size < 3; ++size)
    data.believed.alone.insert(data.believed.alone.end(), {3.0, 1.5});
  return data;
}

ScenarioData WithEstimates(ScenarioData data, const char* settings) {
  data.features = ParseFeatures(Join("estimates(", settings, ")"));
  return data;
}

}  // namespace

TEST_CASE("estimates: schedulers go by what is believed, jobs by the truth, by hand", "[estimates]") {
  // fcfs starts on the type thought fastest with room: a (thought 3) before b (thought 1.5). Each runs at the
  // truth: 10 steps at 1 end after 10 s, at 2 after 5.
  const ScenarioData data = Misled({{0, 10}, {20, 10}, {40, 10}});
  CHECK(Decisions("fcfs", Scenario(data)) == Book{"0 start 0@1", "20 start 1@1", "40 start 2@1"});
  const Scenario misled(WithEstimates(data, "by=table"));
  CHECK(Decisions("fcfs", misled) == Book{"0 start 0@0", "20 start 1@0", "40 start 2@0"});
  CHECK(Ends("fcfs", misled) == std::vector<double>{10, 30, 50});
  // Once job 0 has run on a, a is known to be 1: job 1 takes b (thought 1.5), which is known to be 2 then.
  const Scenario learning(WithEstimates(data, "by=table,learn=true"));
  CHECK(Decisions("fcfs", learning) == Book{"0 start 0@0", "20 start 1@1", "40 start 2@1"});
  CHECK(Ends("fcfs", learning) == std::vector<double>{10, 25, 45});
}

TEST_CASE("estimates: a view shows them where it showed the truth", "[estimates]") {
  const Scenario truth(Misled({{0, 30}}));
  const Scenario misled(WithEstimates(truth.data(), "by=table,learn=true"));
  Simulator plain(truth), sim(misled);
  REQUIRE(plain.AdvanceToDecision());
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView before = sim.View(Knowledge::kOracle), right = plain.View(Knowledge::kOracle);
  CHECK(right.rates_are_exact());
  CHECK(right.Rate(0, 1) == 2.0);
  CHECK_FALSE(before.rates_are_exact());
  CHECK(before.Rate(0, 0) == 3.0);
  CHECK(before.Rates(0)[1] == 1.5);
  CHECK(before.BestRate(0) == 3.0);
  CHECK(before.RateAt(0, 0, 1) == 3.0);
  CHECK(before.RemainingSeconds(0, 1) == 20.0);  // 30 steps at 1.5
  CHECK(misled.Rate(0, 0) == 1.0);               // the scenario keeps the truth
  Decision decision;
  decision.Start(0, 0);
  decision.wake_at = 4.0;
  REQUIRE(sim.Apply(decision).ok());
  const Simulator copy = sim;
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView after = sim.View(Knowledge::kOracle);
  CHECK(after.now() == 4.0);
  CHECK(after.Rate(0, 0) == 1.0);
  CHECK(after.BestRate(0) == 1.5);
  CHECK(after.RemainingSteps(0) == 26.0);  // progress is observed, so it is the truth
  CHECK(after.rates_version() == before.rates_version() + 1);
  CHECK(copy.View(Knowledge::kOracle).Rate(0, 0) == 3.0);
}

// Thought 3 and 1.5, the second type is ln 2 slower; once the first is known to be 1 it is the first, by ln 1.5.
TEST_CASE("estimates: the tuned rule looks again at rates that were learned since", "[estimates]") {
  Simulator sim(Scenario(WithEstimates(Misled({{0, 30}}), "by=table,learn=true")));
  REQUIRE(sim.AdvanceToDecision());
  tuned::PairFeatures features(/*blind=*/false);
  const auto slow = [&] {
    const ClusterView view = sim.View(Knowledge::kOracle);
    features.Begin(view);
    features.BeginJob(view, 0);
    return std::pair(features.Pair(view, 0)[tuned::kSlow], features.Pair(view, 1)[tuned::kSlow]);
  };
  CHECK(slow().first == 0.0);
  CHECK(slow().second == Approx(std::log(2.0)).epsilon(1e-12));
  Decision decision;
  decision.Start(0, 0);
  decision.wake_at = 4.0;
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  REQUIRE(sim.View(Knowledge::kOracle).Rate(0, 0) == 1.0);
  CHECK(slow().first == Approx(std::log(1.5)).epsilon(1e-12));
  CHECK(slow().second == 0.0);
}

TEST_CASE("estimates: pairs are believed and learned too", "[estimates]") {
  ScenarioData data = Misled({{0, 10}, {0, 10}});
  data.throughputs.pairs = {0.75, 0.75, 1.0, 1.0};  // [a job type with itself; a, b; both]
  data.believed.pairs = {2.0, 2.0, 0.25, 0.25};
  Simulator sim(Scenario(WithEstimates(std::move(data), "by=table,learn=true")));
  REQUIRE(sim.AdvanceToDecision());
  CHECK(sim.View(Knowledge::kNone).PairRate(0, 1, 0) == 2.0);
  Decision decision;
  decision.Start(0, 0);
  decision.Pack(1, 0);
  decision.wake_at = 4.0;
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView view = sim.View(Knowledge::kOracle);
  CHECK(view.AttainedSteps(0) == 3.0);  // 4 s at the true 0.75
  CHECK(view.PairRate(0, 1, 0) == 0.75);
  CHECK(view.PairRate(0, 1, 1) == 0.25);
  CHECK(view.Rate(0, 0) == 3.0);  // neither has run alone
}

TEST_CASE("estimates: believing the truth changes no decision of any scheduler", "[estimates]") {
  for (const Clock& clock : test::AllClocks()) {
    const Scenario plain = test::RandomScenario(71, 30, clock);
    ScenarioData data = plain.data();
    data.believed = {data.throughputs.alone, data.throughputs.pairs};
    const Scenario believing(WithEstimates(data, "by=table")),
        learning(WithEstimates(data, "by=table,learn=true"));
    CHECK(believing.Hash() != plain.Hash());
    for (const SchedulerInfo& info : BaselineSchedulers()) {
      CAPTURE(info.name, clock.ToString());
      const std::uint64_t signature = test::RunOf(info.name, plain).signature;
      CHECK(test::RunOf(info.name, believing).signature == signature);
      CHECK(test::RunOf(info.name, learning).signature == signature);
    }
  }
}

TEST_CASE("estimates: every scheduler runs on wrong ones, legally and to the end", "[estimates]") {
  for (const char* settings : {"by=completion(observed=0.2,seed=3)", "by=reference(observed=0.5),learn=true",
                               "by=profiled(seconds=30,variation=1),learn=true"}) {
    for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}}) {
      const Scenario scenario(WithEstimates(test::RandomScenario(72, 25, clock).data(), settings));
      for (const SchedulerInfo& info : BaselineSchedulers()) {
        CAPTURE(info.name, settings, clock.ToString());
        CHECK(test::RunAudited(info.name, scenario).finished());
      }
    }
  }
}

TEST_CASE("estimates: an encoder forgets what it thought of rates that were learned since", "[estimates]") {
  const Scenario scenario(WithEstimates(test::RandomScenario(73, 25, {ClockKind::kEvent}).data(),
                                        "by=completion(observed=0.1),learn=true"));
  const MdpSpec mdp;
  const std::unique_ptr<Encoder> kept = MakeEncoder(mdp);
  const ObservationLayout layout = EncoderOf(mdp.encoder).Layout(16, scenario.num_types());
  std::vector<float> remembered(static_cast<std::size_t>(layout.size())), afresh(remembered.size());
  Simulator simulator(scenario);
  const auto scheduler = test::Make("srpt");
  scheduler->Reset(simulator.View(Knowledge::kOracle));
  kept->Begin(simulator.View(Knowledge::kOracle));
  Decision decision;
  std::vector<int> candidates, visible;
  std::uint64_t versions = 0;
  while (simulator.AdvanceToDecision()) {
    const ClusterView view = simulator.View(Knowledge::kOracle);
    candidates.assign(view.active().begin(), view.active().end());
    const std::unique_ptr<Encoder> fresh = MakeEncoder(mdp);
    fresh->Begin(view);
    kept->Select(view, candidates, layout.q, visible);
    kept->Encode({view, view.free_gpus(), candidates, visible}, layout, remembered);
    fresh->Encode({view, view.free_gpus(), candidates, visible}, layout, afresh);
    for (std::size_t i = 0; i < afresh.size(); ++i)
      REQUIRE(std::bit_cast<std::uint32_t>(remembered[i]) == std::bit_cast<std::uint32_t>(afresh[i]));
    versions = view.rates_version();
    decision.Clear();
    scheduler->Decide(view, decision);
    REQUIRE(simulator.Apply(decision).ok());
  }
  CHECK(versions > 3);  // something was learned several times
}

TEST_CASE("estimates: files carry the settings and the believed table", "[estimates]") {
  const test::TemporaryFolder folder;
  const Scenario scenario(WithEstimates(Misled({{0, 10}, {20, 10}}), "by=table,learn=true"));
  WriteScenario(scenario, folder / "s.h5");
  const Scenario read = ReadScenario(folder / "s.h5");
  CHECK(read.Hash() == scenario.Hash());
  CHECK(read.data().believed.alone == scenario.data().believed.alone);
  CHECK(test::RunOf("fcfs", read).signature == test::RunOf("fcfs", scenario).signature);
  // Estimates by a method are made anew, the same.
  const Scenario completed(WithEstimates(test::RandomScenario(74, 10, {}).data(), "by=completion(seed=5)"));
  WriteScenario(completed, folder / "c.h5");
  CHECK(ReadScenario(folder / "c.h5").believed().alone == completed.believed().alone);
}

TEST_CASE("estimates: bad input is one line", "[estimates]") {
  const auto message = [](ScenarioData data) -> std::string {
    try {
      Scenario scenario(std::move(data));
    } catch (const Error& error) {
      return error.what();
    }
    return "(no error)";
  };
  ScenarioData data = WithEstimates(Misled({{0, 10}}), "by=table");
  data.believed.alone.pop_back();
  CHECK(message(data) == "believed throughputs: alone: expected 6 entries, found 5");
  data.believed.alone.push_back(-1.0);
  CHECK(message(data) == "believed throughputs: alone: entry 5: expected steps/s > 0, found -1");
  data.believed.alone.back() = 1.5;
  data.believed.pairs = {1, 1, 1, 1};
  CHECK(message(data) == "believed throughputs: pairs: expected 0 entries, found 4");
  data.believed.pairs.clear();
  data.throughputs.alone[5] = 0.0;
  CHECK(message(data) == "believed throughputs: alone: entry 5: expected 0, since it cannot run, found 1.5");
  CHECK(message(WithEstimates(Misled({{0, 10}}), "by=completon")) ==
        "feature 'estimates': by: unknown estimator 'completon' (did you mean 'completion'?)");
  const test::TemporaryFolder folder;
  test::CheckOneLine(
      test::Berth(folder, "simulate --workload 'synthetic(jobs=3)' --features 'estimates(by=refrence)'"),
      "did you mean 'reference'");
  test::CheckOneLine(test::Berth(folder,
                                 "simulate --workload 'synthetic(jobs=3)' "
                                 "--features 'estimates(by=completion(observed=2))'"),
                     "observed");
}

}  // namespace berth
