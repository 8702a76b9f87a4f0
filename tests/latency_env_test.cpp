// The decision process where decisions take effect late: rewards by hand, against a scheduler that decides
// the same, and over random scenarios.
#include <numeric>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/latency/latency.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/invariants.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::With;

SchedEnvOptions Options(int jobs) {
  SchedEnvOptions options;
  options.mdp.visible = 32;
  options.warmup_jobs = 0;
  options.episode_jobs = jobs;
  return options;
}

int FirstLegal(const SchedEnv& env) {
  const auto legal = std::find(env.mask().begin(), env.mask().end(), 1);
  REQUIRE(legal != env.mask().end());
  return static_cast<int>(legal - env.mask().begin());
}

// Fills an empty plan in order of arrival, each job on the first type with room: what FirstLegal does.
class FirstFit : public Scheduler {
 public:
  explicit FirstFit(const MdpSpec& mdp) : point_(mdp) {}
  Knowledge knowledge() const override { return Knowledge::kOracle; }
  void Decide(const ClusterView& view, Decision& decision) override {
    if (point_.PassesOver(view)) return;
    const bool preemptive = point_.mdp().preemptive;
    plan_.Begin(view, preemptive);
    for (int job : preemptive ? view.active() : view.waiting()) {
      for (int type = 0; type < view.num_types(); ++type) {
        if (!plan_.Fits(view, job, type)) continue;
        plan_.Put(view, job, type);
        break;
      }
    }
    plan_.Emit(view, decision);
  }

 private:
  DecisionPoint point_;
  Plan plan_;
};

Scenario Random(std::uint32_t seed, const std::string& features, const std::string& clock) {
  Stream draw(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 25; ++i) {
    jobs.push_back({now, 100.0 + 3000.0 * draw.Uniform(), static_cast<int>(draw.Below(2)),
                    1 << static_cast<int>(draw.Below(3))});
    now += 400.0 * draw.Uniform();
  }
  ScenarioData data = test::TinyData({{"v100", 4}, {"k80", 4}}, {{1.0, 0.5}, {2.0, 1.5}}, jobs);
  data.seed = seed;
  return With(std::move(data), features, clock);
}

}  // namespace

// One GPU, 10 s of latency. At 0 A (20 s) is chosen: it runs 10-30. B (comes at 5, 20 s): the process is not
// asked before 10, when there is no room; at 30 B is chosen and runs 40-60. C (100, 5 s): chosen at 100, runs
// 110-115. In the system: A 0-30, B 5-60, C 100-115. So the first step costs 30 + 25, the second (30-100) 30,
// the third 15; their sum is that of the JCTs, 30 + 55 + 15.
TEST_CASE("late decisions: what a step costs and how long it takes, by hand", "[mdp]") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}, {100, 5}});
  SchedEnvOptions options = Options(3);
  options.mdp.preemptive = false;
  options.mdp.tau_s = 100.0;
  SchedEnv env(FixedSource(With(data, "latency(seconds=10)"), "by hand"), options, 0);
  env.Begin(0);
  const SchedEnv::Outcome first = env.Step(0);
  CHECK(env.simulator().now() == 30.0);
  CHECK(first.reward == Approx(-55.0).epsilon(1e-12));
  CHECK(first.discount == Approx(std::exp(-0.3)).epsilon(1e-12));
  const SchedEnv::Outcome second = env.Step(0);
  CHECK(env.simulator().now() == 100.0);
  CHECK(second.reward == Approx(-30.0).epsilon(1e-12));
  const SchedEnv::Outcome third = env.Step(0);
  CHECK(third.terminated);
  CHECK(third.reward == Approx(-15.0).epsilon(1e-12));
  CHECK(env.MeanJct() == Approx(100.0 / 3.0).epsilon(1e-12));
}

// Two GPUs; two jobs are started at 0 for 10; at 5 a GPU fails: one start is dropped, and that job is offered
// again at 10.
TEST_CASE("late decisions: what events overtake is dropped, counted and offered again", "[mdp]") {
  const ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 20}, {0, 20}});
  SchedEnvOptions options = Options(2);
  options.mdp.preemptive = false;
  SchedEnv env(
      FixedSource(With(data, "latency(seconds=10);failures(mtbf_h=0,events=5:25:gpu:v100/0)"), "by hand"),
      options, 0);
  env.Begin(0);
  env.Step(0);
  env.Step(1);  // the plan is full: it is decided
  CHECK(env.simulator().state().features.Find<LatencyState>()->dropped == 1);
  CHECK(env.simulator().now() == 25.0);  // no room before the repair
  CHECK(env.simulator().state().waiting.size() == 1);
  CHECK(env.Step(0).terminated);
  CHECK(env.simulator().state().completion == std::vector<double>{30, 55});
}

