// Batch sizes that change by a schedule: by hand; Shockwave's schedules against the times alone that its recorded
// results imply; its forecast by hand.
#include "env/features/batch_schedule/batch_schedule.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "baselines/fairness/batch_forecast.hpp"
#include "data/batch_changes.hpp"
#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// Type a runs batch 8 at 2 steps/s and 16 at 1.5, which is 1.5 x 16 / 8 = 3 of the first; b runs 8 at 1 and not 16.
ScenarioData Batches(const std::string& changes, std::vector<test::TinyJob> jobs, Clock clock = {}) {
  ScenarioData data = test::TinyData({{"a", 1}, {"b", 1}}, {{2.0, 1.0}, {1.5, 0.0}, {0.7, 0.6}}, jobs, clock);
  data.throughputs.job_types = {"m (batch size 8)", "m (batch size 16)", "other"};
  data.features = ParseFeatures("batch_schedule(changes=" + changes + ")");
  return data;
}

std::string ChangesErrorOf(const std::string& changes, int job_type = 0, Clock clock = {}) {
  return test::MessageOf([&] { Scenario(Batches(changes, {{0.0, 100.0, job_type}}, clock)); });
}

}  // namespace

// 40 steps at 2 a second, then 60 at 3: 20 + 20 s. Back to batch 8 at 70: 20 + 10 + 15 s. On type b there is no
// batch 16, and all 100 are made at 1 a second.
TEST_CASE("batch schedule: a job's speeds by hand") {
  CHECK(test::Ends("fcfs", Scenario(Batches("0>40>16", {{0.0, 100.0}})))[0] == Approx(40.0));
  CHECK(test::Ends("fcfs", Scenario(Batches("0>40>16:0>70>8", {{0.0, 100.0}})))[0] == Approx(45.0));
  CHECK(test::Ends("fcfs", Scenario(Batches("0>40>16", {{0.0, 100.0}}, {ClockKind::kRounds, 15.0})))[0] == Approx(40.0));
  ScenarioData slow = Batches("0>40>16", {{0.0, 100.0}});
  slow.jobs.allowed = {2};
  CHECK(test::Ends("fcfs", Scenario(std::move(slow)))[0] == Approx(100.0));
  // A slice keeps who is in it.
  const Scenario both(Batches("1>40>16:0>10>16", {{0.0, 100.0}, {5.0, 100.0}}));
  CHECK(ToString(Slice(both, 1, 2).data().features) == "batch_schedule(changes=1>40>16)");
}

// Preprocessing of 1 s a step, on 8 cores or on the GPU, is of the samples, as many in each of the job's steps as before:
// 40 of 1/2 + 1 s, 60 of 1/3 + 1 s.
TEST_CASE("batch schedule: preprocessing on the GPU takes as long at any batch") {
  for (const char* offload : {"0", "1"}) {
    CAPTURE(offload);
    ScenarioData data = Batches("0>40>16", {{0.0, 100.0}});
    data.features = ParseFeaturesBeside(
        data.features, Join("stages(cpu_core_s=8,cores_per_gpu=8,gpu_prep_s=1,overlap=false,offload=", offload, ")"));
    CHECK(test::Ends("fcfs", Scenario(std::move(data)))[0] == Approx(140.0));
  }
}

namespace {

// When a gang of two ends that is spread over two nodes and makes 1 step/s together, of batch 16 and of 64, and from
// its 500th of 1000 steps on has batch 64: then one of its steps is four. On the network a GB takes 1 s.
double SpreadEnd(const std::string& features, bool measured = false) {
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}, {1.0}}, {{0.0, 1000.0, 0, 2}});
  data.cluster.types[0].gpus_per_node = 2;
  data.throughputs.job_types = {"m (batch size 16)", "m (batch size 64)"};
  if (measured) data.throughputs.unconsolidated = {1.0, 0.5, 0.5, 1.0, 0.25, 0.25};
  data.traits.gradient_gb = {1.0, 2.0};
  data.features = ParseFeatures("batch_schedule(changes=0>500>64);topology(node_gb_s=1e8,network_gb_s=1,rack_gb_s=1)" +
                                features);
  Simulator sim(Scenario(std::move(data)));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, std::vector<int>{0, 2});
  REQUIRE(sim.Apply(decision).ok());
  while (sim.AdvanceToDecision()) REQUIRE(sim.Apply(Decision{}).ok());
  return sim.state().completion[0];
}

}  // namespace

// Measured 0.5 and 0.25 steps/s: 500 steps in 1000 s, 125 in 500 s. By the ring 1 + 1 and 1 + 2 s a step: 1000 s and
// 375 s. Beside replicas that have half of a GPU 2 + 1 and 2 + 2 s: 1500 s and 500 s.
TEST_CASE("batch schedule: a spread gang is as slow as its batch is, and exchanges once in each of its steps") {
  CHECK(SpreadEnd("", /*measured=*/true) == Approx(1500.0));
  CHECK(SpreadEnd("") == Approx(1375.0));
  CHECK(SpreadEnd(";services(rate_per_s=0.001,share=0.5)") == Approx(2000.0));
}

