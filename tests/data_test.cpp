// Scenarios from and to files: round trips, the shipped tables, and a corpus of what can be wrong with a
// file.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "data/gpu_types.hpp"
#include "data/hdf5_file.hpp"
#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/sim/simulator.hpp"
#include "tests/binary.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

using test::MessageOf;

using test::Slurp;
using test::TemporaryFolder;

ScenarioSettings Paper() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=36,p100=36,k80=36");
  settings.clock = {ClockKind::kReferenceRounds};
  return settings;
}

constexpr const char* kGoodLine = "LM (batch size 10)\t-\t-\t-\t1\t1000\t1\t1\t-1.000000\t0.000000\n";

}  // namespace

TEST_CASE("clusters parse, and errors name the part and the nearest type") {
  const ClusterSpec cluster = ParseCluster("v100=36/4, k80=8");
  REQUIRE(cluster.types.size() == 2);
  CHECK(cluster.types[0].count == 36);
  CHECK(cluster.types[0].gpus_per_node == 4);
  CHECK(cluster.types[1].gpus_per_node == 1);
  CHECK(cluster.types[1].memory_gb > 0.0);
  CHECK_THROWS_WITH(ParseCluster("v10=3"), Catch::Contains("did you mean 'v100'"));
  for (const char* bad :
       {"", "v100", "v100=", "v100=0", "v100=-1", "v100=x", "v100=1,v100=2", "v100=4/0", "v100=1e3"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(ParseCluster(bad), Error);
  }
}

TEST_CASE("the shipped table holds the published figures") {
  // Narayanan et al., artefact's simulation_throughputs.json: ResNet-18 (16) alone on K80; A3C on V100.
  const ThroughputTable table = PublishedThroughputs(ParseCluster("k80=1,v100=1"));
  CHECK(table.job_types.size() == 26);
  const int resnet = JobTypeIndex(table, "ResNet-18 (batch size 16)", "test");
  CHECK(AloneRate(table, resnet, 1, 0, 2) == 4.795294551566172);
  CHECK(AloneRate(table, JobTypeIndex(table, "A3C", "test"), 1, 1, 2) == 7.175767179667988);
  // ResNet-50 (128) does not fit a K80 in a gang; pairs are symmetric when swapped.
  CHECK(AloneRate(table, JobTypeIndex(table, "ResNet-50 (batch size 128)", "test"), 4, 0, 2) == 0.0);
  const std::size_t n = table.job_types.size();
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      REQUIRE(table.pairs[((a * n + b) * 2) * 2] == table.pairs[((b * n + a) * 2) * 2 + 1]);
    }
  }
  CHECK_THROWS_WITH(PublishedThroughputs(ParseCluster("h100=1")),
                    Catch::Contains("there are some for k80, p100, v100"));
  CHECK_THROWS_WITH(JobTypeIndex(table, "A3D", "x:3"),
                    Catch::Contains("x:3") && Catch::Contains("did you mean 'A3C'"));
}

TEST_CASE("a scenario survives its file") {
  const TemporaryFolder folder;
  ScenarioData data =
      test::TinyData({{"a", 4}, {"b", 2}}, {{1.0, 0.3}, {0.1, 2.0}}, {{0, 10}, {1.5, 20, 1, 2}, {7, 3}});
  data.jobs.gang_min = {1, 1, 1};
  data.jobs.gang_max = {1, 4, 1};
  data.jobs.weight = {1, 5, 0.1};
  data.jobs.deadline = {kNever, 100, 9};
  data.jobs.tenant = {0, 1, 1};
  data.jobs.requested_s = {NAN, 60, 1};
  data.jobs.allowed = {3, 2, 1};
  data.jobs.demand = {1, 2, 3, 4, 5, 6};
  data.cluster.types[0].bandwidth_gb_s = 900.5;
  data.traits.traffic_gb = {0.25, 0};
  data.tenants = {{"x", 1.0, "fairness"}, {"y", 2.0, "fifo"}};
  data.clock = {ClockKind::kRounds, 12.5};
  data.knowledge = Knowledge::kEstimate;
  data.estimate_sigma = 0.25;
  data.costs = {1, 2, 3};
  data.seed = ~0ULL;
  const Scenario scenario(data);
  WriteScenario(scenario, folder / "s.h5");
  const Scenario copy = ReadScenario(folder / "s.h5");
  CHECK(copy.Hash() == scenario.Hash());
  CHECK(copy.data().name == "tiny");
  CHECK(copy.data().cluster.types[0].bandwidth_gb_s == 900.5);
  CHECK(copy.data().traits.traffic_gb == std::vector<double>{0.25, 0});
  CHECK(copy.data().tenants[1].inner_policy == "fifo");
  CHECK(copy.EstimateFactor(1) == scenario.EstimateFactor(1));
}

