// What a verb writes is none of the files that it reads, wherever an option names them: the binary, and the
// files that texts name.
#include <filesystem>
#include <fstream>
#include <string>

#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/packed_files.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Berth;
using test::CheckOneLine;
using test::Slurp;
using test::TemporaryFolder;

const std::string kShipped = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle_1.h5";

std::string Paths(const std::string& text) {
  std::string paths;
  for (const SpecFile& file : SpecFiles(text)) paths += file.path + "|";
  return paths;
}

// A policy as p.h5, and under the name that `policy` reads where it is told no other.
struct Folder : TemporaryFolder {
  Folder() {
    for (const char* name : {"p.h5", "policy.h5"}) fs::copy_file(kShipped, *this / name);
    std::ofstream(*this / "log.csv") << "down_s,up_s,kind,name\n0,10,gpu,v100/0\n";
  }
  // Refused, and no byte of `file` changed.
  void CheckRefused(const std::string& arguments, const std::string& expected, const std::string& file) {
    const std::string before = Slurp(*this / file);
    CheckOneLine(Berth(*this, arguments), expected);
    CHECK(Slurp(*this / file) == before);
    CHECK_FALSE(before.empty());
  }
};

const std::string kSmall = " --workload 'toy(jobs=5)' --cluster v100=2 ";

}  // namespace

TEST_CASE("files: the parameters of a text at any depth, and what schedulers read untold") {
  CHECK(Paths("fcfs;policy(file=a b.h5,sample=true)") == "a b.h5|true|");
  CHECK(Paths("hybrid(inner=policy(file=x/p(1).h5),plan=milp)") == "policy(file=x/p(1).h5)|x/p(1).h5|milp|");
  CHECK(Paths("failures(mtbf_h=300, log = o.csv );power") == "300|o.csv|");
  CHECK(Paths("pools(pools=a:v100:policy(file=p.h5)|b:*)") == "a:v100:policy(file=p.h5)|b:*|p.h5|");
  CHECK(Paths("fcfs;policy") == "policy.h5|");
  CHECK(Paths("policy(sample=true)") == "true|policy.h5|");
  CHECK(Paths("policy(file=my/policy.h5)") == "my/policy.h5|");
  CHECK(Paths("").empty());
  CHECK(Paths("=").empty());
  REQUIRE(SpecFiles("hybrid(inner=policy(file=q))").size() == 2);
  CHECK(SpecFiles("hybrid(inner=policy(file=q))")[1].said == "file=q");
}

TEST_CASE("files: no output replaces a file that a spec names") {
  Folder folder;
  const std::string evaluate = "evaluate --seeds 0:1" + kSmall;
  folder.CheckRefused(evaluate + "--schedulers 'fcfs;policy(file=p.h5)' --json p.h5",
                      "--json: expected another file than file=p.h5 of --schedulers, found p.h5 for both",
                      "p.h5");
  folder.CheckRefused(evaluate + "--schedulers 'policy(file=p.h5)' --out ./p.h5", "for both", "p.h5");
  folder.CheckRefused(evaluate + "--schedulers 'policy(file=p.h5)' --timeline p.h5", "for both", "p.h5");
  folder.CheckRefused(evaluate + "--schedulers 'policy(file=p.h5)' --csv p.h5", "for both", "p.h5");
  folder.CheckRefused(evaluate + "--schedulers 'fcfs;policy' --json policy.h5", "for both", "policy.h5");
  folder.CheckRefused(evaluate + "--schedulers 'fcfs;all' --json policy.h5", "found one of kind 'policy'",
                      "policy.h5");
  const std::string simulate = "simulate" + kSmall;
  folder.CheckRefused(simulate + "--scheduler 'policy(file=p.h5)' --timeline p.h5",
                      "file=p.h5 of --scheduler", "p.h5");
  folder.CheckRefused(simulate + "--scheduler 'batch(inner=policy(file=p.h5))' --json p.h5", "for both",
                      "p.h5");
  folder.CheckRefused(simulate + "--features 'failures(log=log.csv)' --json log.csv",
                      "--json: expected another file than log=log.csv of --features", "log.csv");
  fs::create_hard_link(folder / "p.h5", folder / "same.h5");
  folder.CheckRefused(simulate + "--scheduler 'policy(file=p.h5)' --events same.h5", "for both", "p.h5");
  // Of a configuration file, and of a scenario that says itself what it reads.
  std::ofstream(folder / "c.ini") << "scheduler=policy(file=p.h5)\n";
  folder.CheckRefused(simulate + "--config c.ini --json p.h5", "p.h5 for both", "p.h5");
  REQUIRE(Berth(folder, "generate" + kSmall + "--features 'failures(log=log.csv)' --out s.h5").code == 0);
  folder.CheckRefused("simulate --scenario s.h5 --json log.csv", "log.csv for both", "log.csv");
  folder.CheckRefused("tune --policy p.h5 --json p.h5 --out q.h5 --generations 1", "than --policy", "p.h5");
  // A word of a spec is a file only where there is one.
  CHECK(Berth(folder, simulate + "--scheduler 'queue(order=sjf)' --json sjf").code == 0);
}

