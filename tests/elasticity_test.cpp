// Elastic gangs: rates by width against the formulas that they come from, resizes by hand, bad curves.
#include "env/features/elasticity/elasticity.hpp"

#include <cmath>
#include <fstream>
#include <string>

#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::With;

std::string ErrorOf(const std::string& features) {
  try {
    With(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 10}}), features);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

ElasticitySettings Scaling(const std::string& name) {
  ElasticitySettings settings;
  settings.scaling = name;
  return settings;
}

}  // namespace

// 1.7, 3.5 and 6.2 on 2, 4, 8; linear between: 3 GPUs 1.7 + 1.8 / 2 = 2.6. Amdahl with 95% on 4: 1 / (0.05 +
// 0.95 / 4) = 3.478. 29 h on 8 GPUs are 1 h on 256, and 512 are 46.5 times as fast as one.
TEST_CASE("elasticity: speed-ups are the published points") {
  const ElasticitySettings measured = Scaling("data_parallel");
  CHECK(DataParallelSpeedup(measured, 1) == 1.0);
  CHECK(DataParallelSpeedup(measured, 2) == 1.7);
  CHECK(DataParallelSpeedup(measured, 3) == Approx(2.6));
  CHECK(DataParallelSpeedup(measured, 4) == 3.5);
  CHECK(DataParallelSpeedup(measured, 8) == 6.2);
  CHECK(DataParallelSpeedup(measured, 9) == 0.0);  // nobody measured that
  CHECK(DataParallelSpeedup(Scaling("amdahl"), 4) == Approx(1.0 / (0.05 + 0.95 / 4)));
  CHECK(DataParallelSpeedup(Scaling("linear"), 7) == 7.0);
  const ElasticitySettings goyal = Scaling("imagenet_256"), large = Scaling("large_512");
  CHECK(DataParallelSpeedup(goyal, 256) / DataParallelSpeedup(goyal, 8) == Approx(29.0));
  CHECK(DataParallelSpeedup(large, 512) == Approx(46.5));
}

// 4 stages, 8 micro-batches: of the 4 x 8 slots of a step's 11 ticks in each stage 8 are work: bubble 3 / 11.
// 4 tensor-parallel GPUs with c = 0.02: each computes 1/4 and moves for 2 x 3/4 x 0.02: 1 / (0.25 + 0.03) =
// 3.571 times one. 10 GPUs with at most 4 tensor-parallel are 3 stages of 4: 12 GPUs.
TEST_CASE("elasticity: model-parallel groups have their bubble and their traffic") {
  ElasticitySettings settings;
  settings.tensor = 1;
  ModelParallel group = ModelParallelGroup(settings, 4);
  CHECK(group.gpus() == 4);
  CHECK(group.speed == Approx(4.0 * (1.0 - 3.0 / 11.0)));
  settings.tensor = 4;
  group = ModelParallelGroup(settings, 4);
  CHECK(group.stages == 1);
  CHECK(group.speed == Approx(1.0 / (0.25 + 0.02 * 2.0 * 0.75)));
  group = ModelParallelGroup(settings, 10);
  CHECK(group.tensor == 4);
  CHECK(group.stages == 3);
  CHECK(group.speed == Approx(4.0 / (1.0 + 0.12) * 3.0 * 8.0 / 10.0));
  CHECK(ModelParallelGroup(settings, 1).speed == 1.0);
}

// Pipelines tick by tick: micro-batch b enters stage s once stage s - 1 has done it and stage s has done b -
// 1; a step is over when the last leaves. m p units of work on p GPUs in T ticks: speed m p / T.
TEST_CASE("elasticity: the bubble is that of a pipeline played through") {
  for (int stages = 1; stages <= 9; ++stages) {
    for (int batches = 1; batches <= 12; ++batches) {
      std::vector<int> free(static_cast<std::size_t>(stages), 0);
      int end = 0;
      for (int b = 0; b < batches; ++b) {
        int at = 0;
        for (int& stage : free) at = stage = std::max(at, stage) + 1;
        end = at;
      }
      ElasticitySettings settings;
      settings.tensor = 1, settings.micro_batches = batches;
      CHECK(ModelParallelGroup(settings, stages).speed == Approx(1.0 * batches * stages / end));
    }
  }
}

