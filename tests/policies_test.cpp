// Frozen policies without LibTorch: the forward passes, the bundle file, and the scheduler that runs one.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "data/hdf5_file.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "policies/dense.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/tiny.hpp"
#include "tools/bench/golden_suite.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;

// A fresh path, removed with what was written there.
struct ScratchFile {
  explicit ScratchFile(const std::string& name)
      : path((std::filesystem::temp_directory_path() / Join("berth-", ::getpid(), "-", name)).string()) {}
  ~ScratchFile() { std::filesystem::remove(path); }
  std::string path;
};

std::string LoadError(const std::string& path) {
  try {
    LoadBundle(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string SaveAndLoadError(const PolicyBundle& bundle) {
  const ScratchFile file("refused.h5");
  SaveBundle(bundle, file.path);
  return LoadError(file.path);
}

constexpr int kQueue = 6, kTypes = 3;
PolicyBundle PairBundle(std::uint64_t seed = 1, const std::string& network = "pair_scorer(width=8)") {
  return test::RandomBundle(network, ObservationV1::Layout(kQueue, kTypes), kQueue * kTypes + 1, seed);
}

// Poisson arrivals over two types, each the better one for half of the jobs.
class PoissonSource : public ScenarioSource {
 public:
  explicit PoissonSource(Clock clock) : clock_(clock) {}
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int) const override {
    Stream stream(seed, Purpose::kTest, split, env, episode);
    std::vector<test::TinyJob> list;
    double now = 0.0;
    for (int i = 0; i < 40; ++i) {
      now += stream.Exponential(40.0);
      list.push_back({now, 1.0 + stream.Uniform(0.0, 200.0), static_cast<int>(stream.Below(2)),
                      1 + static_cast<int>(stream.Below(2))});
    }
    return test::Tiny({{"a", 2}, {"b", 3}}, {{1.0, 3.0}, {2.0, 0.5}}, list, clock_);
  }
  bool fixed() const override { return true; }
  std::string Describe() const override { return "poisson"; }

 private:
  Clock clock_;
};

Scenario PoissonScenario(Clock clock = {}) {
  return PoissonSource(clock).Make(3, Split::kTrain, 0, 0, 0);
}

}  // namespace

TEST_CASE("dense products agree with double precision at every remainder of the blocking") {
  Stream stream(5, Purpose::kTest);
  for (int rows : {1, 3, 4, 5, 9}) {
    for (int outputs : {1, 7, 8, 9, 20}) {
      const int inputs = 13;
      std::vector<float> x(static_cast<std::size_t>(rows * inputs)),
          w(static_cast<std::size_t>(inputs * outputs));
      for (float& v : x) v = static_cast<float>(stream.Normal());
      for (float& v : w) v = static_cast<float>(stream.Normal());
      std::vector<float> y(static_cast<std::size_t>(rows * outputs), 2.0F);
      MultiplyAdd(x.data(), rows, inputs, w.data(), outputs, y.data());
      for (int r = 0; r < rows; ++r) {
        for (int o = 0; o < outputs; ++o) {
          double sum = 2.0;
          for (int i = 0; i < inputs; ++i) {
            sum += static_cast<double>(x[static_cast<std::size_t>(r * inputs + i)]) *
                   w[static_cast<std::size_t>(i * outputs + o)];
          }
          CHECK(std::abs(y[static_cast<std::size_t>(r * outputs + o)] - sum) < 1e-5);
        }
      }
    }
  }
}

TEST_CASE("tanh activations agree with libm") {
  for (double x : {-30.0, -2.0, -1e-3, 0.0, 1e-3, 0.5, 9.0, 90.0}) {
    auto value = static_cast<float>(x);
    Activate(Activation::kTanh, {&value, 1});
    CHECK(value == Approx(std::tanh(x)).margin(1e-7));
  }
}

TEST_CASE("the frozen pair scorer ignores padding and takes any queue and cluster") {
  const std::string spec = GENERATE("pair_scorer(width=8)", "pair_scorer(width=8,skip=true)");
  // The rows of the four jobs among nine: the first, and with gaps.
  const auto places = GENERATE(std::array{0, 1, 2, 3}, std::array{1, 2, 5, 8});
  CAPTURE(spec, places);
  const auto network = Freeze(PairBundle(1, spec));
  Stream stream(2, Purpose::kTest);
  const ObservationLayout narrow = ObservationV1::Layout(4, 2), wide = ObservationV1::Layout(9, 2);
  const std::vector<float> row = test::RandomObservation(narrow, 4, stream);
  std::vector<float> padded(static_cast<std::size_t>(wide.size()), 0.0F), scores(9), padded_scores(19);
  const float value = network->Evaluate(row, narrow, scores);
  std::vector<float> expected(18, 0.0F);
  const auto place = [&](const float* from, int width, float* to) {
    for (int q = 0; q < 4; ++q)
      std::copy_n(from + q * width, width, to + places[static_cast<std::size_t>(q)] * width);
  };
  place(row.data(), narrow.job_channels, padded.data());
  place(row.data() + narrow.pairs_offset(), 2 * narrow.pair_channels, padded.data() + wide.pairs_offset());
  place(scores.data(), 2, expected.data());
  std::copy(row.begin() + narrow.types_offset(), row.end(), padded.begin() + wide.types_offset());
  CHECK(network->Evaluate(padded, wide, padded_scores) == value);
  CHECK(std::equal(expected.begin(), expected.end(), padded_scores.begin()));
  CHECK(padded_scores.back() == scores.back());
  CHECK(std::set<float>(scores.begin(), scores.end()).size() == scores.size());
}

TEST_CASE("a bundle of before pair_scorer had a linear term reads as it did") {
  const ScratchFile file("old.h5");
  PolicyBundle bundle = PairBundle();
  REQUIRE(bundle.network == "pair_scorer(width=8,layers=2,activation=relu,skip=false,memory=0)");
  bundle.network = "pair_scorer(width=8,layers=2,activation=relu)";
  SaveBundle(bundle, file.path);
  CHECK(ReplayExamples(LoadBundle(file.path)) == 0.0);
  bundle.network = "pair_scorer(width=8,layers=2,activation=relu,skip=maybe)";
  CHECK_THAT(SaveAndLoadError(bundle), Contains("skip") && Contains("maybe"));
  // Weights without the linear term, named as if they had one.
  bundle.network = "pair_scorer(width=8,layers=2,activation=relu,skip=true)";
  CHECK_THAT(SaveAndLoadError(bundle), Contains("skip/weight"));
}

TEST_CASE("a bundle survives its file") {
  const ScratchFile file("bundle.h5");
  const PolicyBundle bundle =
      GENERATE(PairBundle(), PairBundle(5, "pair_scorer(width=8,skip=true)"),
               test::RandomBundle("mlp", {0, 0, 0, 0, 0, 4}, 2, 3),
               test::RandomBundle("mlp(hidden=16,activation=relu)", ObservationV1::Layout(3, 2), 6, 4));
  SaveBundle(bundle, file.path);
  const PolicyBundle loaded = LoadBundle(file.path);
  CHECK(loaded.network == bundle.network);
  CHECK(loaded.layout == bundle.layout);
  CHECK(loaded.num_actions == bundle.num_actions);
  CHECK(loaded.mdp.ToString() == bundle.mdp.ToString());
  CHECK(loaded.gpu_types == bundle.gpu_types);
  CHECK(loaded.provenance.agent == bundle.provenance.agent);
  CHECK(loaded.provenance.config == bundle.provenance.config);
  CHECK(loaded.provenance.steps == 1000);
  CHECK(loaded.provenance.seed == 7);
  CHECK(loaded.parameters() == bundle.parameters());
  for (std::size_t i = 0; i < bundle.arrays.size(); ++i)
    CHECK(loaded.arrays[i].values == bundle.arrays[i].values);
  CHECK(loaded.examples.scores == bundle.examples.scores);
  CHECK(loaded.examples.mask == bundle.examples.mask);
  CHECK(ReplayExamples(loaded) == 0.0);
}

TEST_CASE("examples are compared on the scale of their largest score") {
  PolicyBundle bundle = PairBundle();
  std::vector<float>& scores = bundle.examples.scores;
  const auto first = scores.begin(), last = first + bundle.num_actions;  // of the first example
  float largest = 1.0F;
  for (auto it = first; it != last; ++it) largest = std::max(largest, std::abs(*it));
  const auto least =
      std::min_element(first, last, [](float a, float b) { return std::abs(a) < std::abs(b); });
  const float kept = *least;
  *least = kept + 1e-3F * largest;
  CHECK(ReplayExamples(bundle) == Approx(1e-3).epsilon(1e-3));
  // The same error beside a score that is a thousand times as large is within rounding's reach; but that
  // score itself is then wrong by nearly all of it.
  *first = 1000.0F * largest;
  CHECK(ReplayExamples(bundle) > 0.9);
  CHECK(ReplayExamples(bundle) < 1.1);
}

TEST_CASE("a bundle that is not what it says is refused in one line that says why") {
  PolicyBundle bundle = PairBundle();
  SECTION("edited weights") {
    bundle.arrays[6].values[5] += 0.01F;
    CHECK_THAT(SaveAndLoadError(bundle), Contains("examples within 1e-05, found a difference of"));
  }
  SECTION("weights that are not numbers") {
    bundle.arrays[6].values[5] = std::nanf("");
    CHECK_THAT(SaveAndLoadError(bundle), Contains("found a difference of nan"));
  }
  SECTION("another encoder") {
    bundle = test::RandomBundle("mlp", {0, 0, 0, 0, 0, 4}, 2, 3);  // others are not written with it
    bundle.mdp.encoder = "ObservationV9";
    CHECK_THAT(SaveAndLoadError(bundle), Contains("'ObservationV9'") && Contains("'ObservationV1'"));
  }
  SECTION("other channels") {
    bundle =
        test::RandomBundle("pair_scorer(width=8)", {kQueue, kTypes, 12, 6, 5, 7}, kQueue * kTypes + 1, 1);
    CHECK_THAT(SaveAndLoadError(bundle), Contains("12+6+5+7") && Contains("11+6+5+7"));
  }
  SECTION("another architecture") {
    bundle.network = "pair_scorerr(width=8)";
    CHECK_THAT(SaveAndLoadError(bundle),
               Contains("'pair_scorerr'") && Contains("did you mean 'pair_scorer'"));
  }
  SECTION("other sizes than the architecture's") {
    bundle.network = "pair_scorer(width=9)";
    CHECK_THAT(SaveAndLoadError(bundle), Contains("weights/job/weight") && Contains("99") && Contains("88"));
  }
  SECTION("semantics without the actions they need") {
    bundle.mdp.semantics = Semantics::kCommit;
    CHECK_THAT(SaveAndLoadError(bundle), Contains("num_actions") && Contains("commit"));
  }
  SECTION("truncated") {
    const ScratchFile file("short.h5");
    SaveBundle(bundle, file.path);
    std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) / 2);
    CHECK_THAT(LoadError(file.path), Contains(file.path));
  }
  SECTION("a knowledge that there is none of") {
    const ScratchFile file("all.h5");
    h5::Writer out(file.path, "policy", 1);
    out.Text("encoder", "ObservationV1"), out.Text("semantics", "redecide"), out.Integer("preemptive", 1);
    out.Text("knowledge", "all");
    out.Commit();
    CHECK_THAT(LoadError(file.path), Contains(": knowledge: expected none, blind"));
  }
  SECTION("a file of another kind") {
    const ScratchFile file("scenario.h5");
    h5::Writer out(file.path, "scenario", 1);
    out.Commit();
    CHECK_THAT(LoadError(file.path), Contains("'policy'") && Contains("'scenario'"));
  }
}

