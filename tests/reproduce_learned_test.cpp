// berth reproduce learned: the arithmetic of its tables on made-up runs worked by hand, what it keeps, its
// recipes, and that what is not there is said.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/reproduce/learned/bound.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/gradient/training_sets.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/recipes.hpp"
#include "tools/reproduce/learned/shares.hpp"
#include "tools/reproduce/learned/training.hpp"
#include "tools/reproduce/run_cache.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {
namespace {

using test::Outcome;
using test::Slurp;
using test::TemporaryFolder;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Outcome Reproduce(const TemporaryFolder& folder, const std::string& arguments) {
  return test::Berth(folder, "reproduce learned " + arguments);
}

}  // namespace

TEST_CASE("learned: a ratio is the mean over loads of ratios of means, each load weighing the same") {
  // Load 0: (50 + 150) / (100 + 300) = 0.5; load 1: (1 + 3) / (2 + 2) = 1. Their mean is 0.75; the ratio of
  // the sums would be 204 / 404 = 0.505.
  const std::vector<Grid> policy = {{{50, 150}, {1, 3}}};
  const Comparison c = Compare(policy, {{100, 300}, {2, 2}}, 1);
  CHECK(c.overall.mean == Approx(0.75).epsilon(1e-12));
  CHECK(c.each[0].mean == Approx(0.5).epsilon(1e-12));
  CHECK(c.each[1].mean == Approx(1.0).epsilon(1e-12));
  CHECK(c.conditions == 2);
  CHECK(c.workloads == 2);
  // Load 0 is 0.5 on both workloads, so on every resample. At load 1 workload 0 alone gives 1 / 2, workload 1
  // alone 3 / 2: with probability 1/4 each, so they are the 2.5% and 97.5% quantiles.
  CHECK(c.each[0].low == Approx(0.5).epsilon(1e-12));
  CHECK(c.each[0].high == Approx(0.5).epsilon(1e-12));
  CHECK(c.each[1].low == Approx(0.5).epsilon(1e-12));
  CHECK(c.each[1].high == Approx(1.5).epsilon(1e-12));
  // Both loads draw the same workloads: 0.5 + (0.5 or 1.5), halved.
  CHECK(c.overall.low == Approx(0.5).epsilon(1e-12));
  CHECK(c.overall.high == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("learned: training seeds are drawn too") {
  // Seed 0 is 0.8 and seed 1 is 1 of the other on every workload: 0.9, and with probability 1/4 each a
  // resample has one of them alone.
  const Grid other = {{10, 20, 30}};
  const std::vector<Grid> policies = {{{8, 16, 24}}, {{10, 20, 30}}};
  const Comparison c = Compare(policies, other, 1);
  CHECK(c.overall.mean == Approx(0.9).epsilon(1e-12));
  CHECK(c.overall.low == Approx(0.8).epsilon(1e-12));
  CHECK(c.overall.high == Approx(1.0).epsilon(1e-12));
  const std::vector<std::vector<double>> values = {{1, 1}, {3, 3}};
  const Interval mean = HierarchicalMean(values, 1);
  CHECK(mean.mean == 2.0);
  CHECK(mean.low == 1.0);
  CHECK(mean.high == 3.0);
  CHECK(std::isnan(HierarchicalMean(std::vector<std::vector<double>>{{1, kNan}}, 1).mean));
}

TEST_CASE("learned: only workloads that both have at every load count, and loads with two of them") {
  const std::vector<Grid> policy = {{{1, 2, 4}, {1, 2, 4}, {1, 2, 4}}};
  // Load 2 has one workload, so it is left out; workload 2 is missing at load 1, so it is left out of load 0
  // too: (1 + 2) / (2 + 4) = 0.5 at load 0 and (1 + 2) / (1 + 2) = 1 at load 1.
  const Comparison c = Compare(policy, {{2, 4, 1}, {1, 2, kNan}, {1, kNan, kNan}}, 1);
  CHECK(c.conditions == 2);
  CHECK(c.workloads == 2);
  CHECK(c.overall.mean == Approx(0.75).epsilon(1e-12));
  CHECK(std::isnan(c.each[2].mean));
  CHECK(std::isnan(Compare(policy, {{kNan, kNan, 1}, {kNan, kNan, kNan}, {1, kNan, kNan}}, 1).overall.mean));
}

TEST_CASE("learned: targets are met by the estimate, or surely by the whole interval") {
  CHECK(RatioTarget("1", "", {0.85, 0.80, 0.90}, 0.85, false).verdict == Verdict::kMet);
  CHECK(RatioTarget("1", "", {0.86, 0.80, 0.90}, 0.85, false).verdict == Verdict::kNotMet);
  CHECK(RatioTarget("1", "", {0.95, 0.91, 0.99}, 1.0, true).verdict == Verdict::kMet);
  CHECK(RatioTarget("1", "", {0.95, 0.89, 1.01}, 1.0, true).verdict == Verdict::kNotMet);
  CHECK(RatioTarget("1", "", {kNan, kNan, kNan}, 1.0, true).verdict == Verdict::kNotMeasured);
  CHECK(ValueTarget("2", "", 53.63, 53.64, 2).verdict == Verdict::kMet);
  CHECK(ValueTarget("2", "", 53.64, 53.64, 2).verdict == Verdict::kNotMet);
  CHECK(RatioTarget("1", "", {0.95, 0.891, 1.0}, 1.0, true).measured == "0.950 [0.891, 1.000]");
}

TEST_CASE("learned: a bound in expectation decides by the lower end of its interval") {
  const auto judged = [](const Interval& least) {
    Target target = RatioTarget("1", "", {0.868, 0.852, 0.883}, 0.714, false);
    BoundInExpectation(target, least, 0.714);
    return target;
  };
  const Target cannot = judged({0.825, 0.782, 0.868});
  CHECK(cannot.verdict == Verdict::kCannotBe);
  CHECK(cannot.measured ==
        "0.868 [0.852, 0.883]; in expectation no scheduler below 0.825 [0.782, 0.868]");
  CHECK(judged({0.730, 0.700, 0.760}).verdict == Verdict::kNotMet);      // the estimate alone is above 0.714
  CHECK(judged({0.730, 0.710, 0.750}).verdict == Verdict::kWithdrawn);  // less than 1% of 0.714 is left
  CHECK(judged({kNan, kNan, kNan}).measured == "0.868 [0.852, 0.883]");
  Target exact = RatioTarget("1", "", {0.868, 0.852, 0.883}, 0.714, false);
  Bound(exact, 0.730, 0.714);  // of these very workloads
  CHECK(exact.verdict == Verdict::kCannotBe);
  CHECK(exact.measured == "0.868 [0.852, 0.883]; no scheduler below 0.730");
}

TEST_CASE("learned: the least mean JCT by hand, and of every workload of a load") {
  // 100 s on the fast GPU, 400 s on the slow one. A job each 90 s: the fast one can do 0.9 of them and the
  // slow one does 0.1: 0.9 * 100 + 0.1 * 400 = 130 s. A job each 75 s is more than both can do.
  const Scenario scenario = test::Tiny({{"fast", 1}, {"slow", 1}}, {{4, 1}}, {{0, 400, 0}});
  CHECK(LeastMeanJct(scenario, 1.0 / 90.0) == Approx(130.0).epsilon(1e-9));
  CHECK(LeastMeanJct(scenario, 1.0 / 200.0) == Approx(100.0).epsilon(1e-9));
  CHECK(std::isnan(LeastMeanJct(scenario, 1.0 / 75.0)));
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[0]};
  grid.seeds = {1000, 1001, 1002};
  grid.drawn = 60, grid.begin = 10, grid.end = 40;
  const std::vector<double> least = LeastMeanJcts(grid, 1);
  REQUIRE(least.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(least[i] == LeastMeanJct(grid.Workload(kLoads[0], grid.seeds[i]).make(), 4.8 / 3600.0));
  CHECK(least[0] != least[1]);
}

TEST_CASE("learned: the page says what is least over its workloads, and not of the first") {
  const TemporaryFolder folder;
  const Outcome ran = Reproduce(folder, "--only bound --seeds 1000:1002 --policies . --no-pictures --out o");
  CAPTURE(ran.out, ran.error);
  const std::string page = Slurp(folder / "o/learned.md");
  CHECK(Has(page, "| 4.8 single/h | 15.57 [15.24, 15.90] | 15.24–15.90 |"));
  CHECK(Has(page, "| 6.4 single/h | more work than GPUs |"));
}

TEST_CASE("learned: the Gini coefficient of hand-worked values") {
  CHECK(Gini({2, 2, 2}) == Approx(0.0).margin(1e-15));
  // One of four has all: 1 - 1/4.
  CHECK(Gini({0, 8, 0, 0}) == Approx(0.75).epsilon(1e-12));
  // |1 - 3| x 2 pairs / 4 = 1; over twice the mean 2: 1/4.
  CHECK(Gini({3, 1}) == Approx(0.25).epsilon(1e-12));
}

TEST_CASE("learned: jobs in thirds, and whose hours a type's are") {
  // Types fast x2 and slow x1. Steps/s: kind 0: 4 and 1 (speed-up 4), kind 1: 2 and 1 (2), kind 2: 3 and 3
  // (1). Alone: 400 / 4 = 100 s, 20 / 2 = 10 s, 3000 / 3 = 1000 s.
  const Scenario scenario = test::Tiny({{"fast", 2}, {"slow", 1}}, {{4, 1}, {2, 1}, {3, 3}},
                                       {{0, 400, 0}, {0, 20, 1}, {0, 3000, 2}});
  const JobClasses classes = ClassifyJobs(scenario);
  CHECK(classes.advantage == std::vector<int>{2, 1, 0});
  CHECK(classes.size == std::vector<int>{1, 0, 2});
  CHECK(classes.advantage_rank == std::vector<double>{1.0, 0.5, 0.0});
  // Job 0 holds both fast GPUs for 1800 s, job 2 the slow one from 0 until the record ends at 3600 s.
  RunRecord record;
  record.devices = {0, 1, 2};
  record.spans = {{0, 0.0, 1800.0, 0, 2, SpanEnd::kCompleted},
                  {2, 0.0, kNever, 2, 1, SpanEnd::kStillRunning}};
  record.end_s = 3600.0;
  const GpuHours hours = HoursByClass(record, scenario, classes.advantage);
  CHECK(hours[0] == std::array<double, kJobClasses>{0.0, 0.0, 1.0});
  CHECK(hours[1] == std::array<double, kJobClasses>{1.0, 0.0, 0.0});
}

TEST_CASE(
    "learned: a kept run counts by the policy's bytes, whatever its name, and by what else decides it") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.h5") << "one policy";
  std::ofstream(folder / "b.h5") << "one policy";
  std::ofstream(folder / "c.h5") << "another";
  const auto key = [&](const std::string& file, int end) {
    return RunKey(7, "policy(file=" + (folder / file) + ",sample=true)", {0, end});
  };
  CHECK(key("a.h5", 10) == key("b.h5", 10));
  CHECK(key("a.h5", 10) != key("c.h5", 10));
  CHECK(key("a.h5", 10) != key("a.h5", 11));
  CHECK(Has(key("a.h5", 10), "sample=true"));
  const auto guarded = [&](const std::string& file) {
    return RunKey(7, "guard(policy=policy(file=" + (folder / file) + "),fallback=srpt)", {0, 10});
  };
  CHECK(guarded("a.h5") == guarded("b.h5"));
  CHECK(guarded("a.h5") != guarded("c.h5"));
  PlannedOutcome outcome;
  outcome.mean_jct_s = 12.5, outcome.max_ftf = kNan, outcome.jct_s = {1.0, kNan};
  WriteOutcome(folder.path(), key("a.h5", 10), "a test", outcome);
  const auto kept = ReadOutcome(folder.path(), key("b.h5", 10), false);
  REQUIRE(kept);
  CHECK(kept->source == RunSource());
  CHECK(kept->outcome.mean_jct_s == 12.5);
  CHECK(std::isnan(kept->outcome.max_ftf));
  CHECK(kept->outcome.jct_s.size() == 2);
  CHECK_FALSE(ReadOutcome(folder.path(), key("c.h5", 10), true));
  // Another build's result counts only where that is asked for.
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".json") continue;
    std::string text = Slurp(entry.path().string());
    text.replace(text.find(RunSource()), RunSource().size(), "another build");
    std::ofstream(entry.path()) << text;
  }
  CHECK_FALSE(ReadOutcome(folder.path(), key("a.h5", 10), false));
  CHECK(ReadOutcome(folder.path(), key("a.h5", 10), true)->source == "another build");
}

