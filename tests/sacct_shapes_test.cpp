// What a real slurmdbd 22.05.8 wrote of jobs made for it, shortened: bars and line breaks that it does not quote, suspended and resized
// jobs, jobs of several parts, node states, reservations. User names are replaced.
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "data/sacct/accounting.hpp"
#include "data/sacct/reservations.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/outages_told.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

const std::string kPageHead =
    "JobIDRaw|JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Suspended|TimelimitRaw|ReqTRES|AllocTRES|"
    "NodeList|NNodes|Reservation|Constraints|SubmitLine\n";

// At seconds after 03:26:00.
std::string PageTime(int s) {
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return "2026-11-27T03:" + two(26 + s / 60) + ":" + two(s % 60);
}

struct PageRow {
  std::string id, job, state = "COMPLETED";
  int submit = 0, eligible = 0, start = 1, elapsed = 3, suspended = 0;
  std::string given = "billing=1,cpu=1,gres/gpu:k80=1,gres/gpu=1,node=1", nodes = "k1", reservation = "", constraints = "";
  std::string line = "sbatch --parsable --gres=gpu:1 --wrap sleep 3";
  std::string Text() const {
    return Join(id, "|", job.empty() ? id : job, "|ann|a|main|normal|", state, "|", PageTime(submit), "|", PageTime(eligible), "|",
                PageTime(start), "|", PageTime(start + elapsed + suspended), "|", elapsed, "|00:00:0", suspended,
                "|60|billing=1,cpu=1,gres/gpu=1,mem=1000M,node=1|", given, "|", nodes, "|1|", reservation, "|", constraints, "|", line, "\n");
  }
};

Scenario ReadPage(const test::TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder / "slurm.conf") << "NodeName=v[1-2] Gres=gpu:v100:4\nNodeName=p[1-2] Gres=gpu:p100:4\nNodeName=k[1-2] Gres=gpu:k80:4\n"
                                          "PartitionName=main Nodes=ALL\n";
  std::ofstream(folder / "sacct.txt") << text;
  return FindFormat("sacct").read(folder / "sacct.txt", {});
}

bool PageSays(const Scenario& scenario, const std::string& line) {
  INFO(scenario.data().provenance);
  return scenario.data().provenance.find("\n  " + line) != std::string::npos;
}

}  // namespace

TEST_CASE("sacct: a '|' in a constraint is none between fields, and names several GPU types", "[readers]") {
  const test::TemporaryFolder folder;
  const auto with = [](const char* id, const char* constraints, const char* line) {
    PageRow row{id, ""};
    row.constraints = constraints, row.line = line;
    return row.Text();
  };
  const Scenario scenario = ReadPage(
      folder, kPageHead + with("1", "v100|p100", "sbatch --parsable --gres=gpu:1 -C v100|p100 --wrap echo a | cat") +
                  with("2", "[p100|k80]", "/usr/bin/srun --gres=gpu:1 -C [p100|k80] hostname") + with("3", "k80&ib", "salloc -C k80&ib") +
                  // Preferred, and given: sacct has it under Constraints.
                  with("4", "k80", "sbatch --prefer=k80 x.sh") +
                  // What came over slurmrestd has no line.
                  with("5", "v100|k80", "") + with("6", "v100|ib", "sbatch -C v100|ib x.sh") +
                  with("7", "", "sbatch --wrap echo a | sbatch b.sh") + with("8", "[k80*1&p100*1]", "sbatch -C [k80*1&p100*1] x.sh"));
  // Bits in the order of slurm.conf: v100 1, p100 2, k80 4. Jobs 3, 6 and 8 say more than types; of 6 and 8 no type is sure.
  CHECK(scenario.data().jobs.allowed == std::vector<std::uint64_t>{3, 6, 4, 7, 5, 7, 7, 7});
  CHECK(PageSays(scenario, "3 jobs have constraints that name more than GPU types"));
}

TEST_CASE("sacct: line breaks in the line that submitted a job belong to it", "[readers]") {
  const test::TemporaryFolder folder;
  PageRow broken{"1", ""}, next{"2", ""};
  broken.line = "sbatch --parsable --gres=gpu:1 --wrap sleep 1\nsleep 1\n\ncat a | sort";
  CHECK(ReadPage(folder, kPageHead + broken.Text() + next.Text()).data().jobs.id == std::vector<std::int64_t>{1, 2});
  CHECK(ReadPage(folder, kPageHead + next.Text() + broken.Text()).data().jobs.id == std::vector<std::int64_t>{1, 2});
  // The header is line 1, job 1 has lines 2 to 5.
  next.state = "";
  CHECK(test::Says(test::MessageOf([&] { ReadPage(folder, kPageHead + broken.Text() + next.Text()); }), "sacct.txt:6: column 'State'"));
  CHECK(test::Says(test::MessageOf([&] { ReadPage(folder, kPageHead + broken.Text() + "2|2|ann\n"); }), "sacct.txt:6: expected 21 fields, found 3"));
}

