// Readers of public logs (Standard Workload Format, Philly, ITP): what they make of a line, what they say of
// a bad one, and the real files where they are at hand.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/packed_files.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::MessageOf;

using test::Berth;
using test::TarMember;
using test::TemporaryFolder;
using test::WriteGzip;

const std::string kTraces = BERTH_SOURCE_DIR "/../shared/traces/";

ScenarioSettings On(const char* cluster) {
  ScenarioSettings settings;
  if (*cluster != '\0') settings.cluster = ParseCluster(cluster);
  return settings;
}

// id, submit, wait, run time, allocated, cpu, memory, requested processors, requested time, 9 more.
std::string Swf(const std::string& id, const std::string& submit, const std::string& run,
                const std::string& allocated, const std::string& processors, const std::string& time) {
  return Join(id, " ", submit, " -1 ", run, " ", allocated, " -1 -1 ", processors, " ", time,
              " -1 1 3 1 -1 0 -1 -1 -1\n");
}

// `text` read as `format`; the file is called t.log.
Scenario ReadText(const TemporaryFolder& folder, const char* format, const std::string& text,
                  const char* cluster = "") {
  std::ofstream(folder / "t.log") << text;
  return FindFormat(format).read(folder / "t.log", On(cluster));
}

const std::string kHeader = "; Version: 2\n;MaxNodes: 8\n; MaxProcs: 16 (two a node)\n";
const std::string kCsv = "job_id,submit_s,duration_s,num_gpus,vc\n";
const std::string kItp = "job_id,submission_time,duration,num_gpu\n";

}  // namespace

TEST_CASE("swf: the loading rules of RLScheduler", "[readers]") {
  const TemporaryFolder folder;
  const Scenario scenario =
      ReadText(folder, "swf",
               kHeader + "\n" + Swf("7", "50", "100", "4", "-1", "200") +  // request stated
                   Swf("9", "60", "0", "4", "-1", "200") +                 // ran no time: left out
                   Swf("8", "55", "-1", "-1", "3", "-1") +  // run time unknown: 10 s, its request too
                   Swf("5", "20", "30", "2", "6", "-1"));   // the larger of 2 and 6 processors
  const ScenarioData& data = scenario.data();
  REQUIRE(scenario.num_jobs() == 3);
  CHECK(data.jobs.id == std::vector<std::int64_t>{5, 7, 8});
  CHECK(data.jobs.arrival == std::vector<double>{0, 30, 35});
  CHECK(data.jobs.total_steps == std::vector<double>{30, 100, 10});
  CHECK(data.jobs.requested_s == std::vector<double>{30, 200, 10});
  CHECK(data.jobs.gang == std::vector<int>{6, 4, 4});  // 3 processors are two nodes of two
  CHECK(data.throughputs.gang_sizes == std::vector<int>{4, 6});
  REQUIRE(data.cluster.types.size() == 1);
  CHECK(data.cluster.types[0].name == "cpu");
  CHECK(data.cluster.types[0].count == 16);
  CHECK(data.cluster.types[0].gpus_per_node == 2);
  CHECK(scenario.Rate(0, 0) == 1.0);
  CHECK(data.clock.ToString() == "event");
  CHECK_THAT(data.provenance, Catch::EndsWith("t.log (left out: 1 job that ran no second)"));

  // Only one of the two header lines; a given cluster wins.
  CHECK(ReadText(folder, "swf", "; MaxNodes: 9\n" + Swf("1", "0", "5", "2", "-1", "-1")).num_gpus() == 9);
  CHECK(ReadText(folder, "swf", "; MaxProcs: 9\n; MaxNodes: -1\n" + Swf("1", "0", "5", "2", "-1", "-1"))
            .num_gpus() == 9);
  CHECK(ReadText(folder, "swf", kHeader + Swf("1", "0", "5", "2", "-1", "-1"), "cpu=4,p100=2").num_gpus() ==
        6);
  // Nodes of several sizes: 10 processors on 4 nodes are given out one by one.
  CHECK(ReadText(folder, "swf", "; MaxProcs: 10\n; MaxNodes: 4\n" + Swf("1", "0", "5", "3", "-1", "-1"))
            .data()
            .jobs.gang[0] == 3);
  // As on a cluster that is given: nodes of 8 and of 4.
  CHECK(ReadText(folder, "swf", kHeader + Swf("1", "0", "5", "12", "-1", "-1"), "cpu=12/8").data().jobs.gang[0] == 12);
}

