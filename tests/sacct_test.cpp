// Slurm's accounting as a scenario: a real mini cluster's files (tests/slurm), and lines made up one by one.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/sacct/accounting.hpp"
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

const std::string kSacctHead =
    "JobIDRaw|JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|ReqTRES|"
    "AllocTRES|NNodes|SubmitLine\n";

// At seconds after 12:00:00; -1 = Unknown.
std::string SacctTime(int s) {
  if (s < 0) return "Unknown";
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return "2026-03-01T12:" + two(s / 60) + ":" + two(s % 60);
}

struct SacctLine {
  std::string id, job, state = "COMPLETED";
  int submit = 0, eligible = 0, start = 0, elapsed = 0;
  std::string asked = "gres/gpu=1", given = "gres/gpu=1", line = "sbatch x.sh";
  std::string Text() const {
    return Join(id, "|", job.empty() ? id : job, "|u|a|main|normal|", state, "|", SacctTime(submit), "|",
                SacctTime(eligible), "|", SacctTime(start), "|", SacctTime(start < 0 ? -1 : start + elapsed), "|", elapsed,
                "|10|cpu=1,", asked, "|", given, "|1|", line, "\n");
  }
};

Scenario ReadSacct(const test::TemporaryFolder& folder, const std::string& text, const char* cluster = "v100=8/4") {
  std::ofstream(folder / "sacct.txt") << text;
  ScenarioSettings settings;
  if (*cluster != '\0') settings.cluster = ParseCluster(cluster);
  return FindFormat("sacct").read(folder / "sacct.txt", settings);
}

bool SacctSays(const Scenario& scenario, const std::string& line) {
  INFO(scenario.data().provenance);
  return scenario.data().provenance.find("\n  " + line) != std::string::npos;
}

}  // namespace

TEST_CASE("sacct: a real cluster's files, text and JSON", "[readers]") {
  const std::string folder = BERTH_SOURCE_DIR "/tests/slurm/";
  // By hand from sacct.txt: submitted at 15:36:01, that is second 0, but for what was held. Job 5 failed within its first
  // second and job 9 has no GPU. Array 2 ran two tasks at once, so that 13 (2_2) and 2 (2_3) became eligible in second 3;
  // job 10 waited for its reservation until second 1; job 8 ran 2 s, was requeued in second 3 and eligible in second 9.
  const Scenario text = FindFormat("sacct").read(folder + "sacct.txt", {});
  const JobTable& jobs = text.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{1, 3, 4, 7, 8, 11, 12, 10, 2, 13, 1000000000008});
  CHECK(jobs.arrival == std::vector<double>{0, 0, 0, 0, 0, 0, 0, 1, 3, 3, 9});
  CHECK(jobs.total_steps == std::vector<double>{3, 2, 4, 2, 2, 2, 2, 1, 2, 2, 5});
  CHECK(jobs.gang == std::vector<int>{2, 4, 8, 1, 2, 1, 1, 1, 1, 1, 2});
  CHECK(jobs.requested_s == std::vector<double>{120, 60, 300, 60, 60, 60, 60, 60, 60, 60, 60});
  // Types in the order of slurm.conf: v100, p100, k80. Only 1, 3 and 4 named one.
  CHECK(jobs.allowed == std::vector<std::uint64_t>{1, 2, 4, 7, 7, 7, 7, 7, 7, 7, 7});
  CHECK(text.data().throughputs.job_types == std::vector<std::string>{"main:normal", "main:urgent"});
  CHECK(text.data().tenants[0].name == "a/root");
  CHECK(text.data().tenants[1].name == "b/root");
  REQUIRE(text.data().cluster.types.size() == 3);
  CHECK(text.data().cluster.types[2].name == "k80");
  CHECK(text.data().cluster.types[2].count == 12);
  CHECK(text.data().cluster.types[2].gpus_per_node == 4);
  // Node k2 was down and p3 drained from second 3 to 7.
  const std::string features = ToString(text.data().features);
  CHECK(features.find("events=3:7:node:k80/1|6.99") != std::string::npos);
  CHECK(features.find(":node:p100/2:3.99") != std::string::npos);
  CHECK(features.find("after=3>1,") != std::string::npos);
  CHECK(SacctSays(text, "1 jobs without GPU are left out"));
  CHECK(SacctSays(text, "1 jobs ran no second and are left out"));
  CHECK(SacctSays(text, "2 array tasks waited for their array's limit"));
  CHECK(SacctSays(text, "1 jobs ran in a reservation"));

  // JSON says the same but for dependencies, which 22.05 leaves out of it: job 3 arrives when it was eligible, in second 5.
  const Scenario json = FindFormat("sacct").read(folder + "sacct.json", {});
  CHECK(json.data().jobs.id == std::vector<std::int64_t>{1, 4, 7, 8, 11, 12, 10, 2, 13, 3, 1000000000008});
  CHECK(json.data().jobs.arrival == std::vector<double>{0, 0, 0, 0, 0, 0, 1, 3, 3, 5, 9});
  CHECK(json.data().jobs.requested_s == std::vector<double>{120, 300, 60, 60, 60, 60, 60, 60, 60, 60, 60});
  CHECK(json.data().jobs.allowed == std::vector<std::uint64_t>{1, 4, 7, 7, 7, 7, 7, 7, 7, 2, 7});
}

