// Schedulers inside schedulers: what composition must leave as it is, and what it changes, by hand.
#include <algorithm>
#include <cmath>

#include "baselines/composition/ucb1.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "tests/audit.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::RandomScenario;
using test::Tiny;
using test::TinyData;

// A RandomScenario whose jobs belong to three tenants of weights 1, 2 and 3.
Scenario Tenants(std::uint64_t seed, int jobs, Clock clock) {
  ScenarioData data = RandomScenario(seed, jobs, clock).data();
  data.tenants = {{"x", 1.0}, {"y", 2.0}, {"z", 3.0}};
  Stream stream(seed, Purpose::kTest, Split::kEvaluate);
  for (int i = 0; i < jobs; ++i) data.jobs.tenant.push_back(static_cast<int>(stream.Below(3)));
  return Scenario(std::move(data));
}

// To the end, every rule checked after every decision. A job is rejected only where the scheduler may, and
// only before it has run.
void RunLegally(const std::string& spec, const Scenario& scenario, bool rejects) {
  const Simulator simulator = test::RunAudited(spec, scenario);
  REQUIRE_FALSE(simulator.stalled());
  const SimState& state = simulator.state();
  for (std::size_t job = 0; job < state.phase.size(); ++job) {
    CAPTURE(job);
    if (rejects && state.phase[job] == JobPhase::kRejected) {
      CHECK(state.last_type[job] == -1);
    } else {
      CHECK(state.completion[job] < kNever);
    }
  }
}

std::uint64_t Signature(const Scenario& scenario, const std::string& spec) {
  return test::RunOf(spec, scenario).signature;
}

}  // namespace

TEST_CASE("composition: wrappers that have nothing to do change nothing", "[composition]") {
  for (const Clock& clock : test::AllClocks()) {
    for (const char* inner : {"fcfs", "easy", "conservative", "srpt", "las", "random", "round_robin", "gavel",
                              "gavel(packed=true)", "least_loaded", "annealing", "tiresias"}) {
      CAPTURE(clock.ToString(), inner);
      const Scenario scenario = RandomScenario(41, 30, clock);
      const std::uint64_t alone = Signature(scenario, inner);
      CHECK(Signature(scenario, Join("batch(window=0,inner=", inner, ")")) == alone);
      CHECK(Signature(scenario, Join("admission(inner=", inner, ")")) == alone);
      CHECK(Signature(scenario, Join("token_bucket(rate_per_h=1e12,burst=1000,inner=", inner, ")")) == alone);
      CHECK(Signature(scenario, Join("adaptive(arms=", inner, ")")) == alone);
    }
  }
}

TEST_CASE("hierarchical: with one tenant and the same scheduler on both levels it is that scheduler",
          "[composition]") {
  for (const char* inner : {"fcfs", "sjf", "srpt", "edf"}) {
    CAPTURE(inner);
    const Scenario scenario = RandomScenario(42, 40, {ClockKind::kEvent});
    CHECK(Ends(Join("hierarchical(outer=", inner, ",inner=", inner, ")"), scenario) == Ends(inner, scenario));
  }
}

TEST_CASE("hierarchical: the outer scheduler sizes the parts, the inner one uses them", "[composition]") {
  // One GPU. Outer fcfs gives it to x from 0 on, as long as x has something running: srpt runs 0 (10 s), from
  // 2 to 7 the shorter 2, then 0 again. At 15 it is y's: 3 (2 s) before 1 (9 s).
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {1, 9}, {2, 5}, {3, 2}});
  data.tenants = {{"x"}, {"y"}};
  data.jobs.tenant = {0, 1, 0, 1};
  CHECK(Decisions("hierarchical(outer=fcfs,inner=srpt)", Scenario(data)) ==
        Log{"0 start 0@0", "2 stop 0", "2 start 2@0", "7 start 0@0", "15 start 3@0", "17 start 1@0"});
  // Dominant resource fairness over shortest job first: y holds less, so it comes first each time.
  ScenarioData two = TinyData({{"a", 2}}, {{1.0}}, {{0, 50}, {1, 9}, {2, 5}, {3, 2}, {3, 4}});
  two.tenants = {{"x"}, {"y"}};
  two.jobs.tenant = {0, 1, 0, 1, 1};
  CHECK(Decisions("hierarchical(outer=drf,inner=sjf)", Scenario(two)) ==
        Log{"0 start 0@0", "1 start 1@0", "10 start 3@0", "12 start 4@0", "16 start 2@0"});
}