TEST_CASE("every change of a scenario changes its hash") {
  const ScenarioData base = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 10}, {1, 20}});
  const std::uint64_t hash = Scenario(base).Hash();
  const std::vector<std::function<void(ScenarioData&)>> changes = {
      [](ScenarioData& d) { d.cluster.types[0].count = 5; },
      [](ScenarioData& d) { d.jobs.arrival[1] = 2; },
      [](ScenarioData& d) { d.jobs.total_steps[0] = 11; },
      [](ScenarioData& d) { d.jobs.gang[0] = 2; },
      [](ScenarioData& d) { d.throughputs.alone[0] = 1.5; },
      [](ScenarioData& d) { d.clock.kind = ClockKind::kRounds; },
      [](ScenarioData& d) { d.costs.restore_s = 1; },
      [](ScenarioData& d) { d.seed = 1; },
      [](ScenarioData& d) { d.knowledge = Knowledge::kBlind; },
      [](ScenarioData& d) {
        d.jobs.weight = {1, 1};
      },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    ScenarioData data = base;
    changes[i](data);
    CAPTURE(i);
    CHECK(Scenario(data).Hash() != hash);
  }
  // But for a figure that nothing reads: shipped types state their bandwidth, which only traffic_gb asks for.
  ScenarioData data = base;
  data.cluster.types[0].bandwidth_gb_s = 900.0;
  CHECK(Scenario(data).Hash() == hash);
  data.traits.traffic_gb = {1.0};
  const std::uint64_t moving = Scenario(data).Hash();
  data.cluster.types[0].bandwidth_gb_s = 901.0;
  CHECK((moving != hash && Scenario(data).Hash() != moving));
}