TEST_CASE("sacct: dependencies, on jobs, arrays and tasks", "[readers]") {
  const test::TemporaryFolder folder;
  const auto wait = [](const char* id, const char* on, int eligible) {
    SacctLine line{id, ""};
    line.eligible = eligible, line.start = 50, line.elapsed = 5, line.line = Join("sbatch --dependency=", on, " x.sh");
    return line.Text();
  };
  const std::string parents = SacctLine{"1", "", "COMPLETED", 0, 0, 0, 10}.Text() +
                              SacctLine{"3", "2_0", "COMPLETED", 0, 0, 0, 20}.Text() +
                              SacctLine{"2", "2_1", "FAILED", 0, 0, 0, 30}.Text();
  const Scenario scenario = ReadSacct(
      folder, kSacctHead + parents + wait("10", "afterok:1", 10) + wait("11", "afterany:2,afterok:1", 30) +
                  wait("12", "afterok:2_1", 30) + wait("13", "singleton", 20) + wait("14", "afterok:1?afterok:2", 10) +
                  wait("15", "afterok:999", 40));
  const std::string features = ToString(scenario.data().features);
  CHECK(features.find("after=10>1:11>3:11>2:11>1:12>2,") != std::string::npos);
  CHECK(SacctSays(scenario, "3 jobs wait for others by --dependency"));
  CHECK(SacctSays(scenario, "3 jobs have a --dependency that the scenario cannot say"));
  // Those arrive when Slurm let them: 14 in second 10, 13 in second 20, 15 in second 40.
  CHECK(scenario.data().jobs.id == std::vector<std::int64_t>{1, 2, 3, 10, 11, 12, 14, 13, 15});
  CHECK(scenario.data().jobs.arrival == std::vector<double>{0, 0, 0, 0, 0, 0, 10, 20, 40});
}

