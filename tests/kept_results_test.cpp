// What reproductions keep between runs: it counts again only for what made it.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/actions/child_steps.hpp"
#include "tools/reproduce/pollux/recorded.hpp"
#include "tools/reproduce/runs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

void Put(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

// 200 jobs on one GPU, whose making takes at least this much CPU time.
PlannedWorkload DearToMake(double seconds) {
  PlannedWorkload workload;
  workload.name = "dear", workload.window = {0, 200};
  workload.make = [seconds] {
    const double begin = ThreadCpuSeconds();
    while (ThreadCpuSeconds() - begin < seconds) continue;
    std::vector<test::TinyJob> jobs;
    for (int job = 0; job < 200; ++job) jobs.push_back({10.0 * job, 5.0});
    return test::Tiny({{"a", 1}}, {{1.0}}, jobs);
  };
  return workload;
}

}  // namespace

TEST_CASE("kept results: what making a scenario takes is no part of the limit that stopped its run") {
  const TemporaryFolder folder;
  const PlannedWorkload workload = DearToMake(0.2);
  ReproductionRuns first("", folder.path(), {.cpu_limit_s = 0.0});
  first.Plan(workload, "fcfs");
  REQUIRE(first.Execute(1));
  REQUIRE(first.Find(workload, "fcfs")->stopped);
  const auto left = [&](double limit_s) {
    ReproductionRuns again("", folder.path(), {.cpu_limit_s = limit_s});
    again.Plan(workload, "fcfs");
    again.ReadKept();
    return again.to_do();
  };
  CHECK(left(0.0) == 0);
  CHECK(left(0.2) == 1);  // 0.2 s went by when it was stopped, but before it began
}

TEST_CASE("kept results: a step of actions is of its commands and of what is in the files that they name") {
  const TemporaryFolder folder;
  Put(folder / "a.h5", "a policy");
  const auto evaluation = [&](const std::string& seeds) {
    return ChildStep{"row",
                     {{"evaluate", "--schedulers", "srpt;guard(policy=policy(file=" + folder / "a.h5" + "))",
                       "--seeds", seeds}},
                     folder / "row.h5",
                     1.0};
  };
  const ChildStep step = evaluation("0:5");
  CHECK(StepsLeft({step}).size() == 1);
  Put(step.makes, "results");
  CHECK(StepsLeft({step}).size() == 1);  // nothing says what made them
  WriteTextFile(step.makes + ".made_by", StepKey(step));
  CHECK(StepsLeft({step}).empty());
  CHECK(StepsLeft({evaluation("0:6")}).size() == 1);
  Put(folder / "a.h5", "a policy trained anew");
  CHECK(StepsLeft({step}).size() == 1);
  Put(folder / "a.h5", "a policy");
  CHECK(StepsLeft({step}).empty());
}

TEST_CASE("kept results: of a workload of Pollux counts what its files hold, wherever they lie") {
  const TemporaryFolder folder;
  const auto hash = [&](const std::string& name, const std::function<void(const std::string&)>& change = {}) {
    const std::string path = folder / name;
    Put(path + "/profiles/bert/placements.csv", "placement\n1\n");
    Put(path + "/workloads/load-1.0/workload-1.csv", "name\na\n");
    Put(path + "/golden/throughput_lookups.csv.gz", "app\nbert\n");
    if (change) change(path);
    return pollux::Folder(path).Hash("1.0", 1, "best");
  };
  const std::string usual = hash("a");
  CHECK(hash("b") == usual);
  CHECK(pollux::Folder(folder / "a").Hash("1.0", 1, "submitted") != usual);
  CHECK(hash("c", [](const std::string& path) { Put(path + "/profiles/bert/placements.csv", "placement\n2\n"); }) !=
        usual);
  CHECK(hash("d", [](const std::string& path) { Put(path + "/profiles/gpt/placements.csv", ""); }) != usual);
  CHECK(hash("e", [](const std::string& path) { Put(path + "/workloads/load-1.0/workload-1.csv", "name\nb\n"); }) !=
        usual);
  CHECK(hash("f", [](const std::string& path) { Put(path + "/golden/throughput_lookups.csv.gz", "app\ngpt\n"); }) !=
        usual);
}

// Where the tree has changes the build is known by its bytes: the library of studies is where runs are made.
TEST_CASE("kept results: another library of studies is another build, unless a commit names it", "[cli]") {
  const TemporaryFolder folder;
  const fs::path build = fs::path(BERTH_BINARY).parent_path();
  for (const char* file : {"berth", "libberth_studies.so"})
    fs::copy_file(build / file, folder / file);
  const auto kept = [&] {
    const test::Outcome ran = test::Berth(
        folder, "--version >/dev/null && ./berth reproduce gavel --reference . --only simulations --quick "
                "--no-pictures --threads 1 --out o");
    CAPTURE(ran.error);
    CHECK(ran.code == 0);
    return ran.out.find("1 run, 1 of them kept") != std::string::npos;
  };
  fs::create_directories(folder / "sim/traces_public");
  std::ofstream(folder / "sim/traces_public/one.trace")
      << "ResNet-50 (batch size 64)\tpython3 main.py\tdir\t--num_steps\t0\t100000\t1\t1\t-1.000000\t0.000000\n";
  std::ofstream(folder / "sim/results_public.csv")
      << "trace,policy,window_start,window_end,status,avg_jct_s,makespan_s\none,fifo,0,1,ok,1,1\n";
  CHECK_FALSE(kept());
  CHECK(kept());
  std::ofstream(folder / "libberth_studies.so", std::ios::app | std::ios::binary) << '\0';
  const std::string commit = SourceCommit();
  CHECK(kept() == (commit != "unknown" && !commit.ends_with("-dirty")));
}

}  // namespace berth
