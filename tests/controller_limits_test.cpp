// What of a real Slurm is not Berth's, or is not as usual: jobs that cannot be read or ask for what Berth does not look at, nodes with GPUs
// of several types or asleep, jobs that nothing can run, failed dependencies, begin times, numbers that are given again. As controller_test.
#include <algorithm>
#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"
#include "tests/errors.hpp"
#include "tools/controller/live_forecast.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

}  // namespace

TEST_CASE("control: an array in steps is read, and a job that cannot be read stops nobody", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1);
  b.slurm.AddJob(4, {{"array_job_id", 4}, {"array_task_string", "0-50:5"}, {"partition", "cpu"}, {"tres_per_job", ""}, {"admin_comment", ""}});
  b.slurm.AddJob(5, {{"array_job_id", 5}, {"array_task_string", "1,3,5..."}});  // Berth's, held
  b.Look(3);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.slurm.Job(5)["admin_comment"] == "berth-left");
  const Calls calls = b.slurm.Calls();
  CHECK(CountStarts(calls, "release 5") == 1);
  CHECK(b.Status()["left"]["jobs"] == 1);
  CHECK(b.Status()["healthy"] == true);
  REQUIRE(b.Log("left").size() == 1);  // said once
  CHECK(b.Log("left")[0]["id"] == "5");
  CHECK(test::Says(b.Log("left")[0]["why"].get<std::string>(), "squeue --json: job 5: expected a whole number, found '5...'"));
}

TEST_CASE("control: a job's name that is no UTF-8 stops nobody", "[slurm]") {
  Beside b;
  b.slurm.Set("latin1", true);
  b.slurm.AddJob(1, {{"name", "caf\xC3\xA9"}});
  b.slurm.AddJob(2);
  b.Look(2);
  for (int id = 1; id <= 2; ++id) CHECK(b.State(id) == "RUNNING");
  CHECK(b.Log("job")[0]["name"] == "caf\xEF\xBF\xBD");
  CHECK(b.controller->Release() == 0);
}

TEST_CASE("control: nodes with GPUs of several types are left to Slurm, and so are jobs that only they can run", "[slurm]") {
  Beside b;
  b.slurm.AddNode("m1", "a", 4);
  b.slurm.AddNode("m2", "a", 4);
  Json state = b.slurm.State();
  state["nodes"][3]["gres"] = "gpu:a100_1g.5gb:4,gpu:a100_3g.20gb:1";
  state["nodes"][4]["gres"] = "gpu:a100_1g.5gb:4,gpu:a100_3g.20gb:1", state["nodes"][4]["partitions"] = {"mig"};
  b.slurm.Save(state);
  b.slurm.AddJob(1);
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:a100_3g.20gb:1"}});
  b.slurm.AddJob(3, {{"required_nodes", "m1"}});
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.slurm.Job(2)["admin_comment"] == "berth-left");
  CHECK(b.slurm.Job(3)["admin_comment"] == "berth-left");
  CHECK(b.Status()["nodes"].size() == 3);
  CHECK(b.Status()["left"] == Json{{"jobs", 0}, {"nodes", 1}});  // of the other partition nobody asks
  REQUIRE(b.Log("left").size() == 1);
  CHECK(b.Log("left")[0]["id"] == "m1");
}

TEST_CASE("dry run: jobs that no GPU type can run take nobody's forecast away", "[slurm]") {
  Beside b(ControlMode::kDryRun);
  b.slurm.AddNode("m1", "a", 4);
  Json state = b.slurm.State();
  state["nodes"][3]["gres"] = "gpu:1g.5gb:4,gpu:3g.20gb:1";
  b.slurm.Save(state);
  const auto theirs = [](const char* gpus, Json more = Json::object()) {
    Json job = {{"admin_comment", ""}, {"priority", 5}, {"tres_per_job", gpus}};
    job.update(more);
    return job;
  };
  for (int id = 1; id <= 3; ++id) b.slurm.AddJob(id, theirs("gres:gpu:v100:4"));
  SECTION("all can run") {}
  SECTION("features that no node has") { b.slurm.AddJob(9, theirs("gres:gpu:v100:1", {{"features", "nosuch"}})); }
  SECTION("a type that there is not") { b.slurm.AddJob(9, theirs("gres:gpu:h100:1")); }
  SECTION("a node that is left to Slurm") { b.slurm.AddJob(9, theirs("gres:gpu:v100:1", {{"required_nodes", "m1"}})); }
  SECTION("it runs there") { b.slurm.AddJob(9, theirs("gres:gpu:1g.5gb:1", {{"job_state", "RUNNING"}, {"nodes", "m1"}})); }
  b.Look(2);
  const LiveMoment moment = MomentOf(b.controller->live());
  CHECK(moment.ids == std::vector<std::string>{"1", "2", "3"});
  CHECK(moment.moment.closed.empty());
  const std::vector<StartForecast> forecasts = ForecastStarts(moment.moment, *MakeScheduler("fcfs", AllSchedulers()), "fcfs");
  REQUIRE(forecasts.size() == 1);
  CHECK(moment.ids[static_cast<std::size_t>(forecasts[0].job)] == "3");
  CHECK(forecasts[0].median <= 3600.0);  // the others' limit
}