TEST_CASE("scenario rules are broken with one line each") {
  using Change = std::function<void(ScenarioData&)>;
  const std::vector<std::pair<const char*, Change>> cases = {
      {"gang of 4 GPUs is larger than every GPU type", [](ScenarioData& d) { d.jobs.gang[1] = 4; }},
      {"runs on none of the cluster's GPU types", [](ScenarioData& d) { d.jobs.job_type[1] = 1; }},
      {"arrival: expected seconds >= 0", [](ScenarioData& d) { d.jobs.arrival[0] = -1; }},
      {"arrival: expected seconds >= 0", [](ScenarioData& d) { d.jobs.arrival[1] = NAN; }},
      {"sorted by arrival", [](ScenarioData& d) { d.jobs.arrival[0] = 9; }},
      {"id 0 is used twice", [](ScenarioData& d) { d.jobs.id[1] = 0; }},
      {"total_steps: expected > 0", [](ScenarioData& d) { d.jobs.total_steps[1] = 0; }},
      {"weight: expected > 0",
       [](ScenarioData& d) {
         d.jobs.weight = {1, -2};
       }},
      {"expected 2 entries, found 1", [](ScenarioData& d) { d.jobs.weight = {1}; }},
      {"tenant: expected an index below 1",
       [](ScenarioData& d) {
         d.jobs.tenant = {0, 1};
       }},
      {"expected at least 1 GPU", [](ScenarioData& d) { d.cluster.types[0].count = 0; }},
      {"steps/s >= 0", [](ScenarioData& d) { d.throughputs.alone[0] = -1; }},
      {"expected seconds >= 0", [](ScenarioData& d) { d.costs.checkpoint_s = NAN; }},
      {"gang_min <= gang <= gang_max",
       [](ScenarioData& d) {
         d.jobs.gang_min = {1, 2};
       }},
  };
  for (const auto& [expected, change] : cases) {
    ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}, {0.0}}, {{0, 10}, {5, 20}});
    change(data);
    const std::string message = MessageOf([&] { Scenario scenario(data); });
    CAPTURE(message);
    CHECK(message.find(expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("a malformed trace names its file and line") {
  const TemporaryFolder folder;
  const std::string good = kGoodLine;
  const auto with = [](int column, const char* value) {
    std::string line, field;
    int at = 0;
    for (const char* c = kGoodLine; *c != '\0'; ++c) {
      if (*c == '\t' || *c == '\n') {
        line += (at == column ? value : field) + *c;
        field.clear();
        ++at;
      } else {
        field += *c;
      }
    }
    return line;
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "found no lines"},
      {good + "LM (batch size 10)\t1\n", "t.trace:2: expected 10 tab-separated columns, found 2"},
      {good + with(0, "LM (batch size 11)"),
       "t.trace:2: unknown job type 'LM (batch size 11)' (did you mean 'LM (batch size 10)'?)"},
      {with(5, "12.5"), "t.trace:1: total_steps: expected a whole number"},
      {with(5, "0"), "t.trace:1: total_steps: expected at least 1"},
      {with(6, "3"), "t.trace:1: scale_factor: expected 1, 2, 4 or 8"},
      {with(9, "-3"), "t.trace:1: arrival: expected seconds >= 0"},
      {with(9, "nan"), "t.trace:1: arrival_time: expected a number"},
      {with(9, "inf"), "t.trace:1: arrival: expected seconds >= 0"},
      {with(9, "10") + good, "t.trace:2: arrival 0 lies before"},
      {with(7, "0"), "t.trace:1: weight: expected > 0"},
      {std::string("\x89HDF\r\n\x1a\n") + good, "t.trace:1: expected 10"},
  };
  for (const auto& [text, expected] : cases) {
    std::ofstream(folder / "t.trace") << text;
    const std::string message = MessageOf([&] { FindFormat("gavel").read(folder / "t.trace", Paper()); });
    CAPTURE(message, expected);
    CHECK(message.find(expected) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
  }
  ScenarioSettings small = Paper();
  small.cluster = ParseCluster("k80=2");
  std::ofstream(folder / "t.trace") << good + with(6, "4");
  CHECK_THROWS_WITH(FindFormat("gavel").read(folder / "t.trace", small),
                    Catch::Contains("t.trace:2: a gang of 4 GPUs is larger"));
  CHECK_THROWS_WITH(FindFormat("gavel").read(folder / "missing", Paper()), Catch::Contains("no such file"));
  CHECK_THROWS_WITH(FindFormat("gavell"), Catch::Contains("did you mean 'gavel'"));
}

TEST_CASE("the trace's relatives: traces_msr and Shockwave's, by their columns") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "t.trace") << text;
    return FindFormat("gavel").read(folder / "t.trace", Paper());
  };
  const std::string name = "LM (batch size 10)\t";
  // job_type, command, num_steps_arg, needs_data_dir, total_steps, arrival_time, scale_factor
  const Scenario msr = read(name + "c\t-n\t1\t900\t0.000000\t2\n" + name + "c\t-n\t1\t70\t6.5\t1\n");
  CHECK(msr.data().jobs.arrival == std::vector<double>{0, 6.5});
  CHECK(msr.data().jobs.total_steps == std::vector<double>{900, 70});
  CHECK(msr.data().jobs.gang == std::vector<int>{2, 1});
  CHECK(msr.data().jobs.weight == std::vector<double>{1, 1});
  CHECK(msr.data().jobs.deadline == std::vector<double>{kNever, kNever});
  // ..., total_steps, scale_factor, mode, priority_weight, SLO, duration, arrival
  const std::string shockwave = name + "c\td\t-n\t1\t900\t2\tstatic\t5\t-1.000000\t1418\t3\n";
  const Scenario still = read(shockwave);
  CHECK(still.data().jobs.arrival == std::vector<double>{0});
  CHECK(still.data().jobs.total_steps == std::vector<double>{900});
  CHECK(still.data().jobs.gang == std::vector<int>{2});
  CHECK(still.data().jobs.weight == std::vector<double>{5});
  CHECK(still.data().provenance == folder / "t.trace");
  const Scenario moving = read(shockwave + name + "c\td\t-n\t1\t900\t1\tgns\t1\t2\t1418\t4\n");
  CHECK(moving.data().provenance.find("; 1 of 2 jobs change their batch size in the original, under the clock "
                                      "reference_rounds they keep the first") != std::string::npos);
  CHECK_FALSE(moving.data().features.any());
  // An SLO of 2 on 900 steps: twice the time alone on a V100 by their own measurements, from the arrival at 4,
  // 1 s behind the first.
  const int type = moving.data().jobs.job_type[1];
  CHECK(moving.data().jobs.arrival == std::vector<double>{0, 1});
  CHECK(moving.data().jobs.deadline[1] == 4.0 + 2.0 * 900.0 / 94.91094148 - 3.0);
  CHECK(moving.Rate(1, 0) == 94.91094148);
  CHECK(moving.data().throughputs.job_types[static_cast<std::size_t>(type)] == "LM (batch size 10)");
  // Under other clocks they do change, unless the user says otherwise: from epoch 11 of 5,967.5 steps on 20.
  ScenarioSettings events = Paper();
  events.clock = {};
  const std::string longer = name + "c\td\t-n\t1\t80000\t1\tgns\t1\t-1\t843\t4\n";
  std::ofstream(folder / "t.trace") << shockwave + longer;
  CHECK(ToString(FindFormat("gavel").read(folder / "t.trace", events).data().features) ==
        "batch_schedule(changes=1>65642.5>20)");
  events.features = ParseFeatures("batch_schedule");
  CHECK(ToString(FindFormat("gavel").read(folder / "t.trace", events).data().features) == "batch_schedule");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {shockwave + kGoodLine, "t.trace:2: expected 12 tab-separated columns, found 10"},
           {name + "c\td\t-n\t1\t900\t2\tmodern\t1\t-1\t1418\t3\n",
            "t.trace:1: mode: expected static, accordion or gns, found 'modern'"},
           {name + "c\t-n\t1\t900\t0\t32\n", "t.trace:1: scale_factor: expected 1, 2, 4 or 8 GPUs, found 32"},
           {name + "c\t-n\t1\t900\t0\n",
            "t.trace:1: expected 10 tab-separated columns (7 in traces_msr, 12 in Shockwave's), found 6"}}) {
    CAPTURE(text);
    CHECK(MessageOf([&, &t = text] { read(t); }).find(expected) != std::string::npos);
  }
}