TEST_CASE("sacct: suspended, resized and preempted jobs, parts of one, and options of scripts", "[readers]") {
  const test::TemporaryFolder folder;
  PageRow suspended{"93", ""}, before{"92", "", "RESIZING"}, after{"92", ""}, one{"52", "52+0"}, two{"53", "52+1"}, script{"97", ""};
  // Ran 2 s and was suspended for 8 s, in which nobody got its GPUs.
  suspended.elapsed = 2, suspended.suspended = 8;
  // scontrol update numnodes=1 after 5 s: two rows, the second with the start of the first.
  before.submit = 1, before.start = 2, before.elapsed = 5, before.given = "gres/gpu:k80=1,gres/gpu:p100=1,gres/gpu=2", before.nodes = "k1,p2";
  after.submit = after.eligible = 7, after.start = 2, after.elapsed = 15;
  script.line = "sbatch --parsable --gres=gpu:1 x.sh --begin -d 7";
  // It waited for job 93, was preempted, and ran once more.
  PageRow preempted{"94", "", "PREEMPTED"}, again{"94", ""};
  preempted.line = again.line = "sbatch --dependency=afterok:93 x.sh";
  preempted.eligible = 11, preempted.start = 11, again.submit = 14, again.eligible = 20, again.start = 21, again.elapsed = 4;
  const Scenario scenario = ReadPage(folder, kPageHead + suspended.Text() + before.Text() + one.Text() + two.Text() + preempted.Text() +
                                                 after.Text() + script.Text() + again.Text());
  CHECK(scenario.data().jobs.id == std::vector<std::int64_t>{52, 53, 93, 1000000000094, 97, 1000000000092});
  CHECK(scenario.data().jobs.arrival == std::vector<double>{0, 0, 0, 0, 0, 1});
  CHECK(scenario.data().jobs.total_steps == std::vector<double>{3, 3, 10, 4, 3, 15});
  CHECK(scenario.data().jobs.gang == std::vector<int>{1, 1, 1, 1, 1, 1});
  CHECK(ToString(scenario.data().features).find("after=1000000000094>93,") != std::string::npos);
  CHECK(PageSays(scenario, "1 jobs were suspended for a while"));
  CHECK(PageSays(scenario, "1 changes of the size of a running job"));
  CHECK(PageSays(scenario, "2 jobs are parts of a heterogeneous job"));
  CHECK(PageSays(scenario, "1 jobs wait for others by --dependency"));
  CHECK_FALSE(PageSays(scenario, "1 jobs have a --dependency that the scenario cannot say"));
}

TEST_CASE("sacct: a run that its node or a preemption ended is the job where no run behind it is one", "[readers]") {
  const test::TemporaryFolder folder;
  const auto run = [](const char* id, const char* state, int submit, int start, int elapsed) {
    PageRow row{id, "", state};
    row.submit = row.eligible = submit, row.start = start, row.elapsed = elapsed;
    if (elapsed == 0) row.given = "";
    return row.Text();
  };
  // Job 1 was cancelled while it waited again, job 2 runs for the third time, job 3 ran to its end.
  const Scenario scenario = ReadPage(
      folder, kPageHead + run("1", "NODE_FAIL", 0, 1, 7) + run("1", "CANCELLED by 0", 8, 20, 0) + run("2", "NODE_FAIL", 0, 1, 5) +
                  run("2", "PREEMPTED", 6, 7, 6) + run("2", "RUNNING", 13, 14, 4) + run("3", "PREEMPTED", 0, 1, 2) + run("3", "COMPLETED", 3, 4, 9));
  CHECK(scenario.data().jobs.id == std::vector<std::int64_t>{1, 1000000000002, 1000000000003});
  CHECK(scenario.data().jobs.arrival == std::vector<double>{0, 0, 0});
  CHECK(scenario.data().jobs.total_steps == std::vector<double>{7, 6, 9});
  CHECK(PageSays(scenario, "1 runs ended with their node and were queued again"));
  CHECK(PageSays(scenario, "1 runs were preempted and queued again"));
  CHECK(PageSays(scenario, "1 jobs were cancelled before they started"));
  CHECK(PageSays(scenario, "1 jobs had not ended"));
}

