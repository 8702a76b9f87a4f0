// Tables of one's own: columns by their usual names, jobs, speeds and clusters; and what is said of those that
// cannot be read.
#include "data/tables/job_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "data/tables/cluster_file.hpp"
#include "data/tables/columns.hpp"
#include "data/tables/speeds.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::Berth;
using test::MessageOf;
using test::TemporaryFolder;

constexpr const char* kJobs =
    "id,submitted_at,runtime,n_gpu,model,team\n"
    "7,100,1:00:00,4,resnet,vision\n"
    "9,40,30m,1,resnet,nlp\n"
    "8,160,0-01:00:00,8,\"bert, large\",nlp\n";
constexpr const char* kSpeeds =
    "job_type,gpu_type,gpus,steps_per_s\n"
    "resnet,h100,1,10\nresnet,h100,4,36\nresnet,a100,1,4\nresnet,a100,4,12\n"
    "\"bert, large\",h100,8,20\n\"bert, large\",a100,8,0\n";
constexpr const char* kCluster =
    "clock = \"rounds(300)\"\n\n[[gpu]]\nname = \"h100\"\ncount = 8\nper_node = 8\nprice_per_hour = 2.5\n"
    "[[gpu]]\nname = \"mine\"\ncount = 16\nmemory_gb = 48\n[[tenant]]\nname = \"nlp\"\nweight = 3\n";

struct Tables : TemporaryFolder {
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
  }
  // `text` as jobs on 8 h100 and 8 a100.
  JobTableScenario Read(const std::string& text, const JobTableRequest& request = {}) const {
    ScenarioSettings settings;
    settings.cluster = ParseCluster("h100=8,a100=8");
    return ReadJobTable(Write("jobs.csv", text), request, settings);
  }
};

}  // namespace

TEST_CASE("tables: columns are known by the names that logs give them") {
  const auto described = [](std::vector<std::string> header) { return JobColumns("", header).Describe(); };
  // sacct --parsable2 --format=JobID,User,Account,Submit,Start,End,Elapsed,AllocTRES,Timelimit
  CHECK(described(
            {"JobID", "User", "Account", "Submit", "Start", "End", "Elapsed", "AllocTRES", "Timelimit"}) ==
        "id from 'JobID' (guessed), arrival from 'Submit' (guessed), duration from 'Elapsed' (guessed), gpus "
        "from "
        "'AllocTRES' (guessed), tenant from 'Account' (guessed), limit from 'Timelimit' (guessed)");
  // Kubernetes, as exporters name what `kubectl get pods -o json` has
  const JobColumns pods("", {"namespace", "pod", "creationTimestamp", "startTime", "completionTime", "gpus"});
  CHECK(pods.Of(JobField::kArrival) == "creationTimestamp");
  CHECK(pods.Of(JobField::kEnd) == "completionTime");
  CHECK(pods.Of(JobField::kTenant) == "namespace");
  const JobColumns paths("", {"metadata.creationTimestamp", "status.startTime", "status.completionTime"});
  CHECK(paths.Of(JobField::kArrival) == "metadata.creationTimestamp");
  CHECK((paths.Of(JobField::kStart) == "status.startTime" &&
         paths.Of(JobField::kEnd) == "status.completionTime"));
  for (const char* gpus : {"nvidia.com/gpu", "limits.nvidia.com/gpu", "limits_nvidia_com_gpu",
                           "resources.limits.nvidia.com/gpu", "requests.nvidia.com/gpu", "nvidia_com_gpu"})
    CHECK(JobColumns("", {"pod", gpus}).Of(JobField::kGpus) == gpus);
  // Philly (Sia's table), ITP (ElasticFlow's), openb (Alibaba's)
  CHECK(JobColumns("", {"job_id", "submit_s", "duration_s", "num_gpus", "vc"}).Of(JobField::kTenant) == "vc");
  CHECK(JobColumns("", {"job_id", "submission_time", "duration", "num_gpu"}).Of(JobField::kGpus) ==
        "num_gpu");
  CHECK(JobColumns("", {"name", "num_gpu", "gpu_milli", "creation_time"}).Of(JobField::kArrival) ==
        "creation_time");
  // As jobs in Python have them.
  CHECK(described({"arrival_s", "duration_s", "gpus", "deadline_s", "limit_s"}) ==
        "arrival from 'arrival_s' (guessed), duration from 'duration_s' (guessed), gpus from 'gpus' (guessed), "
        "deadline from 'deadline_s' (guessed), limit from 'limit_s' (guessed)");
  // what is named is not guessed, for no other field either
  const JobColumns named("gpus=gpu,tenant=", {"gpu", "n_gpu", "user", "t"});
  CHECK(named.Of(JobField::kGpus) == "gpu");
  CHECK(!named.Has(JobField::kTenant));
  CHECK(JobColumns("user=team,Submit Time=t", {"team", "t"}).Describe() ==
        "arrival from 't', tenant from 'team'");
  CHECK_THAT(MessageOf([] {
               JobColumns("user=a,tenant=b", {"a", "b"});
             }),
             Contains("columns: tenant: expected once, found twice"));
  CHECK_THAT(MessageOf([] { JobColumns("gpuz=x", {"x"}); }),
             Contains("with a field of id, arrival") && Contains("found 'gpuz=x' (did you mean 'gpus'?)"));
  CHECK_THAT(MessageOf([] { JobColumns("gpus=n_gpus", {"n_gpu"}); }),
             Contains("gpus: the table has no column 'n_gpus' (did you mean 'n_gpu'?)"));
}

