// Tables of one's own: clusters, alone and beside options; and jobs, speeds and clusters changed at random.
#include "data/tables/job_table.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "data/tables/cluster_file.hpp"
#include "data/tables/columns.hpp"
#include "data/tables/speeds.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tables_by_hand.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Berth;
using test::kCluster;
using test::kJobs;
using test::kSpeeds;
using test::MessageOf;
using test::Tables;

}  // namespace

TEST_CASE("tables: a cluster of one's own") {
  const Tables tables;
  const ClusterFile file = ReadClusterFile(tables.Write("c.toml", kCluster));
  REQUIRE(file.cluster.types.size() == 2);
  const GpuType &h100 = file.cluster.types[0], &mine = file.cluster.types[1];
  CHECK((h100.name == "h100" && h100.count == 8 && h100.gpus_per_node == 8 && h100.price_per_hour == 2.5));
  CHECK((h100.memory_gb == 80.0 && h100.bandwidth_gb_s == 3350.0 && h100.peak_power_w == 700.0));  // known
  CHECK((mine.count == 16 && mine.gpus_per_node == 1 && mine.memory_gb == 48.0 && mine.peak_power_w == 0.0));
  CHECK((file.tenants.size() == 1 && file.tenants[0].weight == 3.0));
  CHECK(file.settings == "clock=rounds(300)\n");
  CHECK(ReadClusterFile(
            tables.Write("c.toml", "origin = 2024-03-01T10:00:00Z\n[[gpu]]\nname = \"A100\"\ncount = 1\n"))
            .origin_s == 1709287200.0);
  const std::pair<const char*, const char*> bad[] = {
      {"name = \"\"\"a\nb\"\"\"\ncount = 1", "c.toml:2: name: expected a name without blanks"},
      {"name = \"a\"\ncount = 1\n[[gpu]]\nname = \"A\"\ncount = 1",
       "c.toml:4: gpu: expected each name once, found 'a' twice"},
      {"name = \"a\"\ncount = 1.5", "c.toml:3: count: expected a whole number from 1"},
      {"name = \"a\"\ncount = 1\nclock = \"event\"",
       "c.toml:4: unknown key 'clock', which belongs above the first [[...]]"},
      {"name = \"a\"", "c.toml:1: count: expected how many GPUs there are, found none"},
      {"name = \"a\"\ncount = 1\nidle_power_w = 90\npeak_power_w = 70.5",
       "c.toml:4: idle_power_w: expected an idle power of at most the peak's 70.5 W, found 90"},
      {"name = \"a\"\ncount = 1\n[[job_type]]\nname = \"x\"\nutilization = 3",
       "utilization: expected a number from 0 to 1"},
      {"name = \"a\"\ncount = 1\n[[tenant]]\nname = \"x\"\ninner_policy = \"fifi\"",
       "c.toml:6: inner_policy: expected fairness or fifo, found 'fifi' (did you mean 'fifo'?)"}};
  for (const auto& [text, said] : bad) {
    CAPTURE(text);
    const std::string message =
        MessageOf([&] { ReadClusterFile(tables.Write("c.toml", Join("[[gpu]]\n", text))); });
    CHECK_THAT(message, Contains(said));
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("tables: convert makes a scenario of tables, and options stand above the cluster's file", "[cli]") {
  const Tables tables;
  tables.Write("jobs.csv", kJobs), tables.Write("c.toml", kCluster);
  const auto made =
      Berth(tables, "convert --format table jobs.csv --cluster c.toml --knowledge blind --out s.h5");
  CHECK(made.code == 0);
  CHECK_THAT(made.out, Contains("arrival from 'submitted_at' (guessed)") &&
                           Contains("clock rounds(300), knowledge blind"));
  const Scenario scenario = ReadScenario(tables / "s.h5");
  CHECK((scenario.data().tenants[0].name == "nlp" &&
         scenario.data().tenants[0].weight == 3.0));  // the file's first
  CHECK(scenario.data().jobs.tenant == std::vector<int>{0, 1, 0});
  CHECK_THAT(Berth(tables, "evaluate --scenario s.h5 --schedulers fcfs --clock event").out,
             Contains("clock event"));
  CHECK_THAT(Berth(tables, "generate --workload toy --cluster c.toml --out c.toml").error,
             Contains("--out: expected a new file or one to replace"));
  const auto drawn = Berth(tables, "generate --workload toy --cluster c.toml --out t.h5");
  CHECK(drawn.code == 0);
  CHECK_THAT(drawn.out, Contains("c.toml: not used: [[tenant]], which are of tables of jobs"));
  tables.Write("t.toml", "[[gpu]]\nname = \"h100\"\ncount = 8\n[[job_type]]\nname = \"resnett\"\n");
  CHECK_THAT(Berth(tables, "convert --format table jobs.csv --cluster t.toml --out t.h5").error,
             Contains("t.toml:4: name: expected a type that jobs or speeds name, found 'resnett' (did you "
                      "mean 'resnet'?)"));
  CHECK_THAT(
      Berth(tables, "evaluate --scenario jobs.csv --format table --cluster h100=8 --schedulers fcfs").out,
      Contains("arrival from 'submitted_at' (guessed)"));
  CHECK_THAT(Berth(tables, "convert --format gavel jobs.csv --columns gpus=n_gpu --out s.h5").error,
             Contains("--columns: expected with it --format table, found gavel"));
  // --help says the fields that there are.
  const std::string help = Berth(tables, "convert --help").out;
  for (const JobFieldInfo& field : JobFields()) CHECK_THAT(help, Contains(Join(" ", field.name)));
}

TEST_CASE("tables: --features adds to those of the cluster's file, unless it begins with none", "[cli]") {
  const Tables tables;
  tables.Write("jobs.csv", kJobs);
  tables.Write("c.toml", "clock = \"event\"\nfeatures = \"power(cap_w=5000);monitoring\"\n[[gpu]]\nname = \"h100\"\ncount = 8\n");
  const auto features = [&](const std::string& given, const std::string& what) {
    const auto made = Berth(tables, what + " --cluster c.toml --out s.h5 " + given);
    CAPTURE(made.error);
    REQUIRE(made.code == 0);
    return ToString(ReadScenario(tables / "s.h5").data().features);
  };
  for (const char* what : {"convert --format table jobs.csv", "generate --workload 'toy(jobs=5)'"}) {
    CAPTURE(what);
    CHECK(features("", what) == ToString(ParseFeatures("power(cap_w=5000);monitoring")));
    CHECK(features("--features elasticity", what) == ToString(ParseFeatures("power(cap_w=5000);monitoring;elasticity")));
    CHECK(features("--features 'power(cap_w=9000)'", what) == ToString(ParseFeatures("monitoring;power(cap_w=9000)")));
    CHECK(features("--features 'none;elasticity'", what) == ToString(ParseFeatures("elasticity")));
  }
  // A recorded configuration means the same when it is read again.
  REQUIRE(Berth(tables, "generate --workload 'toy(jobs=5)' --cluster c.toml --out s.h5").code == 0);
  REQUIRE(Berth(tables, "simulate --scenario s.h5 --scheduler fcfs --features none --json r.json").code == 0);
  CHECK_THAT(test::Slurp(tables / "r.json"), Contains("\"features\": \"none\""));
}

// Whatever generators draw, with what the cluster may have beside.
// A character changed, a line cut, doubled or mixed up: each is read, or refused in one line.
TEST_CASE("tables: malformed files are one line and code 2") {
  const Tables tables;
  const std::pair<const char*, std::string> files[] = {
      {"jobs.csv", kJobs}, {"speeds.csv", kSpeeds}, {"c.toml", kCluster}};
  Stream stream(24, Purpose::kScheduler, Split::kEvaluate);
  int refused[3] = {};
  for (int trial = 0; trial < 900; ++trial) {
    const int which = trial % 3;
    for (const auto& [name, text] : files) tables.Write(name, text);
    std::string text = files[which].second;
    const auto place = [&] { return stream.Below(static_cast<std::uint32_t>(text.size())); };
    constexpr std::string_view kSigns = "\",;|=[]{}-:.#x0\n\t ";
    switch (stream.Below(4)) {
      case 0:
        text[place()] = kSigns[stream.Below(static_cast<std::uint32_t>(kSigns.size()))];
        break;
      case 1:
        text.erase(place(), 1 + stream.Below(6));
        break;
      case 2:
        text.insert(place(), 1, kSigns[stream.Below(static_cast<std::uint32_t>(kSigns.size()))]);
        break;
      default:
        text.resize(place());
    }
    tables.Write(files[which].first, text);
    CAPTURE(which, text);
    try {
      ScenarioSettings settings;
      settings.cluster =
          which == 2 ? ReadClusterFile(tables / "c.toml").cluster : ParseCluster("h100=8,a100=8");
      ReadJobTable(tables / "jobs.csv", {"", which == 2 ? "" : tables / "speeds.csv", 0}, settings);
    } catch (const Error& error) {
      ++refused[which];
      const std::string said = error.what();
      CHECK(said.find('\n') == std::string::npos);
      CHECK_THAT(said, Contains(files[which].first) || Contains("jobs.csv:"));  // a row whose speed became 0
    }
  }
  for (const int count : refused) CHECK(count >= 100);
  for (const char* words :
       {"--cluster bad.toml", "--cluster h100=8 --throughputs bad.csv", "--cluster h100=8 --columns gpus"}) {
    tables.Write("bad.toml", "[[gpu]]\nname = 3\n"), tables.Write("bad.csv", "job_type\n"),
        tables.Write("jobs.csv", kJobs);
    const auto ended = Berth(tables, Join("convert --format table jobs.csv --out s.h5 ", words));
    CHECK(ended.code == 2);
    CHECK(std::count(ended.error.begin(), ended.error.end(), '\n') == 1);
  }
}

}  // namespace berth
