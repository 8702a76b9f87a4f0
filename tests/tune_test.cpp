// The tuned rule against what it must be with known weights, and `berth tune` itself.
#include <atomic>
#include <cmath>
#include <set>
#include <tuple>

#include "baselines/preemptive/pair_features.hpp"
#include "data/workloads.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/search_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tools/results.hpp"
#include "tools/tune/batch_trials.hpp"
#include "tools/tune/scheduler_numbers.hpp"

namespace berth {
namespace {

constexpr const char* kAsSrpt =
    "tuned(size=1,gang=0,slow=1,contrast=0,slow_single=0,contrast_single=0,slow_load=0,contrast_load=0,age=0,"
    "stay=0)";

std::shared_ptr<const ScenarioSource> Source(const std::string& spec, const std::string& cluster) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = {ClockKind::kRounds, 360.0};
  return MakeWorkload(spec, settings);
}

RunResult RunSpec(const Scenario& scenario, const std::string& spec) {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
  return Run(scenario, *scheduler, spec, {});
}

TrialSettings SmallTrials() {
  TrialSettings on;
  on.reference = "srpt";
  on.source = Source("synthetic(rate=0.9)", "v100=4,p100=4,k80=4");
  on.workloads = 2;
  on.jobs = 60;
  on.window = {10, 50};
  on.seed = 5;
  return on;
}

// On the first type alone, whatever else is free.
class OnFirst final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView& view, Decision& decision) override {
    int free = view.free_gpus()[0];
    for (const int job : view.waiting()) {
      if (free-- > 0) decision.Start(job, 0);
    }
  }
};

search::Found TuneAsSrpt(const TrialSettings& on) {
  const SchedulerNumbers numbers(ParseSpec(kAsSrpt), {"slow", "contrast"}, on.reference);
  return test::SearchByCmaEs(numbers, RewardTrials(on, "jct"), /*generations=*/3, /*step=*/0.3);
}

}  // namespace

TEST_CASE("the tuned rule with the weights of SRPT is SRPT") {
  for (const char* workload : {"synthetic(rate=2)", "synthetic(rate=1,gangs=multi)"}) {
    const auto source = Source(workload, kDefaultCluster);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      CAPTURE(workload, seed);
      const Scenario scenario = source->Make(seed, Split::kEvaluate, 0, 0, 150);
      CHECK(RunSpec(scenario, kAsSrpt).jct_s == RunSpec(scenario, "srpt").jct_s);
    }
  }
}

TEST_CASE("the tuned rule with the weights of SRPT is SRPT to the event, ties included") {
  for (const Clock& clock : test::AllClocks()) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(clock.ToString(), seed);
      const Scenario scenario = test::RandomScenario(seed, 40, clock);
      CHECK(RunSpec(scenario, kAsSrpt).signature == RunSpec(scenario, "srpt").signature);
    }
    for (const auto& [name, scenario] : test::ExtremeScenarios(clock)) {
      CAPTURE(clock.ToString(), name);
      CHECK(RunSpec(scenario, kAsSrpt).signature == RunSpec(scenario, "srpt").signature);
    }
  }
}

TEST_CASE("the tuned rule's load is that of the part it is shown") {
  // Two jobs of one GPU on a part of one GPU of each type, of two: ln(2 / 2) = 0, though there are four GPUs.
  Simulator simulator(test::Tiny({{"a", 2}, {"b", 2}}, {{2.0, 1.0}}, {{0, 10}, {0, 10}}));
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView whole = simulator.View(Knowledge::kEstimate);
  ViewPart part;
  part.active = part.waiting = {0, 1};
  part.types.assign(whole.types().begin(), whole.types().end());
  for (GpuType& type : part.types) type.count = 1;
  part.free_gpus = {1, 1};
  tuned::PairFeatures features(/*blind=*/false);
  const auto slow_load = [&](const ClusterView& view) {
    features.Begin(view);
    features.BeginJob(view, 0);
    return features.Pair(view, 1)[tuned::kSlowLoad];
  };
  CHECK(slow_load(ClusterView(whole, part, Knowledge::kEstimate)) == 0.0);
  CHECK(slow_load(whole) == Approx(std::log(0.5) * std::log(2.0)).epsilon(1e-12));
}