TEST_CASE("learned: loads that the cluster does not carry under one of two can be left out of an average") {
  const TemporaryFolder folder;
  LoadGrid grid;
  grid.loads = {kLoads[0], kLoads[1]};
  grid.seeds = {1000, 1001};
  grid.drawn = 60, grid.begin = 10, grid.end = 40;
  // fcfs takes 2 h at both loads, srpt 1 h and 4 h; late work grows under fcfs at the second.
  const auto keep = [&](const char* spec, std::size_t load, double hours, double growth) {
    for (const std::uint64_t seed : grid.seeds) {
      const PlannedWorkload workload = grid.Workload(grid.loads[load], seed);
      PlannedOutcome outcome;
      outcome.jobs = 30, outcome.mean_jct_s = 3600.0 * hours, outcome.backlog_growth = growth;
      WriteOutcome(folder.path(), RunKey(workload.make().Hash(), spec, workload.window), "a test", outcome);
    }
  };
  keep("fcfs", 0, 2.0, 0.01), keep("fcfs", 1, 2.0, 0.2);
  keep("srpt", 0, 1.0, 0.02), keep("srpt", 1, 4.0, 0.04);
  ReproductionRuns runs("a test", folder.path());
  grid.Plan(runs, "fcfs"), grid.Plan(runs, "srpt");
  runs.ReadKept();
  REQUIRE(runs.to_do() == 0);
  CHECK_FALSE(ResultAt(grid, runs, 0, "fcfs").unstable);
  CHECK(ResultAt(grid, runs, 1, "fcfs").Cell() == "2.00†");
  CHECK(ResultAt(grid, runs, 1, "srpt").Cell() == "4.00");
  CHECK(CarriedLoads(grid, runs, {"srpt"}, {0, 1}) == std::vector<std::size_t>{0, 1});
  const std::vector<std::size_t> both = CarriedLoads(grid, runs, {"srpt", "fcfs"}, {0, 1});
  CHECK(both == std::vector<std::size_t>{0});
  const std::vector<Grid> srpt = Grids(grid, runs, {"srpt"});
  const Grid fcfs = grid.MeanJcts(runs, "fcfs");
  CHECK(CompareAt(srpt, fcfs, {0, 1}).overall.mean == Approx((0.5 + 2.0) / 2.0));
  CHECK(CompareAt(srpt, fcfs, both).overall.mean == Approx(0.5));
  CHECK(std::isnan(CompareAt(srpt, fcfs, {}).overall.mean));
}