// At 30 s it has made 40 + 30 steps and gives way to a job of 10 at 2 a second; its last 30 take 10 s.
TEST_CASE("batch schedule: stops, what schedulers are told, the timeline") {
  Simulator sim(Scenario(Batches("0>40>16", {{0.0, 100.0}, {30.0, 10.0}})));
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  CHECK(sim.View(Knowledge::kBlind).Rate(0, 0) == 2.0);
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView view = sim.View(Knowledge::kOracle);
  CHECK((view.Rate(0, 0) == 3.0 && view.Rate(0, 1) == 1.0 && view.BestRate(0) == 3.0));
  CHECK(view.RemainingSeconds(0, 0) == Approx(10.0));
  CHECK(view.RemainingSeconds(1, 0) == Approx(5.0));
  CHECK(CheckInvariants(sim) == "");
  decision.Clear();
  decision.Stop(0), decision.Start(1, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  CHECK(sim.now() == Approx(35.0));
  decision.Clear();
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  CHECK_FALSE(sim.AdvanceToDecision());
  CHECK(sim.now() == Approx(45.0));
  std::vector<FeatureLane> lanes;
  sim.state().features.Find<BatchScheduleState>()->AddLanes(sim.now(), lanes);
  REQUIRE(lanes.size() == 3);
  const std::vector<std::tuple<std::string, double, double>> expected = {{"8", 0, 20}, {"16", 20, 30}, {"16", 35, 45}};
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(lanes[k].row == "batch of job 0");
    CHECK(lanes[k].text == std::get<0>(expected[k]));
    CHECK(lanes[k].begin_s == Approx(std::get<1>(expected[k])));
    CHECK(lanes[k].end_s == Approx(std::get<2>(expected[k])));
  }
}

