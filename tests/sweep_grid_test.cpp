// berth sweep: the grid, its cells and what is wrong with one; fronts by hand; cells share their workloads.
#include "tools/sweep/sweep.hpp"

#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/sweep_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/sweep/pareto.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::FirstColumn;
using test::TemporaryFolder;
namespace fs = std::filesystem;

}  // namespace

TEST_CASE("sweep: axes and cells by hand") {
  const Grid grid(ParseAxes("rate=0.2, 0.4;v100=4..12..4;features=|failures(mtbf_h=5,repair_h=1)"));
  REQUIRE(grid.size() == 2 * 3 * 2);
  CHECK(grid.axes()[1].values == std::vector<std::string>{"4", "8", "12"});
  CHECK(grid.axes()[2].values == std::vector<std::string>{"", "failures(mtbf_h=5,repair_h=1)"});
  // 7 = 1 * 6 + 0 * 2 + 1
  CHECK(grid.Values(7) == std::vector<std::string>{"0.4", "4", "failures(mtbf_h=5,repair_h=1)"});
  CHECK(grid.Label(0) == "rate=0.2, v100=4, features=");
  CHECK(grid.Fill("synthetic(rate={rate},x={v100}{v100}) {} {not an axis}", 2) ==
        "synthetic(rate=0.2,x=88) {} {not an axis}");
  CHECK(Grid(ParseAxes(grid.ToString())).ToString() == grid.ToString());
  CHECK(Counts("7", "n") == std::vector<std::string>{"7"});
  CHECK(Counts("0..3", "n") == std::vector<std::string>{"0", "1", "2", "3"});
  CHECK(Counts("1..6..3", "n") == std::vector<std::string>{"1", "4"});
  for (const char* wrong : {"3..1", "1..2..0", "1..2..3..4", "..3", "1..x"})
    CHECK_THROWS_WITH(Counts(wrong, "n"), Catch::Contains("expected FIRST..LAST or FIRST..LAST..STEP"));
}

// What a folder is known by. Of text there are fewer than of Python's lists of values.
TEST_CASE("sweep: unlike grids have unlike texts") {
  const std::vector<std::vector<Axis>> unlike = {
      {{"x", {"a=2,b=2"}}}, {{"x", {"a=2", "b=2"}}}, {{"x", {"a=2,b=2", "c"}}}, {{"x", {"a=2,b=2|c"}}}, {{"x", {"a=2", "b=2", "c"}}},
      {{"x", {"a;y=b"}}}, {{"x", {"a"}}, {"y", {"b"}}}, {{"x", {"(a,b)"}}}, {{"x", {"(a", "b)"}}}, {{"x", {"1..2"}}}, {{"x", {"1", "2"}}},
      {{"x", {""}}}, {{"x", {"", "a"}}}, {{"x", {"|a"}}}, {{"x", {" a"}}}, {{"x", {"a"}}}, {{"x", {"[\"a=2", "b=2\"]"}}}};
  std::set<std::string> texts;
  for (const std::vector<Axis>& axes : unlike) texts.insert(Grid(axes).ToString());
  CHECK(texts.size() == unlike.size());
  for (const char* text : {"x=a,b;y=c", "x=a,b|c", "x=|a", "x=f(a,b)", "x=1,2,3"}) CHECK(Grid(ParseAxes(text)).ToString() == text);
}

// A cell's rows are read back by lines.
TEST_CASE("sweep: values from Python stand on one line, and those of options on one or several") {
  for (const char* value : {"v100=2\n", "v100=2,\nk80=1", "v100=2\r"})
    CHECK_THROWS_WITH(Grid(std::vector<Axis>{{"c", {value}}}), "axis 'c': expected values on one line, since a table has a line a cell");
  const TemporaryFolder folder;
  const std::string sweep = "sweep --over 'cluster=v100=2\n' --workload 'queueing(rate=1,\njobs=6)' --clock event --seeds 0:2 "
                            "--schedulers 'fcfs\n' 'gavel(objective=max_min,\naware=true)' --out d";
  for (int again = 0; again < 2; ++again) REQUIRE(Berth(folder, sweep).code == 0);
  REQUIRE(Berth(folder, "sweep --config d/sweep.ini --out d").code == 0);
  CHECK(FirstColumn(folder / "d/summary.csv", "scheduler") == std::vector<std::string>{"fcfs", "gavel(objective=max_min, aware=true)"});
}

TEST_CASE("sweep: a cell of other values is none of this grid") {
  const TemporaryFolder folder;
  const Grid grid(ParseAxes("rate= 1 | 2,2")), other({{"rate", {"1", "2"}}});
  const SweptCell cell{1, {5}, {{"fcfs", Knowledge::kNone, {RunResult{}}}}, std::vector<bool>(MetricFields().size(), true)};
  WriteCell(grid, cell, folder / "1.csv");
  CHECK(ReadCell(grid, 1, folder / "1.csv").rows.size() == 1);
  CHECK_THROWS_WITH(ReadCell(other, 1, folder / "1.csv"), Catch::Contains("1.csv:2: column 'rate': expected 2, found 2,2"));
}

