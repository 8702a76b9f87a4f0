// Semantics `commit` of the decision process: driven by a rule's choices it gives what the rule's scheduler
// gives, with and without the published backfill, so a learned policy stands on the same sequences as the
// published ones.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

SchedEnvOptions Commit(int visible, int jobs, bool backfill) {
  SchedEnvOptions options;
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  options.mdp.commit_backfill = backfill;
  options.mdp.visible = visible;
  options.episode_jobs = jobs;
  options.warmup_jobs = 0;
  return options;
}

// Plays the waiting job of least score, the first on ties, to the end of the episode.
void Play(SchedEnv& env, const std::function<double(const JobTable&, std::size_t)>& score) {
  env.Begin(0);
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const JobTable& jobs = env.simulator().scenario().data().jobs;
    const std::span<const int> waiting = env.simulator().state().waiting;
    REQUIRE(waiting.size() <=
            static_cast<std::size_t>(env.layout().q));  // all are visible, in order of arrival
    std::size_t best = 0;
    for (std::size_t k = 0; k < waiting.size(); ++k) {
      REQUIRE(env.mask()[k] == 1);  // the mask does not ask for room
      const auto at = [&](std::size_t i) { return score(jobs, static_cast<std::size_t>(waiting[i])); };
      if (at(k) < at(best)) best = k;
    }
    outcome = env.Step(static_cast<int>(best));
    REQUIRE_FALSE(outcome.truncated);
  }
}

double Sjf(const JobTable& jobs, std::size_t j) {
  return jobs.requested_s[j];
}
double Saf(const JobTable& jobs, std::size_t j) {
  return jobs.requested_s[j] * jobs.gang[j];
}
struct Choice {
  const char* name;
  double (*score)(const JobTable& jobs, std::size_t j);
};

}  // namespace

TEST_CASE("commit: the process driven by a rule's choices is the rule's scheduler, on a published sequence",
          "[hpc][mdp]") {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/traces/rlscheduler-lublin/";
  if (!std::filesystem::exists(folder)) return test::Skip("needs RLScheduler's Lublin logs (not shipped)");
  const Scenario log = FindFormat("swf").read(folder + "lublin_256.swf.gz", {});
  const Scenario scenario = Sequence(log, 1981, 1024, {ClockKind::kHpc});
  for (const bool backfill : {false, true}) {
    for (const auto& [name, score] : {Choice{"sjf", Sjf}, Choice{"saf", Saf}}) {
      const std::string spec = Join(name, "(semantics=commit,backfill=", backfill ? "easy)" : "none)");
      CAPTURE(spec);
      const RunResult expected = test::RunOf(spec, scenario);
      SchedEnv env(FixedSource(scenario, "a sequence"), Commit(1024, 1024, backfill), 0);
      Play(env, score);
      CHECK(env.simulator().signature() == expected.signature);  // every event of both, not only the mean
      const Metrics found = Measure(env.simulator(), {});
      CHECK(found.hpc_bounded_slowdown == expected.metrics.hpc_bounded_slowdown);
      CHECK(found.hpc_utilization == expected.metrics.hpc_utilization);
      if (!backfill && name == std::string("sjf"))
        CHECK(found.hpc_bounded_slowdown ==
              Approx(204.2584534312532).epsilon(1e-13));  // of RLScheduler's code, first sequence
    }
  }
}

TEST_CASE("commit: the backfill starts others while the chosen job waits", "[mdp]") {
  // Two GPUs. Job 0 holds one until 100; job 1 needs both and is chosen at 10 (alone in the queue), so its
  // shadow is 100. Job 2 (30 s) arrives at 20 and may pass; job 3 (60 s) arrives at 60, would end at 120 and
  // may not.
  const Scenario scenario =
      test::Tiny({{"a", 2}}, {{1.0}}, {{0, 100, 0, 1}, {10, 50, 0, 2}, {20, 30, 0, 1}, {60, 60, 0, 1}},
                 {ClockKind::kHpc});
  for (const bool backfill : {false, true}) {
    SchedEnv env(FixedSource(scenario, "tiny"), Commit(4, 4, backfill), 0);
    Play(env, [](const JobTable&, std::size_t j) { return static_cast<double>(j); });
    const std::vector<double> with = {0, 100, 20, 150}, without = {0, 100, 150, 150};
    CHECK(env.simulator().state().first_start == (backfill ? with : without));
  }
}

