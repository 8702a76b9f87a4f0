// The search of a policy's weights: what it touches, that it repeats, and that it finds what is there.
#include "tools/tune/policy_search.hpp"

#include <cmath>

#include "data/gpu_types.hpp"
#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/encoder.hpp"
#include "policies/bundle.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/results.hpp"
#include "tools/tune/tuning.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

constexpr const char* kNetwork = "pair_scorer(width=4,layers=1)";

PolicyBundle Start(std::uint64_t seed) {
  const ObservationLayout layout = ObservationV1::Layout(8, 2);
  PolicyBundle bundle = test::RandomBundle(kNetwork, layout, 8 * 2 + 1, seed);
  bundle.mdp.visible = 8;
  bundle.gpu_types = {"v100", "k80"};
  return bundle;
}

ScenarioSettings TwoTypes() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2,k80=2");
  settings.clock = {ClockKind::kRounds, 360.0};
  return settings;
}

PolicySearch Small(std::uint64_t seed) {
  PolicySearch search;
  search.start = Start(seed);
  search.reference = "srpt";
  search.source = MakeWorkload("synthetic(rate=0.35)", TwoTypes());
  search.workloads = 4;
  search.jobs = 60;
  search.window = {10, 50};
  search.population = 12;
  search.generations = 2;
  search.seed = 3;
  return search;
}

// `value` of twelve runs on workloads that no search draws, added up.
template <typename Value>
double SumOverUnseen(const PolicySearch& search, const PolicyBundle& bundle, const Window& window,
                     Value value) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const Scenario scenario = search.source->Make(99, Split::kEvaluate, 0, i, search.jobs);
    const auto scheduler = MakePolicyScheduler(bundle, "policy", /*sample=*/false);
    RunOptions options;
    options.window = window;
    sum += value(Run(scenario, *scheduler, "policy", options).metrics);
  }
  return sum;
}

std::vector<float> Flat(const PolicyBundle& bundle) {
  std::vector<float> all;
  for (const NamedArray& array : bundle.arrays)
    all.insert(all.end(), array.values.begin(), array.values.end());
  return all;
}

}  // namespace

TEST_CASE("policy search: weights that decide nothing are left as they are") {
  PolicyBundle bundle = Start(1);
  const std::vector<double> scales = WeightScales(bundle);
  REQUIRE(scales.size() == bundle.arrays.size());
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const std::string& name = bundle.arrays[i].name;
    INFO(name);
    // The bias of the scores shifts all pairs alike, which only `done` could tell; the process is
    // work-conserving, so `done` waits for everybody.
    const bool value = name.rfind("value", 0) == 0, done = name.rfind("done", 0) == 0;
    CHECK((scales[i] > 0.0) == !(value || done));
  }
  const std::vector<double> score_alone = WeightScales(bundle, {"score"});
  for (std::size_t i = 0; i < scales.size(); ++i) {
    CHECK((score_alone[i] > 0.0) == (bundle.arrays[i].name.rfind("score", 0) == 0));
  }
  bundle.mdp.work_conserving = false;
  const std::vector<double> with_done = WeightScales(bundle);
  for (std::size_t i = 0; i < scales.size(); ++i) {
    CHECK((with_done[i] > 0.0) == (bundle.arrays[i].name.rfind("value", 0) != 0));
  }
}

TEST_CASE("policy search: the same answer on any number of threads, and a bundle that proves itself") {
  PolicySearch search = Small(2);
  const SearchedPolicy one = SearchPolicy(search);
  search.threads = 3;
  const SearchedPolicy three = SearchPolicy(search);
  CHECK(one.generations == 2);
  CHECK(Flat(one.bundle) == Flat(three.bundle));
  CHECK(Flat(one.bundle) != Flat(search.start));
  CHECK(one.bundle.Array("value.weight").values == search.start.Array("value.weight").values);
  CHECK(ReplayExamples(one.bundle) == 0.0);
  CHECK_THAT(one.bundle.provenance.agent,
             Catch::Contains("then evolution(") && Catch::Contains("generations=2"));
  search.seed = 4;
  CHECK(Flat(SearchPolicy(search).bundle) != Flat(one.bundle));
}

