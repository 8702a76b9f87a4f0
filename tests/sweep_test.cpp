// berth sweep: grids by hand, the numbers of berth evaluate, and a folder that survives whatever happens to
// it.
#include "tools/sweep/sweep.hpp"

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "data/csv_file.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/packed_files.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/file_lock.hpp"
#include "tools/json.hpp"
#include "tools/sweep/pareto.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::Outcome;
using test::Slurp;
using test::TemporaryFolder;
namespace fs = std::filesystem;

// Four cells, two schedulers, three seeds: some with failures, some in which work waits.
const std::string kSmallGrid =
    "sweep --over v100=2,3 --over 'rate=1,2' --workload 'queueing(rate={rate},jobs=60)' --cluster "
    "v100={v100} "
    "--clock event --schedulers fcfs srpt --seeds 0:3 --window 10:50";

std::vector<std::string> FirstColumn(const std::string& path, const std::string& name) {
  CsvFile file(path);
  std::vector<std::string> values;
  while (file.Next()) values.push_back(file.Text(name));
  return values;
}

// What a folder's tables hold.
std::string TableBytes(const std::string& folder) {
  return Slurp(folder + "/table.csv") + Slurp(folder + "/summary.csv") + Slurp(folder + "/table.h5");
}

int CellsIn(const std::string& folder) {
  std::error_code ignored;
  int count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder + "/cells", ignored))
    count += entry.path().extension() == ".csv";
  return count;
}

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

// Three jobs of an hour at time 0. On one GPU they end after 1, 2 and 3 hours: 2 on average; on two after 1,
// 1 and 2: 4/3; on three all after 1. Six jobs on one GPU: 3.5; on two 2; on three 1.5. Who is first does not
// matter. A GPU's hour has no price here that would make one cheaper: utilisation is the share of the GPUs'
// time in use.
TEST_CASE("sweep: a grid whose numbers are known") {
  const TemporaryFolder folder;
  const Outcome outcome =
      Berth(folder,
            "sweep --over gpus=1..3 jobs_each=3,6 --cluster v100={gpus} --clock event --schedulers fcfs "
            "--workload 'queueing(rate=0,jobs={jobs_each},sizes=deterministic)' --seeds 0:2 --out d --json "
            "j.json --pareto makespan,jct");
  CAPTURE(outcome.error);
  REQUIRE(outcome.code == 0);
  const Json rows = Json::parse(Slurp(folder / "j.json")).at("rows");
  const double hours[] = {2, 3.5, 4.0 / 3, 2, 1, 1.5}, makespan[] = {3, 6, 2, 3, 1, 2};
  REQUIRE(rows.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(rows[i].at("cell") == i);
    CHECK(rows[i].at("gpus") == std::to_string(1 + i / 2));
    CHECK(rows[i].at("mean_jct_s").get<double>() == Approx(3600 * hours[i]).epsilon(1e-12));
    CHECK(rows[i].at("makespan_s").get<double>() == Approx(3600 * makespan[i]).epsilon(1e-12));
    CHECK(rows[i].at("jct_ratio").at("mean") == 1.0);
  }
  // The smallest of both is cell 4, three jobs on three GPUs.
  CHECK(Json::parse(Slurp(folder / "j.json")).at("pareto").at("rows") == Json{4});
  CHECK(FirstColumn(folder / "d/table.csv", "seed").size() == 12);
  CHECK_THAT(Slurp(folder / "d/table.csv"), Catch::StartsWith("cell,gpus,jobs_each,scheduler,seed,jobs,"));
}

