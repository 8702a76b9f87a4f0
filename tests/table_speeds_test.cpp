// Tables of one's own: speeds, by which the work of jobs is known: measured, missing, of slices, spread and shared GPUs.
#include "data/tables/job_table.hpp"

#include <string>
#include <vector>

#include "data/tables/cluster_file.hpp"
#include "data/tables/speeds.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/tables_by_hand.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::kJobs;
using test::kSpeeds;
using test::MessageOf;
using test::Tables;

}  // namespace

TEST_CASE("tables: work is what the job did on the type that it ran on") {
  const Tables tables;
  const JobTableRequest request{"", tables.Write("speeds.csv", kSpeeds), 0};
  // on the fastest: 30 min x 10, 1 h x 36, 1 h x 20 steps/s
  CHECK(tables.Read(kJobs, request).scenario.data().jobs.total_steps ==
        std::vector<double>{18000.0, 129600.0, 72000.0});
  const std::string ran = "arrival,duration,gpus,type,ran_on\n0,100,4,resnet,A100\n1,100,4,resnet,\n";
  const JobTableScenario read = tables.Read(ran, request);
  CHECK(read.scenario.data().jobs.total_steps == std::vector<double>{1200.0, 3600.0});
  CHECK(read.scenario.Rate(0, 0) == 36.0);
  CHECK(read.scenario.Rate(0, 1) == 12.0);
  CHECK_THAT(
      MessageOf(
          [&] { tables.Read("arrival,duration,gpus,type,ran_on\n0,9,8,\"bert, large\",a100\n", request); }),
      Contains("jobs.csv:2: expected a speed above 0 of 'bert, large' with 8 GPUs where it ran, found 0"));
  CHECK_THAT(MessageOf([&] { tables.Read("arrival,duration,gpus,type\n0,9,2,resnet\n", request); }),
             Contains("found none of 'resnet' with 2 GPUs on h100 and of 1 more"));
}

// The cluster has h100 and a100 alone; of p100 the table of speeds knows 36 / 12 = 3 steps/s.
TEST_CASE("tables: a job may have run on a type that the cluster lacks") {
  const Tables tables;
  const JobTableRequest request{"", tables.Write("speeds.csv", Join(kSpeeds, "resnet,p100,4,3\n")), 0};
  const std::string header = "arrival,duration,gpus,type,ran_on\n";
  const JobTableScenario read =
      tables.Read(Join(header, "0,100,4,resnet,P100\n1,100,4,resnet,a100\n"), request);
  CHECK(read.scenario.data().jobs.total_steps == std::vector<double>{300.0, 1200.0});
  CHECK_THAT(read.notes[1],
             Contains("on the type in 'ran_on'") && Contains("; of 1 row it is no type of the cluster"));
  CHECK_THAT(
      MessageOf([&] { tables.Read(Join(header, "0,100,1,resnet,p100\n"), request); }),
      Contains("jobs.csv:2: column 'ran_on': expected a type with a speed of 'resnet' with 1 GPU in ") &&
          Contains("found 'p100'"));
  CHECK_THAT(MessageOf([&] { tables.Read(Join(header, "0,100,1,resnet,p10\n"), request); }),
             Contains("expected a GPU type of the cluster or of ") && Contains("did you mean 'p100'"));
  // Without speeds, and of steps, it is not asked for.
  const JobTableScenario alike = tables.Read(Join(header, "0,100,4,resnet,tpu9\n"));
  CHECK(alike.scenario.data().jobs.total_steps == std::vector<double>{100.0});
  CHECK_THAT(alike.notes[1], Contains("alike") && Contains("the type in 'ran_on' is not asked for then"));
  CHECK(tables.Read("arrival,steps,gpus,type,ran_on\n0,50,4,resnet,tpu9\n", request)
            .scenario.data()
            .jobs.total_steps == std::vector<double>{50.0});
}