TEST_CASE("swf: a bad line is named", "[readers]") {
  const TemporaryFolder folder;
  const std::string good = Swf("1", "0", "5", "2", "-1", "-1");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t.log: expected '; MaxProcs: N'"},
      {kHeader, "t.log: expected a job a line"},
      {good,
       "t.log: expected '; MaxProcs: N' or '; MaxNodes: N' in the header, found neither: give --cluster"},
      {"; MaxNodes: many\n" + good, "t.log:1: MaxNodes: expected a whole number"},
      {"; MaxNodes:\n" + good, "t.log:1: MaxNodes:"},
      {"; MaxNodes: 99999999999\n" + good, "t.log:1: MaxNodes:"},
      {kHeader + good + "1 2 3\n", "t.log:5: expected 18 fields, found 3"},
      {kHeader + good.substr(0, good.size() - 1) + " 7\n", "t.log:4: expected 18 fields, found 19"},
      {kHeader + Swf("1", "0", "x", "2", "-1", "-1"), "t.log:4: field 4 (run time): expected a number"},
      {kHeader + Swf("1", "nan", "5", "2", "-1", "-1"), "t.log:4: field 2 (submit time): expected a number"},
      {kHeader + Swf("1", "-1", "5", "2", "-1", "-1"), "t.log:4: arrival: expected seconds >= 0, found -1"},
      {kHeader + Swf("1", "0", "5", "-1", "-1", "-1"), "t.log:4: expected processors in field 5 or 8"},
      {kHeader + Swf("1", "0", "5", "2.5", "-1", "-1"),
       "t.log:4: field 5 (allocated processors): expected a whole number"},
      {kHeader + Swf("1.5", "0", "5", "2", "-1", "-1"),
       "t.log:4: field 1 (job number): expected a whole number"},
      {kHeader + Swf("1", "0", "5", "17", "-1", "-1"), "t.log:4: a gang of 18 GPUs is larger"},
      {kHeader + Swf("1", "0", "inf", "2", "-1", "-1"), "t.log:4: total_steps: expected > 0, found inf"},
      {kHeader + good + good, "t.log:5: id 1 is used twice"},
      {std::string("\x89HDF\r\n\x1a\n") + good, "t.log:1: "},
  };
  for (const auto& [text, expected] : cases) {
    const std::string message = MessageOf([&, &bad = text] { ReadText(folder, "swf", bad); });
    CAPTURE(message, expected);
    CHECK(message.find(expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("philly and itp: columns by name, tenants, deadlines", "[readers]") {
  const TemporaryFolder folder;
  const Scenario philly =
      ReadText(folder, "philly", kCsv + "0,0,2.5e+03,8,red\n2,70,10.5,1,blue\r\n1,30,60,16,red\n", "p100=16");
  CHECK(philly.data().jobs.id == std::vector<std::int64_t>{0, 1, 2});  // by submission
  CHECK(philly.data().jobs.total_steps == std::vector<double>{2500, 60, 10.5});
  CHECK(philly.data().jobs.tenant == std::vector<int>{0, 0, 1});
  REQUIRE(philly.data().tenants.size() == 2);
  CHECK(philly.data().tenants[1].name == "blue");
  CHECK(philly.data().jobs.requested_s.empty());

  const Scenario itp = ReadText(folder, "itp", kItp + "a-b,100,700,2\nc-d,100,600,1\n", "v100=4");
  CHECK(itp.data().jobs.id == std::vector<std::int64_t>{0, 1});
  CHECK(itp.data().jobs.arrival == std::vector<double>{0, 0});
  CHECK(itp.data().jobs.deadline.empty());
  const Scenario second = ReadText(folder, "itp",
                                   "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_"
                                   "gpu,duration\nu,5,9,vgg,905,32,2,700\n",
                                   "v100=4");
  CHECK(second.data().jobs.deadline == std::vector<double>{900});
  CHECK(second.data().jobs.gang == std::vector<int>{2});
}

TEST_CASE("philly and itp: a bad line is named", "[readers]") {
  const TemporaryFolder folder;
  struct Case {
    const char* format;
    std::string text, expected;
  };
  const std::vector<Case> cases = {
      {"philly", "", "t.log: expected a header line, found an empty file"},
      {"philly", "job_id,submit,duration_s,num_gpus,vc\n",
       "t.log:1: expected a column 'submit_s' (did you mean 'submit'?)"},
      {"philly", kCsv, "t.log: expected a job a line, found no jobs"},
      {"philly", kCsv + "0,0,10,1,a\n1,5,10,1\n", "t.log:3: expected 5 comma-separated columns, found 4"},
      {"philly", kCsv + "0,0,10,1,a,b\n", "t.log:2: expected 5 comma-separated columns, found 6"},
      {"philly", kCsv + "0,0,-3,1,a\n", "t.log:2: duration_s: expected > 0, found -3"},
      {"philly", kCsv + "0,0,10,1.5,a\n", "t.log:2: num_gpus: expected a whole number"},
      {"philly", kCsv + "0,0,10,0,a\n", "t.log:2: expected at least 1 device, found 0"},
      {"philly", kCsv + "0,-2,10,1,a\n", "t.log:2: arrival: expected seconds >= 0"},
      {"philly", kCsv + "0,0,10,9,a\n", "t.log:2: a gang of 9 GPUs is larger"},
      {"philly", kCsv + "0,0,10,1,a\n\n0,1,10,1,a\n", "t.log:4: id 0 is used twice"},
      {"itp", kCsv + "0,0,10,1,a\n", "t.log:1: expected a column 'submission_time'"},
      {"itp", kItp + "u,0,,1\n", "t.log:2: duration: expected a number"},
      {"itp", kItp + "u,0,0,1\n", "t.log:2: duration: expected > 0, found 0"},
      {"itp", kItp + "u,0,5,99999999999\n", "t.log:2: num_gpu: expected at most"},
  };
  for (const Case& bad : cases) {
    const std::string message = MessageOf([&] { ReadText(folder, bad.format, bad.text, "p100=8"); });
    CAPTURE(bad.format, message, bad.expected);
    CHECK(message.find(bad.expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  for (const char* format : {"philly", "itp"}) {
    CHECK_THROWS_WITH(ReadText(folder, format, kCsv), Catch::Contains("give --cluster"));
    CHECK_THROWS_WITH(FindFormat(format).read(folder / "missing", On("p100=8")),
                      Catch::Contains("no such file"));
    CHECK_THROWS_WITH(FindFormat(format).read(folder.path(), On("p100=8")),
                      Catch::Contains("found a directory"));
  }
}

TEST_CASE("gzip and tar: the same jobs, and damage is an error", "[readers]") {
  const TemporaryFolder folder;
  const std::string text = kItp + "u,0,5,1\nv,1,6,2\n";
  const std::uint64_t plain = ReadText(folder, "itp", text, "p100=8").Hash();
  WriteGzip(folder / "t.csv.gz", text);
  CHECK(FindFormat("itp").read(folder / "t.csv.gz", On("p100=8")).Hash() == plain);
  const std::string tar = TarMember("a.csv", "x\n") + TarMember("b.csv", text) + std::string(1024, '\0');
  WriteGzip(folder / "t.tar.gz", tar);
  CHECK(FindFormat("itp").read(folder / "t.tar.gz:b.csv", On("p100=8")).Hash() == plain);
  const auto message = [&](const std::string& path) {
    return MessageOf([&] { FindFormat("itp").read(folder / path, On("p100=8")); });
  };
  CHECK_THAT(message("t.tar.gz:b.cvs"), Catch::Contains("holds no 'b.cvs' (did you mean 'b.csv'?)"));
  CHECK_THAT(message("t.tar.gz:a.csv"), Catch::Contains("t.tar.gz:a.csv:1: expected a column 'job_id'"));
  WriteGzip(folder / "text.tar.gz", std::string(2000, 'x'));
  CHECK_THAT(message("text.tar.gz:b.csv"), Catch::Contains("expected a tar archive"));
  WriteGzip(folder / "short.tar.gz", tar.substr(0, 1024 + 520));
  CHECK_THAT(message("short.tar.gz:b.csv"), Catch::Contains("'b.csv' is not all there"));
  // A gzip file cut short, and one with a flipped bit in its checksum.
  std::ifstream in(folder / "t.csv.gz", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::ofstream(folder / "cut.gz", std::ios::binary) << bytes.substr(0, bytes.size() - 6);
  CHECK_THAT(message("cut.gz"), Catch::Contains("damaged or cut"));
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  std::ofstream(folder / "flipped.gz", std::ios::binary) << bytes;
  CHECK_THAT(message("flipped.gz"), Catch::Contains("damaged or cut"));
}

TEST_CASE("readers: random damage is read or refused in one line, never worse", "[readers]") {
  const TemporaryFolder folder;
  struct Sample {
    const char* format;
    std::string text;
  };
  const std::vector<Sample> samples = {
      {"swf", kHeader + Swf("1", "10", "100", "16", "-1", "200") + Swf("2", "20", "30", "2", "-1", "40")},
      {"philly", kCsv + "0,0,2.5e+03,8,red\n1,70,10.5,1,blue\n"},
      {"itp", kItp + "a-b,100,700,2\nc-d,100,600,1\n"},
      {"helios",
       "job_id,user,vc,gpu_num,state,submit_time,duration\n7,u1,a,2,FAILED,2020-04-01 00:00:03,50\n"
       "8,u2,b,1,COMPLETED,2020-04-01 00:01:00,900\n"}};
  int read = 0, refused = 0;
  for (const Sample& sample : samples) {
    for (std::uint32_t round = 0; round < 150; ++round) {
      Stream stream(round, Purpose::kTest);
      std::string text = sample.text;
      for (std::uint32_t flips = 1 + stream.Below(3); flips > 0; --flips) {
        const std::size_t at = stream.Below(static_cast<std::uint32_t>(text.size()));
        const char bytes[] = {'\n', ',', ' ',  '-', '9',
                              '.',  'e', '\0', ';', static_cast<char>(stream.Below(256))};
        text[at] = bytes[stream.Below(sizeof(bytes))];
      }
      try {
        const int jobs = ReadText(folder, sample.format, text, "p100=64").num_jobs();
        CHECK(jobs > 0);
        ++read;
      } catch (const Error& error) {
        const std::string message = error.what();
        CHECK(message.find("t.log") != std::string::npos);
        CHECK(message.find('\n') == std::string::npos);
        ++refused;
      }
    }
  }
  CHECK(read > 20);
  CHECK(refused > 50);
}

TEST_CASE("cli: a log converts, simulates, and a bad one ends with one line and code 2", "[readers]") {
  const TemporaryFolder folder;
  const std::string text =
      kHeader + Swf("1", "10", "100", "16", "-1", "200") + Swf("2", "20", "30", "2", "-1", "40");
  const Scenario read = ReadText(folder, "swf", text);
  REQUIRE(Berth(folder, "convert --format swf t.log --clock hpc --out s.h5").code == 0);
  const Scenario stored = ReadScenario(folder / "s.h5");
  CHECK(stored.Hash() == WithClock(read, {ClockKind::kHpc}).Hash());
  REQUIRE(
      Berth(folder, "simulate --scenario s.h5 --scheduler 'f1(semantics=commit,backfill=easy)' --json r.json")
          .code == 0);
  const std::string json = test::Slurp(folder / "r.json");
  CAPTURE(json);
  // Job 2 waits from 20 to 110: bounded slowdowns 1 and (90 + 30) / 30; the last start is at 110.
  CHECK(json.find("\"hpc_bounded_slowdown\": 2.5") != std::string::npos);
  CHECK(json.find("\"hpc_utilization\": 1.0375") != std::string::npos);  // (1600 + 60) / (100 x 16)

  struct Case {
    const char* format;
    std::string text, expected;
  };
  const std::vector<Case> cases = {
      {"swf", text + "3 4\n", "t.log:6: expected 18 fields, found 2\n"},
      {"philly", kCsv + "0,0,ten,1,a\n", "t.log:2: duration_s: expected a number"},
      {"itp", kItp + "u,0,5,-1\n", "t.log:2: expected at least 1 device, found -1\n"},
      {"pai", "j,t,1.0,Terminated,5.0,9.0,,,x,T4\n", "t.log:1: plan_gpu: expected a number, found 'x'\n"}};
  for (const Case& bad : cases) {
    std::ofstream(folder / "t.log") << bad.text;
    test::CheckOneLine(
        Berth(folder, Join("convert --format ", bad.format, " t.log --cluster p100=8 --out s.h5")),
        bad.expected);
  }
  CHECK(ReadScenario(folder / "s.h5").Hash() == stored.Hash());
}

TEST_CASE("the public logs read with the jobs and GPU-hours that they hold", "[readers]") {
  if (!std::filesystem::exists(kTraces + "philly")) return test::Skip("needs the public logs (not shipped)");
  const auto gpu_hours = [](const Scenario& s) {
    double sum = 0.0;
    for (std::size_t j = 0; j < s.data().jobs.arrival.size(); ++j)
      sum += s.data().jobs.total_steps[j] * s.data().jobs.gang[j];
    return sum / 3600.0;
  };
  const Scenario philly = FindFormat("philly").read(kTraces + "philly/philly_sorted.csv.gz", On("p100=512"));
  CHECK(philly.num_jobs() == 82247);
  CHECK(philly.data().tenants.size() == 15);
  CHECK(std::floor(gpu_hours(philly)) == 978078);
  const auto singles = std::count(philly.data().jobs.gang.begin(), philly.data().jobs.gang.end(), 1);
  CHECK(singles == 76627);
  const std::string itp = kTraces + "microsoft-itp-elasticflow/raw-traces.tar.gz:cluster";
  CHECK(FindFormat("itp").read(itp + "02.csv", On("v100=128")).num_jobs() == 5778);
  const Scenario dated = FindFormat("itp").read(
      kTraces + "microsoft-itp-elasticflow/elasticflow-traces.tar.gz:cluster10.csv", On("v100=16"));
  CHECK(dated.num_jobs() == 260);
  CHECK(dated.data().jobs.deadline.size() == 260);
  const Scenario theta = FindFormat("swf").read(kTraces + "alcf-theta-mira/theta_canonical.swf.gz", {});
  CHECK(theta.num_jobs() == 23387);
  CHECK(theta.num_gpus() == 4392);
  const Scenario mira = FindFormat("swf").read(kTraces + "alcf-theta-mira/mira_canonical.swf.gz", {});
  CHECK(mira.num_jobs() == 22508);
  CHECK(mira.num_gpus() == 49152);
  const Scenario lublin = FindFormat("swf").read(kTraces + "rlscheduler-lublin/lublin_256.swf.gz", {});
  CHECK(lublin.num_jobs() == 10000);
  CHECK(lublin.num_gpus() == 256);
}

}  // namespace berth