TEST_CASE("tables: jobs in order of arrival, every type alike where no speeds are given") {
  const Tables tables;
  const JobTableScenario read = tables.Read(kJobs);
  const ScenarioData& data = read.scenario.data();
  CHECK(data.jobs.id == std::vector<std::int64_t>{9, 7, 8});
  CHECK(data.jobs.arrival == std::vector<double>{0.0, 60.0, 120.0});  // from the first
  CHECK(data.jobs.gang == std::vector<int>{1, 4, 8});
  CHECK(data.jobs.total_steps == std::vector<double>{1800.0, 3600.0, 3600.0});
  CHECK(data.throughputs.job_types == std::vector<std::string>{"resnet", "bert, large"});
  for (int job = 0; job < 3; ++job)
    CHECK((read.scenario.Rate(job, 0) == 1.0 && read.scenario.Rate(job, 1) == 1.0));
  REQUIRE(data.tenants.size() == 2);
  CHECK((data.tenants[0].name == "vision" && data.jobs.tenant == std::vector<int>{1, 0, 1}));
  CHECK(read.refused.empty());
}

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

TEST_CASE("tables: what Slurm writes") {
  const Tables tables;
  const JobTableScenario read = tables.Read(
      "JobID|Submit|Elapsed|AllocTRES|Timelimit\n"
      "12|2024-03-01T10:00:00|00:10:00|billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4,mem=1G|1-00:00:00\n"
      "12.batch|2024-03-01T10:00:00|00:10:00|cpu=8|\n"
      "13_1|2024-03-01T10:00:30|00:20:00|gres/gpu=1|UNLIMITED\n");
  CHECK(read.scenario.data().jobs.gang == std::vector<int>{4, 1});
  CHECK(read.scenario.data().jobs.arrival == std::vector<double>{0.0, 30.0});
  CHECK(read.scenario.data().jobs.id == std::vector<std::int64_t>{0, 1});  // 13_1 is no number
  CHECK(read.scenario.data().jobs.requested_s[0] == 86400.0);
  CHECK(std::isnan(read.scenario.data().jobs.requested_s[1]));
  CHECK_THAT(read.notes.back(), Contains("steps of a job") && Contains("1 row"));
  // A job that was cancelled before it started has no resources, and no time: it is left out and counted.
  const JobTableScenario some = tables.Read(
      "JobID|Submit|Elapsed|AllocTRES\n14|2024-03-01T10:00:00|00:10:00|gres/gpu=1\n"
      "15|2024-03-01T10:00:05|00:00:00|\n");
  CHECK((some.scenario.num_jobs() == 1 && some.refused.empty()));
  CHECK_THAT(some.notes.back(), Contains("their elapsed time is 0: 1 row"));
  // In other tables that holds of rows without a duration; else a blank is a gap.
  CHECK_THAT(tables.Read("arrival,duration,gpus\n0,9,1\n1,,\n2,0,\n").notes.back(),
             Contains("they have no GPU: 2 rows"));
  CHECK_THAT(MessageOf([&] { tables.Read("arrival,duration,gpus\n0,9,1\n1,9,\n"); }),
             Contains("jobs.csv:3: column 'gpus': expected a number, found ''"));
}