// Cells may have seeds of their own: 0 and 1 in one, 2 in the other.
TEST_CASE("sweep: seeds and knowledge may be axes, by the names of their options") {
  const TemporaryFolder folder;
  std::ofstream(folder / "left") << "";
  fs::create_directories(folder / "d/cells");
  fs::rename(folder / "left", folder / "d/cells/0.csv.tmp123");  // of a writer that was killed
  const Outcome outcome = Berth(
      folder,
      "sweep --over seeds=0:2,2:3 knowledge=none,blind --cluster v100=2 --clock event --schedulers fcfs "
      "--workload 'queueing(rate=1,jobs=20)' --out d");
  CAPTURE(outcome.error);
  REQUIRE(outcome.code == 0);
  CHECK(FirstColumn(folder / "d/table.csv", "seed") ==
        std::vector<std::string>{"0", "1", "0", "1", "2", "2"});
  CHECK(FirstColumn(folder / "d/table.csv", "knowledge") ==
        std::vector<std::string>{"none", "none", "blind", "blind", "none", "blind"});
  CHECK(CellsIn(folder / "d") == 4);
  CHECK_FALSE(fs::exists(folder / "d/cells/0.csv.tmp123"));
}

TEST_CASE("sweep: its numbers are those of evaluate, cell by cell") {
  const TemporaryFolder folder;
  const Outcome outcome = Berth(folder, kSmallGrid + " --out d --json sweep.json --threads 2");
  CAPTURE(outcome.error);
  REQUIRE(outcome.code == 0);
  const Json rows = Json::parse(Slurp(folder / "sweep.json")).at("rows");
  REQUIRE(rows.size() == 8);
  const std::vector<std::string> means = FirstColumn(folder / "d/table.csv", "mean_jct_s"),
                                 signatures = FirstColumn(folder / "d/table.csv", "signature");
  REQUIRE(means.size() == 24);
  const char* cells[][2] = {{"2", "1"}, {"2", "2"}, {"3", "1"}, {"3", "2"}};
  for (std::size_t cell = 0; cell < 4; ++cell) {
    const Outcome one =
        Berth(folder, Join("evaluate --workload 'queueing(rate=", cells[cell][1],
                           ",jobs=60)' --cluster v100=", cells[cell][0],
                           " --clock event --schedulers fcfs srpt --seeds 0:3 --window 10:50 --json e.json"));
    REQUIRE(one.code == 0);
    const Json evaluated = Json::parse(Slurp(folder / "e.json")).at("schedulers");
    for (std::size_t k = 0; k < 2; ++k) {
      CAPTURE(cell, k);
      const Json &mine = rows[2 * cell + k], &its = evaluated[k];
      CHECK(mine.at("v100") == cells[cell][0]);
      CHECK(mine.at("rate") == cells[cell][1]);
      for (const char* key :
           {"scheduler", "jobs", "unfinished", "unstable", "mean_jct_s", "mean_jct_ci95_s", "jct_ratio",
            "p99_jct_s", "mean_wait_s", "utilization", "makespan_s", "end_s"}) {
        CAPTURE(key);
        CHECK(mine.at(key) == its.at(key));
      }
      for (std::size_t i = 0; i < 3; ++i) {
        CHECK(std::stod(means[6 * cell + 3 * k + i]) == its.at("workloads")[i].at("mean_jct_s"));
        CHECK(signatures[6 * cell + 3 * k + i] == its.at("workloads")[i].at("signature"));
      }
    }
  }
}

// Left out are what no file of a cell has, and figures of features that are off everywhere.
TEST_CASE("sweep: its JSON says of a scheduler what evaluate says, of one workload too") {
  const TemporaryFolder folder;
  const std::string on = " --workload 'queueing(rate=1,jobs=60)' --clock event --schedulers fcfs srpt --window 10:50 --features topology ";
  for (const char* seeds : {"--seeds 0:1 ", "--seeds 0:3 "}) {
    CAPTURE(seeds);
    REQUIRE(Berth(folder, Join("sweep --over cluster=v100=2", on, seeds, "--json s.json --out ", seeds[10] == '1' ? "one" : "three")).code == 0);
    REQUIRE(Berth(folder, Join("evaluate --cluster v100=2", on, seeds, "--json e.json")).code == 0);
    const Json rows = Json::parse(Slurp(folder / "s.json")).at("rows"), its = Json::parse(Slurp(folder / "e.json")).at("schedulers");
    for (std::size_t k = 0; k < 2; ++k) {
      Json mine = rows[k], whole = its[k];
      for (const char* own : {"cell", "cluster"}) CHECK(mine.erase(own) == 1);
      for (const char* left_out : {"knowledge", "decisions", "signature", "workloads", "decision_us_mean", "decision_us_p99", "wall_s"})
        CHECK(whole.erase(left_out) == 1);
      for (const auto& [key, value] : mine.items()) {
        CAPTURE(key);
        CHECK(value == whole.at(key));
        whole.erase(key);
      }
      for (const auto& [key, value] : whole.items()) {  // of other features, and of deadlines where there are none
        CAPTURE(key);
        if (key != "deadline_miss_rate") CHECK(NamedMetric(key).field->member == nullptr);
        CHECK(value == 0.0);
      }
    }
  }
}

