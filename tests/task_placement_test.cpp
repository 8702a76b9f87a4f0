// The environment of the textbooks: by hand, against metrics worked out from the completions, and as others
// name it.
#include "env/gym/task_placement.hpp"

#include <algorithm>
#include <cmath>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tools/python/vector_environment.hpp"

namespace berth {
namespace {

using test::TinyJob;

// Types a (2 GPUs) and b (1): job type 0 runs at 2 and 1 steps/s, job type 1 on a alone, at 1.
std::shared_ptr<const ScenarioSource> Source(const std::vector<TinyJob>& jobs) {
  return FixedSource(test::Tiny({{"a", 2}, {"b", 1}}, {{2.0, 1.0}, {1.0, 0.0}}, jobs), "tiny");
}

std::vector<float> Seen(const TaskPlacement& env) {
  return {env.observation().begin(), env.observation().end()};
}
std::vector<int> Legal(const TaskPlacement& env) {
  return {env.mask().begin(), env.mask().end()};
}

}  // namespace

TEST_CASE("task placement: tasks go where the action says, by hand") {
  // Job 0 (100 steps), job 1 (gang of 2, type 1, 30 steps) and job 2 (10 steps) arrive at 0, job 3 (10 steps)
  // at 70.
  TaskPlacementOptions options;
  options.tau_s = 100.0;
  TaskPlacement env(Source({{0, 100}, {0, 30, 1, 2}, {0, 10}, {70, 10}}), options, 0);
  env.Begin(0);
  CHECK(Seen(env) == std::vector<float>{3, 0, 0, 0});
  CHECK(Legal(env) == std::vector<int>{1, 1, 1});
  // Job 0 on the second a: it runs for 50 s. The gang needs both a's, nobody passes it: 50 s later it may
  // start.
  auto outcome = env.Step(1);
  CHECK(env.simulator().now() == 50.0);
  CHECK(Seen(env) == std::vector<float>{2, 0, 0, 0});
  CHECK(Legal(env) == std::vector<int>{1, 1, 0});
  CHECK(outcome.reward == 0.0);  // nobody runs now
  CHECK(outcome.discount == Approx(std::exp(-0.5)));
  // The gang takes both a's until 80; job 2 can go to b at once.
  outcome = env.Step(1);
  CHECK(env.simulator().now() == 50.0);
  CHECK(Seen(env) == std::vector<float>{1, 1, 1, 0});
  CHECK(Legal(env) == std::vector<int>{0, 0, 1});
  CHECK(outcome.reward == Approx(-2.0 / 3.0));
  CHECK(outcome.discount == 1.0);
  // Job 2 holds b until 60, job 3 comes at 70 and b is idle.
  outcome = env.Step(2);
  CHECK(env.simulator().now() == 70.0);
  CHECK(Seen(env) == std::vector<float>{1, 1, 1, 0});
  CHECK_FALSE(outcome.terminated);
  // Job 3 on b: 10 s, the end is at 80.
  outcome = env.Step(2);
  CHECK(outcome.terminated);
  CHECK_FALSE(outcome.truncated);
  CHECK(env.simulator().now() == 80.0);
  CHECK(Seen(env) == std::vector<float>{0, 0, 0, 0});
  CHECK(env.episode_return() == Approx(-4.0 / 3.0));
  CHECK(env.MeanJct() == Approx((50.0 + 80.0 + 60.0 + 10.0) / 4.0));
}

TEST_CASE("task placement: the return of a named reward is minus the metric") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8,k80=8");
  settings.clock = {ClockKind::kEvent};
  const Scenario scenario =
      MakeWorkload("synthetic(rate=4,jobs=30,gangs=multi)", settings)->Make(1, Split::kTrain, 0, 0);
  TaskPlacementOptions options;
  options.reward = "jct";
  TaskPlacement env(FixedSource(scenario, "thirty jobs"), options, 0);
  env.Begin(0);
  Stream stream(3, Purpose::kTest);
  const double before = env.simulator().JobSeconds();
  double sum = 0.0;
  for (TaskPlacement::Outcome outcome; !outcome.terminated;) {
    auto action = static_cast<int>(stream.Below(static_cast<std::uint32_t>(env.num_actions())));
    while (env.mask()[static_cast<std::size_t>(action)] == 0) action = (action + 1) % env.num_actions();
    outcome = env.Step(action);
    REQUIRE_FALSE(outcome.truncated);
    REQUIRE(CheckInvariants(env.simulator()) == "");
    sum += outcome.reward;
  }
  double total = 0.0;
  for (double jct : CompletionTimes(env.simulator(), {})) total += jct;
  CHECK(before - sum == Approx(total));
  CHECK(env.history().size() == 30);  // a task, a decision
}