TEST_CASE("hierarchical: any two schedulers, under every clock, legally and to the end", "[composition]") {
  const char* const kSpecs[] = {"hierarchical(outer=fair_share,inner=srpt)",
                                "hierarchical(outer=drf,inner=easy)",
                                "hierarchical(outer=srpt,inner=fcfs)",
                                "hierarchical(outer=random,inner=conservative)",
                                "hierarchical(outer=gavel,inner=las)",
                                "hierarchical(outer=fcfs,inner=gavel)",
                                "hierarchical(outer=round_robin,inner=annealing)",
                                "hierarchical(outer=las,inner=shortest_queue)",
                                "hierarchical(outer=fair_share,inner=least_loaded)",
                                "hierarchical(outer=matching,inner=gang_scheduling)",
                                "hierarchical(outer=hierarchical(outer=drf,inner=sjf),inner=tiresias)",
                                "hierarchical(outer=edf,inner=predicted(inner=srpt))",
                                "hierarchical(outer=genetic,inner=max_weight)",
                                "adaptive(arms=fcfs|srpt|hierarchical|predicted,epoch=100)",
                                "batch(window=45,inner=hierarchical(outer=drf,inner=srpt))",
                                "token_bucket(rate_per_h=120,burst=2,inner=hierarchical)",
                                "predicted(inner=easy)",
                                "predicted(inner=conservative)",
                                "predicted(inner=annealing)",
                                "predicted(inner=hybrid(plan=milp,late_s=10))",
                                "pools(pools=x:v100/0.5+p100/0.8:hierarchical|y:*:srpt,route=tenant)",
                                "pools(pools=x:*/0.25:gang_scheduling|y:*:gavel,route=gang,cuts=1)",
                                "pools(pools=y:*:pools,route=speed)",
                                "hierarchical(outer=drf,inner=pools)",
                                "hierarchical(outer=pools,inner=srpt)",
                                "adaptive(arms=gang_scheduling|pools,epoch=100)",
                                "adaptive(arms=srpt|pools(pools=x:*/0.25|y:*,inner=srpt),epoch=60)"};
  for (const char* spec : kSpecs) {
    for (const Clock& clock : test::AllClocks()) {
      CAPTURE(spec, clock.ToString());
      const Scenario scenario = Tenants(43, 30, clock);
      RunLegally(spec, scenario, /*rejects=*/false);
    }
  }
  CHECK_THROWS_WITH(test::Make("hierarchical(inner=srtp)"), Catch::Contains("did you mean 'srpt'"));
  CHECK_THROWS_WITH(test::Make("hierarchical(outer=las(quantm=1))"), Catch::Contains("quantum"));
}

// Inside hierarchical a scheduler has GPUs of which others take some away and give them back; inside adaptive
// it begins anew in the middle of a run.
TEST_CASE("composition: every scheduler shares a cluster, and takes over from another", "[composition]") {
  struct Row {
    std::string spec;
    bool rejects;
  };
  std::vector<Row> rows = {{"admission(limit=4)", true},
                           {"admission(by=wait,limit=60)", true},
                           {"token_bucket(rate_per_h=90,burst=2)", false},
                           {"token_bucket(rate_per_h=90,burst=2,action=reject)", true},
                           {"fcfs(queue_limit=3)", true},
                           {"batch(window=45,inner=srpt)", false}};
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    rows.push_back({info.name, std::string(info.name) == "deadline_admission"});
  }
  for (const auto& [spec, rejects] : rows) {
    for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}}) {
      CAPTURE(spec, clock.ToString());
      ScenarioData data = Tenants(44, 30, clock).data();
      for (std::size_t job = 0; job < 30; ++job) {  // some can be met
        data.jobs.deadline.push_back(data.jobs.arrival[job] + 150.0 * static_cast<double>(1 + job % 4));
      }
      const Scenario scenario(std::move(data));
      RunLegally(Join("adaptive(arms=fcfs|", spec, ",epoch=50)"), scenario, rejects);
      RunLegally(Join("adaptive(arms=srpt|", spec, ",epoch=50)"), scenario, rejects);
      if (spec == "gandiva" || spec == "task_batching")
        continue;  // packs two on a GPU, which hierarchical refuses
      RunLegally(Join("hierarchical(inner=", spec, ")"), scenario, rejects);
    }
  }
}

TEST_CASE("batch: waits for the window, then chooses among all", "[composition]") {
  // One GPU, windows of 10: 0 (8 s) comes at 1, 1 (2 s) at 4: at 10 the shorter is first; 2 comes at 10
  // sharp.
  CHECK(Decisions("batch(window=10)", Tiny({{"a", 1}}, {{1.0}}, {{1, 8}, {4, 2}, {10, 1}})) ==
        Log{"10 start 2@0", "11 start 1@0", "13 start 0@0"});
}