// Points by hand; less is better twice. (1, 5), (2, 3) twice, (4, 1) are the front; (2, 4) loses to (2, 3),
// (3, 3) to (2, 3), (4, 2) to (4, 1); a point without a figure is nowhere.
TEST_CASE("sweep: which points no other beats, by hand") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<double, double>> points = {{4, 2}, {2, 3}, {1, 5}, {none, 0}, {2, 4},
                                                         {4, 1}, {3, 3}, {2, 3}, {0, none}};
  CHECK(NonDominated(points) == std::vector<std::size_t>{2, 1, 7, 5});
  CHECK(NonDominated({}).empty());
  CHECK(MoreIsBetter(*NamedMetric("util").field));
  CHECK_FALSE(MoreIsBetter(*NamedMetric("mean_jct_h").field));
  CHECK(NamedMetric("mean_jct_h").unit == 3600.0);
  CHECK(NamedMetric("mean_jct_s").unit == 1.0);
  CHECK_THROWS_WITH(ParsePareto("jct"), Catch::Contains("expected two figures A,B, found 'jct'"));
  CHECK_THROWS_WITH(ParsePareto("jct,mean_jct_h"), Catch::Contains("two different figures"));
  CHECK_THROWS_WITH(ParsePareto("mean_jt_h,cost"), Catch::Contains("did you mean 'mean_jct_h'?"));
}

TEST_CASE("sweep: what is wrong with a grid is one line and exit code 2") {
  const TemporaryFolder folder;
  const std::string rest = " --cluster v100=2 --schedulers fcfs --seeds 0:1 --out d";
  const auto refused = [&](const std::string& words, const std::string& expected) {
    CAPTURE(words);
    CheckOneLine(Berth(folder, "sweep " + words + rest), expected);
  };
  refused("--workload 'queueing(rate={rate})'", "--over: expected a value");
  refused("--over rate", "--over: expected NAME=VALUE,VALUE,..., found 'rate'");
  refused("--over 'rate=1,,2'",
          "--over: axis 'rate': expected values between commas, found none in 'rate=1,,2'");
  refused("--over rate=1,1 --workload 'queueing(rate={rate})'",
          "axis 'rate': expected each value once, found '1' twice");
  refused("--over rate=1 rate=2 --workload 'queueing(rate={rate})'",
          "axis 'rate': expected once, found twice");
  refused("--over rate=3..1 --workload 'queueing(rate={rate})'", "axis 'rate': expected FIRST..LAST");
  refused("--over jobs=3 --workload 'queueing(jobs={jobs})'", "since the table has a column of this one");
  refused("--over rate=1 --workload 'queueing(rate={rte})'",
          "--workload: expected axes of the grid in braces (rate), found {rte} (did you mean 'rate'?)");
  refused("--over knowlege=blind",
          "axis 'knowlege': expected {knowlege} in another option, or the name of one that it "
          "sets, found neither (did you mean 'knowledge'?)");
  refused("--over cluster=v100=1",
          "--cluster: expected nothing, since an axis of this name sets it, found 'v100=2'");
  refused("--over rate=1,x --workload 'queueing(rate={rate},jobs=5)'",
          "cell 1 (rate=x): --workload: queueing: parameter 'rate': expected a number, found 'x'");
  refused("--over clock=event,rond", "cell 1 (clock=rond): ");
  refused("--over rate=1 --workload 'queueing(rate={rate})' --pareto jct", "--pareto: expected two figures");
  refused("--over rate=1 --workload 'queueing(rate={rate})' --metrics p99,enery", "did you mean 'energy'?");
  refused("--over rate=1,2 --workload 'queueing(rate={rate})' --cells 1:3",
          "--cells: expected a range within the 2 cells, found 1:3");
  refused("--over rate=1,2 --workload 'queueing(rate={rate})' --cells 0:1 --json j",
          "--json: expected nothing with --cells");
  CHECK_FALSE(fs::exists(folder / "d/table.csv"));
}

// A cluster too small for the gangs of the default workload gets single jobs from evaluate. Beside a larger
// one it would then not have the same jobs: it is said instead that it cannot run them.
TEST_CASE("sweep: no cell has other jobs because its cluster is small") {
  Options settings("sweep", "", "");
  AddEvaluationPlan(settings);
  REQUIRE(settings.Parse({"--cluster", "v100={v100}", "--seeds", "5:6", "--schedulers", "fcfs"}));
  const SweepPlan plan(ParseAxes("v100=4,16"), settings);
  CHECK_THROWS_WITH(plan.Check(0),
                    Catch::StartsWith("cell 0 (v100=4): --workload: ") && Catch::Contains("in gangs of 8"));
  const EvaluationPlan large = plan.Cell(1, 1);
  CHECK(large.window.begin == 300);
  CHECK(large.window.end == 700);
}

// The same seed is the same jobs on any cluster and under any features; at another rate it is the same jobs
// whose arrivals come as much faster.
TEST_CASE("sweep: cells share their workloads") {
  Options settings("sweep", "", "");
  AddEvaluationPlan(settings);
  REQUIRE(settings.Parse({"--workload", "synthetic(rate={rate},jobs=50,gangs=multi)", "--cluster",
                          "v100={v100},k80=8{more}", "--seeds", "5:7", "--schedulers", "fcfs"}));
  const SweepPlan plan(ParseAxes("rate=1,2;v100=8,32;more=|,p100=16;features=|failures(mtbf_h=100)"),
                       settings);
  const EvaluationPlan base = plan.Cell(0, 1);
  for (std::int64_t cell = 1; cell < plan.grid().size(); ++cell) {
    const EvaluationPlan other = plan.Cell(cell, 1);
    for (std::size_t i = 0; i < 2; ++i) {
      const JobTable &a = base.workloads[i].data().jobs, &b = other.workloads[i].data().jobs;
      CAPTURE(cell, i);
      CHECK(a.gang == b.gang);
      CHECK(a.total_steps == b.total_steps);
      CHECK(a.job_type == b.job_type);
      const double faster = cell >= 8 ? 2.0 : 1.0;
      for (std::size_t job = 0; job < a.arrival.size(); ++job)
        CHECK(a.arrival[job] == Approx(faster * b.arrival[job]).epsilon(1e-12));
    }
  }
}

}  // namespace berth