TEST_CASE("sacct: what never ran is counted, what a node or a preemption ended goes on as one job", "[readers]") {
  const test::TemporaryFolder folder;
  const Scenario scenario = ReadSacct(
      folder, kSacctHead + SacctLine{"1", "", "CANCELLED by 7", 0, 0, -1, 0}.Text() +
                  SacctLine{"2", "", "PENDING", 0, 0, -1, 0}.Text() + SacctLine{"3", "", "RUNNING", 0, 0, 3, 9}.Text() +
                  SacctLine{"4", "", "CANCELLED by 7", 5, 5, 6, 7}.Text() +
                  SacctLine{"5", "", "PREEMPTED", 7, 7, 8, 2}.Text() + SacctLine{"5", "", "NODE_FAIL", 10, 10, 11, 3}.Text() +
                  SacctLine{"5", "", "TIMEOUT", 14, 14, 20, 40}.Text() + "5.batch|5.batch||a|||TIMEOUT|||||40||||1|\n" +
                  SacctLine{"6", "", "COMPLETED", 8, 8, 9, 4, "gres/gpu:a100=1"}.Text() +
                  SacctLine{"8", "", "COMPLETED", 8, 8, 9, 4, "gres/gpu=2", "gres/gpu:v100=1,gres/gpu:p100=1,gres/gpu=2"}.Text() +
                  // As Slurm 22.05 tells of one that was cancelled while it waited: it started when it ended, on nothing.
                  SacctLine{"9", "", "CANCELLED by 0", 8, 8, 9, 0, "gres/gpu=1", ""}.Text() +
                  SacctLine{"7", "", "COMPLETED", 8, 8, 9, 4, "gres/gpu:v100=99", "gres/gpu:v100=99,gres/gpu=99"}.Text());
  // Job 5 arrived in second 7, two after job 4, and its last run took 40 s.
  CHECK(scenario.data().jobs.id.at(0) == 4);
  CHECK(scenario.data().jobs.arrival == std::vector<double>{0, 2, 3});
  CHECK(scenario.data().jobs.total_steps == std::vector<double>{7, 40, 4});
  CHECK(SacctSays(scenario, "2 jobs were cancelled before they started"));
  CHECK(SacctSays(scenario, "2 jobs had not ended"));
  CHECK(SacctSays(scenario, "1 runs were preempted"));
  CHECK(SacctSays(scenario, "1 runs ended with their node"));
  CHECK(SacctSays(scenario, "1 jobs asked for GPU types that the cluster or their partition lacks"));
  CHECK(SacctSays(scenario, "1 jobs ran on GPUs of several types at once"));
  CHECK(SacctSays(scenario, "1 jobs are larger than every GPU type"));
}

TEST_CASE("sacct: names of GPU types may differ in case, as in tables", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string job =
      kSacctHead + SacctLine{"1", "", "COMPLETED", 0, 0, 0, 5, "gres/gpu:A100=1", "gres/gpu:A100=1"}.Text();
  CHECK(ReadSacct(folder, job, "v100=8,a100=8").data().jobs.allowed == std::vector<std::uint64_t>{2});
  // Nodes that say A100 have what is known of an a100.
  std::ofstream(folder / "slurm.conf") << "NodeName=a Gres=gpu:A100:4\n";
  const ClusterSpec cluster = ReadSacct(folder, job, "").data().cluster;
  CHECK(cluster.types.at(0).name == "A100");
  CHECK(cluster.types.at(0).peak_power_w == ParseCluster("a100=4").types.at(0).peak_power_w);
}