// 30 jobs that change twice, on GPUs that fail and where work since the last save is lost: no rule is broken at any
// decision, and a job's work is done.
TEST_CASE("batch schedule: with failures, saves and preemption") {
  Stream draw(5, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  std::string changes;
  double at = 0.0;
  for (int job = 0; job < 30; ++job) {
    at += draw.Exponential(100.0);
    const double steps = draw.Uniform(200.0, 2000.0);
    jobs.push_back({at, steps, 0, 1 << draw.Below(2)});
    changes += Join(job > 0 ? ":" : "", job, ">", 0.3 * steps, ">16:", job, ">", 0.8 * steps, ">8");
  }
  for (const Clock& clock : {Clock{}, Clock{ClockKind::kRounds, 60.0}}) {
    for (const char* spec : {"srpt", "las", "round_robin", "gavel", "shockwave(window=4,round=60)"}) {
      CAPTURE(spec, clock.ToString());
      ScenarioData data = Batches(changes, jobs, clock);
      for (GpuType& type : data.cluster.types) type.count = 4;
      data.throughputs.alone[7] = 0.5;  // some of batch 16 runs on b, with gangs of 1
      data.features = ParseFeatures("failures(mtbf_h=0.5,repair_h=0.02);checkpoints(gb=1,interval=100);batch_schedule(changes=" +
                                    changes + ")");
      Simulator sim(Scenario(std::move(data)));
      const auto scheduler = test::Make(spec);
      scheduler->Reset(sim.View(scheduler->knowledge()));
      Decision decision;
      while (sim.AdvanceToDecision()) {
        decision.Clear();
        scheduler->Decide(sim.View(scheduler->knowledge()), decision);
        REQUIRE(sim.Apply(decision).ok());
        REQUIRE(CheckInvariants(sim) == "");
      }
      CHECK_FALSE(sim.stalled());
      for (std::size_t job = 0; job < jobs.size(); ++job) CHECK(sim.state().steps_done[job] == Approx(jobs[job].steps));
    }
  }
}

TEST_CASE("batch schedule: wrong ones are said in a line") {
  CHECK(ChangesErrorOf("0>40>16") == "(no error)");
  for (const auto& [changes, expected] : std::vector<std::pair<std::string, std::string>>{
           {"0>40", "changes: expected job>steps>batch, found '0>40'"},
           {"3>40>16", "'3>40>16': there is no job 3"},
           {"0>40>32", "there is no job type 'm (batch size 32)' (did you mean"},
           {"0>40>16:0>40>8", "steps: expected more than 40, where its batch changed before, found 40"},
           {"0>0>16", "steps: expected more than 0, found 0"},
           {"0>4>0", "batch: expected at least 1, found 0"},
           {"0>4>x", "batch: expected"}}) {
    CHECK_THAT(ChangesErrorOf(changes), Catch::Contains(expected));
    CHECK(ChangesErrorOf(changes).find('\n') == std::string::npos);
  }
  CHECK_THAT(ChangesErrorOf("0>4>16", 2), Catch::Contains("the job's type is 'other': expected a name that ends in (batch size N)"));
  CHECK_THAT(ChangesErrorOf("0>4>16", 0, {ClockKind::kReferenceRounds, 60.0}), Catch::Contains("batch_schedule"));
}

// 92 epochs of 50000 / 32 steps: critical up to 10, the first batch up to 30% = 27.6, from 28 on the largest.
// 23 epochs of 59675 / 10: twice from 11 and 21 on.
TEST_CASE("batch schedule: Accordion and GNS by hand") {
  const std::vector<BatchChange> accordion = BatchChanges("ResNet-18 (batch size 32)", 1, "accordion", 143450);
  REQUIRE(accordion.size() == 1);
  CHECK((accordion[0].steps == 28 * 1562.5 && accordion[0].batch == 256));
  const std::vector<BatchChange> gns = BatchChanges("LM (batch size 10)", 1, "gns", 134583);
  REQUIRE(gns.size() == 2);
  CHECK((gns[0].steps == 11 * 5967.5 && gns[0].batch == 20 && gns[1].steps == 21 * 5967.5 && gns[1].batch == 40));
  CHECK(BatchChanges("LM (batch size 10)", 1, "static", 134583).empty());
  CHECK(BatchChanges("Transformer (batch size 16)", 1, "accordion", 1e6).empty());
  CHECK(BatchChanges("A3C", 1, "gns", 1e6).empty());
}

// Half done at batch 8 of a job that ends at 16: T is 50 s at 8, 100 / 3 at 16, and it is to have (1/2 + 1/2) /
// 1.5 = 2/3 at 8 and 1/3 at 16: 1/6 and 1/3 of it are left, which take 1/2 x (1/6 x 50 + 1/3 x 100/3) / (1/2).
TEST_CASE("batch schedule: Shockwave's forecast by hand") {
  Simulator sim(Scenario(Batches("0>60>16", {{0.0, 100.0}, {25.0, 10.0}})));
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView view = sim.View(Knowledge::kEstimate);
  const BatchForecast posterior(view, Forecast::kPosterior), known(view, Forecast::kKnown);
  CHECK((posterior.Applies(0) && !posterior.Applies(1) && !BatchForecast(view, Forecast::kNone).Applies(0)));
  CHECK(posterior.On(view, 0, 0).past == Approx(25.0));
  CHECK(posterior.On(view, 0, 0).left == Approx(50.0 / 6.0 + 100.0 / 9.0));
  CHECK(known.On(view, 0, 0).left == Approx(5.0 + 40.0 / 3.0));
}

namespace {

// Of Shockwave's trace of 120 jobs and 32 GPUs; "" = not there.
std::string ShockwaveFolder() {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/traces/shockwave/";
  return std::filesystem::exists(folder + "golden_tacc_32gpus_120jobs.json") ? folder : "";
}

}  // namespace

// The results that the authors recorded have each job's time to completion and its ratio to 120 / 32 times the
// time alone, to five digits: their quotient is the time alone of all its epochs by the schedule. For the slip in
// their tables of GNS (data/batch_changes.hpp) the last epoch is taken at the first batch where they have it so.
TEST_CASE("batch schedule: Shockwave's jobs take as long alone as recorded") {
  const std::string folder = ShockwaveFolder();
  if (folder.empty()) return test::Skip("needs Shockwave's trace and recorded results");
  std::ifstream file(folder + "golden_tacc_32gpus_120jobs.json");
  const nlohmann::json recorded = nlohmann::json::parse(file).at("max_min_fairness");
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=32");
  settings.clock = {ClockKind::kRounds, 120.0};
  const Scenario scenario = FindFormat("gavel").read(
      folder + "120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace.gz", settings);
  CHECK(scenario.data().provenance.find("116 of 120 jobs change their batch size") != std::string::npos);
  const Simulator sim(scenario);
  const auto* schedule = sim.state().features.Find<BatchScheduleState>();
  REQUIRE(schedule != nullptr);
  int changing = 0, as_recorded = 0, slips = 0;
  for (int job = 0; job < 120; ++job) {
    const JobTable& jobs = scenario.data().jobs;
    const std::size_t j = static_cast<std::size_t>(job);
    const EpochsOfJob epochs = EpochsOf(
        scenario.data().throughputs.job_types[static_cast<std::size_t>(jobs.job_type[j])], jobs.total_steps[j]);
    const double rate = scenario.Rate(job, 0), end = epochs.epochs * epochs.steps;
    double alone = end / rate, with_slip = alone;
    if (schedule->Changes(job)) {
      ++changing;
      alone = schedule->Seconds(job, 0, rate, 0.0, end);
      with_slip = schedule->Seconds(job, 0, rate, 0.0, end - epochs.steps) + epochs.steps / rate;
    }
    const double ratio = recorded.at("ftf_list")[j].get<double>();
    const double theirs = recorded.at("jct_list")[j].get<double>() / ratio / 3.75;
    const double digits = 0.6e-5 / ratio;
    if (std::abs(alone / theirs - 1.0) < digits) {
      ++as_recorded;
    } else {
      CAPTURE(job, alone, with_slip, theirs);
      CHECK(with_slip == Approx(theirs).epsilon(digits));
      ++slips;
    }
  }
  CAPTURE(changing, as_recorded, slips);
  CHECK(as_recorded + slips == 120);
  CHECK((changing > 60 && as_recorded > 60));
}

}  // namespace berth