// The run ends before its last job arrives: nobody can tell whether the cluster keeps up.
TEST_CASE("sweep: a figure that no run has is null and has its column, as evaluate has it") {
  const TemporaryFolder folder;
  const std::string jobs = " --workload 'queueing(rate=1,jobs=60)' --clock event --seeds 0:2 --schedulers fcfs --max-time 7200 ";
  REQUIRE(Berth(folder, Join("evaluate --cluster v100=2", jobs, "--json e.json")).code == 0);
  REQUIRE(Berth(folder, Join("sweep --over cluster=v100=2", jobs, "--out d --json s.json")).code == 0);
  const Json one = Json::parse(Slurp(folder / "e.json")).at("schedulers")[0], row = Json::parse(Slurp(folder / "s.json")).at("rows")[0];
  CHECK(one.at("backlog_jobs").is_null());
  for (const char* key : {"backlog_jobs", "backlog_gpu_h", "backlog_growth"}) {
    CAPTURE(key);
    REQUIRE(row.count(key) == 1);
    CHECK(row.at(key) == one.at(key));
    CHECK(FirstColumn(folder / "d/table.csv", key) == std::vector<std::string>{"", ""});
  }
  CHECK(row.count("deadline_miss_rate") == 0);
}

// A replica answers a request each 5 s and two come a second: even the median answer is beyond what is measured.
// Where the feature is off there is no such figure.
TEST_CASE("sweep: a figure beyond what is measured is said as evaluate says it") {
  const TemporaryFolder folder;
  const std::string jobs = " --workload 'queueing(rate=100,jobs=5)' --cluster v100=3 --clock event --seeds 0:2 --schedulers fcfs ",
                    services = "services(rate_per_s=2,base_s=5,max_batch=1,replicas=1)";
  CHECK(Berth(folder, Join("evaluate", jobs, "--features '", services, "' --json e.json")).code == 0);
  CHECK(Berth(folder, Join("sweep", jobs, "--over 'features=", services, ",topology' --out d --json s.json")).code == 0);
  const Json one = Json::parse(Slurp(folder / "e.json")).at("schedulers")[0], rows = Json::parse(Slurp(folder / "s.json")).at("rows");
  CHECK(one.at("service_p50_s") == ">10000");
  for (const char* key : {"service_p50_s", "service_p99_s", "service_attainment"}) CHECK(rows[0].at(key) == one.at(key));
  CHECK(rows[1].at("service_p50_s").is_null());
}

// A request takes some hundredths of a second and one comes each 100 s: all are answered in time. Where the feature is
// off, "-" stands in the place of its figures.
TEST_CASE("sweep: its table shows the figures of features in the cells that have them") {
  const TemporaryFolder folder;
  const std::string sweep =
      "sweep --workload 'queueing(rate=100,jobs=5)' --cluster v100=3 --clock event --seeds 0:2 --schedulers fcfs "
      "--over 'features=|services(rate_per_s=0.01,replicas=1)' --out ";
  const auto has = [](const Outcome& outcome, const std::string& row) {
    CAPTURE(row, outcome.out, outcome.error);
    CHECK(std::regex_search(outcome.out, std::regex(row)));
  };
  const Outcome usual = Berth(folder, sweep + "usual"),
                asked = Berth(folder, sweep + "asked --metrics wait,service_attainment,deadline_misses,service_p50_s");
  has(usual, R"(service_p50_s +service_p95_s +service_p99_s +service_goodput_per_s +service_attainment +service_gpu_hours\s)");
  has(usual, R"(replicas=1\) +fcfs .* 0\.03 +0\.03 +0\.03 +0\.01 +1\.00 +\d+\.\d\d\s)");
  has(usual, R"(\n +fcfs .* - +- +- +- +- +-\s)");
  has(asked, R"(wait h +service_attainment +missed % +service_p50_s\s)");
  has(asked, R"(replicas=1\) +fcfs .* \d+\.\d\d +1\.00 +- +0\.03\s)");  // no job has a deadline
  has(asked, R"(\n +fcfs .* \d+\.\d\d +- +- +-\s)");
}

