// Whether a job is the same as before: numbers that Slurm gives again, requeues, nodes cleaned up after jobs, begin times.
// As controller_test.
#include <string>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

}  // namespace

TEST_CASE("control: a number that Slurm gives again is another job, with words of its own", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.AddJob(5, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100000,checkpoint"}});
  b.Look(2);
  CHECK(b.State(5) == "RUNNING");
  // slurmctld is killed, and gives 5 to somebody else's job, which has no checkpoints.
  Json state = b.slurm.State();
  state["jobs"] = Json::array();
  b.slurm.Save(state);
  SECTION("after a look without it") { b.Look(); }
  SECTION("between two looks") {}
  b.slurm.AddJob(5, {{"tres_per_job", "gres:gpu:v100:4"}, {"user_name", "bob"}, {"submit_time", b.now}, {"time_limit", 600}});
  b.Look(2);
  CHECK(b.State(5) == "RUNNING");
  REQUIRE(b.Log("end").size() == 1);
  REQUIRE(b.Log("job").size() == 2);
  CHECK(b.Log("job")[1]["user"] == "bob");
  CHECK(b.Log("job")[1]["restarts"] == 0);
  CHECK_FALSE(b.Log("job")[1].contains("checkpoint"));
  b.slurm.AddJob(6, {{"tres_per_job", "gres:gpu:v100:8"}, {"comment", "steps=1"}});  // would stop it
  b.Look(3, 2.0);
  CHECK(CountStarts(b.slurm.Calls(), "requeue") == 0);
  CHECK(b.State(5) == "RUNNING");
  // A requeue is no new job, though Slurm sets another time of submission.
  b.slurm.SetJob(5, {{"job_state", "PENDING"}, {"priority", 0}, {"state_reason", "JobHeldUser"}, {"state_description", "job requeued in held state"}, {"restart_cnt", 1},
                     {"submit_time", b.now}, {"nodes", ""}, {"gres_detail", Json::array()}, {"held_gpus", Json::array()}});
  b.Look();
  CHECK(b.Log("job").size() == 3);  // 5, 5, 6
  CHECK(b.Log("stop").size() == 1);
}

TEST_CASE("control: a held job without GPUs is given back, though its number was one of a job with GPUs", "[slurm]") {
  Beside b;
  b.slurm.AddJob(5, {{"tres_per_job", "gres:gpu:v100:2"}, {"dependency", "afterok:9(unfulfilled)"}});
  b.Look(2);
  CHECK(b.slurm.Calls().empty());
  SECTION("of another's job") {
    b.slurm.Set("jobs", Json::array());
    b.slurm.AddJob(5, {{"tres_per_job", ""}, {"user_name", "bob"}, {"submit_time", b.now}});
  }
  SECTION("of the same job") { b.slurm.SetJob(5, {{"tres_per_job", ""}, {"dependency", ""}}); }
  b.Look(2);
  CHECK(b.slurm.Calls() == Calls{"release 5", "update JobId=5 AdminComment=berth-left"});
}

TEST_CASE("control: a start that waits for GPUs is not carried out of another job of the same number", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.Set("epilog", 5.0);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=30000,checkpoint"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=20000"}});
  b.Look(2);
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100"}});
  b.Look(1, 2.0);
  CHECK(b.State(1) == "COMPLETING");  // for job 3
  Json state = b.slurm.State();
  state["jobs"].erase(2);
  b.slurm.Save(state);
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:p100:4"}, {"user_name", "bob"}, {"submit_time", b.now}});
  b.Look(8);
  CHECK(b.Nodes(3) == "p1");
}

TEST_CASE("control: a requeued job stays the same job while its nodes are cleaned up and when it is submitted anew", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.Set("epilog", 3.0);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=30000,checkpoint"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=20000"}});
  b.Look(2);  // both run from 2 s on
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100"}});
  b.Look(1, 100.0);  // at 102 s job 1 is requeued
  const Json before = b.slurm.Job(1)["submit_time"];
  b.Look();
  CHECK(b.State(1) == "COMPLETING");
  CHECK(b.slurm.Job(1)["submit_time"] == before);
  b.Look(3);
  CHECK(b.State(1) == "PENDING");
  CHECK(b.slurm.Job(1)["submit_time"] != before);
  CHECK(b.State(3) == "RUNNING");
  CHECK(b.Log("job").size() == 3);
  CHECK(b.Log("end").empty());
  REQUIRE(b.Log("stop").size() == 1);
  CHECK(b.Log("stop")[0]["steps"].get<double>() == Approx(100.0));  // a step a second
  const LiveCluster& live = b.controller->live();
  const LiveJob& job = live.job(live.Find("1"));
  CHECK(job.arrival_s == before.get<double>());
  CHECK(job.attained_s == Approx(100.0));
  CHECK(job.preemptions == 1);
  b.slurm.End(3);
  b.Look(3);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.Log("job").size() == 3);
}

