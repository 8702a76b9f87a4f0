// guard, and the replay that it compares its two schedulers by.
#include <algorithm>
#include <map>

#include "baselines/composition/replay.hpp"
#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

// Starts nothing at all.
class Lazy final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView&, Decision&) override {}
};

// One job at a time until kWakesUp, whatever the number of GPUs; from then on as many as fit, shortest first.
constexpr double kWakesUp = 5000.0;  // s
class Drowsy final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kOracle; }
  void Decide(const ClusterView& view, Decision& decision) override {
    int room = view.now() < kWakesUp ? view.running().empty() : view.free_gpus()[0];
    std::vector<int> jobs(view.waiting().begin(), view.waiting().end());
    std::stable_sort(jobs.begin(), jobs.end(),
                     [&](int a, int b) { return view.RemainingSteps(a) < view.RemainingSteps(b); });
    for (int job : jobs) {
      if (room-- > 0) decision.Start(job, 0);
    }
  }
};

template <class S>
std::unique_ptr<Scheduler> MakeOf(Params&) {
  return std::make_unique<S>();
}

SchedulerTable TestSchedulers() {
  static const SchedulerInfo kTable[] = {
      {"lazy", "", "", "", Knowledge::kNone, false, {}, MakeOf<Lazy>},
      {"drowsy", "", "", "", Knowledge::kOracle, false, {}, MakeOf<Drowsy>}};
  return kTable;
}

std::unique_ptr<Scheduler> Make(const std::string& spec) {
  std::vector<SchedulerTable> tables(AllSchedulers().begin(), AllSchedulers().end());
  tables.push_back(TestSchedulers());
  return MakeScheduler(spec, tables);
}

RunResult RunOf(const std::string& spec, const Scenario& scenario, Window window = {}) {
  return Run(scenario, *Make(spec), spec, {.window = window, .keep_events = true, .progress = {}});
}

constexpr const char* kLongestFirst = "queue(order=ljf,preemption=order,overtake=true)";

Scenario Drawn(const std::string& workload, const std::string& cluster, std::uint64_t seed,
               Knowledge knowledge = Knowledge::kOracle) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = {ClockKind::kRounds, 360.0};
  return WithKnowledge(EvaluationScenario(*MakeWorkload(workload, settings), seed), knowledge, 0.5);
}

// When the second log goes another way than the first; kNever where it does not.
double PartAt(const std::vector<Event>& a, const std::vector<Event>& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    if (a[i].time != b[i].time || a[i].kind != b[i].kind || a[i].job != b[i].job || a[i].type != b[i].type)
      return std::min(a[i].time, b[i].time);
  }
  return a.size() == b.size() ? kNever : std::min(a.back().time, b.back().time);
}

// One GPU of rate 1; job 0 (10 s) comes at 0, 1 (2 s) at 1, 2 (100 s) at 4.
Scenario Three() {
  return test::Tiny({{"a", 1}}, {{1.0}}, {{0, 10}, {1, 2}, {4, 100}});
}

// Plays `spec` and replays what lies between the decision points at `begin` and `end`.
struct Replayed {
  Replay replay;
  bool closed = false;
};
Replayed Between(const std::string& spec, const Scenario& scenario, double begin, double end,
                 Knowledge granted = Knowledge::kOracle) {
  Replayed result;
  bool begun = false;
  Simulator simulator(scenario);
  const auto scheduler = test::Make(spec);
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    const ClusterView view = simulator.View(granted);
    result.replay.Follow(view);
    if (simulator.now() == end) {
      result.closed = result.replay.Close(view);
      return result;
    }
    if (!begun && simulator.now() >= begin) result.replay.Begin(view), begun = true;
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    REQUIRE(simulator.Apply(decision).ok());
  }
  FAIL("no decision at " << end);
  return result;
}

Replay::Flow FlowOf(const Replayed& replayed, const std::string& first, const std::string& then) {
  REQUIRE(replayed.closed);
  // Inner is made by a row; a row that has two is guard's, so tests ask for one inside another table.
  struct Holder final : Scheduler {
    explicit Holder(const std::string& spec) : inner("test", spec) {}
    Knowledge knowledge() const override { return inner.knowledge(); }
    void Decide(const ClusterView&, Decision&) override {}
    Inner inner;
  };
  static std::string inside;
  static const SchedulerInfo kHolder[] = {
      {"holder", "", "", "", Knowledge::kNone, true, {}, [](Params&) -> std::unique_ptr<Scheduler> {
         return std::make_unique<Holder>(inside);
       }}};
  const auto hold = [](const std::string& spec) {
    inside = spec;
    const SchedulerTable tables[] = {kHolder, BaselineSchedulers(), TestSchedulers()};
    return MakeScheduler("holder", tables);
  };
  const auto one = hold(first), two = hold(then);
  const auto flow = replayed.replay.Run(static_cast<Holder&>(*one).inner, static_cast<Holder&>(*two).inner);
  REQUIRE(flow.has_value());
  return *flow;
}

}  // namespace