TEST_CASE("reservation: GPUs are held back while short jobs are expected", "[composition]") {
  // Two GPUs, bins of 10 s; of at most 10 s is short. In bin 0 short jobs bring 5 GPU-seconds, so from 10 on
  // ceil(0.5) = 1 GPU is reserved: the long job 2 waits, the short job 3 runs at once. Bin 1 brought 5 again;
  // in bin 2 nothing comes, so at 30 nothing is reserved any longer.
  const Scenario scenario = Tiny({{"a", 2}}, {{1.0}}, {{0, 5}, {1, 100}, {12, 100}, {13, 5}});
  const std::string rule = "reservation(short=10,bin=10,horizon=10,forecaster=last,safety=0";
  CHECK(Decisions(rule + ")", scenario) == Log{"0 start 0@0", "1 start 1@0", "13 start 3@0", "30 start 2@0"});
  // At 18 the long job has waited 6 s, and a GPU is idle.
  CHECK(Decisions(rule + ",patience=6)", scenario) ==
        Log{"0 start 0@0", "1 start 1@0", "13 start 3@0", "18 start 2@0"});
  // Nothing may be reserved: the long job takes the GPU, the short one waits until 101.
  CHECK(Decisions(rule + ",most=0)", scenario) ==
        Log{"0 start 0@0", "1 start 1@0", "12 start 2@0", "101 start 3@0"});
  // All are urgent: favoured jobs take what they like.
  CHECK(Decisions(rule + ",urgent=1)", scenario) == Decisions("fcfs", scenario));
}

TEST_CASE("reservation: who stops holds nothing of it", "[composition]") {
  // Three GPUs. The gang of bin 0 brings 20 GPU-seconds: from 10 on 2 GPUs are reserved, which the next gang
  // uses up. At 12 the short job 3 takes its place on one GPU. The other one stays reserved, and the gang goes
  // on at 15, until 23. Bin 1 brought 23 GPU-seconds, bin 2 nothing: the long job 4 waits until 30.
  CHECK(Decisions("reservation(inner=srpt,short=10,bin=10,horizon=10,forecaster=last,safety=0,most=1)",
                  Tiny({{"a", 3}}, {{1.0}}, {{0, 10, 0, 2}, {0, 50}, {10, 10, 0, 2}, {12, 3}, {12, 100}})) ==
        Log{"0 start 0@0", "0 start 1@0", "10 start 2@0", "12 stop 2", "12 start 3@0", "15 start 2@0", "30 start 4@0"});
}

TEST_CASE("reservation: on the type that favoured jobs are fastest on, by the square root rule",
          "[composition]") {
  // Type b is twice as fast, so a short job of 10 steps takes 5 s there. Four in bin 0 bring 20 GPU-seconds:
  // a load of 2, and 2 + sqrt(2) = 3.4 reserve 4 of the 5 GPUs of b. The long jobs take the fifth and those
  // of a; with safety=0 three of b.
  std::vector<test::TinyJob> jobs = {{0, 10}, {0, 10}, {0, 10}, {0, 10}};
  for (int i = 0; i < 5; ++i) jobs.push_back({11, 1000});
  const Scenario scenario = Tiny({{"a", 2}, {"b", 5}}, {{1.0, 2.0}}, jobs);
  const std::string rule = "reservation(short=10,bin=10,horizon=10,forecaster=last,most=1";
  const Log four = Decisions(rule + ")", scenario), three = Decisions(rule + ",safety=0)", scenario);
  CHECK(Log(four.begin() + 4, four.begin() + 7) == Log{"11 start 4@1", "11 start 5@0", "11 start 6@0"});
  CHECK(Log(three.begin() + 4, three.begin() + 9) ==
        Log{"11 start 4@1", "11 start 5@1", "11 start 6@1", "11 start 7@0", "11 start 8@0"});
}

TEST_CASE("reservation: bad parameters are one line", "[composition]") {
  CHECK_THROWS_WITH(test::Make("reservation(forecaster=holtwinters)"),
                    "reservation: parameter 'forecaster': unknown forecaster 'holtwinters' (did you mean "
                    "'holt_winters'?)");
  CHECK_THROWS_WITH(test::Make("reservation(inner=fcsf)"), Catch::Contains("did you mean 'fcfs'"));
  CHECK_THROWS_WITH(test::Make("reservation(most=2)"), Catch::Contains("most"));
  CHECK_THROWS_WITH(
      test::RunOf("reservation(inner=gandiva)", RandomScenario(5, 20, {ClockKind::kRounds, 60.0})),
      Catch::Contains("packs two on one"));
}

TEST_CASE("predicted: with every size seen it is srpt on the truth", "[composition]") {
  // Job types of one size each: 10, 40 and 90 steps. Once one of each has completed, predictions are exact.
  Stream stream(6, Purpose::kTest);
  std::vector<test::TinyJob> jobs = {{0, 10, 0}, {0, 40, 1}, {0, 90, 2}};
  double now = 1000.0;
  for (int i = 0; i < 60; ++i) {
    now += stream.Exponential(12.0);
    const int type = static_cast<int>(stream.Below(3));
    jobs.push_back({now, jobs[static_cast<std::size_t>(type)].steps, type});
  }
  const Scenario scenario = Tiny({{"a", 3}}, {{1.0}, {1.0}, {1.0}}, jobs);
  CHECK(Ends("predicted", scenario) == Ends("srpt", scenario));
  CHECK(Ends("predicted(inner=sjf)", scenario) == Ends("sjf", scenario));
  CHECK(Ends("las", scenario) != Ends("srpt", scenario));
}