TEST_CASE("late decisions: none is the process without the feature, bit for bit", "[mdp]") {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    for (const char* clock : {"event", "rounds(120)"}) {
      SchedEnv plain(FixedSource(Random(seed, "", clock), "plain"), Options(25), 0);
      SchedEnv none(FixedSource(Random(seed, "latency", clock), "none"), Options(25), 0);
      plain.Begin(0), none.Begin(0);
      Stream random(seed, Purpose::kTest, Split::kEvaluate);
      for (SchedEnv::Outcome outcome; !outcome.terminated;) {
        REQUIRE(std::equal(plain.mask().begin(), plain.mask().end(), none.mask().begin(), none.mask().end()));
        REQUIRE(std::equal(plain.observation().begin(), plain.observation().end(), none.observation().begin(),
                           none.observation().end()));
        int action = FirstLegal(plain);
        for (int a = action + 1; a < plain.num_actions(); ++a) {
          if (plain.mask()[U(a)] != 0 && random.Below(3) == 0) action = a;
        }
        outcome = plain.Step(action);
        REQUIRE(none.Step(action).reward == outcome.reward);
      }
      CHECK(plain.simulator().signature() == none.simulator().signature());
    }
  }
}

// Whatever the latency and the cadence: the process and a scheduler that decides the same are one run, the
// undiscounted return is minus the sum of the JCTs, no invariant breaks.
TEST_CASE("late decisions: a run is that of a scheduler, and rewards add up to the JCTs", "[mdp]") {
  std::int64_t dropped = 0;
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    Stream draw(seed, Purpose::kTest, Split::kEvaluate);
    for (const char* cadence : {"events", "periodic", "both"}) {
      for (const char* clock : {"event", "rounds(120)"}) {
        const std::string features =
            Join("latency(seconds=", draw.Below(700), ",cadence=", cadence,
                 ",period_s=300);failures(mtbf_h=6,repair_h=0.3);checkpoints(interval=300,gb=20)");
        SchedEnvOptions options = Options(25);
        options.mdp.preemptive = seed % 2 == 0;
        const Scenario scenario = Random(seed, features, clock);
        CAPTURE(features, clock, seed);
        SchedEnv env(FixedSource(scenario, "random"), options, 0);
        env.Begin(0);
        for (SchedEnv::Outcome outcome; !outcome.terminated;) {
          outcome = env.Step(FirstLegal(env));
          REQUIRE(CheckInvariants(env.simulator()) == "");
          const double effect_at = env.simulator().state().features.Find<LatencyState>()->effect_at;
          REQUIRE((outcome.terminated || effect_at == kNever));  // the last one is in effect
        }
        const std::vector<double>& completion = env.simulator().state().completion;
        double total = 0.0;
        for (int job = 0; job < 25; ++job) total += completion[U(job)] - scenario.data().jobs.arrival[U(job)];
        CHECK(env.episode_return() == Approx(-total).epsilon(1e-9));
        dropped += env.simulator().state().features.Find<LatencyState>()->dropped;

        FirstFit same(options.mdp);
        Simulator sim(scenario);
        Decision decision;
        while (sim.AdvanceToDecision()) {
          decision.Clear();
          same.Decide(sim.View(Knowledge::kOracle), decision);
          REQUIRE(sim.Apply(decision).ok());
        }
        CHECK(sim.signature() == env.simulator().signature());
      }
    }
  }
  CHECK(dropped > 0);
}

TEST_CASE("late decisions: semantics commit says in one line that it wants none", "[mdp]") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}, {5, 20}});
  SchedEnvOptions options = Options(2);
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  const auto make = [&](const std::string& features) {
    SchedEnv(FixedSource(With(data, features), "commit"), options, 0);
  };
  CHECK_NOTHROW(make("latency(cadence=periodic,period_s=50)"));
  CHECK_THROWS_WITH(make("latency(seconds=1)"),
                    Catch::Contains("expected decisions that take effect at once"));
  // At whichever episode one comes.
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=1");
  SchedEnv mixed(MakeWorkload("mix(of=toy;on(cluster=v100=1,features=latency(seconds=1),of=toy))", settings),
                 options, 0);
  mixed.Begin(0);
  CHECK_THROWS_WITH(mixed.Begin(1), Catch::Contains("expected decisions that take effect at once"));
}

}  // namespace berth