TEST_CASE("sacct: a job that was held behind the end of those it waits for arrives when it became eligible", "[readers]") {
  const test::TemporaryFolder folder;
  const auto job = [](const char* id, int eligible, const char* line) {
    PageRow row{id, ""};
    row.eligible = eligible, row.start = std::max(1, eligible), row.line = line;
    return row.Text();
  };
  // Job 1 ends in second 4 and job 2 in 23. Slurm may take a minute to see that a dependency is fulfilled.
  const Scenario scenario = ReadPage(
      folder, kPageHead + job("1", 0, "sbatch a.sh") + job("2", 20, "sbatch --begin=now+20 b.sh") +
                  job("3", 84, "sbatch --dependency=afterok:1 --begin=now+84 c.sh") + job("4", 64, "sbatch --dependency=afterok:1 d.sh") +
                  job("5", 83, "sbatch -d afterok:1:2 -b now+30 e.sh") + job("6", 83, "sbatch -d afterok:2 -d afterok:1 f.sh"));
  CHECK(scenario.data().jobs.id == std::vector<std::int64_t>{1, 4, 5, 2, 6, 3});
  CHECK(scenario.data().jobs.arrival == std::vector<double>{0, 0, 0, 20, 83, 84});
  CHECK(ToString(scenario.data().features).find("after=3>1:4>1:5>1:5>2:6>1,") != std::string::npos);
  CHECK(PageSays(scenario, "4 jobs wait for others by --dependency"));
  CHECK(PageSays(scenario, "2 jobs that wait for others were held beyond that, or to begin later"));
  CHECK(PageSays(scenario, "1 jobs were held, to begin later"));
}

TEST_CASE("sacct: of an option that repeats the last before the script counts", "[readers]") {
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"sbatch -d afterok:10 -d afterok:11 x.sh", "afterok:11"},
           {"sbatch --dependency=afterok:10 --parsable -Hv -dafterok:11 x.sh -d afterok:12", "afterok:11"},
           {"sbatch -d afterok:10 -J x.sh --comment=a --exclusive y.sh --dependency afterok:12", "afterok:10"},
           {"/usr/bin/srun -d afterok:1 -n 2 --gres gpu:1 -k --dependency singleton hostname -d afterok:3", "singleton"},
           {"sbatch -d afterok:10 --wrap sleep -d afterok:11", "afterok:10"},
           {"sbatch -Hd afterok:1 x.sh", "afterok:1"}, {"sbatch -Hvdafterok:1 x.sh -d afterok:2", "afterok:1"},
           {"sbatch -kd afterok:1 x.sh", ""}, {"srun -nd afterok:1 x.sh", ""},
           // A value with blanks is not told from a script's name.
           {"sbatch --comment two words -d afterok:10 x.sh", "afterok:10"},
           {"sbatch --comment  -d afterok:10 x.sh", "afterok:10"},
           // Flags of newer versions, one that none knows, and beginnings of names that only one has.
           {"sbatch --stepmgr -d afterany:1 x.sh", "afterany:1"},
           {"sbatch -d afterok:10 --oom-kill-step --consolidate-segments -d afterok:11 x.sh -d afterok:12", "afterok:11"},
           {"sbatch --of-tomorrow -d afterok:10 x.sh -d afterok:11", "afterok:10"},
           {"sbatch --exclus -d afterok:10 x.sh", "afterok:10"}, {"sbatch --excl -d afterok:10 x.sh", "afterok:10"},
           {"sbatch --depend=afterok:10 x.sh", "afterok:10"}, {"sbatch --dep afterok:10 --job-n x.sh -d afterok:11 y.sh", "afterok:11"},
           {"sbatch --de=afterok:10 x.sh", ""}, {"sbatch --dependencies=afterok:10 x.sh", ""},
           {"sbatch x.sh", ""}, {"sbatch -d", ""}, {"-", ""}, {"", ""}}) {
    INFO(line);
    CHECK(OptionOf(line, "--dependency", "-d") == expected);
  }
  SacctRow row;
  ReadSubmitLine("sbatch -a 0-9%1 --array=0-9 x.sh", row);
  CHECK_FALSE(row.array_limit);
}

