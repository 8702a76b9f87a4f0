// What of a real Slurm is not Berth's, or is not as usual: jobs that cannot be read or ask for what Berth does not look at, nodes with GPUs
// of several types, jobs that nothing can run, failed dependencies. As controller_test.
#include <fstream>
#include <string>
#include <vector>

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

}  // namespace berth