// Seven 1g.10gb fit on an a100 of 80 GB, so two GPUs have 14 of them. Measured: 0.5 steps/s. The other slices
// follow from the whole GPU's 1.4, as 2g.20gb, two of seven parts: 0.4.
TEST_CASE("tables: the speeds of slices are those of types of their own") {
  const Tables tables;
  const ClusterFile file = ReadClusterFile(tables.Write(
      "c.toml",
      "[[gpu]]\nname = \"a100\"\ncount = 2\nmemory_gb = 80\n[[gpu]]\nname = \"a100.1g.10gb\"\ncount = 14\n"));
  ScenarioSettings settings;
  settings.cluster = file.cluster;
  settings.features = ParseFeatures("partitions");
  const std::string speeds =
      tables.Write("speeds.csv", "job_type,gpu_type,steps_per_s\nserve,a100,1.4\nserve,a100.1g.10gb,0.5\n");
  const Scenario scenario = ReadJobTable(tables.Write("jobs.csv", "arrival,steps,gpus,type\n0,7,1,serve\n"),
                                         {"", speeds, 0}, settings)
                                .scenario;
  const std::vector<GpuType>& types = scenario.data().cluster.types;
  REQUIRE(types.size() > 2);
  for (std::size_t g = 0; g < types.size(); ++g) {
    CAPTURE(types[g].name);
    if (types[g].name == "a100") CHECK(scenario.Rate(0, static_cast<int>(g)) == 1.4);
    if (types[g].name == "a100.1g.10gb") CHECK(scenario.Rate(0, static_cast<int>(g)) == 0.5);
    if (types[g].name == "a100.2g.20gb") CHECK(scenario.Rate(0, static_cast<int>(g)) == Approx(0.4));
  }
}

TEST_CASE("tables: a gang over several nodes is not twice as fast as on one") {
  const Tables tables;
  const auto says = [&](const char* row) {
    return MessageOf([&] {
      Speeds(tables.Write("speeds.csv",
                          Join("job_type,gpu_type,gpus,steps_per_s,spread_steps_per_s\n", row, "\n")));
    });
  };
  CHECK_THAT(says("a,h100,1,2,1.5"),
             Contains("speeds.csv:2: column 'spread_steps_per_s': expected nothing, since a gang of 1"));
  CHECK_THAT(says("a,h100,2,2,4.5"),
             Contains("expected at most 2 times the speed on one node, 2, found 4.5"));
  CHECK_THAT(says("a,h100,1,2,2.01"), Contains("expected nothing, since a gang of 1"));
  CHECK_THAT(says("a,h100,2,0,1"),
             Contains("expected 0, since the job type cannot run there on one node, found 1"));
  for (const char* row : {"a,h100,1,2,2", "a,h100,1,2,2.001", "a,h100,2,0,0", "a,h100,1,2,0", "a,h100,1,2,",
                          "a,h100,2,2,2.5", "a,h100,2,2,0"})
    CHECK_NOTHROW(Speeds(tables.Write(
        "speeds.csv", Join("job_type,gpu_type,gpus,steps_per_s,spread_steps_per_s\n", row, "\n"))));
}

TEST_CASE("tables: speeds that are missing are estimated where that is asked for, and named") {
  // Five job types on two GPU types in gangs of 1, 2 and 4, speed = job x GPU x gang: what is missing of such
  // a product is known, and completion with its ridges comes within a tenth. What cannot run stays so.
  const Tables tables;
  std::string speeds = "job_type,gpu_type,gpus,steps_per_s\n", jobs = "arrival,steps,gpus,type\n";
  for (int j = 1; j <= 5; ++j) {
    for (const int gang : {1, 2, 4}) {
      if (j == 2 && gang == 4) speeds += "j2,a100,4,0\nj2,h100,4,8\n";
      jobs += Join("0,100,", gang, ",j", j, "\n");
      if (j == 2 && gang == 4) continue;
      speeds += Join("j", j, ",a100,", gang, ",", j * gang, "\n");
      if (j != 3 || gang != 2) speeds += Join("j", j, ",h100,", gang, ",", 2 * j * gang, "\n");
    }
  }
  ScenarioSettings settings;
  settings.cluster = ParseCluster("a100=8,h100=8");
  const std::string file = tables.Write("speeds.csv", speeds), path = tables.Write("jobs.csv", jobs);
  CHECK_THAT(MessageOf([&] {
               ReadJobTable(path, {"", file, 0, false}, settings);
             }),
             Contains("found none of 'j3' with 2 GPUs on h100"));
  const JobTableScenario read = ReadJobTable(path, {"", file, 0, true}, settings);
  CHECK_THAT(Join(read.notes.back()), Contains("estimated: 'j3' with 2 GPUs on h100: "));
  for (int job = 0; job < read.scenario.num_jobs(); ++job) {
    const JobTable& table = read.scenario.data().jobs;
    const int j = table.job_type[U(job)] + 1, gang = table.gang[U(job)];
    const double right = 2.0 * j * gang;
    CHECK(read.scenario.Rate(job, 1) ==
          Approx(j == 2 && gang == 4 ? 8.0 : right).epsilon(j == 3 && gang == 2 ? 0.1 : 0.0));
    if (j == 2 && gang == 4) CHECK(read.scenario.Rate(job, 0) == 0.0);
  }
  settings.cluster = ParseCluster("a100=8,l4=8");
  CHECK_THAT(MessageOf([&] {
               ReadJobTable(path, {"", file, 0, true}, settings);
             }),
             Contains("any job type with as many GPUs there, found none"));
  settings.cluster = ParseCluster("a100=8,h100=8");
  const std::string ones =
      tables.Write("ones.csv", "job_type,gpu_type,gpus,steps_per_s\nj1,a100,1,4\nj1,h100,1,8\n");
  CHECK_THAT(MessageOf([&] {
               ReadJobTable(tables.Write("two.csv", "arrival,steps,gpus,type\n0,1,2,j1\n"),
                            {"", ones, 0, true}, settings);
             }),
             Contains("to estimate 'j1' with 2 GPUs on a100"));
}