TEST_CASE("learned: a learning curve keeps the first and the last row, evenly between") {
  const std::string csv =
      "global_step,charts/SPS,charts/metric,time/wall_s\n"
      "10,5,100,1\n20,5,90,2\n30,5,80,3\n40,5,70,4\n50,5,60,5\n60,5";  // the last row was cut
  CHECK(LearningCurve(csv, 3) == "global_step,wall_s,metric\n10,1,100\n30,3,80\n50,5,60\n");
  CHECK(LearningCurve(csv, 99) ==
        "global_step,wall_s,metric\n10,1,100\n20,2,90\n30,3,80\n40,4,70\n50,5,60\n");
  CHECK(LearningCurve("global_step,charts/metric,time/wall_s\n", 3) == "global_step,wall_s,metric\n");
  CHECK_THROWS_AS(LearningCurve("global_step,time/wall_s\n1,2\n", 3), Error);
}

TEST_CASE("learned: policies are found by name and training seed, and those that are not are named") {
  const TemporaryFolder folder;
  std::ofstream(folder / "x_2.h5") << "";
  const PolicyShelf shelf(folder.path(), 1, 4);
  REQUIRE(shelf.Find("x").size() == 1);
  CHECK(shelf.Find("x")[0].seed == 2);
  CHECK(shelf.Specs("x", true)[0] == "policy(file=" + folder.path() + "/x_2.h5,sample=true)");
  CHECK(shelf.Missing("x") == "x_1.h5, x_3.h5");
  CHECK(shelf.Missing("y") == "y_1.h5 to y_3.h5");
  CHECK(shelf.Path("lublin1_commit", 2) == folder.path() + "/lublin/lublin1_commit_2.h5");
}