TEST_CASE("files: no output replaces what a format reads beside its file") {
  Folder folder;
  std::ofstream(folder / "sacct.txt") << "JobIDRaw|State|Submit|Start|End|AllocTRES|Elapsed\n"
                                         "1|COMPLETED|2026-03-01T12:00:00|2026-03-01T12:00:00|2026-03-01T12:01:00|gres/gpu=1|60\n";
  std::ofstream(folder / "slurm.conf") << "NodeName=a Gres=gpu:v100:4\n";
  std::ofstream(folder / "events.txt") << "NodeName|TimeStart|TimeEnd|State\n";
  std::ofstream(folder / "reservations.txt") << "Name|NodeName|TimeStart|TimeEnd|Flags\n";
  for (const char* file : {"slurm.conf", "events.txt", "reservations.txt"}) {
    folder.CheckRefused(Join("convert --format sacct sacct.txt --out s.h5 --json ", file),
                        "--json: expected another file than one of --format", file);
    folder.CheckRefused(Join("simulate --scenario sacct.txt --format sacct --scheduler fcfs --json ", file), "for both", file);
  }
  CHECK(Berth(folder, "convert --format sacct sacct.txt --out s.h5 --json c.json").code == 0);
}

TEST_CASE("files: no output replaces an archive of which a member is read") {
  Folder folder;
  const std::string name = "pai_task_table.tar.gz", job_table = "pai_job_table.tar.gz";
  test::WriteGzip(folder / name, test::TarMember("pai_task_table.csv", "j,worker,1,Terminated,10,70,600,29,100,V100\n"));
  test::WriteGzip(folder / job_table, test::TarMember("pai_job_table.csv", "j,i,u,Terminated,10,70\n"));
  const std::string simulate =
      "simulate --format pai --cluster v100=4 --scheduler fcfs --scenario pai_task_table.tar.gz:pai_task_table.csv";
  folder.CheckRefused(simulate + " --json " + name, "--json: expected another file than --scenario", name);
  folder.CheckRefused(simulate + " --json " + job_table, "--json: expected another file than one of --format",
                      job_table);
  folder.CheckRefused("convert --format pai pai_task_table.tar.gz:pai_task_table.csv --cluster v100=4 --out " + name,
                      "--out: expected another file than trace", name);
  folder.CheckRefused("simulate --features 'failures(log=pai_job_table.tar.gz:x.csv)' --json " + job_table + kSmall,
                      "than log=pai_job_table.tar.gz:x.csv of --features", job_table);
  const test::Outcome right = Berth(folder, simulate + " --json a.json");
  CAPTURE(right.error);
  CHECK(right.code == 0);
}

// As of goodput, whose folders are of applications.
TEST_CASE("files: no output replaces a table in a folder that a spec names") {
  Folder folder;
  fs::create_directories(folder / "prof/imagenet");
  std::ofstream(folder / "prof/imagenet/placements-aws.csv") << "placement\n";
  const std::string simulate = "simulate" + kSmall + "--features 'goodput(profiles=prof)' --json ";
  folder.CheckRefused(simulate + "prof/imagenet/placements-aws.csv",
                      "--json: expected another file than profiles=prof of --features",
                      "prof/imagenet/placements-aws.csv");
  fs::create_symlink("prof", folder / "link");
  folder.CheckRefused(simulate + "link/imagenet/placements-aws.csv", "for both", "prof/imagenet/placements-aws.csv");
  CHECK(FilesBehind(folder / "prof") == std::vector<std::string>{folder / "prof/imagenet/placements-aws.csv"});
  // A folder that is called as a word of a spec is one for results too.
  fs::create_directory(folder / "sjf");
  for (int again = 0; again < 2; ++again)
    CHECK(Berth(folder, "simulate" + kSmall + "--scheduler 'queue(order=sjf)' --json sjf/a.json").code == 0);
}

TEST_CASE("files: two outputs are the same file before it is there") {
  Folder folder;
  CheckOneLine(Berth(folder, Join("simulate --scheduler fcfs --json new --events ", folder / "new", kSmall)), "for both");
  CheckOneLine(Berth(folder, Join("simulate --scheduler fcfs --json new --events x/../new", kSmall)), "for both");
  CHECK_FALSE(fs::exists(folder / "new"));
}

TEST_CASE("files: no output replaces what a folder holds") {
  Folder folder;
  fs::create_directory(folder / "run");
  for (const char* file : {"run/checkpoint.h5", "run/config.ini", "run/progress.csv"})
    std::ofstream(folder / file) << "steps=10\n";
  folder.CheckRefused("export run --out run/checkpoint.h5",
                      "--out: expected another file than one of run, found run/checkpoint.h5 for both",
                      "run/checkpoint.h5");
  folder.CheckRefused("export run --onnx run/../run/config.ini", "--onnx: expected another file",
                      "run/config.ini");
  folder.CheckRefused("export run --out p --json run/progress.csv", "--json: expected another",
                      "run/progress.csv");
  folder.CheckRefused("train --resume --out run --json run/checkpoint.h5",
                      "--json: expected another file than one of --out", "run/checkpoint.h5");
  CheckOneLine(Berth(folder, "train --out new --json new/config.ini"), "--json: expected another file");
  CHECK_FALSE(fs::exists(folder / "new"));
  REQUIRE(Berth(folder, "evaluate --seeds 0:1 --schedulers fcfs --out e.h5" + kSmall).code == 0);
  fs::create_directory(folder / "page");
  fs::rename(folder / "e.h5", folder / "page/evaluation.h5");
  folder.CheckRefused(
      "evaluate --seeds 0:1 --schedulers fcfs --report page --report-with page/evaluation.h5" + kSmall,
      "--report: expected another file than --report-with, found page/evaluation.h5 for both",
      "page/evaluation.h5");
  folder.CheckRefused(
      "evaluate --seeds 0:1 --schedulers fcfs --report page --out page/evaluation.h5" + kSmall,
      "--out: expected another file than one of --report", "page/evaluation.h5");
  CheckOneLine(Berth(folder, "evaluate --report page --report-with ''"),
               "--report-with: expected a file's name");
}

}  // namespace berth