TEST_CASE("sacct: reservations keep nodes from new jobs, but for those that jobs ran in", "[readers]") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << "NodeName=v[1-2] Gres=gpu:v100:4\nNodeName=c1\nPartitionName=main Nodes=ALL\n";
  SacctLine inside{"2", "", "COMPLETED", 10, 10, 130, 20};
  inside.line = "sbatch --reservation=course x.sh";
  const std::string jobs = kSacctHead + SacctLine{"1", "", "COMPLETED", 0, 0, 0, 100}.Text() + inside.Text();
  // From the first job's submission at 12:00: v1 from 60 to 120 s, and v2 from 200 to 300 s, when nobody used `course`. Not in the
  // scenario: `course` from 120 to 180 s, in which job 2 ran; nodes c1 and x9, without GPUs and unknown; what names no node, or is over.
  const auto check = [&] {
    const Scenario scenario = ReadSacct(folder, jobs, "");
    CHECK(test::OutagesTold(scenario) == std::vector<std::string>{"v100/0 60000 119999 120", "v100/1 200000 299999 300"});
    CHECK(SacctSays(scenario, "1 jobs ran in a reservation, and run as others do"));
    CHECK(SacctSays(scenario, "1 reservations are not in the scenario: jobs of the accounting ran in them"));
    CHECK(SacctSays(scenario, "2 times of a node in a reservation for maintenance, or that no job used"));
    CHECK(SacctSays(scenario, "3 times in a reservation are of nodes without GPUs or that slurm.conf does not name, or ended before"));
    CHECK(SacctSays(scenario, "1 reservations name no nodes and are left out"));
  };
  std::ofstream(folder / "reservations.txt") << "Cluster|Name|NodeName|TimeStart|TimeEnd|Flags|UnusedWall\n"
                                                "s|maint|v1,c1|2026-03-01T12:01:00|2026-03-01T12:02:00|MAINT,SPEC_NODES|0\n"
                                                "s|course|v2|2026-03-01T12:02:00|2026-03-01T12:03:00|SPEC_NODES|0\n"
                                                "s|course|v2,x9|2026-03-01T12:03:20|2026-03-01T12:05:00||0\n"
                                                "s|licenses||2026-03-01T12:00:00|2026-03-01T13:00:00|ANY_NODES|0\n"
                                                "s|over|v1|2026-02-01T12:00:00|2026-02-01T13:00:00|MAINT|0\n";
  check();
  // The same as scontrol writes it.
  const auto block = [](const char* name, const char* nodes, const char* start, const char* end, const char* flags) {
    return Join("ReservationName=", name, " StartTime=2026-", start, " EndTime=2026-", end, " Duration=00:01:00\n   Nodes=", nodes,
                " NodeCnt=1 CoreCnt=8 Features=(null) PartitionName=(null) Flags=", flags, "\n   Users=root Groups=(null) Accounts=(null)\n\n");
  };
  std::ofstream(folder / "reservations.txt") << block("maint", "v1,c1", "03-01T12:01:00", "03-01T12:02:00", "MAINT,SPEC_NODES")
                                             << block("course", "v2", "03-01T12:02:00", "03-01T12:03:00", "SPEC_NODES")
                                             << block("course", "v2,x9", "03-01T12:03:20", "03-01T12:05:00", "")
                                             << block("licenses", "(null)", "03-01T12:00:00", "03-01T13:00:00", "ANY_NODES")
                                             << block("over", "v1", "02-01T12:00:00", "02-01T13:00:00", "MAINT");
  check();
  // With maintenance that jobs ran in, the nodes were closed for all others.
  std::ofstream(folder / "reservations.txt") << block("course", "v2", "03-01T12:02:00", "03-01T12:03:00", "MAINT");
  CHECK(test::OutagesTold(ReadSacct(folder, jobs, "")) == std::vector<std::string>{"v100/1 120000 179999 180"});
  std::ofstream(folder / "reservations.txt") << "No reservations in the system\n";
  CHECK(test::OutagesTold(ReadSacct(folder, jobs, "")).empty());
}