// Measured at 1, 2 and 4 GPUs: 1, 1.6 and 3 steps/s. On 3: 2.3. On 8, beyond: 3 x S(8) / S(4) = 3 x 6.2
// / 3.5. Not measured: from the gang of 2: 1.6 x S(w) / S(2).
TEST_CASE("elasticity: rates are the table's where it has them, then the curve's") {
  ScenarioData data = test::TinyData({{"v100", 8}}, {{1.0}}, {{0, 100, 0, 2}});
  data.throughputs.alone = {1.0, 1.6, 3.0};
  const Scenario rigid(data);
  CHECK(rigid.MinGang(0) == 2);
  CHECK(rigid.MaxGang(0) == 2);
  CHECK(rigid.RateAt(0, 0, 2) == 1.6);
  CHECK(rigid.RateAt(0, 0, 3) == 0.0);
  const Scenario table = With(data, "elasticity(max_factor=4)");
  CHECK(table.MinGang(0) == 1);
  CHECK(table.MaxGang(0) == 8);
  CHECK(table.RateAt(0, 0, 1) == 1.0);
  CHECK(table.RateAt(0, 0, 2) == 1.6);
  CHECK(table.RateAt(0, 0, 3) == Approx(2.3));
  CHECK(table.RateAt(0, 0, 4) == 3.0);
  CHECK(table.RateAt(0, 0, 8) == Approx(3.0 * 6.2 / 3.5));
  CHECK(table.RateAt(0, 0, 9) == 0.0);
  const Scenario curve = With(data, "elasticity(max_factor=4,measured=false)");
  CHECK(curve.RateAt(0, 0, 2) == 1.6);
  CHECK(curve.RateAt(0, 0, 1) == Approx(1.6 / 1.7));
  CHECK(curve.RateAt(0, 0, 8) == Approx(1.6 * 6.2 / 1.7));
  data.jobs.gang_min = {2}, data.jobs.gang_max = {3};
  const Scenario bounded = With(data, "elasticity(max_factor=4)");
  CHECK(bounded.MinGang(0) == 2);
  CHECK(bounded.MaxGang(0) == 3);
}

// Two jobs of 8 GPUs share 8: on 4 each runs at 3.5 / 6.2. That some other job of the log has 4 GPUs says
// nothing of them. By hand: both have 4 GPUs until the end, at 10,000 x 6.2 / 3.5 s.
TEST_CASE("elasticity: a log without speeds has measured none, whatever sizes its jobs have") {
  const test::TemporaryFolder folder;
  const std::string two = "id,submit,runtime,gpus\n0,0,10000,8\n1,0,10000,8\n";
  for (const char* third : {"", "2,90000,1,4\n"}) {
    std::ofstream(folder / "jobs.csv") << two << third;
    ScenarioSettings settings;
    settings.cluster = ParseCluster("a100=8/8");
    settings.features = ParseFeatures("elasticity");
    const std::vector<double> ends = test::Ends("equal_share", FindFormat("table").read(folder / "jobs.csv", settings));
    CHECK(ends[0] == Approx(10000.0 * 6.2 / 3.5));
    CHECK(ends[1] == Approx(10000.0 * 6.2 / 3.5));
  }
  // Of a log in a format of its own. One speed that is not 1, and the table is a measurement.
  std::ofstream(folder / "log.swf") << "1 0 0 100 2 -1 -1 2 100 -1 1 1 1 1 1 -1 -1 -1\n"
                                       "2 1 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 -1 -1 -1\n";
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,k80=4");
  settings.features = ParseFeatures("elasticity");
  settings.clock = {ClockKind::kEvent};
  ScenarioData data = FindFormat("swf").read(folder / "log.swf", settings).data();
  CHECK(Scenario(data).RateAt(0, 0, 1) == Approx(1.0 / 1.7));
  data.throughputs.alone.back() = 0.5;
  CHECK(Scenario(data).RateAt(0, 0, 1) == 1.0);
}