TEST_CASE("sweep: killed at any moment it goes on, and ends with the same tables to the bit") {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"sweep",
                                    "--over",
                                    "rate=1,2,3,4",
                                    "v100=2..5",
                                    "--workload",
                                    "queueing(rate={rate},jobs=3000)",
                                    "--cluster",
                                    "v100={v100}",
                                    "--clock",
                                    "event",
                                    "--schedulers",
                                    "fcfs",
                                    "srpt",
                                    "--seeds",
                                    "0:4",
                                    "--threads",
                                    "1",
                                    "--pareto",
                                    "jct,util"};
  const auto with = [&](const std::string& out, const std::string& threads) {
    std::vector<std::string> all = words;
    all[16] = threads;
    all.insert(all.end(), {"--out", out});
    return all;
  };
  REQUIRE(with("d", "7")[15] == "--threads");
  REQUIRE(test::Wait(test::Start(folder, with("whole", "2"))) == 0);
  CHECK(CellsIn(folder / "whole") == 16);
  int killed = 0;
  for (int at_least = 1; at_least <= 7; at_least += 3) {
    const pid_t child = test::Start(folder, with("parts", "1"));
    for (int wait = 0; wait < 6000 && CellsIn(folder / "parts") < at_least && !test::Ended(child); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGKILL);
    killed += test::Wait(child) == -1;
    CHECK_FALSE(fs::exists(folder / "parts/table.csv"));
  }
  CHECK(killed == 3);
  const int kept = CellsIn(folder / "parts");
  CHECK(kept < 16);
  REQUIRE(test::Wait(test::Start(folder, with("parts", "1"))) == 0);
  CHECK_THAT(Slurp(folder / "out.txt"), Catch::Contains(Join("16 cells, ", kept, " of them were there")));
  CHECK((TableBytes(folder / "whole") == TableBytes(folder / "parts")));
  CHECK(Slurp(folder / "whole/table.csv").size() > 1000);
}

TEST_CASE("sweep: Ctrl-C keeps the cells that have ended") {
  const TemporaryFolder folder;
  const pid_t child =
      test::Start(folder, {"sweep", "--over", "rate=1..40", "--workload", "queueing(rate={rate},jobs=3000)",
                           "--cluster", "v100=4", "--clock", "event", "--schedulers", "srpt", "--seeds",
                           "0:4", "--threads", "1", "--out", "d"});
  for (int wait = 0; wait < 6000 && CellsIn(folder / "d") < 2 && !test::Ended(child); ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGINT);
  CHECK(test::Wait(child) == 130);
  CHECK_THAT(Slurp(folder / "error.txt"),
             Catch::Contains(Join("interrupted: ", CellsIn(folder / "d"), " of 40 cells")));
}