TEST_CASE("sacct: a wrong reservation is named", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string good = kSacctHead + SacctLine{"1", "", "COMPLETED", 0, 0, 0, 10}.Text(), head = "Name|NodeName|TimeStart|TimeEnd|Flags\n";
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "reservations.txt: expected"},
           {"Cluster|Name|TRES|TimeStart|TimeEnd|UnusedWall\n", "reservations.txt:1: expected a column 'NodeName'"},
           {head + "m|v1|2026-03-01T12:01:00\n", "reservations.txt:2: expected 5 fields, found 3"},
           {head + "m|v1|soon|2026-03-01T12:01:00|MAINT\n", "reservations.txt:2: column 'TimeStart': expected a time"},
           {head + "m|v1|Unknown|2026-03-01T12:01:00|MAINT\n", "reservations.txt:2: TimeStart: expected a time"},
           {head + "m|v1|2026-03-01T12:01:00|2026-03-01T12:00:00|MAINT\n", "reservations.txt:2: TimeEnd: expected a time after TimeStart"},
           {head + "|v1|2026-03-01T12:01:00|2026-03-01T12:02:00|MAINT\n", "reservations.txt:2: expected the name of a reservation"},
           {head + "m|v[1-|2026-03-01T12:01:00|2026-03-01T12:02:00|MAINT\n", "reservations.txt:2"},
           {"hello\n", "reservations.txt:1: expected ReservationName=VALUE, as scontrol show reservation writes, found 'hello'"},
           {"ReservationName=m StartTime=2026-03-01T12:01:00\n", "reservations.txt:1: EndTime: expected a time such as"},
           {"ReservationName=m StartTime=x\n\nReservationName=n\n", "reservations.txt:1: StartTime: expected a time such as 2026-03-01T14:05:06, found 'x'"},
           {"ReservationName=m\n   Nodes\n", "reservations.txt:2: expected KEY=VALUE"},
       }) {
    INFO(text);
    std::ofstream(folder / "reservations.txt") << text;
    CHECK(test::Says(test::MessageOf([&] { ReadSacct(folder, good); }), expected));
  }
}

TEST_CASE("sacct: a wrong line or column is named", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string good = SacctLine{"1", "", "COMPLETED", 0, 0, 0, 10}.Text();
  const auto spoiled = [&](const std::string& from, const std::string& to) {
    std::string line = good;
    line.replace(line.find(from), from.size(), to);
    return kSacctHead + good + line;
  };
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", "sacct.txt: expected a header line, found an empty file"},
           {"JobID JobName State\n", "sacct.txt:1: expected names between '|'"},
           {"JobIDRaw|Sate|Submit|Start|End|AllocTRES\n", "sacct.txt:1: expected a column 'State' (did you mean 'Sate'?)"},
           {"JobIDRaw|State|Submit|Start|End|AllocTRES\n", "sacct.txt:1: expected a column 'Elapsed'"},
           {kSacctHead + good + "2|2|u\n", "sacct.txt:3: expected 17 fields, found 3"},
           {spoiled("1|", "one|"), "sacct.txt:3: column 'JobIDRaw': expected"},
           {spoiled("2026-03-01T12:00:00", "yesterday"), "sacct.txt:3: column 'Submit': expected a time such as"},
           {spoiled("|10|10|", "|ten|10|"), "sacct.txt:3: column 'ElapsedRaw': expected"},
           {spoiled("|10|10|", "|10|soon|"), "sacct.txt:3: column 'TimelimitRaw': expected"},
           {spoiled("|gres/gpu=1|", "|gres/gpu=x|"), "sacct.txt:3: column 'AllocTRES': expected"},
           {"{\"jobs\": [}", "sacct.txt: expected JSON, found"},
           {"{\"jobs\": [{\"job_id\": 4}]}", "sacct.txt: job 1 of the list: expected 'state.current', found none"},
           {"{\"jobs\": [{\"job_id\": \"4\"}]}", "sacct.txt: job 1 of the list: 'job_id': expected a number, found \"4\""},
       }) {
    CHECK(test::Says(test::MessageOf([&] { ReadSacct(folder, text); }), expected));
  }
  CHECK(test::Says(test::MessageOf([&] { ReadSacct(folder, kSacctHead + good, ""); }), "give --cluster, or put slurm.conf"));
  std::ofstream(folder / "events.txt") << "NodeName|TimeStart|TimeEnd|State\nv1|2026-03-01T12:00:05|2026-03-01T12:00:01|DOWN\n";
  CHECK(test::Says(test::MessageOf([&] { ReadSacct(folder, kSacctHead + good); }), "events.txt:2: column 'TimeEnd': expected"));
}