// What ships is what the recipes make, each in its room, and nothing else lies about.
TEST_CASE("learned: every shipped policy is a recipe's, and every recipe's policies are shipped") {
  const std::string root = BERTH_SOURCE_DIR "/data/policies";
  const PolicyShelf shelf(root, 1, 6);
  std::set<std::string> expected = {root + "/cluster/hetero_oracle.h5", root + "/cluster/hetero_blind.h5",
                                    root + "/generalist/any_cluster.h5"};  // of berth reproduce actions
  for (const Recipe& recipe : Recipes()) {
    for (int seed = 1; seed <= recipe.seeds; ++seed) expected.insert(shelf.Path(recipe.name, seed));
  }
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".h5") found.insert(entry.path());
  }
  CHECK(found == expected);
}

TEST_CASE("learned: train accepts the options of every recipe") {
  std::set<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    CHECK(names.insert(recipe.name).second);
    REQUIRE(!recipe.steps.empty());
    const auto& first = recipe.steps[0].options;
    const bool from_nothing =
        std::any_of(first.begin(), first.end(), [](const auto& option) { return option.first == "hinges"; });
    CHECK((recipe.steps[0].verb == RecipeStep::Verb::kTrain || from_nothing));
  }
  const TemporaryFolder folder;
  const Outcome dry = Reproduce(folder, "--train --dry-run --out o");
  CAPTURE(dry.out, dry.error);
  CHECK(dry.code == 0);
  const auto count = [&](const std::string& what) {
    std::size_t n = 0;
    for (std::size_t at = dry.out.find(what); at != std::string::npos; at = dry.out.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(count("\n== ") + count(": not trained, the public traces are not there") ==
        Recipes().size() + TrainingSets().size());
  test::CheckOneLine(Reproduce(folder, "--train --recipes hetero_orcale --out o"), "hetero_oracle");
}

TEST_CASE("learned: what is not there is named, and is no success") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "none");
  const Outcome ran =
      Reproduce(folder, "--only lublin,real --policies none --traces none --no-pictures --out o");
  CAPTURE(ran.out, ran.error);
  CHECK(ran.code == 1);
  const std::string page = Slurp(folder / "o/learned.md");
  CHECK(Has(page, "Not available: rlscheduler-lublin"));
  CHECK(Has(page, "philly_sorted.csv.gz"));
  CHECK(Has(page, "| not measured |"));
  CHECK(Has(ran.out, "0 targets met, 0 not met"));
}