TEST_CASE("replay: job-seconds by hand", "[guard]") {
  const Replayed all = Between("fcfs", Three(), 0.0, 4.0);
  // fcfs: 0 runs 0-10, 1 runs 10-12, 2 runs 12-112: 10 + 11 + 108; until 4: 4 + 3.
  const Replay::Flow fcfs = FlowOf(all, "fcfs", "fcfs");
  CHECK(fcfs.job_seconds == 129.0);
  CHECK(fcfs.so_far == 7.0);
  // srpt: 0 runs 0-1, 1 runs 1-3, 0 runs 3-12, 2 runs 12-112: 12 + 2 + 108; until 4: 4 + 2.
  const Replay::Flow srpt = FlowOf(all, "srpt", "srpt");
  CHECK(srpt.job_seconds == 122.0);
  CHECK(srpt.so_far == 6.0);
  // fcfs until 4, when 0 has 6 s left; srpt then: 1 runs 4-6, 0 runs 6-12, 2 runs 12-112: 12 + 5 + 108.
  const Replay::Flow both = FlowOf(all, "fcfs", "srpt");
  CHECK(both.job_seconds == 125.0);
  CHECK(both.so_far == 7.0);
}

TEST_CASE("replay: begins in the middle, with who runs where and what each has attained", "[guard]") {
  const Replayed late = Between("fcfs", Three(), 4.0, 10.0);
  // From 4 on, 0 with 6 s left: it ends at 10, 1 at 12, 2 at 112: 6 + 8 + 108; until 10: 6 + 6 + 6.
  const Replay::Flow fcfs = FlowOf(late, "fcfs", "fcfs");
  CHECK(fcfs.job_seconds == 122.0);
  CHECK(fcfs.so_far == 18.0);
  // las, equal within 3 s: 0 has had 4 s, so 1 runs 4-6, 2 from then on until it is no longer behind 0, at 9:
  // until 10 it is 6 + 2 + 6. Had 0 begun afresh, it would have been the first of three equals.
  CHECK(FlowOf(late, "las(quantum=3)", "las(quantum=3)").so_far == 14.0);
  // Costs of stopping count: fcfs pays none, srpt stops 0 at 4 and pays 3 s when it starts it at 6: 1 ends at
  // 6, 0 at 15, 2 at 115: 2 + 11 + 111.
  ScenarioData data = Three().data();
  data.costs = {1.0, 2.0, 0.0};
  const Replayed dear = Between("fcfs", Scenario(std::move(data)), 4.0, 10.0);
  CHECK(FlowOf(dear, "fcfs", "fcfs").job_seconds == 122.0);
  CHECK(FlowOf(dear, "srpt", "srpt").job_seconds == 124.0);
}

TEST_CASE("replay: sizes are what is known when it closes", "[guard]") {
  // Blind, closed at 10: 0 is done and has had 10 s; 1 and 2 have had nothing and are drawn from those seen,
  // so 10 s each: 0 ends at 10, 1 at 20, 2 at 30: 6 + 16 + 26.
  CHECK(FlowOf(Between("fcfs", Three(), 4.0, 10.0, Knowledge::kBlind), "fcfs", "fcfs").job_seconds == 48.0);
  // Closed at 4 nobody has ended and nobody is known to be of any size.
  CHECK_FALSE(Between("fcfs", Three(), 0.0, 4.0, Knowledge::kBlind).closed);
  // Closed at 12: 1 has ended too, after 2 s, and is known to be that long.
  const Replayed later = Between("fcfs", Three(), 4.0, 12.0, Knowledge::kBlind);
  CHECK(FlowOf(later, "fcfs", "fcfs").so_far == 6.0 + 8.0 + 8.0);

  SizeSample sample;
  Stream stream(1, Purpose::kTest);
  CHECK(sample.Draw(0, 1, 0.0, stream) == 0.0);
  for (double seconds : {5.0, 20.0, 10.0}) sample.Add(0, 1, seconds);
  sample.Add(1, 1, 300.0);
  std::map<double, int> drawn;
  for (int i = 0; i < 3000; ++i) ++drawn[sample.Draw(0, 1, 5.0, stream)];
  CHECK(drawn.size() == 2);  // those of its kind above 5
  CHECK(drawn[10.0] > 1300);
  CHECK(drawn[20.0] > 1300);
  CHECK(sample.Draw(0, 1, 20.0, stream) == 300.0);  // it outran its kind: of all
  CHECK(sample.Draw(0, 1, 300.0, stream) == 0.0);
}