TEST_CASE("a bundle of another version, or with changed bytes, is refused with both versions named") {
  const ScratchFile file("version.h5");
  h5::SetSourceCommit("abc123");
  SECTION("newer, or of no version that there was") {
    const int version = GENERATE(2, 0, -1);
    h5::Writer out(file.path, "policy", version);
    out.Commit();
    h5::SetSourceCommit("def456");
    CHECK_THAT(LoadError(file.path), Contains(Join("version ", version, " of 'policy'")) &&
                                         Contains("written by Berth abc123") &&
                                         Contains("this Berth, def456, reads versions 1 to 1"));
  }
  SECTION("one bit of one weight") {
    const PolicyBundle bundle = PairBundle();
    SaveBundle(bundle, file.path);
    h5::SetSourceCommit("def456");
    const std::vector<float>& weights = bundle.arrays[6].values;
    std::fstream bytes(file.path, std::ios::in | std::ios::out | std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(bytes), {}};
    const std::size_t at =
        content.find(std::string(reinterpret_cast<const char*>(weights.data()), 4 * weights.size()));
    REQUIRE(at != std::string::npos);
    bytes.clear();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(content[at] ^ 1));
    bytes.close();
    CHECK_THAT(LoadError(file.path), Contains("does not match its hash") &&
                                         Contains("format version 1 of 'policy'") &&
                                         Contains("written by Berth abc123") &&
                                         Contains("this Berth, def456, reads versions 1 to 1"));
  }
  h5::SetSourceCommit("unknown");
}