TEST_CASE("tables: jobs that have not ended are left out by their state, and counted") {
  const Tables tables;
  const std::string head = "JobID|Submit|State|ElapsedRaw|AllocTRES\n";
  // 13 runs on, and its step that has ended is none of its own; 14 waits; 15 runs for what a log calls so.
  const std::string rows =
      "12|2024-03-01T10:00:00|COMPLETED|60|gres/gpu=2\n13|2024-03-01T10:00:00|RUNNING|60|gres/gpu=2\n"
      "13.0|2024-03-01T10:00:00|COMPLETED|50|gres/gpu=2\n14|2024-03-01T10:00:00|PENDING|0|\n"
      "15|2024-03-01T10:00:00|Running|60|gres/gpu=2\n16|2024-03-01T10:00:00|CANCELLED by 0|30|gres/gpu=1\n";
  const JobTableScenario read = tables.Read(head + rows);
  CHECK(read.scenario.data().jobs.id == std::vector<std::int64_t>{12, 16});
  CHECK_THAT(read.notes.back(), Contains("by their state they have not ended: 2 rows"));
  CHECK(tables.Read(head + rows, {"state=", "", 0}).scenario.num_jobs() == 4);
  // An end that is not yet known is no bad row.
  CHECK(tables.Read("Submit,Start,End,State,gpus\n2024-03-01,2024-03-02,2024-03-03,COMPLETED,1\n"
                    "2024-03-01,2024-03-02,Unknown,RUNNING,1\n")
            .scenario.num_jobs() == 1);
  // Steps are the whole work, wherever the job is.
  CHECK(tables.Read("arrival,steps,gpus,state\n0,9,1,RUNNING\n").scenario.num_jobs() == 1);
}

TEST_CASE("tables: rows that cannot be read are named, or left out where so many may be") {
  const Tables tables;
  const std::string text = "arrival,duration,gpus\n0,10,1\nx,10,1\n1,-5,1\n2,10,99\n3,10,1,4\n4,10,2\n";
  CHECK_THAT(MessageOf([&] { tables.Read(text); }),
             Contains("jobs.csv:3: column 'arrival': expected a number, found 'x'"));
  const JobTableScenario read = tables.Read(text, {"", "", 4});
  CHECK(read.scenario.num_jobs() == 2);
  REQUIRE(read.refused.size() == 4);
  CHECK_THAT(read.refused[1], Contains(":4: column 'duration': expected more than 0, found '-5'"));
  CHECK_THAT(read.refused[2], Contains(":5: column 'gpus': expected at most 8, the cluster's most of one "
                                       "type that it may run on, found 99"));
  CHECK_THAT(read.refused[3], Contains(":6: expected 3 comma-separated columns, found 4"));
  CHECK_THAT(
      MessageOf([&] {
        tables.Read(text, {"", "", 3});
      }),
      Contains(":3: column") && Contains("; and 3 rows more, which berth convert --skip-bad 4 leaves out"));
}

TEST_CASE("tables: words for columns that miss, for ends before their starts, and for what is no text") {
  const Tables tables;
  const auto said = [&](const std::string& text, const char* columns = "") {
    return MessageOf([&] { tables.Read(text, {columns, "", 0}); });
  };
  CHECK_THAT(
      said("arrival,steps,gpus\n0,5,1\n", "steps=gpus"),
      Contains(
          "expected a column of gpus, found arrival (taken for arrival), steps, gpus (taken for steps)"));
  CHECK_THAT(said("arrival,start,end,gpus\n0,10,5,1\n"),
             Contains("jobs.csv:2: column 'end': expected a moment after the start '10', found '5'"));
  CHECK_THAT(said(std::string("arrival,duration,gpus\n0,1\0,1\n", 29)),
             Contains("jobs.csv:2: expected text, found a zero byte"));
  CHECK_THAT(said("\x89HDF\r\n\n"), Contains("jobs.csv: expected a table of text, found an HDF5 file"));
}