// Random weights know nothing; twenty generations must tell good ones from bad on workloads they never saw.
TEST_CASE("policy search: a random policy becomes a better one on unseen workloads") {
  PolicySearch search = Small(5);
  search.generations = 20;
  search.learning_rate = 0.1;
  const SearchedPolicy found = SearchPolicy(search);
  const auto mean = [&](const PolicyBundle& bundle) {
    return SumOverUnseen(search, bundle, search.window,
                         [](const Metrics& metrics) { return std::log(metrics.mean_jct_s); }) /
           12.0;
  };
  CHECK(mean(found.bundle) < mean(search.start) - 0.02);
}

// V100s cost more than five times what K80s do, and no job is that much faster there.
TEST_CASE("policy search: another reward is what gets less") {
  PolicySearch search = Small(5);
  search.source = MakeWorkload("synthetic(rate=0.15)", TwoTypes());
  search.generations = 12;
  search.learning_rate = 0.1;
  search.reward = "cost";
  const SearchedPolicy found = SearchPolicy(search);
  const auto cost = [&](const PolicyBundle& bundle) {
    return SumOverUnseen(search, bundle, {}, [](const Metrics& metrics) { return metrics.cost; });
  };
  CHECK(cost(found.bundle) < 0.98 * cost(search.start));
  CHECK(found.bundle.mdp.reward == "cost");
  CHECK_THAT(found.bundle.provenance.agent, Catch::Contains("reward=cost"));
}

TEST_CASE("policy search: pieces of a log, and never of the jobs that are kept back") {
  const Scenario log = MakeWorkload("synthetic(rate=0.35)", TwoTypes())->Make(7, Split::kTrain, 0, 0, 150);
  PolicySearch search = Small(2);
  search.source = FixedSource(log, "a log");
  search.pieces = {0, 100};
  const std::vector<float> found = Flat(SearchPolicy(search).bundle);
  CHECK(found != Flat(search.start));
  search.source = FixedSource(Slice(log, 0, 100), "its first 100 jobs");
  CHECK(found == Flat(SearchPolicy(search).bundle));
  search.pieces = {0, 70};
  CHECK(found != Flat(SearchPolicy(search).bundle));
}

TEST_CASE("tune --policy: one line for what cannot be") {
  const test::TemporaryFolder folder;
  const std::string policy = folder / "p.h5", out = folder / "q.h5";
  SaveBundle(Start(1), policy);
  using Arguments = std::vector<std::string>;
  const auto with = [&](const Arguments& more) {
    Arguments all{"--policy", policy, "--cluster", "v100=2,k80=2", "--generations", "1", "--seconds", "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK_THROWS_WITH(RunTune(with({})), Catch::Contains("--out"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--scheduler", "tuned"})),
                    Catch::Contains("--policy") && Catch::Contains("--scheduler"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--population", "5"})),
                    Catch::Contains("--population") && Catch::Contains("even"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--layers", "scor"})),
                    Catch::Contains("'scor'") && Catch::Contains("score"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--reward", "jct+csot"})),
                    Catch::Contains("--reward") && Catch::Contains("did you mean 'cost'"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--reward", "utilization"})),
                    Catch::Contains("--reward") && Catch::Contains("less is better"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--pieces", "0:9"})),
                    Catch::Contains("--pieces") && Catch::Contains("--scenario"));
  const std::string log = folder / "log.h5";
  WriteScenario(MakeWorkload("synthetic", TwoTypes())->Make(7, Split::kTrain, 0, 0, 50), log);
  const auto on_log = [&](const Arguments& more) {
    Arguments all{"--policy", policy, "--scenario", log, "--out", out, "--window", "0:20", "--jobs", "40"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK_THROWS_WITH(RunTune(on_log({"--pieces", "20:60"})),
                    Catch::Contains("--pieces") && Catch::Contains("50 jobs"));
  CHECK_THROWS_WITH(RunTune(on_log({"--pieces", "20:50"})),
                    Catch::Contains("--jobs") && Catch::Contains("at most the 30"));
  CHECK_THROWS_AS(RunTune({"--policy", folder / "none.h5", "--out", out}), Error);
}

}  // namespace berth