TEST_CASE("sacct: what is no UTF-8 is named, a byte order mark is none of the text", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string job = SacctLine{"1", "", "COMPLETED", 0, 0, 0, 5}.Text();
  SacctLine latin;
  latin.id = "2";
  latin.line = "sbatch \xFC.sh";
  std::ofstream(folder / "slurm.conf") << "\xEF\xBB\xBFNodeName=a Gres=gpu:v100:4  # f\xFCr alle\n";
  CHECK(ReadSacct(folder, Join("\xEF\xBB\xBF", kSacctHead, job), "").num_gpus() == 4);
  const auto says = [&](const std::string& text) { return test::MessageOf([&] { ReadSacct(folder, text, ""); }); };
  // Behind it stand ".sh" and the end of the line.
  CHECK(test::Says(says(kSacctHead + job + latin.Text()),
                   Join("sacct.txt:3: expected UTF-8, found 0xfc as byte ", latin.Text().size() - 4, " of the line (iconv -f latin1")));
  CHECK(test::Says(says(Join("J\xF6", kSacctHead)), "sacct.txt:1: expected UTF-8, found 0xf6 as byte 2 of the line"));
  std::ofstream(folder / "slurm.conf") << "NodeName=a Gres=gpu:gr\xFCn:4\n";
  CHECK(test::Says(says(kSacctHead + job), "slurm.conf:1: expected UTF-8, found 0xfc as byte 23 of the line"));
}

TEST_CASE("slurm.conf: lists of hosts, spans of time, lines, nodes", "[readers]") {
  CHECK(ExpandHosts("v[1-2,07],p1", "x") == std::vector<std::string>{"v1", "v2", "v07", "p1"});
  CHECK(ExpandHosts("r[0-1]n[08-09]", "x") == std::vector<std::string>{"r0n08", "r0n09", "r1n08", "r1n09"});
  CHECK(ParseSlurmSpan("90", "x") == 5400.0);
  CHECK(ParseSlurmSpan("2:30", "x") == 150.0);
  CHECK(ParseSlurmSpan("1:00:01", "x") == 3601.0);
  CHECK(ParseSlurmSpan("2-0", "x") == 172800.0);
  CHECK(ParseSlurmSpan("1-12:30", "x") == 86400.0 + 12 * 3600 + 30 * 60);
  CHECK(std::isinf(ParseSlurmSpan("UNLIMITED", "x")));
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << "# a comment\nNodeName=b[1-2] \\\n  Gres=gpu:a100:8(S:0-1)  # behind it\n"
                                          "NodeName=c1 Gres=gpu:a100:4\nNodeName=login CPUs=2\n"
                                          "PartitionName=DEFAULT Nodes=ALL\nPartitionName=x\nPartitionName=y Nodes=c1,login\n";
  const std::string path = folder / "slurm.conf";
  const std::vector<SlurmLine> lines = ReadSlurmConf(path);
  CHECK(lines[0].number == 2);
  const SlurmNodes nodes = NodesOf(lines, path);
  REQUIRE(nodes.nodes.size() == 3);
  CHECK(nodes.nodes[1].type == "a100");
  CHECK(nodes.nodes[2].type == "a100-4");  // other nodes of the type have 8
  CHECK(nodes.without_gpu == std::vector<std::string>{"login"});
  const auto partitions = PartitionsOf(lines, nodes, path);
  CHECK(partitions[0].nodes == std::vector<int>{0, 1, 2});
  CHECK(partitions[1].nodes == std::vector<int>{2});
}

TEST_CASE("slurm.conf: a comment begins at the first # without a backslash of its own", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "slurm.conf";
  std::ofstream(path) << R"(NodeName=a Comment=x\#1\#2 # Gres=gpu:v100:4 # x
NodeName=b Comment=x\# Gres=gpu:v100:4#
#NodeName=c
)";
  const std::vector<SlurmLine> lines = ReadSlurmConf(path);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].words.size() == 2);
  CHECK(*lines[0].Find("comment") == R"(x\#1\#2)");
  CHECK(*lines[1].Find("gres") == "gpu:v100:4");
}