TEST_CASE("predicted: the mean of the sizes seen above what a job has done", "[composition]") {
  // One GPU, one job type; 4 and 10 s have been seen when 2 (7 s) has run for 0 s: predicted 7. 3 comes 5 s
  // later: predicted 7 for it and E[S | S > 5] - 5 = 5 s for 2, which goes on; at 107 it ends.
  const Scenario scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 4}, {10, 10}, {100, 7}, {105, 4}});
  CHECK(Decisions("predicted", scenario) ==
        Log{"0 start 0@0", "10 start 1@0", "100 start 2@0", "107 start 3@0"});
  // Had it run for 11 s, more than any seen, it would be expected to need 11 more: 3 (7 s) goes first.
  CHECK(Decisions("predicted", Tiny({{"a", 1}}, {{1.0}}, {{0, 4}, {10, 10}, {100, 30}, {111, 4}})) ==
        Log{"0 start 0@0", "10 start 1@0", "100 start 2@0", "111 stop 2", "111 start 3@0", "115 start 2@0"});
}

TEST_CASE("predicted: what users requested is not told in place of predictions", "[composition]") {
  const std::vector<test::TinyJob> jobs = {{0, 10}, {0, 40}, {0, 90}, {5, 20}, {6, 70}, {7, 30}};
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, jobs);
  const Scenario without(data);
  data.jobs.requested_s = {600.0, 500.0, 400.0, 300.0, 200.0, 100.0};
  const Scenario with(data);
  CHECK(Ends("sjf", with) != Ends("sjf", without));
  CHECK(Ends("predicted(inner=sjf)", with) == Ends("predicted(inner=sjf)", without));
  CHECK(Ends("predicted(inner=easy)", with) == Ends("predicted(inner=easy)", without));
}

TEST_CASE("adaptive: UCB1 by its formula, and it settles on the better arm", "[composition]") {
  // Auer et al. 2002: each arm once; then mean + sqrt(2 ln n / n_i). Rewards 0.9 and 0.1 are constant: by
  // hand after 0, 1: 0.9 + sqrt(2 ln 2 / 1) > 0.1 + the same: 0. Then n = 3: 0.9 + sqrt(2 ln 3 / 2) = 1.948
  // against 0.1 + sqrt(2 ln 3) = 1.582: 0. n = 4: 0.9 + sqrt(2 ln 4 / 3) = 1.861, 0.1 + sqrt(2 ln 4) = 1.765:
  // 0. n = 5: 0.9 + sqrt(2 ln 5 / 4) = 1.797, 0.1 + sqrt(2 ln 5) = 1.894: 1.
  Ucb1 bandit(2);
  std::vector<int> chosen;
  for (int play = 0; play < 1000; ++play) {
    chosen.push_back(bandit.Choose());
    bandit.Reward(chosen.back(), chosen.back() == 0 ? 0.9 : 0.1);
  }
  CHECK(std::vector<int>(chosen.begin(), chosen.begin() + 6) == std::vector<int>{0, 1, 0, 0, 0, 1});
  // Theorem 1: the worse arm is played at most 8 ln n / gap^2 + 1 + pi^2 / 3 times in expectation.
  CHECK(bandit.plays(1) <= 8.0 * std::log(1000.0) / 0.64 + 1.0 + 3.29);
  // Overloaded, shortest first beats longest wait by far; the mixture ends between them, nearer the better.
  std::vector<test::TinyJob> jobs;
  Stream stream(7, Purpose::kTest);
  double now = 0.0;
  for (int i = 0; i < 1500; ++i) {
    now += stream.Exponential(1.0);
    jobs.push_back({now, stream.Below(5) == 0 ? 8.0 : 0.3});
  }
  const Scenario scenario = Tiny({{"a", 2}}, {{1.0}}, jobs);
  const auto mean = [&](const char* spec) {
    return Run(scenario, *test::Make(spec), spec, {}).metrics.mean_jct_s;
  };
  const double bad = mean("fcfs"), good = mean("srpt"), mixed = mean("adaptive(arms=fcfs|srpt,epoch=20)");
  CAPTURE(bad, good, mixed);
  CHECK(good < 0.5 * bad);
  CHECK(mixed < 0.5 * (bad + good));
  CHECK_THROWS_WITH(test::Make("adaptive(arms=)"), Catch::Contains("arms"));
}

}  // namespace berth