// Two jobs of equal length and two GPUs; the first job runs twice as fast on a, the second a hundred times.
// Fastest first gives a to whoever comes first; by comparative advantage it goes to the second job.
TEST_CASE("the tuned rule weighs comparative advantage") {
  ScenarioData data;
  data.cluster.types.resize(2);
  data.cluster.types[0] = {.name = "a", .count = 1};
  data.cluster.types[1] = {.name = "b", .count = 1};
  data.throughputs.job_types = {"flexible", "picky"};
  data.throughputs.gang_sizes = {1};
  data.throughputs.alone = {2.0, 1.0, 1.0, 0.01};  // steps/s [job type, gang, GPU type]
  data.knowledge = Knowledge::kOracle;
  data.clock = {ClockKind::kEvent};
  for (int i = 0; i < 2; ++i) {
    data.jobs.id.push_back(i);
    data.jobs.arrival.push_back(0.0);
    data.jobs.job_type.push_back(i);
    data.jobs.gang.push_back(1);
    data.jobs.total_steps.push_back(i == 0 ? 200.0 : 100.0);  // 100 s each where they are fastest
  }
  const Scenario scenario(std::move(data));
  // The second job does 1 of its 100 steps on b meanwhile.
  CHECK(RunSpec(scenario, kAsSrpt).jct_s == std::vector<double>{100.0, 199.0});
  for (const std::string weights : {"tuned(size=1,gang=0,slow=0,contrast=1,slow_single=0,contrast_single=0,"
                                    "slow_load=0,contrast_load=0,age=0,stay=0)",
                                    "tuned_blind(size=1,gang=0,slow=0,contrast=1,slow_single=0,"
                                    "contrast_single=0,slow_load=0,contrast_load=0,age=0,stay=0)"}) {
    CAPTURE(weights);
    // The first job does half its work on b in 100 s, the other half on a in 50 s.
    CHECK(RunSpec(scenario, weights).jct_s == std::vector<double>{150.0, 100.0});
  }
}

TEST_CASE("tune: the same answer on any number of threads, better than its start on what it saw") {
  TrialSettings on = SmallTrials();
  const search::Found one = TuneAsSrpt(on);
  on.threads = 3;
  const search::Found three = TuneAsSrpt(on);
  CHECK(one.point == three.point);
  REQUIRE(one.generations == 3);
  double best = 1.0;
  for (const search::Told& told : one.told) best = std::min(best, std::exp(told.value));
  CHECK(best < 1.0);
  const auto make = [](const char* spec) { return [spec] { return MakeScheduler(spec, AllSchedulers()); }; };
  const auto runs = RewardTrials(on, "jct").Validate({make("srpt"), make(kAsSrpt)}, 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(runs[0][i].mean_jct_s == runs[1][i].mean_jct_s);
  std::atomic<bool> interrupted = false;
  CHECK(RewardTrials(on, "jct").Validate({make("srpt")}, 3, &interrupted)[0][2].mean_jct_s == runs[0][2].mean_jct_s);
  interrupted = true;
  CHECK(RewardTrials(on, "jct").Validate({make("srpt")}, 3, &interrupted).empty());
}

TEST_CASE("tune: candidates out of their bounds lose, and nothing else happens") {
  TrialSettings on = SmallTrials();
  on.reference = "las";
  const SchedulerNumbers quantum(ParseSpec("las(quantum=1)"), {"quantum"}, "las");
  // Steps of a million: half of the candidates are below 0, which las refuses.
  CHECK(test::SearchByCmaEs(quantum, RewardTrials(on, "jct"), 3, 1e6).point[0] > 0.0);
}

TEST_CASE("tune: parameters of whole numbers, and starts without end, are refused before the search") {
  const auto numbers = [](const char* spec, const char* name) { return SchedulerNumbers(ParseSpec(spec), {name}, "srpt"); };
  CHECK_THROWS_WITH(numbers("power_of_two(choices=3)", "choices"),
                    Catch::Contains("expected parameters that may be any number, found 'choices': power_of_two: ") &&
                        Catch::Contains("expected a whole number"));
  CHECK_THROWS_WITH(numbers("admission", "limit"),
                    Catch::Contains("admission's 'limit': expected a finite number to start from, found inf"));
  CHECK(numbers("admission(limit=30)", "limit").Space().start == std::vector<double>{30.0});
  CHECK(numbers("las(quantum=0)", "quantum").Space().start == std::vector<double>{0.0});  // at its bound
}

TEST_CASE("tune: a search that has nothing to go by, or ends at what is refused, is an error and writes nothing") {
  const test::TemporaryFolder folder;
  const std::string run = "tune --cluster v100=8 --seconds 0 --threads 1 --out o.ini ";
  // Four jobs an hour are far too many for 8 GPUs: whatever is admitted, others are turned away.
  test::CheckOneLine(test::Berth(folder, run + "--scheduler 'admission(limit=30)' --parameters limit --workload "
                                               "'synthetic(rate=4)' --generations 2 --jobs 60"),
                     "no candidate of the first generation could run and finish the window's jobs");
  // Steps of a million: one of the two better candidates of seed 3 is below 0, and so is their mean.
  test::CheckOneLine(test::Berth(folder, run + "--scheduler 'las(quantum=1)' --parameters quantum --workload 'synthetic(rate=2)' "
                                               "--generations 1 --jobs 20 --workloads 1 --step 1e6 --seed 3"),
                     "las: parameter 'quantum': expected a number in [0,");
  CHECK(test::Slurp(folder / "o.ini").empty());
}

TEST_CASE("tune: a reference that leaves jobs unfinished is an error, not a search in the dark") {
  TrialSettings on = SmallTrials();
  on.reference = "admission(limit=1)";  // rejects whoever finds another
  CHECK_THROWS_WITH(TuneAsSrpt(on), Catch::Contains("--reference: ") &&
                                        Catch::Contains("left jobs of the window unfinished in 2 of 2"));
  on.reference = "las(quantum=-1)";
  CHECK_THROWS_WITH(TuneAsSrpt(on), Catch::Contains("quantum"));
}

TEST_CASE("tune --reward cost: where GPUs have no price a run that costs nothing is the best, and no error") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("k80=40,v100=4");
  settings.clock = {ClockKind::kRounds, 360.0};
  const auto may_be_none = [&](const char* reward) {
    TrialSettings on = SmallTrials();
    on.source = MakeWorkload("synthetic(rate=0.5)", settings);
    return RewardTrials(on, reward).MayBeNone();
  };
  for (const char* reward : {"cost", "energy", "jct", "cost+deadline", "jct+0.5*deadline"}) CHECK_FALSE(may_be_none(reward));
  CHECK(may_be_none("deadline"));
  settings.cluster.types[0].price_per_hour = settings.cluster.types[0].peak_power_w = 0.0;
  for (const char* reward : {"cost", "cost+deadline"}) CHECK(may_be_none(reward));
  for (const char* reward : {"energy", "cost+2*energy"}) CHECK_FALSE(may_be_none(reward));  // idle GPUs draw power
  for (GpuType& type : settings.cluster.types) type.idle_power_w = 0.0;
  for (const char* reward : {"energy", "cost+2*energy", "cost+deadline"}) CHECK(may_be_none(reward));
  for (const char* reward : {"jct", "jct+cost", "slowdown+deadline"}) CHECK_FALSE(may_be_none(reward));

  TrialSettings on = SmallTrials();  // srpt takes the fastest type first
  on.source = MakeWorkload("synthetic(rate=0.5)", settings);
  const std::vector<MakeCandidate> candidates{[] { return std::make_unique<OnFirst>(); }, [] { return MakeScheduler("srpt", AllSchedulers()); }};
  const search::Costs costs = RewardTrials(on, "cost").Costs(candidates, 0);
  CHECK(costs.of[0] == std::vector<double>{0.0, 0.0});
  CHECK(costs.reference[0] > 0.0);
  const std::vector<double> values = search::Values(costs);
  CHECK(values[0] == -(costs.reference[0] + costs.reference[1]) / 2.0);
  CHECK(values[1] == 0.0);
}