TEST_CASE("sacct: jobs run on where a node is expected to fail; a reason may hold a '|'", "[readers]") {
  const test::TemporaryFolder folder;
  const auto event = [](const char* node, int from, int to, const char* state, const char* reason) {
    return Join("twin|", node, "|", PageTime(from), "|", PageTime(to), "|", state, "|", reason, "|root(0)\n");
  };
  std::ofstream(folder / "events.txt") << "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
                                       << "twin||" << PageTime(0) << "|Unknown||Cluster Registered TRES|\n"
                                       << event("k1", 10, 20, "FAIL", "x") << event("p2", 30, 40, "DRAIN", "fan|loud")
                                       << event("v1", 50, 60, "DRNG*", "r1") << event("v2", 70, 80, "DOWN*", "e")
                                       << event("p1", 0, 90, "POWERED_DN", "");
  const Scenario scenario = ReadPage(folder, kPageHead + PageRow{"1", ""}.Text());
  CHECK(test::OutagesTold(scenario) ==
        std::vector<std::string>{"k80/0 10000 19999 20", "p100/1 30000 39999 40", "v100/0 50000 59999 60", "v100/1 70000 70000 80"});
  CHECK(PageSays(scenario, "1 node outages from events.txt"));
  CHECK(PageSays(scenario, "3 drains"));
  CHECK(PageSays(scenario, "1 node events ended before the first job, took no time or are of a state that changes nothing"));
  std::ofstream(folder / "events.txt") << "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" << event("k1", 10, 20, "FAIL", "two\nlines");
  CHECK(test::Says(test::MessageOf([&] { ReadPage(folder, kPageHead + PageRow{"1", ""}.Text()); }),
                   "events.txt:2: expected 7 fields, found 6 (a Reason with a line break? Leave that column out)"));
}

TEST_CASE("sacct: the nodes of all reservations and of all partitions are limited", "[readers]") {
  // Each list is legal by itself, and is a few letters long.
  const test::TemporaryFolder folder;
  const std::string path = folder / "reservations.txt";
  {
    std::ofstream out(path);
    out << "Name|NodeName|TimeStart|TimeEnd|Flags\n";
    for (int i = 0; i < 3; ++i) out << "r" << i << "|n[1-400000]|2026-03-01T10:00:00|2026-03-01T11:00:00|\n";
  }
  CHECK_THROWS_WITH(ReadReservations(path), Catch::Matchers::Contains(":4: expected at most 1000000 nodes of all reservations"));
  const std::string conf = folder / "slurm.conf";
  {
    std::ofstream out(conf);
    out << "NodeName=n[1-150000] Gres=gpu:v100:1\n";
    for (int i = 0; i < 80; ++i) out << "PartitionName=p" << i << " Nodes=ALL\n";
  }
  const std::vector<SlurmLine> lines = ReadSlurmConf(conf);
  const SlurmNodes nodes = NodesOf(lines, conf);
  CHECK_THROWS_WITH(PartitionsOf(lines, nodes, conf), Catch::Matchers::Contains(":68: Nodes: expected at most 10000000 nodes of all partitions"));
}

TEST_CASE("sacct: types of GPU that slurm.conf writes in another case are one type", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string conf = folder / "slurm.conf";
  std::ofstream(conf) << "NodeName=n[1-2] Gres=gpu:a100:4\nNodeName=n3 Gres=gpu:V100:2\nNodeName=n4 Gres=gpu:A100:4\n"
                         "NodeName=n5 Gres=gpu:A100:8\nNodeName=n6 Gres=gpu:v100:2\n";
  std::vector<std::string> types, asked;
  for (const SlurmNode& node : NodesOf(ReadSlurmConf(conf), conf).nodes) types.push_back(node.type), asked.push_back(node.gpu_type);
  CHECK(types == std::vector<std::string>{"a100", "a100", "a100", "V100", "V100", "a100-8"});
  CHECK(asked == std::vector<std::string>{"a100", "a100", "a100", "V100", "V100", "a100"});
}