TEST_CASE("sweep: a folder of other settings, or one in use, is refused with one line") {
  const TemporaryFolder folder;
  std::ofstream(folder / "c.toml") << "[[type]]\nname = \"v100\"\ncount = 2\n";
  const std::string run =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
      "--schedulers fcfs --out d ";
  REQUIRE(Berth(folder, run + "--seeds 0:2").code == 0);
  CHECK(Berth(folder, run + "--seeds 0:2 --metrics wait").code == 0);  // only how it is shown
  CheckOneLine(Berth(folder, run + "--seeds 0:3"),
               "--out: d holds another sweep: expected seeds=0:2, found seeds=0:3; give another folder");
  CheckOneLine(Berth(folder,
                     "sweep --over rate=1,3 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
                     "--schedulers fcfs --out d --seeds 0:2"),
               "expected over=rate=1,2, found over=rate=1,3");
  std::string record = Slurp(folder / "d/sweep.ini");
  const std::size_t source = record.find("# source ") + 9;
  record.replace(source, record.find('\n', source) - source, "elsewhere");
  std::ofstream(folder / "d/sweep.ini") << record;
  CheckOneLine(Berth(folder, run + "--seeds 0:2"), "expected the build that began it, elsewhere, found ");
  // A policy in the place of another, under the same name.
  const std::string policies = std::string(BERTH_SOURCE_DIR) + "/data/policies/cluster/";
  std::vector<fs::path> files(fs::directory_iterator(policies), fs::directory_iterator{});
  std::erase_if(files, [](const fs::path& path) { return path.extension() != ".h5"; });
  REQUIRE(files.size() >= 2);
  const std::string learned =
      "sweep --over rate=1,2 --workload 'synthetic(rate={rate},jobs=10)' --cluster "
      "v100=2,p100=2,k80=2 --schedulers 'fcfs;policy(file=p.h5)' --seeds 0:1 --out p";
  fs::copy_file(files[0], folder / "p.h5");
  const Outcome first = Berth(folder, learned);
  CAPTURE(first.error);
  REQUIRE(first.code == 0);
  fs::copy_file(files[1], folder / "p.h5", fs::copy_options::overwrite_existing);
  CheckOneLine(Berth(folder, learned), "expected # file p.h5 ");
  // Another member in the place of one, under the names of archive and member.
  const auto pack = [&](const std::string& seconds) {
    const std::string log = "1 0 0 100 1 -1 -1 1 100 -1 1 1 1 1 1 1 -1 -1\n2 10 0 " + seconds + " 2 -1 -1 2 300 -1 1 1 1 1 1 1 -1 -1\n";
    test::WriteGzip(folder / "log.tar.gz", test::TarMember("log.swf", log) + std::string(1024, '\0'));
    return Berth(folder, "sweep --over clock=event,hpc --scenario log.tar.gz:log.swf --format swf --cluster v100=2 --schedulers fcfs --out a");
  };
  REQUIRE(pack("200").code == 0);
  CHECK(pack("200").code == 0);
  CheckOneLine(pack("300"), "expected # file log.tar.gz ");

  const std::string other =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=20)' --cluster v100=2 "
      "--schedulers fcfs --seeds 0:2 --out e";
  REQUIRE(Berth(folder, other + " --cells 0:1").code == 0);
  {
    const FileLock whole(folder / "e/lock", "e", "this test");
    CheckOneLine(Berth(folder, other),
                 Join("--out: e is in use by process ", getpid(), " (this test) on "));
    CheckOneLine(Berth(folder, other + " --cells 1:2"), "--out: e is in use by process ");
  }
  {
    const FileLock part(folder / "e/lock", "e", "this test", /*shared=*/true);
    const FileLock own(folder / "e/cells/1-2.lock", "e", "this test");
    CheckOneLine(Berth(folder, other), "--out: e is in use by another process");
    CheckOneLine(Berth(folder, other + " --cells 1:2"), "--out: e: cells 1:2 is in use by process ");
    CHECK(Berth(folder, other + " --cells 0:1").code == 0);
  }
  CHECK(Berth(folder, other).code == 0);
}