// A job of 4 GPUs beside three of one: on one it runs at 1 / 3.5 until these end at 1,000 s, then on all four, from 1,030 s on. Slices are
// columns of their own, which no log has measured either; and a log of decisions states one speed of a job, with however many GPUs.
TEST_CASE("elasticity: a speed that is the same for every gang is that of the job's own") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "jobs.csv") << "id,submit,runtime,gpus\n0,0,1000,4\n1,0,1000,1\n2,0,1000,1\n3,0,1000,1\n";
  std::ofstream decisions(folder / "log.jsonl");
  decisions << R"({"kind": "begin", "at": 0, "types": [{"name": "a100", "gpus": 4, "gpus_per_node": 4, "nodes": ["n1"]}], )"
            << R"("classes": [{"name": "x", "steps_per_s": {"a100": 2.0}}]})" << "\n";
  const auto line = [&](const char* kind, int at, int job, const std::string& more) {
    decisions << Join(R"({"kind": ")", kind, R"(", "at": )", at, R"(, "id": ")", job, "\"", more, "}\n");
  };
  for (int job = 10; job < 14; ++job)
    line("job", 0, job, Join(R"(, "class": "x", "gpus": )", job == 10 ? 4 : 1, R"(, "submitted": 0.0, "user": "u", "steps": 2000)"));
  line("start", 0, 10, R"(, "devices": [0, 1, 2, 3])");
  line("end", 1000, 10, "");
  for (int job = 11; job < 14; ++job) line("start", 1000, job, Join(R"(, "devices": [)", job - 10, "]"));
  for (int job = 11; job < 14; ++job) line("end", 2000, job, "");
  decisions.close();
  for (const char* features : {"elasticity(min_factor=0.25)", "elasticity(min_factor=0.25);partitions"}) {
    CAPTURE(features);
    ScenarioSettings settings;
    settings.features = ParseFeatures(features);
    settings.clock = {ClockKind::kEvent};
    CHECK(test::Ends("equal_share", FindFormat("decisions").read(folder / "log.jsonl", settings))[0] == Approx(1030.0 + 2500.0 / 3.5));
    settings.cluster = ParseCluster("a100=4/4");
    CHECK(test::Ends("equal_share", FindFormat("table").read(folder / "jobs.csv", settings))[0] == Approx(1030.0 + 2500.0 / 3.5));
  }
}

// A job of 60 GB on GPUs of 16 GB: groups of 4. A gang of 4 is one group; 8 GPUs are two, 1.7 times as fast;
// 1 to 3, 5, 6 and 7 are none. On GPUs of 80 GB it fits one: any width.
TEST_CASE("elasticity: memory says how few GPUs a job may run on") {
  ScenarioData data = test::TinyData({{"v100", 8}, {"a100", 8}}, {{1.0, 2.0}}, {{0, 100, 0, 4}});
  data.cluster.types[0].memory_gb = 16, data.cluster.types[1].memory_gb = 80;
  data.traits.memory_gb = {60.0};
  const Scenario scenario = With(data, "elasticity(min_factor=0,measured=false)");
  for (int width : {1, 2, 3, 5, 6, 7}) CHECK(scenario.RateAt(0, 0, width) == 0.0);
  CHECK(scenario.RateAt(0, 0, 4) == 1.0);
  CHECK(scenario.RateAt(0, 0, 8) == Approx(1.7));
  CHECK(scenario.RateAt(0, 1, 1) == Approx(2.0 / 3.5));
  CHECK(scenario.MinGang(0) == 1);
}

// 700 steps on 2 GPUs at 1.7 steps/s. At 100 s, 170 done, it is resized to 4 (3.5 steps/s) for 30 s: 130 +
// 530 / 3.5 = 281.43. At 200 s, 245 more done, to 1 GPU (1 step/s): 230 + 285 = 515.
TEST_CASE("elasticity: a running job is resized, by hand, under both clocks") {
  for (const char* clock : {"event", "rounds(100)"}) {
    ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 700, 0, 2}, {100, 1.0}, {200, 1.0}});
    data.throughputs.alone = {1.0, 1.7, 3.5};
    data.clock = Clock::Parse(clock);
    Simulator sim(With(data, "elasticity"));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      if (sim.now() == 0.0) decision.StartAt(0, 0, 2);
      if (sim.now() == 100.0) decision.Resize(0, 0, 4);
      if (sim.now() == 200.0) decision.Resize(0, 0, 1);
      for (int job : sim.state().waiting) {
        if (job > 0) decision.Reject(job);
      }
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
    }
    CHECK(sim.state().completion[0] == Approx(515.0));
    CHECK(sim.state().features.Find<ElasticityState>()->resizes == 2);
    // 2 x 100 + 4 x 100 + 1 x 315
    CHECK(sim.state().gpu_seconds[0] == Approx(915.0));
  }
}

TEST_CASE("elasticity: a width that a job cannot run on is refused by rule") {
  ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 700, 0, 2}});
  for (const char* features : {"", "elasticity(max_factor=1)"}) {
    Simulator sim(With(data, features));
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.StartAt(0, 0, 3);
    const ApplyResult applied = sim.Apply(decision);
    CHECK(applied.rule == Rule::kWidth);
    CHECK(Explain(applied, decision, sim).find("cannot run on 3 GPUs") != std::string::npos);
  }
}