TEST_CASE("control: a job whose nodes are cleaned up one after the other ends, and is not moved", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:4"}, {"node_count", 2}, {"comment", "steps=1000,checkpoint"}});
  b.Look(2);
  CHECK(b.Nodes(1) == "v1,v2");
  b.slurm.SetJob(1, {{"job_state", "COMPLETING"}, {"nodes", "v2"}, {"node_count", 1}, {"gres_detail", {"gpu:4(IDX:0-3)"}}, {"cleaned_up", b.now + 1000.0}});
  b.Look(2);
  const LiveCluster& live = b.controller->live();
  const LiveJob& job = live.job(live.Find("1"));
  CHECK(job.slurm.gpus == 8);
  CHECK(job.devices.size() == 8);
  CHECK(job.preemptions == 0);
  b.slurm.End(1);
  b.Look();
  CHECK(b.Log("start").size() == 1);
  CHECK(b.Log("stop").empty());
  CHECK(b.Log("end").size() == 1);
}

TEST_CASE("control: neither suspended nor cleaned up after does a job make steps", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:1"}, {"comment", "steps=10"}});
  b.Look(2);
  const double start = b.slurm.Job(1)["start_time"].get<double>();
  const auto job = [&] { return b.controller->live().job(b.controller->live().Find("1")); };
  const auto steps = [&] { return b.controller->live().Steps(job(), b.now); };
  b.Look(1, 4.0);
  CHECK(steps() == Approx(4.0));  // a step a second
  // Suspended after 4 s for 20 s.
  b.slurm.SetJob(1, {{"job_state", "SUSPENDED"}, {"suspend_time", start + 4.0}, {"pre_sus_time", 4}});
  b.Look(1, 15.0);
  CHECK(steps() == Approx(4.0));
  b.slurm.SetJob(1, {{"job_state", "RUNNING"}, {"suspend_time", start + 24.0}});
  b.Look(1, 8.0);
  CHECK(steps() == Approx(7.0));
  // Ends after 6 s more, its node is cleaned up for 100 s.
  b.slurm.SetJob(1, {{"job_state", "COMPLETING"}, {"end_time", start + 30.0}, {"cleaned_up", start + 1000.0}});
  b.Look(1, 50.0);
  CHECK(steps() == Approx(10.0));
  b.slurm.End(1);
  b.Look(1, 53.0);
  CHECK(job().attained_s == Approx(10.0));
  REQUIRE(b.Log("end").size() == 1);
  CHECK(b.Log("end")[0]["steps"].get<double>() == Approx(10.0));
  CHECK(b.controller->live().Speed(0, 1) == Approx(1.0));  // v100
}

TEST_CASE("control: after a requeue Slurm's own begin time is taken off, and a user's is waited for", "[slurm]") {
  Beside b;
  const auto requeued = [](double begin) -> Json {
    return {{"restart_cnt", 1}, {"state_reason", "JobHeldUser"}, {"state_description", "job requeued in held state"}, {"eligible_time", begin}, {"start_time", begin}};
  };
  b.slurm.AddJob(1, requeued(b.now + 121.0));
  b.slurm.AddJob(2, requeued(b.now + 3600.0));
  b.Look();
  Calls calls = b.slurm.Calls();
  CHECK(CountStarts(calls, "release 1") == 1);
  CHECK(std::any_of(calls.begin(), calls.end(), [](const std::string& call) { return call.starts_with("update JobId=1 ") && call.ends_with(" StartTime=now"); }));
  b.Look(10, 350.0);  // 99 s before it, when it might be Slurm's own
  CHECK(CountStarts(b.slurm.Calls(), "release 2") == 0);
  CHECK(b.State(2) == "PENDING");
  b.Look(2, 50.0), b.Look();
  CHECK(b.State(2) == "RUNNING");
}

}  // namespace berth