TEST_CASE("replay: schedulers are told the estimates of before, and run on what became known", "[guard]") {
  // As Three, under estimates: whatever they are, 0 ends at 10 in truth and 1 at 12, so fcfs from 4 to 12
  // spends what it spent in truth.
  ScenarioData data = Three().data();
  data.knowledge = Knowledge::kEstimate, data.estimate_sigma = 1.0, data.seed = 5;
  const Replayed replayed = Between("fcfs", Scenario(std::move(data)), 4.0, 12.0, Knowledge::kEstimate);
  CHECK(FlowOf(replayed, "fcfs", "fcfs").so_far == 6.0 + 8.0 + 8.0);
}

TEST_CASE("guard: a policy that loses nothing is left alone, under every clock", "[guard]") {
  for (const Clock& clock : test::AllClocks()) {
    for (std::uint64_t seed : {31, 32}) {
      const Scenario scenario = test::RandomScenario(seed, 60, clock);
      for (const std::string policy : {"srpt", "las", "tuned", "fcfs", "easy", "nash_welfare"}) {
        CAPTURE(clock.ToString(), seed, policy);
        const std::uint64_t alone = RunOf(policy, scenario).signature;
        CHECK(RunOf("guard(margin=1e9,policy=" + policy + ")", scenario).signature == alone);
        // Compared with itself it loses nothing, margin or no.
        CHECK(RunOf("guard(margin=0,patience=0.02,epoch=4,policy=" + policy + ",fallback=" + policy + ")",
                    scenario)
                  .signature == alone);
      }
      for (const std::string policy : {"round_robin", "gavel", "gittins", "fair_share"}) {  // they remember
        CAPTURE(clock.ToString(), seed, policy);
        CHECK(RunOf("guard(margin=1e9,policy=" + policy + ")", scenario).signature ==
              RunOf(policy, scenario).signature);
      }
    }
  }
}

TEST_CASE("guard: a frozen policy may stand inside any scheduler", "[guard]") {
  const std::string policy = "policy(file=" BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle.h5)";
  const Scenario scenario = Drawn("synthetic(rate=1.2,jobs=80)", "v100=4,p100=4,k80=4", 8);
  for (const std::string& spec :
       {"adaptive(arms=srpt|" + policy + ",epoch=3600)", "anticipate(inner=" + policy + ")",
        "hierarchical(inner=" + policy + ")", "pools(pools=x:*/0.5|y:*,inner=" + policy + ")",
        "pools(pools=x:*/0.5:" + policy + "|y:*:srpt)"}) {
    CAPTURE(spec);
    CHECK(RunOf(spec, scenario).metrics.jobs == 80);
  }
  CHECK(RunOf("anticipate(inner=" + policy + ")", scenario).signature == RunOf(policy, scenario).signature);
}

TEST_CASE("guard: a policy that puts short jobs off is taken over, and what it left is served", "[guard]") {
  // 0.6 of what four GPUs can do. Longest first makes a mean several times that of srpt.
  const Scenario scenario = Drawn("synthetic(rate=0.8,jobs=700)", "v100=4,p100=4,k80=4", 3);
  const Window window{100, 500};
  const RunResult bad = RunOf(kLongestFirst, scenario, window), good = RunOf("srpt", scenario, window);
  const RunResult guarded = RunOf(Join("guard(policy=", kLongestFirst, ")"), scenario, window);
  CHECK(bad.metrics.mean_jct_s > 2.0 * good.metrics.mean_jct_s);
  CHECK(guarded.metrics.mean_jct_s < 1.02 * good.metrics.mean_jct_s);
  // Taken over before 100 jobs, more than an epoch and a half of arrivals and completions, have come.
  CHECK(PartAt(bad.events, guarded.events) < scenario.data().jobs.arrival[100]);
  CHECK(RunOf(Join("guard(policy=", kLongestFirst, ")"), scenario, window).signature == guarded.signature);
}

TEST_CASE("guard: blind, it compares with sizes that it has seen", "[guard]") {
  const Scenario scenario =
      Drawn("synthetic(rate=0.8,jobs=700)", "v100=4,p100=4,k80=4", 4, Knowledge::kBlind);
  const Window window{100, 500};
  const double good = RunOf("las", scenario, window).metrics.mean_jct_s;
  CHECK(RunOf("random", scenario, window).metrics.mean_jct_s > 1.5 * good);
  CHECK(Make("guard(policy=random,fallback=las)")->knowledge() == Knowledge::kBlind);
  CHECK(RunOf("guard(policy=random,fallback=las)", scenario, window).metrics.mean_jct_s < 1.15 * good);
}