// Random widths at every decision: nothing breaks, all end, and attained work is what the widths gave
// (invariants after each decision; the rates by hand at random moments).
TEST_CASE("elasticity: random resizes conserve work") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 12; ++i) {
      jobs.push_back(
          {now, 50.0 + 10.0 * draw.Below(40), static_cast<int>(draw.Below(2)), 1 << draw.Below(3)});
      now += draw.Below(60);
    }
    ScenarioData data = test::TinyData({{"v100", 6}, {"k80", 4}}, {{2.0, 1.0}, {1.0, 0.5}}, jobs);
    Simulator sim(
        With(data, "elasticity(min_factor=0,measured=false,resize_s=3);checkpoints(cold_start_s=2)"));
    Decision decision;
    std::vector<double> steps(jobs.size(), 0.0);
    double before = 0.0;
    std::vector<double> rate(jobs.size(), 0.0), from(jobs.size(), 0.0);
    while (sim.AdvanceToDecision()) {
      const SimState& s = sim.state();
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        const double end = std::min(sim.now(), s.completion[j]);
        steps[j] += rate[j] * std::max(0.0, end - std::max(before, from[j]));
        if (rate[j] > 0.0) CHECK(s.AttainedSteps(static_cast<int>(j)) == Approx(steps[j]));
      }
      decision.Clear();
      std::vector<int> room(s.free_gpus);
      for (int job : s.active) {
        const bool runs = s.phase[static_cast<std::size_t>(job)] == JobPhase::kRunning;
        const int type = runs ? s.on_type[static_cast<std::size_t>(job)] : static_cast<int>(draw.Below(2));
        const int width = 1 + static_cast<int>(draw.Below(8));
        int& free = room[static_cast<std::size_t>(type)];
        const int more = width - (runs ? s.Width(job) : 0);
        if (more > free || sim.scenario().RateAt(job, type, width) <= 0.0 || (runs && draw.Below(3) > 0))
          continue;
        free -= more;
        runs ? decision.Resize(job, type, width) : decision.StartAt(job, type, width);
      }
      decision.wake_at = sim.now() + 20.0;
      const ApplyResult applied = sim.Apply(decision);
      INFO(Explain(applied, decision, sim));
      REQUIRE(applied.ok());
      REQUIRE(CheckInvariants(sim).empty());
      before = sim.now();
      for (std::size_t j = 0; j < jobs.size(); ++j) {
        const int job = static_cast<int>(j);
        const bool runs = s.phase[j] == JobPhase::kRunning;
        rate[j] = runs ? sim.scenario().RateAt(job, s.on_type[j], s.Width(job)) : 0.0;
        from[j] = s.progress_from[j];
      }
    }
    CHECK(sim.finished());
  }
}

TEST_CASE("elasticity: bad settings are refused in one line") {
  CHECK(ErrorOf("elasticity(curve=1:1.7:1.5)").find("expected no fall from 2 to 4 GPUs") !=
        std::string::npos);
  CHECK(ErrorOf("elasticity(curve=2:3)").find("expected 1 on one GPU, found 2") != std::string::npos);
  CHECK(ErrorOf("elasticity(scaling=amdhal)").find("did you mean 'amdahl'") != std::string::npos);
  CHECK(ErrorOf("elasticity(min_factor=2)").find("min_factor") != std::string::npos);
  CHECK(ErrorOf("elasticity(curve=1:1.7:3.5:6.2)").empty());
}

// A deliberate bug for each part of the rule.
TEST_CASE("elasticity: the invariant sees what is wrong") {
  Simulator sim(With(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 700, 0, 2}}), "elasticity"));
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.StartAt(0, 0, 2);
  REQUIRE(sim.Apply(decision).ok());
  SimState state = sim.state();
  const std::vector<double> busy = {0.0};
  ElasticityState& own = *state.features.Find<ElasticityState>();
  REQUIRE(own.Violation({sim.scenario(), state, busy}).empty());
  own.width[0] = 1;
  CHECK(own.Violation({sim.scenario(), state, busy}).find("1 are remembered") != std::string::npos);
  state.device_slots[0] = {0, 1, 2, 3, 4};
  CHECK(own.Violation({sim.scenario(), state, busy}).find("not on 1 to 4") != std::string::npos);
}

}  // namespace berth