TEST_CASE("tables: the work is said once, a measured duration before the rest") {
  const auto work = [](const char* text, std::vector<std::string> header) {
    const JobColumns columns(text, header);
    return Join(columns.Has(JobField::kSteps) ? "steps " : "",
                columns.Has(JobField::kDuration) ? "duration " : "",
                columns.Has(JobField::kStart) && columns.Has(JobField::kEnd) ? "between" : "");
  };
  CHECK(work("", {"start", "end", "elapsed", "steps"}) == "duration ");
  CHECK(work("", {"start", "end", "steps"}) == "between");
  CHECK(work("", {"start", "steps"}) == "steps ");
  CHECK(work("steps=steps", {"elapsed", "steps"}) == "steps ");
  CHECK(work("start=start,end=end", {"start", "end", "elapsed"}) == "between");
  CHECK(work("duration=", {"start", "end", "elapsed"}) == "between");
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

TEST_CASE("tables: numbers that mean something else are refused, not misread") {
  const Tables tables;
  const auto says = [&](const std::string& text, const std::string& part) {
    CHECK_THAT(MessageOf([&] { tables.Read(text); }), Contains(part));
  };
  says("created_at,duration,gpus\n1709287200000,9,1\n",
       "found '1709287200000' (milliseconds, or a date without '-'?)");
  says("arrival,duration,gpus\n20240301100000,9,1\n", "a date without '-'?");
  says("arrival,duration,gpus\n20240301,9,1\n20240302,9,1\n",
       "jobs.csv: column 'arrival': expected seconds, or dates such as 2024-03-01, found dates without '-'");
  // The 31st of February is no day, so these are seconds; so are those of nobody's year.
  CHECK(tables.Read("arrival,duration,gpus\n20240301,9,1\n20240231,9,1\n").scenario.num_jobs() == 2);
  CHECK(tables.Read("arrival,duration,gpus\n10240301,9,1\n").scenario.num_jobs() == 1);
  // Who states the origin counts seconds, as the tables of `inspect --tables` do.
  ScenarioSettings from_zero;
  from_zero.cluster = ParseCluster("h100=8");
  from_zero.origin_s = 0.0;
  CHECK(ReadJobTable(tables.Write("jobs.csv", "arrival,duration,gpus\n20240301,9,1\n"), {}, from_zero)
            .scenario.data()
            .jobs.arrival[0] == 20240301.0);
  says("arrival,duration,gpus\n0,\"1,5\",1\n", "column 'duration': expected a number, found '1,5'");
  says("arrival,duration,gpus\n0,1e400,1\n", "column 'duration': ");
  says("arrival,duration,gpus,limit\n0,9,1,one hour\n", "column 'limit': expected ");
  says("arrival,duration,gpus,deadline\n50,9,1,40\n",
       "column 'deadline': expected no earlier than the arrival");
  says("arrival,duration,gpus\n0,9,gpu:a100:2,gpu:h100:4\n", "expected 3 comma-separated columns");
  says("arrival;duration;gpus\n0;9;-1\n", "column 'gpus': expected a whole number of GPUs, found '-1'");
  says(std::string("a\0r", 3) + "\n1\n", "expected a header line of text");
  says("arrival,duration,gpus\n0,9,\"1\n", "expected a quote at the end of a field");
  says("arrival,duration,gpus,user\n0,9,1,M\xC3\xBC\n0,9,1,M\xFC\n",
       "jobs.csv:3: expected UTF-8, found 0xfc as byte 8 of the line");
  says("arrival,duration,gpus,gr\xF6\n", "jobs.csv:1: expected UTF-8, found 0xf6 as byte");
  // Slurm's limits in minutes and its quality of service are not guessed.
  const JobColumns slurm("",
                         {"JobIDRaw", "Submit", "ElapsedRaw", "AllocTRES", "TimelimitRaw", "QOS", "ReqGRES"});
  CHECK((!slurm.Has(JobField::kLimit) && !slurm.Has(JobField::kQos) &&
         slurm.Of(JobField::kGpus) == "AllocTRES"));
  CHECK(tables.Read("arrival|duration|gpus\n0|9|cpu=8,gres/gpu:a100=2,gres/gpu:h100=1\n")
            .scenario.data()
            .jobs.gang[0] == 3);
}

TEST_CASE("tables: what is no job with a GPU does not count as bad") {
  const Tables tables;
  const JobTableScenario read = tables.Read(
      "sep=;\n\njobidraw;submit;elapsed;gpus;user\n12;0;9;1;\n12.0;0;9;1;\n12.extern;0;9;0;\n13.5;1;9;1;"
      "ann\n14;2;9;0;ann\n");
  CHECK(read.scenario.data().jobs.arrival == std::vector<double>{0.0, 1.0});  // 13.5 follows no job 13
  CHECK(read.scenario.data().tenants[0].name == "(none)");
  CHECK_THAT(read.notes[read.notes.size() - 2], Contains("steps of a job") && Contains(": 2 rows"));
  CHECK_THAT(read.notes.back(), Contains("no GPU: 1 row"));
  const JobTableScenario slurm = tables.Read(
      "JobID|Submit|Elapsed|ReqTRES\n1|0|00:00:00|gres/gpu=2\n2|1|00:10:00|gres/gpu=2\n"
      "3|2|00:00:00|cpu=2\n");
  CHECK(slurm.scenario.num_jobs() == 1);
  CHECK_THAT(slurm.notes.back(), Contains("left out, since their elapsed time is 0: 2 rows"));
  const JobTableScenario pods =
      tables.Read("creationTimestamp,duration,nvidia.com/gpu\n0,60,1\n1,60,\n");
  CHECK_THAT(pods.notes.back(), Contains("no GPU: 1 row"));
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