TEST_CASE("tables: speeds beside another job and over several nodes, in seconds a step too") {
  const Tables tables;
  const std::string file =
      tables.Write("speeds.csv",
                   "job_type;gpu_type;gpus;s_per_step;spread_steps_per_s;with\n"
                   "a;H100;1;0.5;;\na;h100;2;0.25;3;\nb;h100;1;0.1;;\na;h100;1;1;;b\nb;h100;1;0.2;;a\n");
  ScenarioSettings settings;
  settings.cluster = ParseCluster("h100=8/4");
  const Scenario scenario =
      ReadJobTable(tables.Write("jobs.csv", "arrival,steps,gpus,type\n0,5,1,a\n0,5,2,a\n0,5,1,b\n"),
                   {"", file, 0}, settings)
          .scenario;
  CHECK((scenario.Rate(0, 0) == 2.0 && scenario.Rate(1, 0) == 4.0 && scenario.Rate(2, 0) == 10.0));
  CHECK((scenario.PairRate(0, 2, 0) == 1.0 && scenario.PairRate(2, 0, 0) == 5.0));
  CHECK(scenario.data().throughputs.unconsolidated == std::vector<double>{2.0, 3.0, 10.0, 0.0});
}

TEST_CASE("tables: a job ran where it may run") {
  const Tables tables;
  const JobTableRequest request{"", tables.Write("speeds.csv", kSpeeds), 0};
  const std::string text = "arrival,duration,gpus,type,allowed\n0,100,4,resnet,a100\n0,100,4,resnet,\n";
  CHECK(tables.Read(text, request).scenario.data().jobs.total_steps == std::vector<double>{1200.0, 3600.0});
  CHECK_THAT(MessageOf([&] {
               tables.Read("arrival,duration,gpus,type,allowed\n0,9,8,\"bert, large\",a100\n", request);
             }),
             Contains("anywhere that it may run, found 0"));
}

TEST_CASE("tables: a duration is one on the share, and as long where that suffices") {
  const Tables tables;
  const auto jct_s = [&](const std::string& features) {
    ScenarioSettings settings;
    settings.cluster = ParseCluster("h100=8");
    settings.clock = Clock{ClockKind::kEvent};
    settings.features = ParseFeatures(features);
    const JobTableScenario read =
        ReadJobTable(tables.Write("jobs.csv", "arrival,duration,gpus,share\n0,1000,1,250\n"), {}, settings);
    CHECK_THAT(read.notes.back(), Contains("durations count as measured on the shares"));
    return test::RunOf("gpu_shares", read.scenario).jct_s;
  };
  CHECK(jct_s("sharing(share_suffices=true)") == std::vector<double>{1000.0});
  CHECK(jct_s("sharing") == std::vector<double>{4000.0});
  CHECK_THAT(tables.Read("arrival,steps,gpus,share\n0,1000,1,250\n").notes.back(), !Contains("durations"));
}

}  // namespace berth