TEST_CASE(
    "task placement: a generated episode is cut when its tasks have arrived, and features are refused") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2,k80=3");
  const auto source = MakeWorkload("synthetic(rate=4,jobs=30)", settings);
  TaskPlacementOptions options;
  options.episode_jobs = 12;
  const auto env = MakeTaskPlacement(source, options, 3, 2);
  StepStorage storage(3, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  std::vector<int> cut(3, 0);
  for (int step = 0; step < 60; ++step) {
    std::vector<std::int32_t> actions;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto row = storage.action_mask.begin() + static_cast<std::ptrdiff_t>(5 * i);
      actions.push_back(static_cast<std::int32_t>(std::find(row, row + 5, 1) - row));
      REQUIRE(actions.back() < 5);
    }
    env->Step(actions, storage.buffers());
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(storage.terminated[i] == 0);
      cut[i] += storage.truncated[i];
    }
  }
  for (int times : cut) CHECK(times >= 4);  // at most 12 decisions an episode
  settings.features = ParseFeatures("failures(mtbf_h=50)");
  CHECK_THROWS_WITH(MakeTaskPlacement(MakeWorkload("synthetic(jobs=5)", settings), options, 1, 1),
                    Catch::Contains("features") && Catch::Contains("failures"));
}

// A mix may change clusters from one episode, or environment, to the next.
TEST_CASE("task placement: every episode has as many GPUs as the first one's, and no features") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2");
  TaskPlacementOptions options;
  options.episode_jobs = 5;
  for (const char* clusters : {"v100=2,of=toy);on(cluster=v100=400", "v100=8,of=toy);on(cluster=v100=2"}) {
    CAPTURE(clusters);
    const auto source = MakeWorkload(Join("mix(of=on(cluster=", clusters, ",of=toy))"), settings);
    TaskPlacement alone(source, options, 0);
    alone.Begin(0);
    CHECK_THROWS_WITH(alone.Begin(1), Catch::Contains(Join("first one's ", alone.num_actions(), ",")) &&
                                          Catch::Contains("in episode 1 of environment 0 of mix("));
    const auto several = MakeTaskPlacement(source, options, 3, 2);
    StepStorage storage(3, several->layout().size(), several->num_actions());
    CHECK_THROWS_WITH(several->Reset(storage.buffers()), Catch::Contains("in episode 0 of environment 1"));
  }
  const auto alike =
      MakeWorkload("mix(of=on(cluster=v100=2+k80=1,of=toy);on(cluster=v100=1+k80=2,of=toy))", settings);
  TaskPlacement placed(alike, options, 0);
  placed.Begin(0);
  CHECK_NOTHROW(placed.Begin(1));
  TaskPlacement plain(
      MakeWorkload("mix(of=toy;on(cluster=v100=2,features=failures(mtbf_h=50),of=toy))", settings), options,
      0);
  plain.Begin(0);
  CHECK_THROWS_WITH(plain.Begin(1), Catch::Contains("without features") && Catch::Contains("failures"));
}

TEST_CASE("environments by name: every one plays, repeats and is named in what is wrong") {
  for (const NamedEnvironmentInfo& info : NamedEnvironments()) {
    DYNAMIC_SECTION(info.name) {
      const std::map<std::string, std::string> keywords = {
          {"cluster", "v100=2,k80=2"}, {"workload", "synthetic(rate=2,jobs=30)"}, {"episode_jobs", "10"}};
      VectorEnvironment env(info.name, keywords, 4, 1, "next_legal");
      CHECK_THROWS_WITH(env.Step(std::vector<std::int64_t>(4)), Catch::Contains("reset"));
      env.Reset({});
      const std::vector<float> first = env.storage(env.turn()).observation;
      REQUIRE(env.named().low.size() == static_cast<std::size_t>(env.layout().size()));
      REQUIRE(env.named().high.size() == env.named().low.size());
      bool ended = false;
      Stream stream(1, Purpose::kTest);
      for (int step = 0; step < 300; ++step) {
        std::vector<std::int64_t> actions;
        for (int i = 0; i < 4; ++i)
          actions.push_back(stream.Below(static_cast<std::uint32_t>(env.num_actions())));
        ended = env.Step(actions) || ended;
      }
      CHECK(ended);
      env.Reset(0);
      CHECK(env.storage(env.turn()).observation == first);
      // When the clock stands after five actions says which workload it is.
      const auto clock = [&](std::optional<std::uint64_t> seed) {
        env.Reset(seed);
        for (int step = 0; step < 5; ++step) env.Step(std::vector<std::int64_t>(4));
        return std::vector<double>{env.now(0), env.now(1), env.now(2), env.now(3)};
      };
      const std::vector<double> first_episode = clock(0);
      CHECK(clock({}) != first_episode);
      CHECK(clock(0) == first_episode);
      CHECK(clock(1) != first_episode);
      CHECK_THROWS_WITH(env.Step(std::vector<std::int64_t>(4, env.num_actions())),
                        Catch::Contains("actions"));
      CHECK_THROWS_WITH(VectorEnvironment(info.name, {{"workloda", "x"}}, 4, 1, "error"),
                        Catch::Contains("'workloda' (did you mean 'workload'?)"));
      CHECK_THROWS_WITH(VectorEnvironment(info.name, {{"episode_jobs", "0"}}, 4, 1, "error"),
                        Catch::StartsWith("episode_jobs: expected"));
      CHECK_THROWS_WITH(VectorEnvironment(info.name, {}, 4, 1, "eror"),
                        Catch::Contains("did you mean 'error'"));
    }
  }
  CHECK_THROWS_WITH(ResolveEnvironment("HeteroCluster", {}),
                    Catch::Contains("did you mean 'HeteroCluster-v0'"));
}

}  // namespace berth