TEST_CASE("slurm.conf: blanks may stand around '='", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "slurm.conf";
  const auto words = [&](const std::string& text) {
    std::ofstream(path) << text << "\n";
    std::string all;
    for (const SlurmLine& line : ReadSlurmConf(path)) {
      for (const auto& [key, value] : line.words) all += Join("<", key, "|", value, ">");
    }
    return all;
  };
  CHECK(words("ClusterName = c") == "<clustername|c>");
  CHECK(words("NodeName =a\tGres= gpu:v100:4 \t CPUs\t=\t8  # there") == "<nodename|a><gres|gpu:v100:4><cpus|8>");
  CHECK(words("NodeName= \\\n a Reason = \"a = b\" Weight=3") == "<nodename|a><reason|a = b><weight|3>");
  CHECK(words("NodeName=a Gres=") == "<nodename|a><gres|>");
  CHECK(words("NodeName=a Gres = ") == "<nodename|a><gres|>");
  for (const auto& [text, found] : std::vector<std::pair<std::string, std::string>>{
           {"what is this = 3", "what"}, {"NodeName=a b", "b"}, {"NodeName=a = b", "="}, {"=3", "=3"}, {"NodeName", "NodeName"}}) {
    CHECK(test::Says(test::MessageOf([&] { words(text); }), Join("slurm.conf:1: expected Key=Value, found '", found, "'")));
  }
}

TEST_CASE("slurm.conf: every form of Gres that Slurm documents", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "slurm.conf";
  const auto read = [&](const std::string& gres) {
    std::ofstream(path) << "NodeName=a Gres=" << gres << "\n";
    const SlurmNodes nodes = NodesOf(ReadSlurmConf(path), path);
    return nodes.nodes.empty() ? "none" : Join(nodes.nodes[0].type, " ", nodes.nodes[0].gpus);
  };
  CHECK(read("gpu") == "gpu 1");
  CHECK(read("gpu:4") == "gpu 4");
  CHECK(read("gpu:a100") == "a100 1");
  CHECK(read("gpu:2080ti") == "2080ti 1");
  CHECK(read("gpu:3090:4") == "3090 4");
  CHECK(read("gpu:a100:no_consume:8") == "a100 8");
  CHECK(read("gpu:no_consume:8") == "gpu 8");
  CHECK(read("gpu:a100:1K") == "a100 1024");
  CHECK(read("mps:400,craynetwork:4") == "none");
  const auto says = [&](const std::string& gres) { return test::MessageOf([&] { read(gres); }); };
  CHECK(test::Says(says("gpu:a100:8k"), "slurm.conf:1: Gres: expected 1 to 1024 GPUs a node, found 8192"));
  CHECK(test::Says(says("gpu:a100:99999999999999999999k"), "expected 1 to 1024 GPUs a node"));
  CHECK(test::Says(says("gpu:a100:0"), "expected 1 to 1024 GPUs a node, found 0"));
  for (const char* odd : {"gpu:a100:eight", "gpu:a100:8q", "gpu:a100:x:8"})
    CHECK(test::Says(says(odd), Join("slurm.conf:1: Gres: expected gpu:TYPE:COUNT, found '", odd, "'")));
}

TEST_CASE("slurm.conf: nodes of the future are not there, and partitions may name them", "[readers]") {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf")
      << "NodeName=a[1-2] Gres=gpu:v100:4\nNodeName=b[1-8] Gres=gpu:v100:4 State=Future\n"
         "NodeName=DEFAULT State=FUTURE Gres=gpu:k80:2\nNodeName=c\nNodeName=d State=UNKNOWN\n"
         "PartitionName=main Nodes=a[1-2],b[1-8],c\n";
  const Scenario scenario = ReadSacct(folder, kSacctHead + SacctLine{"1", "", "COMPLETED", 0, 0, 0, 5}.Text(), "");
  CHECK(scenario.data().cluster.types.at(0).count == 8);
  CHECK(scenario.data().cluster.types.at(1).count == 2);
  CHECK(scenario.data().jobs.allowed == std::vector<std::uint64_t>{1});
  CHECK(SacctSays(scenario, "9 nodes of slurm.conf have State=FUTURE"));
}

