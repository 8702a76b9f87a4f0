// The search of a policy's weights: what it touches, that it repeats, and that it finds what is there.
#include <cmath>

#include "data/gpu_types.hpp"
#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/encoder.hpp"
#include "policies/bundle.hpp"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/search_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/results.hpp"
#include "tools/tune/policy_weights.hpp"
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

struct Small {
  PolicyBundle start;
  TrialSettings on;
  int generations = 2;
  double learning_rate = 0.05;
  std::string reward = "jct";

  explicit Small(std::uint64_t seed) : start(Start(seed)) {
    on.reference = "srpt";
    on.source = MakeWorkload("synthetic(rate=0.35)", TwoTypes());
    on.workloads = 4;
    on.jobs = 60;
    on.window = {10, 50};
    on.seed = 3;
  }
  PolicyBundle Search() const {
    const PolicyWeights weights(start, {}, reward);
    search::MirroredNoise optimiser(weights.Space(), {0.1, learning_rate, 12}, on.seed);
    return weights.At(test::SearchBy(optimiser, weights, RewardTrials(on, reward), generations).point);
  }
};

// `value` of twelve runs on workloads that no search draws, added up.
template <typename Value>
double SumOverUnseen(const Small& search, const PolicyBundle& bundle, const Window& window, Value value) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const Scenario scenario = search.on.source->Make(99, Split::kEvaluate, 0, i, search.on.jobs);
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
  Small search(2);
  const PolicyBundle one = search.Search();
  search.on.threads = 3;
  CHECK(Flat(one) == Flat(search.Search()));
  CHECK(Flat(one) != Flat(search.start));
  CHECK(one.Array("value.weight").values == search.start.Array("value.weight").values);
  const PolicyWeights weights(search.start, {}, "cost");
  const test::TemporaryFolder folder;
  Provenance how;
  how.agent = "noise(a=1)";
  weights.Save(weights.Space().start, how, folder / "p.h5");
  const PolicyBundle saved = LoadBundle(folder / "p.h5");
  CHECK(Flat(saved) == Flat(search.start));
  CHECK_THAT(saved.provenance.agent, Catch::Contains(" then noise(a=1)"));
  CHECK(saved.mdp.reward == "cost");
  search.on.seed = 4;
  CHECK(Flat(search.Search()) != Flat(one));
}

// Random weights know nothing; twenty generations must tell good ones from bad on workloads they never saw.
TEST_CASE("policy search: a random policy becomes a better one on unseen workloads") {
  Small search(5);
  search.generations = 20;
  search.learning_rate = 0.1;
  const PolicyBundle found = search.Search();
  const auto mean = [&](const PolicyBundle& bundle) {
    return SumOverUnseen(search, bundle, search.on.window,
                         [](const Metrics& metrics) { return std::log(metrics.mean_jct_s); }) /
           12.0;
  };
  CHECK(mean(found) < mean(search.start) - 0.02);
}

// V100s cost more than five times what K80s do, and no job is that much faster there.
TEST_CASE("policy search: another reward is what gets less") {
  Small search(5);
  search.on.source = MakeWorkload("synthetic(rate=0.15)", TwoTypes());
  search.generations = 12;
  search.learning_rate = 0.1;
  search.reward = "cost";
  const PolicyBundle found = search.Search();
  const auto cost = [&](const PolicyBundle& bundle) {
    return SumOverUnseen(search, bundle, {}, [](const Metrics& metrics) { return metrics.cost; });
  };
  CHECK(cost(found) < 0.98 * cost(search.start));
}

TEST_CASE("policy search: pieces of a log, and never of the jobs that are kept back") {
  const Scenario log = MakeWorkload("synthetic(rate=0.35)", TwoTypes())->Make(7, Split::kTrain, 0, 0, 150);
  Small search(2);
  search.on.source = FixedSource(log, "a log");
  search.on.pieces = {0, 100};
  const std::vector<float> found = Flat(search.Search());
  CHECK(found != Flat(search.start));
  search.on.source = FixedSource(Slice(log, 0, 100), "its first 100 jobs");
  CHECK(found == Flat(search.Search()));
  search.on.pieces = {0, 70};
  CHECK(found != Flat(search.Search()));
}