TEST_CASE("sweep: no output replaces its own record or cells") {
  const TemporaryFolder folder;
  const std::string run =
      "sweep --over rate=1,2 --workload 'queueing(rate={rate},jobs=5)' --cluster v100=2 --schedulers fcfs "
      "--seeds 0:1 --out d";
  const auto refused = [&](const std::string& words, const std::string& expected) {
    CAPTURE(words);
    CheckOneLine(Berth(folder, run + words), expected);
  };
  refused(" --json d/cells/0.csv", "--json: expected a place outside of d/cells, found d/cells/0.csv");
  REQUIRE(Berth(folder, run).code == 0);
  fs::create_symlink("d", folder / "link");
  const std::string record = Slurp(folder / "d/sweep.ini"), cell = Slurp(folder / "d/cells/0.csv");
  refused(" --json d/sweep.ini", "--json: expected another file than one of --out, found d/sweep.ini for both");
  refused(" --json d/lock", "--json: expected another file than one of --out");
  refused(" --json link/cells/0.csv", "--json: expected a place outside of d/cells, found link/cells/0.csv");
  refused(" --report d/cells", "--report: expected a place outside of d/cells, found d/cells");
  CHECK(Slurp(folder / "d/sweep.ini") == record);
  CHECK(Slurp(folder / "d/cells/0.csv") == cell);
  CHECK(Berth(folder, run + " --json d/sweep.json").code == 0);
  CHECK(Berth(folder, "sweep --config d/sweep.ini --out d").code == 0);  // which reads the record
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

TEST_CASE("sweep: the tasks of a job array, and ranks, make what one process makes") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, kSmallGrid + " --out whole --pareto jct,util").code == 0);
  const Outcome printed = Berth(folder, kSmallGrid + " --out parts --print-array");
  REQUIRE(printed.code == 0);
  CHECK_THAT(printed.out, Catch::StartsWith("#!/bin/bash\n") && Catch::Contains("#SBATCH --array=0-3\n"));
  std::ofstream(folder / "array.sh") << printed.out;
  for (int task = 0; task < 4; ++task) {
    // As Slurm calls it; `berth` is the tested binary.
    const std::string run = Join("cd '", folder.path(),
                                 "' && mkdir -p bin && ln -sf '" BERTH_BINARY
                                 "' bin/berth && PATH=\"$PWD/bin:$PATH\" SLURM_ARRAY_TASK_ID=",
                                 3 - task, " bash array.sh >part.txt 2>&1");
    REQUIRE(std::system(run.c_str()) == 0);
    CHECK_THAT(Slurp(folder / "part.txt"), Catch::Contains(Join(task + 1, " of 4 in parts")));
    CHECK_FALSE(fs::exists(folder / "parts/table.csv"));
  }
  const Outcome merged = Berth(folder, kSmallGrid + " --out parts --pareto jct,util");
  REQUIRE(merged.code == 0);
  CHECK_THAT(merged.out, Catch::Contains("4 cells, 4 of them were there"));
  CHECK((TableBytes(folder / "whole") == TableBytes(folder / "parts")));
  // The same script on three ranks of torchrun's, and of six, of whom two have nothing to do: cells 4 r / n.
  const auto on_ranks = [&](int ranks, const std::string& variables) {
    const Outcome script = Berth(folder, Join(kSmallGrid, " --out ranks", ranks, " --print-array"));
    std::ofstream(folder / "ranks.sh") << script.out;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::string run =
          Join("cd '", folder.path(), "' && PATH=\"$PWD/bin:$PATH\" ", variables.substr(0, variables.find(',')), "=",
               rank, " ", variables.substr(variables.find(',') + 1), "=", ranks, " bash ranks.sh >rank.txt 2>&1");
      REQUIRE(std::system(run.c_str()) == 0);
    }
    CHECK(CellsIn(folder / Join("ranks", ranks)) == 4);
    REQUIRE(Berth(folder, Join(kSmallGrid, " --out ranks", ranks, " --pareto jct,util")).code == 0);
    CHECK((TableBytes(folder / "whole") == TableBytes(folder / Join("ranks", ranks))));
  };
  on_ranks(3, "RANK,WORLD_SIZE");
  on_ranks(6, "OMPI_COMM_WORLD_RANK,OMPI_COMM_WORLD_SIZE");
  const std::string alone = Join("cd '", folder.path(), "' && bash ranks.sh 2>alone.txt");
  CHECK(std::system(alone.c_str()) != 0);
  CHECK_THAT(Slurp(folder / "alone.txt"), Catch::Contains("expected sbatch or ranks to run this"));
  // Of a large grid each task has several cells, and none is forgotten: 1,001 cells are 501 tasks of two.
  const Outcome large = Berth(folder,
                              "sweep --over rate=1..1001 --workload 'queueing(rate={rate})' --out large "
                              "--print-array");
  CHECK_THAT(large.out,
             Catch::Contains("#SBATCH --array=0-500\n") && Catch::Contains("SLURM_ARRAY_TASK_ID * 2"));
}