TEST_CASE("damaged and foreign HDF5 files are refused, and nothing already written is lost") {
  const TemporaryFolder folder;
  const Scenario scenario = test::Tiny({{"a", 2}}, {{1.0}}, {{0, 10}, {5, 20}});
  const std::string path = folder / "s.h5";
  WriteScenario(scenario, path);
  const std::string bytes = Slurp(path);
  for (std::size_t cut : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1}) {
    std::ofstream(folder / "cut.h5", std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(cut));
    CAPTURE(cut);
    CHECK_THROWS_AS(ReadScenario(folder / "cut.h5"), Error);
  }
  // A changed number is noticed by the content hash: flip a bit of the second arrival (5.0).
  const double five = 5.0;
  std::string changed = bytes;
  const std::size_t at = changed.find(std::string(reinterpret_cast<const char*>(&five), sizeof(five)));
  REQUIRE(at != std::string::npos);
  changed[at + 6] ^= 1;
  std::ofstream(folder / "changed.h5", std::ios::binary) << changed;
  CHECK_THROWS_WITH(ReadScenario(folder / "changed.h5"), Catch::Contains("hash"));

  {
    h5::Writer other(folder / "other.h5", "policy", 1);
    other.Commit();
  }
  CHECK_THROWS_WITH(ReadScenario(folder / "other.h5"), Catch::Contains("kind 'scenario', found 'policy'"));
  {
    h5::Writer newer(folder / "newer.h5", "scenario", 99);
    newer.Commit();
  }
  CHECK_THROWS_WITH(ReadScenario(folder / "newer.h5"), Catch::Contains("version 99"));
  CHECK_THROWS_WITH(ReadScenario(folder / "none.h5"), Catch::Contains("no such file"));
  CHECK_THROWS_WITH(WriteScenario(scenario, folder / "no/such/folder.h5"),
                    Catch::Contains("cannot be written"));
  // A writer that is abandoned leaves the old file.
  {
    h5::Writer abandoned(path, "scenario", 1);
    abandoned.Text("name", "half");
  }
  CHECK(Slurp(path) == bytes);
  CHECK(ReadScenario(path).Hash() == scenario.Hash());
}