TEST_CASE("a frozen policy finishes every job, the same way twice, on clusters it was not trained on") {
  PolicyBundle bundle = PairBundle(GENERATE(1, 2, 3));
  bundle.mdp.preemptive = GENERATE(true, false);
  const bool sample = GENERATE(true, false);
  const Scenario scenario =
      PoissonScenario(GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}));
  const auto scheduler = MakePolicyScheduler(bundle, "test", sample);
  const RunResult once = Run(scenario, *scheduler, "policy", {});
  CHECK(once.metrics.jobs == 40);
  CHECK(Run(scenario, *scheduler, "policy", {}).signature == once.signature);
}

TEST_CASE("commit: the chosen job blocks the queue until it fits") {
  // Three GPUs of one type, jobs in arrival order: gangs of 2, 2, 1, 1 for 100, 100, 50, 50 s.
  PolicyBundle bundle =
      test::RandomBundle("mlp(hidden=1,activation=relu)", ObservationV1::Layout(4, 1), 4, 1);
  for (NamedArray& array : bundle.arrays) std::fill(array.values.begin(), array.values.end(), 0.0F);
  bundle.gpu_types = {"a"};
  // With no weights every score is its bias: arrival order.
  bundle.arrays[3].values = {4.0F, 3.0F, 2.0F, 1.0F};
  const Scenario scenario = test::Tiny(
      {{"a", 3}}, {{1.0}}, {{0.0, 100.0, 0, 2}, {0.0, 100.0, 0, 2}, {0.0, 50.0, 0, 1}, {0.0, 50.0, 0, 1}});
  const auto scheduler = MakePolicyScheduler(bundle, "test", false);
  const RunResult result = Run(scenario, *scheduler, "policy", {});
  // Job 0 runs 0-100; job 1 blocks until 100, runs 100-200; job 2 takes the third GPU at 100, job 3 at 150.
  CHECK(result.jct_s == std::vector<double>{100.0, 200.0, 150.0, 200.0});
}