TEST_CASE("sacct: reservations as sacctmgr and scontrol --json write them", "[readers]") {
  const test::TemporaryFolder folder;
  // Job 2 ran in `course`. Job 3 of no reservation started on k1 while `cores` kept one of its cores. p2 is closed from second 20 to 45.
  PageRow inside{"2", ""}, other{"3", ""};
  inside.nodes = "k2", inside.reservation = "course", inside.start = 10;
  other.start = 30;
  const std::string jobs = kPageHead + PageRow{"1", ""}.Text() + inside.Text() + other.Text();
  const auto check = [&](const Scenario& scenario) {
    CHECK(test::OutagesTold(scenario) == std::vector<std::string>{"p100/1 20000 44999 45"});
    CHECK(PageSays(scenario, "1 reservations are not in the scenario: jobs of the accounting ran in them"));
    CHECK(PageSays(scenario, "1 reservations are not in the scenario: other jobs started on their nodes meanwhile"));
  };
  // sacctmgr heads with NodeName what it is asked for as NodeNames.
  const auto record = [](const char* name, const char* node, int from, int to, const char* flags) {
    return Join(name, "|", node, "|", PageTime(from), "|", PageTime(to), "|", flags, "\n");
  };
  std::ofstream(folder / "reservations.txt") << "Name|NodeName|TimeStart|TimeEnd|Flags\n"
                                             << record("course", "k2", 2, 100, "SPEC_NODES") << record("cores", "k1", 3, 63, "SPEC_NODES")
                                             << record("maint", "p2", 20, 45, "MAINT,SPEC_NODES");
  check(ReadPage(folder, jobs));
  // Slurm 23.02 writes times as numbers (data_parser v0.0.39), later versions as objects. 03:26:00 is 1795749960 s.
  std::ofstream(folder / "reservations.txt")
      << R"({"reservations": [{"accounts": "", "core_count": 4, "core_specializations": [], "end_time": 1795750060, "flags": ["SPEC_NODES"],
        "name": "course", "node_count": 1, "node_list": "k2", "start_time": 1795749962, "tres": "cpu=4", "users": "ann"},
        {"end_time": 1795750023, "flags": ["SPEC_NODES"], "name": "cores", "node_list": "k1", "start_time": 1795749963},
        {"end_time": {"set": true, "infinite": false, "number": 1795750005}, "flags": ["MAINT", "DAILY", "SPEC_NODES"], "name": "maint",
        "node_list": "p2", "start_time": {"set": true, "infinite": false, "number": 1795749980}}], "warnings": [], "errors": []})";
  const Scenario json = ReadPage(folder, jobs);
  check(json);
  CHECK(PageSays(json, "1 reservations repeat, and only one of their times is known"));
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"jobs": []})", "reservations.txt: expected {\"reservations\": [...]}, as scontrol show reservation --json writes it"},
           {R"({"reservations": [{"name": "m", "start_time": "soon"}]})", "reservations.txt: reservation 1 of the list: 'start_time': expected a number"},
           {R"({"reservations": [{"name": "m", "start_time": {"set": false, "number": 0}}]})",
            "reservations.txt: reservation 1 of the list: start_time: expected a time"},
           {R"({"reservations": [{"name": "m", "flags": "MAINT"}]})", "reservations.txt: reservation 1 of the list: 'flags': expected a list"},
           {R"({"reservations": [7]})", "reservations.txt: reservation 1 of the list: expected an object"},
       }) {
    INFO(text);
    std::ofstream(folder / "reservations.txt") << text;
    CHECK(test::Says(test::MessageOf([&] { ReadPage(folder, jobs); }), expected));
  }
}

TEST_CASE("sacct: JSON of 22.05 has a reservation's number alone, whose job is known by its node", "[readers]") {
  const test::TemporaryFolder folder;
  // Reservation 2 is `course`; the name is what stood in memory. `idle` was used by nobody: v1 is closed from second 2 to 100.
  const auto job = [](int id, const char* reservation, const char* node) {
    return Join(R"({"account": "a", "allocation_nodes": 1, "array": {"job_id": 0, "task_id": null}, "constraints": "", "het": {"job_id": 0},
      "job_id": )", id, R"(, "nodes": ")", node, R"(", "partition": "main", "qos": "normal", "reservation": )", reservation,
                R"(, "state": {"current": "COMPLETED"}, "time": {"elapsed": 4, "eligible": 1795749960, "start": 1795749970, "end":
      1795749976, "submission": 1795749960, "suspended": 2, "limit": 60}, "tres": {"allocated": [{"type": "gres", "name": "gpu", "id": 1001,
      "count": 2}], "requested": []}, "user": "ann"})");
  };
  std::ofstream(folder / "reservations.txt") << "Name|NodeName|TimeStart|TimeEnd|Flags\n"
                                             << "course|k2|" << PageTime(2) << "|" << PageTime(100) << "|SPEC_NODES\n"
                                             << "idle|v1|" << PageTime(2) << "|" << PageTime(100) << "|SPEC_NODES\n";
  for (const char* reservation : {R"({"id": 2, "name": 3905137232})", R"({"id": 2, "name": "course"})"}) {
    const Scenario scenario =
        ReadPage(folder, Join("{\"jobs\": [", job(1, R"({"id": 0, "name": 0})", "k1"), ", ", job(22, reservation, "k2"), "]}"));
    CHECK(test::OutagesTold(scenario) == std::vector<std::string>{"v100/0 2000 99999 100"});
    CHECK(PageSays(scenario, "1 reservations are not in the scenario: jobs of the accounting ran in them"));
    CHECK(scenario.data().jobs.total_steps == std::vector<double>{6, 6});
  }
}

}  // namespace berth