TEST_CASE("slurm.conf: a NodeSet stands for its nodes", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "slurm.conf";
  const auto partitions = [&](const std::string& text) {
    std::ofstream(path) << "PartitionName=first Nodes=ns1\nNodeName=a[1-2] Gres=gpu:v100:4 Feature=ib,big\n"
                           "NodeName=DEFAULT Features=ib\nNodeName=b Gres=gpu:v100:4\nNodeName=login\n" << text;
    const std::vector<SlurmLine> lines = ReadSlurmConf(path);
    std::vector<std::vector<int>> nodes;
    for (const SlurmPartition& partition : PartitionsOf(lines, NodesOf(lines, path), path)) nodes.push_back(partition.nodes);
    return nodes;
  };
  // Nodes 0 to 2: a1, a2, b.
  CHECK(partitions("NodeSet=ns1 Nodes=a2,login\nNodeSet=ns2 Feature=big\nNodeSet=ns3 Feature=ib\nNodeSet=ns4 Feature=none\n"
                   "PartitionName=x Nodes=ns[1-2]\nPartitionName=y Nodes=ns3,a1\nPartitionName=z Nodes=ns4,b\n") ==
        std::vector<std::vector<int>>{{1}, {0, 1}, {0, 1, 2}, {2}});
  CHECK(test::Says(test::MessageOf([&] { partitions("NodeSet=ns1 Nodes=a9\n"); }), "slurm.conf:6: Nodes: there is no NodeName=a9"));
  CHECK(test::Says(test::MessageOf([&] { partitions(""); }), "slurm.conf:1: Nodes: there is no NodeName=ns1"));
}

TEST_CASE("slurm.conf: NodeName=DEFAULT says what the nodes behind it do not say, until another does", "[readers]") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "slurm.conf";
  // a: the first default; b: their own; c: said to have none; d: a default without Gres leaves the one before; e: the second.
  std::ofstream(path) << "NodeName=first CPUs=2\nNodeName=Default CPUs=8 Gres=gpu:a100:4\nNodeName=a[01-04]\n"
                         "NodeName=b[01-02] Gres=gpu:v100:2\nNodeName=c Gres=\nNodeName=DEFAULT CPUs=16\nNodeName=d\n"
                         "NodeName=DEFAULT Gres=gpu:h100:8\nNodeName=e\nPartitionName=x Nodes=ALL\n";
  const SlurmNodes nodes = NodesOf(ReadSlurmConf(path), path);
  std::vector<std::string> names;
  for (const SlurmNode& node : nodes.nodes) names.push_back(Join(node.name, " ", node.type, "/", node.gpus));
  CHECK(names == std::vector<std::string>{"a01 a100/4", "a02 a100/4", "a03 a100/4", "a04 a100/4", "d a100/4", "b01 v100/2",
                                          "b02 v100/2", "e h100/8"});
  CHECK(nodes.without_gpu == std::vector<std::string>{"first", "c"});
  const std::string job = SacctLine{"1", "", "COMPLETED", 0, 0, 0, 5}.Text();
  const Scenario scenario = ReadSacct(folder, kSacctHead + job, "");
  REQUIRE(scenario.data().cluster.types.size() == 3);
  CHECK(scenario.data().cluster.types[0].count == 20);
  CHECK(scenario.data().cluster.types[1].count == 4);
  CHECK(scenario.data().cluster.types[2].gpus_per_node == 8);
  std::ofstream(path) << "NodeName=a Gres=gpu:a100:4\nInclude nodes.conf\n";
  CHECK(test::Says(test::MessageOf([&] { ReadSacct(folder, kSacctHead + job, ""); }),
                   "slurm.conf:2: expected the lines of 'nodes.conf' in place of its Include, which is not followed"));
}

}  // namespace berth
