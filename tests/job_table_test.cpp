// Tables of one's own: columns by their usual names, jobs, and what is said of rows that cannot be read or are left out.
#include "data/tables/job_table.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "data/tables/columns.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tables_by_hand.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::kJobs;
using test::MessageOf;
using test::Tables;

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

}  // namespace berth