TEST_CASE("guard: an idle cluster is taken over at once, unless the fallback would leave it idle too",
          "[guard]") {
  const Scenario scenario = Three();
  CHECK_THROWS_WITH(RunOf("lazy", scenario), Catch::Contains("stalls"));
  CHECK(RunOf("guard(policy=lazy,fallback=fcfs)", scenario).signature == RunOf("fcfs", scenario).signature);
  CHECK_THROWS_WITH(RunOf("guard(policy=lazy,fallback=lazy)", scenario), Catch::Contains("stalls"));
  // With jobs that hold parts of GPUs the replay shows nothing; an idle cluster is one all the same.
  ScenarioData data = Three().data();
  data.features = ParseFeatures("sharing");
  const Scenario shared(std::move(data));
  CHECK(RunOf("guard(policy=lazy,fallback=fcfs)", shared).signature == RunOf("fcfs", shared).signature);
}

TEST_CASE("guard: takes over from a policy while it is bad, and hands back when it is the better one",
          "[guard]") {
  // Four GPUs. 40 jobs of 100 s at 0: one at a time the k-th ends at 100 k, a mean of 2050 s; four at a time
  // ten rounds, a mean of 550 s. From 5000 on, every 500 s, four of 400 s and after them six of 10 s: fcfs
  // lets the six wait for 400 s and more, who takes them first ends them within 20 s.
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i < 40; ++i) jobs.push_back({0.0, 100.0});
  for (int i = 0; i < 400; ++i) jobs.push_back({kWakesUp + 500.0 * (i / 10), i % 10 < 4 ? 400.0 : 10.0});
  const Scenario scenario = test::Tiny({{"a", 4}}, {{1.0}}, jobs);
  const auto mean = [&](const char* spec, int first, int last) {
    const RunResult run = RunOf(spec, scenario);
    double sum = 0.0;
    for (int job = first; job < last; ++job) sum += run.jct_s[U(job)];
    return sum / (last - first);
  };
  const char* guarded = "guard(policy=drowsy,fallback=fcfs,epoch=8)";
  CHECK(mean("drowsy", 0, 40) == 2050.0);
  CHECK(mean("fcfs", 0, 40) == 550.0);
  // An epoch is as many events as there are jobs: 20 ends, at 2000. The fallback takes the other 20 in five
  // rounds: (100 + ... + 2000 + 4 (2100 + ... + 2500)) / 40.
  CHECK(mean(guarded, 0, 40) == 1675.0);
  const double fcfs = mean("fcfs", 240, 440), drowsy = mean("drowsy", 240, 440);
  CHECK(fcfs > 1.4 * drowsy);
  CHECK(mean(guarded, 240, 440) == drowsy);
}

TEST_CASE("guard: a shipped policy on a normal day costs less than a hundredth", "[guard]") {
  const std::string policy = "policy(file=" BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle.h5)";
  for (const char* workload : {"synthetic(rate=1.2,jobs=500)", "synthetic(rate=0.5,jobs=500,gangs=multi)"}) {
    for (const std::uint64_t seed : {6, 7, 8}) {
      const Scenario scenario = Drawn(workload, "v100=8,p100=8,k80=8", seed);
      const Window window{100, 300};
      const double alone = RunOf(policy, scenario, window).metrics.mean_jct_s;
      const double guarded = RunOf("guard(policy=" + policy + ")", scenario, window).metrics.mean_jct_s;
      CAPTURE(workload, seed);
      CHECK(guarded < 1.01 * alone);
    }
  }
}

TEST_CASE("guard: what is wrong inside is named", "[guard]") {
  CHECK_THROWS_WITH(Make("guard(policy=srtp)"),
                    Catch::Contains("guard: parameter 'policy'") && Catch::Contains("did you mean 'srpt'"));
  CHECK_THROWS_WITH(Make("guard(fallback=las(quantm=1))"),
                    Catch::Contains("guard: parameter 'fallback'") && Catch::Contains("quantum"));
  CHECK_THROWS_WITH(Make("guard(policy=policy(file=nowhere.h5))"), Catch::Contains("nowhere.h5"));
  CHECK_THROWS_WITH(Make("guard(epoch=0)"), Catch::Contains("epoch"));
  // The policies of a binary are found inside any scheduler, and only there: baselines alone have none.
  CHECK_THROWS_WITH(test::Make("guard(policy=policy(file=x.h5))"), Catch::Contains("unknown scheduler"));
}

}  // namespace berth