TEST_CASE("control: a job that Slurm runs where the site says that it cannot run stops nobody", "[slurm]") {
  Beside b;
  std::ofstream(b.slurm / "site.json") << R"({"classes": [{"name": "job", "steps_per_s": {"v100": 1, "p100": 0}}]})";
  b.site = ReadSiteFile(b.slurm / "site.json");
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:p100:1"}});
  b.Look(2);  // given back
  CHECK(b.State(1) == "RUNNING");
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:1"}});
  b.Look(2);
  CHECK(b.State(2) == "RUNNING");
  CHECK(b.Status()["running"][0]["type"] == "p100");
  const LiveMoment moment = MomentOf(b.controller->live());
  CHECK(moment.ids == std::vector<std::string>{"2"});
  CHECK(moment.moment.closed.size() == 1);  // the GPU of job 1
  b.slurm.End(1);
  b.Look();
  CHECK(MomentOf(b.controller->live()).moment.closed.empty());
}

TEST_CASE("control: who depends on a job that failed waits, and is never started", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"dependency", "afterok:9(failed)"}});
  b.slurm.AddJob(2);
  b.Look(10, 30.0);
  CHECK(b.State(2) == "RUNNING");
  CHECK(CountStarts(b.slurm.Calls(), "update JobId=1 ") == 0);
  CHECK(b.Status()["queue"][0]["reason"] == "waits for afterok:9(failed)");
  b.slurm.SetJob(1, {{"dependency", ""}});
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
}

TEST_CASE("control: who asks for what Berth does not look at is given back, and adopted by none", "[slurm]") {
  Beside b;
  b.options.all_holds = true;
  b.slurm.AddJob(1, {{"resv_name", "maint"}});
  b.slurm.AddJob(2, {{"features", "nvlink"}});
  b.slurm.AddJob(3, {{"excluded_nodes", "v1"}});
  b.slurm.AddJob(4, {{"features", "nvlink"}, {"admin_comment", ""}});  // its user's hold
  b.slurm.AddJob(5);
  b.slurm.Set("late", true);
  b.Look(2);
  for (int id = 1; id <= 3; ++id) CHECK((b.slurm.Job(id)["priority"] == 1 && b.slurm.Job(id)["admin_comment"] == "berth-left"));
  CHECK((b.slurm.Job(4)["priority"] == 0 && b.slurm.Job(4)["admin_comment"] == ""));
  CHECK(b.slurm.Job(5)["admin_comment"] == "berth pinned");
  const Calls calls = b.slurm.Calls();
  CHECK(std::none_of(calls.begin(), calls.end(), [](const std::string& call) { return call.find("ReqNodeList=") != std::string::npos && !call.starts_with("update JobId=5 "); }));
  // In a dry run Slurm has them from the start.
  b.options.mode = ControlMode::kDryRun;
  b.Restart();
  b.Look();
  CHECK(b.Status()["queue"][0]["reason"] == "left to Slurm: it asks for a reservation");
}

TEST_CASE("control: features choose among GPU types, and what else they say is Slurm's", "[slurm]") {
  Beside b;
  Json state = b.slurm.State();
  state["nodes"][0]["active_features"] = "volta,rack1", state["nodes"][1]["active_features"] = "volta,rack2";
  state["nodes"][2]["active_features"] = {"pascal", "rack1"};  // a list, as later Slurms have it
  b.slurm.Save(state);
  b.slurm.AddJob(1, {{"features", "pascal"}});
  b.slurm.AddJob(2, {{"features", "[volta|pascal]"}});
  b.slurm.AddJob(3, {{"features", "rack1"}});  // has one of the v100 nodes
  b.slurm.AddJob(4, {{"features", "volta&rack1"}});
  b.slurm.AddJob(5, {{"features", "volta"}, {"tres_per_job", "gres:gpu:4"}});
  b.Look(3);
  CHECK(b.Nodes(1) == "p1");
  CHECK(b.State(2) == "RUNNING");
  CHECK(b.Nodes(5).starts_with("v"));
  for (const int id : {1, 2, 5}) CHECK(b.slurm.Job(id)["admin_comment"] == "berth pinned");
  for (const int id : {3, 4}) CHECK(b.slurm.Job(id)["admin_comment"] == "berth-left");
}