TEST_CASE("tune: each piece of a log is validated once, not as often as asked for") {
  TrialSettings on = SmallTrials();
  on.source = FixedSource(on.source->Make(5, Split::kTrain, 0, 0, 60), "a log");
  const std::vector<MakeCandidate> srpt{[] { return MakeScheduler("srpt", AllSchedulers()); }};
  // A piece of 59 begins at job 0 or 1, one of 52 at 0 to 8.
  for (const auto& [jobs, asked, runs] : {std::tuple{60, 3, 1}, {59, 3, 2}, {59, 1, 1}, {52, 9, 9}, {52, 100, 9}}) {
    CAPTURE(jobs, asked);
    on.jobs = jobs;
    for (const int end : {60, -1}) {
      on.pieces = {0, end};
      const RewardTrials trials(on, "jct");
      CHECK(trials.Validate(srpt, asked)[0].size() == static_cast<std::size_t>(runs));
      for (const int instead : {kValidation, search::kChoice}) {
        std::set<std::uint64_t> unlike;
        for (const Scenario& piece : trials.Draw(instead, asked)) unlike.insert(piece.Hash());
        CHECK(std::ssize(unlike) == runs);
      }
      CHECK(std::ssize(trials.Draw(0, asked)) == asked);
    }
  }
}

TEST_CASE("tune: pieces that measure the answer spread over the whole log, however long it is") {
  CHECK(EvenPlace(0, 1, 9) == 0);
  CHECK(EvenPlace(1, 3, 9) == 4);
  CHECK(EvenPlace(2, 3, 9) == 8);
  CHECK(EvenPlace(49'998, 50'000, 50'000) == 49'998);
  CHECK(EvenPlace(99'999, 100'000, 1'000'000'000) == 999'999'999);
}

TEST_CASE("tune: found values take the place of given ones") {
  const std::vector<double> values{0.00012346, 1234.56};
  const Spec spec = WithParameters(ParseSpec("las(quantum=5)"), {"slice", "quantum"}, values);
  CHECK(spec.ToString() == "las(quantum=1235,slice=0.0001235)");
}

}  // namespace berth
