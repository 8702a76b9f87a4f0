// berth sweep: grids whose numbers are known, those of berth evaluate, and what its tables, JSON and page make of them.
#include "tools/sweep/sweep.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/sweep_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CellsIn;
using test::FirstColumn;
using test::kSmallGrid;
using test::Outcome;
using test::Slurp;
using test::TemporaryFolder;
namespace fs = std::filesystem;

}  // namespace

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
  // Two specs are alike in a cell: each has lost its own jobs.
  const Outcome alike = Berth(folder, "sweep --over q=0,1 --workload 'synthetic(rate=0,jobs=60)' --cluster v100=2 --schedulers "
                                      "'fcfs(queue_limit=0)' 'fcfs(queue_limit={q})' --seeds 0:1 --window 30:40 --out a --report alike");
  CAPTURE(alike.error);
  REQUIRE(alike.code == 0);
  const std::string said = "<p>q=0, fcfs(queue_limit=0): 10 of 10 measured jobs did not finish; it has no figures of jobs.</p>\n";
  CHECK(Slurp(folder / "alike/index.html").find(said + said) != std::string::npos);
}

}  // namespace berth