TEST_CASE("sweep: its file says what its table says, and its page has a figure of each") {
  const TemporaryFolder folder;
  const std::string python = test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib");
  const Outcome outcome = Berth(folder, kSmallGrid + " --out d --metrics wait,util --pareto jct,util" +
                                            (python.empty() ? "" : " --report page"));
  CAPTURE(outcome.error);
  REQUIRE(outcome.code == 0);
  const h5::Reader file(folder / "d/table.h5", "sweep", 1);
  CHECK(file.Strings("axis_names") == std::vector<std::string>{"v100", "rate"});
  CHECK(file.Strings("axes/rate") == FirstColumn(folder / "d/table.csv", "rate"));
  CHECK(file.Array<double>("axis_numbers/v100").front() == 2.0);
  const std::vector<double> waits = file.Array<double>("metrics/mean_wait_s");
  const std::vector<std::string> texts = FirstColumn(folder / "d/table.csv", "mean_wait_s");
  REQUIRE(waits.size() == texts.size());
  for (std::size_t i = 0; i < waits.size(); ++i) CHECK(waits[i] == std::stod(texts[i]));
  const std::vector<std::string> lows = FirstColumn(folder / "d/summary.csv", "mean_wait_s_low");
  const std::vector<double> low = file.Array<double>("summary/low/mean_wait_s");
  for (std::size_t i = 0; i < low.size(); ++i) CHECK(low[i] == std::stod(lows[i]));
  CHECK(Berth(folder, "inspect d/table.h5").code == 0);
  // A value without end stands beside the others, not among them.
  const Outcome endless = Berth(folder, "sweep --over 'limit=20,inf;rate=1,2' --schedulers 'admission(limit={limit})' --workload "
                                        "'queueing(rate={rate},jobs=5)' --seeds 0:1 --out e");
  CAPTURE(endless.error);
  REQUIRE(endless.code == 0);
  const h5::Reader mixed(folder / "e/table.h5", "sweep", 1);
  CHECK(mixed.Strings("axes/limit").back() == "inf");
  CHECK_FALSE(mixed.Has("axis_numbers/limit"));
  CHECK(mixed.Has("axis_numbers/rate"));
  if (python.empty()) return test::Skip("needs h5py and matplotlib: tools/setup");
  const std::string page = Slurp(folder / "page/index.html");
  for (const char* figure : {"pareto", "mean_jct_s", "ratio", "mean_wait_s", "utilization"}) {
    CAPTURE(figure);
    CHECK(page.find(Join("<h2 id=\"", figure, "\">")) != std::string::npos);
    CHECK(fs::file_size(folder / Join("page/", figure, ".png")) > 5000);
  }
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("95% bootstrap") != std::string::npos);
  CHECK(page.find("did not finish") == std::string::npos);
  // Of two GPUs and 60 jobs at once nobody may wait, so that no job of the window ends; and one seed has no intervals.
  const Outcome lost = Berth(folder, "sweep --over v100=2,3 --workload 'synthetic(rate=0,jobs=60)' --cluster v100={v100} --schedulers srpt "
                                     "'fcfs(queue_limit=0)' --seeds 0:1 --window 30:40 --out l --report lost");
  CAPTURE(lost.error);
  REQUIRE(lost.code == 0);
  const std::string lines = Slurp(folder / "lost/index.html");
  CHECK(lines.find("<p>v100=2, fcfs(queue_limit=0): 10 of 10 measured jobs did not finish; it has no figures of jobs.</p>") !=
        std::string::npos);
  CHECK(lines.find("srpt: ") == std::string::npos);
  CHECK(lines.find("<td title=\"srpt\">srpt</td>") != std::string::npos);
  CHECK(lines.find("95%") == std::string::npos);
}

}  // namespace berth