TEST_CASE("tune --policy: one line for what cannot be") {
  const test::TemporaryFolder folder;
  const std::string policy = folder / "p.h5", out = folder / "q.h5";
  SaveBundle(Start(1), policy);
  using Arguments = std::vector<std::string>;
  const auto with = [&](const Arguments& more) {
    Arguments all{"--policy",  policy,          "--cluster", "v100=2,k80=2", "--workload",
                  "synthetic", "--generations", "1",         "--seconds",    "0"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK_THROWS_WITH(RunTune(with({})), Catch::Contains("--out"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--scheduler", "tuned"})),
                    Catch::Contains("--policy") && Catch::Contains("--scheduler"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--population", "5"})),
                    Catch::Contains("--population") && Catch::Contains("even"));
  for (const char* few : {"1", "2", "3"}) {
    CHECK_THROWS_WITH(RunTune(with({"--out", out, "--optimiser", "cma_es", "--population", few})),
                      Catch::Contains("--population") && Catch::Contains(Join("expected 0 or at least 4 candidates of cma_es, found ", few)));
  }
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--layers", "scor"})),
                    Catch::Contains("'scor'") && Catch::Contains("score"));
  CHECK_THROWS_WITH(RunTune(with({"--out", out, "--reward", "jct+csot"})),
                    Catch::Contains("--reward") && Catch::Contains("did you mean 'cost'"));
  for (const char* reward : {"utilization", "jct+demand"}) {  // more is better; there is no metric
    CHECK_THROWS_WITH(RunTune(with({"--out", out, "--reward", reward})),
                      Catch::Contains("--reward") && Catch::Contains("runs have a metric, of which less is better"));
  }
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

TEST_CASE("tune --reward deadline: where a run misses none there are differences, and weights are numbers") {
  const test::TemporaryFolder folder;
  const std::string policy = folder / "p.h5", out = folder / "q.h5", json = folder / "t.json", curve = folder / "c.csv";
  SaveBundle(Start(1), policy);
  for (const char* rate : {"0.05", "0.25"}) {  // at 0.05 hardly anybody misses a deadline
    CAPTURE(rate);
    const std::vector<std::string> on{"--workload",   Join("synthetic(rate=", rate, ",slo=true)"), "--cluster", "v100=2,k80=2", "--jobs", "60",
                                      "--window",     "15:45", "--workloads",  "2", "--population", "8", "--generations", "3",
                                      "--seconds",    "0",     "--validate",   "2", "--reference",  "edf", "--reward", "deadline",
                                      "--json",       json,    "--curve",      curve};
    std::vector<std::string> of_policy = on, of_rule = on;
    of_policy.insert(of_policy.end(), {"--policy", policy, "--out", out});
    CHECK(RunTune(of_policy) == 0);
    for (const float weight : Flat(LoadBundle(out))) CHECK(std::isfinite(weight));
    const nlohmann::json shown = nlohmann::json::parse(test::Slurp(json))["schedulers"];
    for (const auto& row : shown) CHECK(row["difference"]["mean"].is_number());
    CHECK(RunTune(of_rule) == 0);
    const std::string lines = test::Slurp(curve);
    CHECK_THAT(lines, Catch::StartsWith("generation,wall_s,difference\n") && !Catch::Contains("inf") && !Catch::Contains("nan"));
  }
}

TEST_CASE("tune --reward: one that costs nothing is an error") {
  Small search(1);
  ScenarioSettings settings = TwoTypes();
  for (GpuType& type : settings.cluster.types) type.price_per_hour = 0.0;
  search.on.source = MakeWorkload("synthetic(rate=0.15)", settings);
  search.reward = "cost";
  CHECK_THROWS_WITH(search.Search(), "--reward: expected one that costs more than 0, found cost, which costs 0 in every run of the first generation");
}

TEST_CASE("tune --policy: a log shorter than a usual workload is one of itself, its middle half measured") {
  const test::TemporaryFolder folder;
  const std::string policy = folder / "p.h5", log = folder / "log.h5", json = folder / "t.json";
  SaveBundle(Start(1), policy);
  WriteScenario(MakeWorkload("synthetic", TwoTypes())->Make(7, Split::kTrain, 0, 0, 50), log);
  const auto config_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all{"--policy",      policy, "--scenario", log, "--out",        folder / "q.h5",
                                 "--json",        json,   "--seconds",  "0", "--workloads",  "1",
                                 "--generations", "1",    "--validate", "1", "--population", "2"};
    all.insert(all.end(), more.begin(), more.end());
    CHECK(RunTune(all) == 0);
    return nlohmann::json::parse(test::Slurp(json))["config"];
  };
  const nlohmann::json whole = config_of({}), part = config_of({"--pieces", "10:40"});
  CHECK((whole["jobs"] == "50" && whole["window"] == "12:37"));  // 50 / 4 and 150 / 4
  CHECK((part["jobs"] == "30" && part["window"] == "7:22"));
}

}  // namespace berth