TEST_CASE("learned: a run that takes too long is shown as that, and run again when it may take longer") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "none");
  const std::string common =
      "--only behaviour --policies none --quick --seeds 0:2 --no-pictures --threads 1 --out o ";
  const Outcome ran = Reproduce(folder, common + "--limit-s 0.001");
  CAPTURE(ran.out, ran.error);
  CHECK(ran.code == 0);  // it has no targets
  CHECK(Has(Slurp(folder / "o/learned.md"), "Not available: hetero_oracle"));
  CHECK(Has(Reproduce(folder, common + "--limit-s 0.001 --estimate").out, "8 runs, 8 of them kept"));
  CHECK(Has(Reproduce(folder, common + "--limit-s 100 --estimate").out, "8 runs, 0 of them kept"));
}

TEST_CASE("learned: bad words end with one line and code 2") {
  const TemporaryFolder folder;
  test::CheckOneLine(Reproduce(folder, "--only clutser --out o"), "did you mean 'cluster'");
  test::CheckOneLine(Reproduce(folder, "--only cluster"), "--out");
  test::CheckOneLine(Reproduce(folder, "--policies nowhere --out o"), "expected a folder, found 'nowhere'");
  test::CheckOneLine(Reproduce(folder, "--only lublin --seeds 3:4 --out o"), "two workloads");
}

}  // namespace berth