TEST_CASE("commit: a frozen policy has the backfill that it was trained with", "[mdp]") {
  // No weights, biases that fall: the policy takes the first of the queue, so it is fcfs.
  constexpr int kVisible = 64;
  PolicyBundle bundle =
      test::RandomBundle("mlp(hidden=1,activation=relu)", ObservationV1::Layout(kVisible, 1), kVisible, 1);
  for (NamedArray& array : bundle.arrays) std::fill(array.values.begin(), array.values.end(), 0.0F);
  for (int i = 0; i < kVisible; ++i)
    bundle.arrays[3].values[static_cast<std::size_t>(i)] = static_cast<float>(-i);
  bundle.gpu_types = {"a"};
  bundle.mdp.visible = kVisible;
  const auto network = Freeze(bundle);  // the examples answer for what the policy is now
  const auto size = static_cast<std::size_t>(bundle.layout.size());
  for (std::size_t i = 0; i < bundle.examples.value.size(); ++i) {
    bundle.examples.value[i] = network->Evaluate(
        std::span<const float>(bundle.examples.observation).subspan(i * size, size), bundle.layout,
        std::span<float>(bundle.examples.scores).subspan(i * kVisible, kVisible));
  }
  Stream stream(5, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 60; ++i) {
    now += static_cast<double>(stream.Below(30));
    jobs.push_back({now, 10.0 + stream.Below(90), 0, 1 << stream.Below(3)});
  }
  const Scenario scenario = test::Tiny({{"a", 5}}, {{1.0}}, jobs, {ClockKind::kHpc});
  std::uint64_t last = 0;
  for (const bool backfill : {false, true}) {
    bundle.mdp.commit_backfill = backfill;
    const test::TemporaryFolder folder;
    SaveBundle(bundle, folder / "p.h5");
    const PolicyBundle loaded = LoadBundle(folder / "p.h5");
    CHECK(loaded.mdp.commit_backfill == backfill);
    const std::string spec = Join("fcfs(semantics=commit,backfill=", backfill ? "easy)" : "none)");
    const std::uint64_t expected = test::RunOf(spec, scenario).signature;
    CHECK(Run(scenario, *MakePolicyScheduler(loaded, "test", false), "policy", {}).signature == expected);
    SchedEnvOptions options;
    options.mdp = loaded.mdp;
    options.episode_jobs = 60;
    options.warmup_jobs = 0;
    SchedEnv env(FixedSource(scenario, "tiny"), options, 0);
    Play(env, [](const JobTable&, std::size_t j) { return static_cast<double>(j); });
    CHECK(env.simulator().signature() == expected);
    CHECK(expected != last);  // the backfill matters here
    last = expected;
  }
}

TEST_CASE("commit: a generated episode is cut when its jobs have arrived, as under redecide", "[mdp]") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2");
  settings.clock = {ClockKind::kHpc};
  SchedEnv env(MakeWorkload("toy", settings), Commit(64, 20, false), 0);
  env.Begin(0);
  SchedEnv::Outcome outcome;
  for (int step = 0; step < 100 && !outcome.truncated && !outcome.terminated; ++step) outcome = env.Step(0);
  CHECK(outcome.truncated);
  CHECK_FALSE(outcome.terminated);
  CHECK(env.simulator().arrived_jobs() == 20);
}

TEST_CASE("commit: where the chosen job blocks the cut waits until it has started", "[mdp]") {
  // One GPU, jobs of 100 s a second apart, pieces of three. The second one waits from 1 s to 100 s, the third comes at 2 s.
  const auto source = FixedSource(
      test::Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {1, 100}, {2, 100}, {3, 100}}, {ClockKind::kHpc}), "tiny");
  SchedEnv env(source, Commit(64, 3, false), 0);
  env.Begin(0);
  CHECK_FALSE(env.Step(0).truncated);
  const double before = env.simulator().now();
  CHECK(env.Step(0).truncated);
  CHECK(env.simulator().now() == before + 99.0);
}

TEST_CASE("commit: the backfill needs commit semantics and estimates", "[mdp]") {
  const auto source = FixedSource(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 10}}), "tiny");
  SchedEnvOptions options = Commit(4, 1, true);
  options.mdp.knowledge = Knowledge::kBlind;
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("commit_backfill"));
  options.mdp.knowledge = Knowledge::kOracle;
  options.mdp.semantics = Semantics::kRedecide;
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("commit_backfill"));
}

}  // namespace berth
