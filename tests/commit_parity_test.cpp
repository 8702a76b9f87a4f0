// Semantics `commit`: a frozen policy decides as the same network does in its environment, start by start.
#include "data/workloads.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

constexpr int kJobs = 80;

// Arrivals in bursts, so that many start at one decision point.
Scenario Bursts(int types, Clock clock) {
  Stream stream(12, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < kJobs; ++i) {
    now += i % 10 == 0 ? stream.Exponential(500.0) : 0.0;
    list.push_back({now, 20.0 + stream.Uniform(0.0, 150.0), static_cast<int>(stream.Below(2)),
                    1 << static_cast<int>(stream.Below(3))});
  }
  ScenarioData data = types == 1
                          ? test::TinyData({{"a", 7}}, {{1.0}, {2.0}}, list, clock)
                          : test::TinyData({{"a", 4}, {"b", 5}}, {{1.0, 3.0}, {2.0, 0.5}}, list, clock);
  for (const test::TinyJob& job : list) data.jobs.requested_s.push_back(job.steps * stream.Uniform(1.0, 3.0));
  return Scenario(std::move(data));
}

// What the network's best actions lead to in the environment.
std::uint64_t InEnvironment(const PolicyBundle& bundle, const Scenario& scenario) {
  SchedEnvOptions options;
  options.mdp = bundle.mdp;
  options.warmup_jobs = 0;
  options.episode_jobs = kJobs;
  SchedEnv env(FixedSource(scenario, "bursts"), options, 0);
  env.Begin(0);
  const auto network = Freeze(bundle);
  std::vector<float> scores(static_cast<std::size_t>(env.num_actions())),
      state(static_cast<std::size_t>(network->memory())), next(state.size());
  for (;;) {
    network->Evaluate(env.observation(), env.layout(), scores, state, next);
    std::size_t best = scores.size();
    for (std::size_t a = 0; a < scores.size(); ++a) {
      if (env.mask()[a] != 0 && (best == scores.size() || scores[a] > scores[best])) best = a;
    }
    const SchedEnv::Outcome outcome = env.Step(static_cast<int>(best));
    REQUIRE_FALSE(outcome.truncated);
    if (outcome.terminated) return env.simulator().signature();
    if (outcome.discount < 1.0) state = next;  // several start at one instant
  }
}

std::uint64_t AsScheduler(const PolicyBundle& bundle, const Scenario& scenario) {
  return Run(scenario, *MakePolicyScheduler(bundle, "test", false), "policy", {}).signature;
}

}  // namespace

TEST_CASE("commit: a frozen policy does what the same policy does in its environment", "[mdp]") {
  const Clock clock =
      GENERATE(Clock{ClockKind::kHpc}, Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0});
  const bool backfill = GENERATE(false, true);
  const std::uint64_t seed = GENERATE(1, 2, 3);
  CAPTURE(clock.ToString(), backfill, seed);
  struct Case {
    const char* network;
    const char* encoder;
    int types, visible;
  };
  for (const Case& c :
       {Case{"pair_scorer(width=8)", kObservationV1, 2, kJobs},
        Case{"pair_scorer(width=8,memory=4)", kObservationV1, 2, kJobs},
        Case{"pair_scorer(width=8)", "Batch", 2, kJobs},  // asks who was started at this instant
        Case{"pair_scorer(width=8)", "Lookahead(samples=2,future=4)", 2, kJobs},  // likewise
        Case{"mlp(hidden=16)", "RLScheduler(longest_run_s=300)", 1, 12}}) {
    CAPTURE(c.encoder);
    const Scenario scenario = Bursts(c.types, clock);
    PolicyBundle bundle = test::RandomBundle(c.network, EncoderOf(c.encoder).Layout(c.visible, c.types),
                                             c.types * c.visible, seed);
    bundle.mdp.encoder = ResolveEncoder(c.encoder);
    bundle.mdp.commit_backfill = backfill;
    bundle.mdp.visible = c.visible;
    bundle.gpu_types = {"a", "b"};
    bundle.gpu_types.resize(static_cast<std::size_t>(c.types));
    CHECK(AsScheduler(bundle, scenario) == InEnvironment(bundle, scenario));
  }
}

TEST_CASE("a bundle keeps the encoder it was trained with, and pair_scorer refuses one without pairs",
          "[mdp]") {
  CHECK_THROWS_WITH(LayersOf("pair_scorer", EncoderOf("RLScheduler").Layout(12, 1), 12),
                    Catch::Contains("pair_scorer") && Catch::Contains("ObservationV1"));
  CHECK(ResolveEncoder("RLScheduler") == "RLScheduler(longest_run_s=124707)");
  CHECK(ResolveEncoder("ObservationV1") == "ObservationV1");
}

}  // namespace berth