TEST_CASE("the scheduler does what the same policy does in its environment") {
  PolicyBundle bundle = PairBundle(GENERATE(1, 4, 5));
  bundle.mdp.preemptive = GENERATE(true, false);
  bundle.mdp.visible = 40;
  // `done` last: the environment offers it while arrivals remain, the scheduler, who cannot know, does not.
  auto& bias = const_cast<NamedArray&>(bundle.Array("done.bias"));
  bias.values[0] = -1e3F;
  const Clock clock = GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0});
  const auto source = std::make_shared<PoissonSource>(clock);
  SchedEnvOptions options;
  options.mdp = bundle.mdp;
  options.warmup_jobs = 0;
  options.episode_jobs = 40;
  options.seed = 3;
  SchedEnv env(source, options, 0);
  env.Begin(0);
  const auto network = Freeze(bundle);
  std::vector<float> scores(static_cast<std::size_t>(env.num_actions()));
  for (;;) {
    network->Evaluate(env.observation(), env.layout(), scores);
    int best = -1;
    for (int a = 0; a < env.num_actions(); ++a) {
      const auto i = static_cast<std::size_t>(a);
      if (env.mask()[i] != 0 && (best < 0 || scores[i] > scores[static_cast<std::size_t>(best)])) best = a;
    }
    const SchedEnv::Outcome outcome = env.Step(best);
    REQUIRE_FALSE(outcome.truncated);
    if (outcome.terminated) break;
  }
  const auto scheduler = MakePolicyScheduler(bundle, "test", false);
  const RunResult result = Run(source->Make(3, options.split, 0, 0, 40), *scheduler, "policy", {});
  CHECK(result.metrics.mean_jct_s == Approx(env.MeanJct()).epsilon(1e-12));
  CHECK(result.signature == env.simulator().signature());
}