TEST_CASE("compressed arrays are the same to a reader, hash included, and damage in them is seen") {
  const TemporaryFolder folder;
  std::vector<double> values(3000, 0.0);
  for (std::size_t i = 0; i < values.size(); i += 7) values[i] = static_cast<double>(i) / 3.0;
  const auto write = [&](const std::string& path, bool compressed) {
    h5::Writer out(path, "table", 1);
    if (compressed) out.Compress();
    out.Array<double>("a/values", values, {30, 100});
    out.Array<double>("a/few", std::vector<double>{1, 2, 3});
    out.Commit();
  };
  write(folder / "plain.h5", false);
  write(folder / "small.h5", true);
  const std::string plain = Slurp(folder / "plain.h5"), small = Slurp(folder / "small.h5");
  CHECK(small.size() < plain.size() / 2);
  const h5::Reader in(folder / "small.h5", "table", 1);
  std::vector<std::int64_t> shape;
  CHECK(in.Array<double>("a/values", -1, &shape) == values);
  CHECK(shape == std::vector<std::int64_t>{30, 100});
  CHECK(in.Array<double>("a/few") == std::vector<double>{1, 2, 3});
  // Every byte of the second half, where the array's one chunk ends, is the array's or is not used.
  int noticed = 0;
  for (std::size_t at = small.size() / 2; at < small.size(); at += 41) {
    std::string damaged = small;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    std::ofstream(folder / "damaged.h5", std::ios::binary) << damaged;
    try {
      const h5::Reader read(folder / "damaged.h5", "table", 1);
      CHECK(read.Array<double>("a/values") == values);
    } catch (const Error&) {
      ++noticed;
    }
  }
  CHECK(noticed > 0);
}

TEST_CASE("the reference's traces read as they are") {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/gavel/sim/traces_public/";
  if (!std::filesystem::exists(folder)) return test::Skip("needs records of Gavel's own code (not shipped)");
  const Scenario scenario = FindFormat("gavel").read(folder + "single_r3_s0.trace", Paper());
  CHECK(scenario.num_jobs() == 1500);
  CHECK(scenario.data().jobs.total_steps[0] == 1646636);
  CHECK(scenario.data().jobs.arrival[1] == 326.114764);
  const std::string shared = BERTH_SOURCE_DIR "/../shared/";
  const std::string msr = shared + "gavel/data/traces_msr_seed0/";
  CHECK(FindFormat("gavel").read(msr + "795a4c.trace", Paper()).num_jobs() == 3);
  // The others have gangs whose throughput was not measured.
  CHECK_THROWS_WITH(
      FindFormat("gavel").read(msr + "103959.trace", Paper()),
      Catch::Contains("103959.trace:2: job type 'Recommendation (batch size 8192)' with a gang of 4"));
  const std::string shockwave =
      shared + "traces/shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,0.01_multigpu_dynamic.trace.gz";
  if (!std::filesystem::exists(shockwave)) return;
  const Scenario dynamic = FindFormat("gavel").read(shockwave, Paper());
  CHECK(dynamic.num_jobs() == 120);
  CHECK(dynamic.data().provenance.find("116 of 120 jobs") != std::string::npos);
}

}  // namespace berth