TEST_CASE("control: a node on which a job did not start is not the next that it is tried on", "[slurm]") {
  Beside b;
  Json state = b.slurm.State();
  state["nodes"][0]["unfit"] = true;
  b.slurm.Save(state);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  CHECK(b.slurm.Job(1)["required_nodes"] == "v1");
  b.Look(1, 16.0), b.Look(1, 31.0);  // held again, and after the pause released elsewhere
  CHECK(b.slurm.Job(1)["required_nodes"] == "v2");
  b.Look();
  CHECK(b.Nodes(1) == "v2");
}

TEST_CASE("control: where nodes can never run a job Slurm holds it itself, and it is tried on others", "[slurm]") {
  Beside b;
  Json state = b.slurm.State();
  state["nodes"][0]["never"] = true;
  b.slurm.Save(state);
  const bool named = GENERATE(false, true);  // by its user: there are no others
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"required_nodes", named ? "v1" : ""}});
  b.Look();
  CHECK(b.slurm.Job(1)["required_nodes"] == "v1");
  CHECK(CountStarts(b.slurm.Calls(), "release 1") == 1);
  SECTION("seen by the controller that released it") {}
  SECTION("seen by one that is started again") {
    if (!named) b.Restart();
  }
  b.Look(20);
  CHECK(b.slurm.Job(1)["state_reason"] == "BadConstraints");
  CHECK(b.slurm.Calls().empty());
  CHECK(b.Status()["counts"]["refused"] == 1);
  CHECK(b.Status()["refusals"][0]["why"] == "BadConstraints");
  CHECK(b.Status()["queue"][0]["reason"] == "Slurm did not start it: BadConstraints");
  b.Look(1, 31.0);
  CHECK(b.slurm.Calls() == (named ? Calls{"release 1"} : Calls{"update JobId=1 ReqNodeList=v2 AdminComment=berth pinned Priority=0", "release 1"}));
  b.Look();
  CHECK(b.State(1) == (named ? "PENDING" : "RUNNING"));
}

TEST_CASE("control: where no other node has room, and when all were tried, a refused one is tried again", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  std::string tried;
  for (int i = 0; i < 4; ++i) {
    b.Look();
    tried += b.slurm.Job(1)["required_nodes"].get<std::string>() + " ";
    b.Look(1, 16.0);
    b.Look(1, 29.0);  // a second is left of the pause
  }
  CHECK(tried == "v1 v2 v1 v2 ");
}

TEST_CASE("control: nodes that Slurm sent to sleep are woken by a start, those that are awake go first", "[slurm]") {
  Beside b;
  Json state = b.slurm.State();
  state["nodes"][0]["state_flags"] = {"CLOUD", "POWERED_DOWN"};
  b.slurm.Save(state);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look(2);
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look(2);
  CHECK(b.Nodes(1) == "v2");
  CHECK(b.Nodes(2) == "v1");
}

TEST_CASE("control: a job over several nodes wakes none where those that are awake have room", "[slurm]") {
  Beside b;
  b.slurm.AddNode("v3", "v100", 4);
  Json state = b.slurm.State();
  state["nodes"][3]["state_flags"] = {"CLOUD", "POWERED_DOWN"};
  b.slurm.Save(state);
  for (int id = 1; id <= 2; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:2"}, {"required_nodes", Join("v", id)}});
  b.Look(2);  // two GPUs are free on each of v1 and v2
  const auto placed = [&](int nodes) {
    b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"node_count", nodes}});
    b.Look(2);
    return b.Nodes(3);
  };
  SECTION("they have") { CHECK(placed(2) == "v1,v2"); }
  SECTION("they have not") { CHECK(placed(3) == "v1,v2,v3"); }
  SECTION("one node has room for all of it") { CHECK(placed(1) == "v3"); }
}

TEST_CASE("control: no job is put on more nodes than it asks for", "[slurm]") {
  Beside b;
  for (int id = 1; id <= 2; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:2"}, {"required_nodes", Join("v", id)}});
  b.Look(2);  // two GPUs are free on each of v1 and v2
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"max_nodes", 1}});  // -N1
  b.Look(3);
  CHECK(CountStarts(b.slurm.Calls(), "update JobId=3 ") == 0);
  b.slurm.End(1);
  b.Look(2);
  CHECK(b.Nodes(3) == "v1");
  b.slurm.End(2), b.slurm.End(3);
  b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:v100:6"}, {"max_nodes", 2}});
  b.Look(2);
  CHECK(b.Nodes(4) == "v1,v2");
  // Slurm's, as nothing here can run them: eight on one node, and three nodes of a type that has two.
  b.slurm.AddJob(5, {{"tres_per_job", "gres:gpu:v100:8"}, {"max_nodes", 1}});
  b.slurm.AddJob(6, {{"tres_per_job", "gres:gpu:v100:3"}, {"node_count", 3}, {"max_nodes", 3}});
  b.slurm.AddJob(7, {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:1"}, {"node_count", 3}, {"max_nodes", 3}});
  b.Look();
  for (int id = 5; id <= 7; ++id) CHECK(b.slurm.Job(id)["admin_comment"] == "berth-left");
}

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