TEST_CASE("an mlp runs with any number of jobs, but only on the cluster it was trained on") {
  PolicyBundle bundle = test::RandomBundle("mlp(hidden=8)", ObservationV1::Layout(3, 2), 7, 1);
  bundle.gpu_types = {"a", "b"};
  bundle.mdp.preemptive = GENERATE(true, false);
  const auto scheduler = MakePolicyScheduler(bundle, "p.h5", false);
  CHECK(Run(PoissonScenario(), *scheduler, "policy", {}).metrics.jobs == 40);
  const Scenario three = test::Tiny({{"a", 2}, {"b", 3}, {"c", 1}}, {{1.0, 1.0, 1.0}}, {{0.0, 10.0}});
  CHECK_THROWS_WITH(Run(three, *scheduler, "policy", {}),
                    Contains("p.h5") && Contains("2 GPU types") && Contains("3"));
  const Scenario swapped = test::Tiny({{"b", 2}, {"a", 3}}, {{1.0, 1.0}}, {{0.0, 10.0}});
  CHECK_THROWS_WITH(Run(swapped, *scheduler, "policy", {}), Contains("'a'") && Contains("'b'"));
}

TEST_CASE("a policy of a flat environment schedules nothing") {
  const PolicyBundle bundle = test::RandomBundle("mlp", {0, 0, 0, 0, 0, 4}, 2, 3);
  CHECK_THROWS_WITH(MakePolicyScheduler(bundle, "cartpole.h5", false),
                    Contains("cartpole.h5") && Contains("flat"));
}

TEST_CASE("policy(file=...) is made from its spec") {
  const ScratchFile file("spec.h5");
  SaveBundle(PairBundle(), file.path);
  const std::vector<SchedulerTable> tables = {PolicySchedulers()};
  const auto scheduler = MakeScheduler("policy(file=" + file.path + ",sample=true)", tables);
  CHECK(scheduler->knowledge() == Knowledge::kOracle);
  // Told to take estimates for the truth, it asks for no more, and where they are the truth it does the same.
  const std::string estimates = "policy(file=" + file.path + ",estimated=true)",
                    spec = "policy(file=" + file.path + ")";
  CHECK(MakeScheduler(estimates, tables)->knowledge() == Knowledge::kEstimate);
  const Scenario known = bench::RandomScenario(5, 30, {ClockKind::kEvent});
  const Scenario guessed = WithKnowledge(known, Knowledge::kEstimate, 1.0);
  const auto run = [&](const Scenario& scenario, const std::string& text) {
    return Run(scenario, *MakeScheduler(text, tables), text, {}).signature;
  };
  CHECK(run(known, estimates) == run(known, spec));
  CHECK(run(guessed, estimates) != run(known, spec));
  CHECK_THROWS_WITH(run(guessed, spec), Contains("needs knowledge 'oracle'"));
  CHECK_THROWS_WITH(MakeScheduler("policy(file=/nowhere/p.h5)", tables), Contains("/nowhere/p.h5"));
  CHECK_THROWS_WITH(MakeScheduler("policy(fil=x)", tables), Contains("did you mean 'file'"));
}

}  // namespace berth
