// `--dry-run` and `--advise` of `berth serve --slurm`, against a Slurm of files (tests/slurm/fake_slurm.py) and a clock that the test sets.
// Cases are worked out by hand.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;

// Of a user, which Slurm starts by itself where there is room.
void AddTheirs(const Beside& b, int id, const char* gpus, const char* comment) {
  b.slurm.AddJob(id, {{"admin_comment", ""}, {"priority", 9}, {"tres_per_job", gpus}, {"comment", comment}, {"cpus", 8}});
}

// v100 are ten times as fast as p100.
void TellSpeeds(Beside& b) {
  std::ofstream(b.slurm / "site.json") << R"({"classes": [{"name": "job", "steps_per_s": {"v100": 10, "p100": 1}}]})";
  b.site = ReadSiteFile(b.slurm / "site.json");
}

}  // namespace

TEST_CASE("dry run: nothing is asked of Slurm, and what it would do stands beside what Slurm did", "[slurm]") {
  Beside b(ControlMode::kDryRun);
  b.slurm.AddJob(1, {{"admin_comment", ""}, {"priority", 5}, {"tres_per_job", "gres:gpu:v100:4"}});
  b.slurm.AddJob(2, {{"admin_comment", ""}, {"priority", 4}, {"tres_per_job", "gres:gpu:v100:4"}});
  b.slurm.Set("late", true);
  b.Look();
  // Two jobs do not get the same GPUs, though none of them starts.
  REQUIRE(b.controller->last_decision()["starts"].size() == 2);
  CHECK(b.controller->last_decision()["starts"][0]["nodes"] == Json{"v1"});
  CHECK(b.controller->last_decision()["starts"][1]["nodes"] == Json{"v2"});
  CHECK(b.Status()["would"].size() == 2);
  b.slurm.Set("late", false);
  b.Look(3);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.Status()["would"][1]["slurm"].get<std::string>().starts_with("started on v1"));
  CHECK(b.slurm.Calls().empty());
  CHECK_FALSE(std::filesystem::exists(b.options.out + "/heartbeat"));
}

TEST_CASE("dry run, advise: who waited beyond the limit is started once, and its GPUs go to nobody else", "[slurm]") {
  Beside b(GENERATE(ControlMode::kDryRun, ControlMode::kAdvise), "sjf");
  b.options.starve_s = 3600.0;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"admin_comment", ""}, {"priority", 9}, {"submit_time", b.now - 7200.0}, {"time_limit", 1}, {"tres_per_job", "gres:gpu:v100:4"}});
  b.slurm.AddJob(2, {{"admin_comment", ""}, {"priority", 8}, {"time_limit", 5}, {"tres_per_job", "gres:gpu:v100:4"}});
  b.slurm.AddJob(3, {{"admin_comment", ""}, {"priority", 7}, {"time_limit", 9}, {"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  const Json starts = b.controller->last_decision()["starts"];
  REQUIRE(starts.size() == 2);  // two nodes with four v100
  CHECK((starts[0]["id"] == "1" && starts[0]["nodes"] == Json{"v1"}));
  CHECK((starts[1]["id"] == "2" && starts[1]["nodes"] == Json{"v2"}));
  CHECK(b.Status()["queue"].size() == 3);  // they wait yet
  CHECK(b.Status()["queue"][0]["reason"] == "others go first");
}

TEST_CASE("dry run, advise: no more tasks of an array than it allows", "[slurm]") {
  Beside b(GENERATE(ControlMode::kDryRun, ControlMode::kAdvise));
  const auto add = [&](int task) {
    b.slurm.AddJob(11 + task, {{"admin_comment", ""}, {"priority", 5}, {"array_job_id", 11}, {"array_task_id", task}, {"array_max_tasks", 2}});
  };
  add(0), add(1);
  b.Look(3);
  REQUIRE(b.Status()["running"].size() == 2);  // Slurm started them
  b.slurm.Set("late", true);
  add(2), add(3);
  b.Look();
  CHECK(b.controller->last_decision()["starts"].empty());
  CHECK(b.Status()["queue"][0]["reason"] == "waits for its array's limit");
  b.slurm.End(11);
  b.Look();
  REQUIRE(b.controller->last_decision()["starts"].size() == 1);
  CHECK(b.controller->last_decision()["starts"][0]["id"] == "11_2");
}

TEST_CASE("advise: who would start goes to the front by its nice value, and gets its own back", "[slurm]") {
  Beside b(ControlMode::kAdvise, "sjf");
  for (int id = 1; id <= 3; ++id)
    b.slurm.AddJob(id, {{"admin_comment", ""}, {"priority", 100 - id}, {"tres_per_job", "gres:gpu:v100:4"}, {"time_limit", 100 - id}, {"nice", 7}});
  b.slurm.AddJob(4, {{"admin_comment", "of the site"}, {"priority", 5}, {"tres_per_job", "gres:gpu:p100:4"}});
  b.slurm.Set("late", true);
  b.Look();
  // Jobs 3 and 2 are the shortest and start: before job 1 of priority 99. Job 4's comment is not Berth's to overwrite.
  CHECK(b.slurm.Calls() ==
        Calls{"update JobId=3 Nice=3 AdminComment=berth nice was 7", "update JobId=2 Nice=5 AdminComment=berth nice was 7"});
  CHECK(b.slurm.Job(3)["priority"] == 101);
  CHECK(b.slurm.Job(2)["priority"] == 100);
  b.Look(3);
  CHECK(b.slurm.Calls().empty());
  // A shorter one comes while a v100 node is down: only that one would start.
  Json state = b.slurm.State();
  state["nodes"][1]["state"] = "down";
  b.slurm.Save(state);
  b.Restart();  // a new one knows by the jobs what was theirs
  b.slurm.AddJob(5, {{"admin_comment", ""}, {"priority", 1}, {"tres_per_job", "gres:gpu:v100:4"}, {"time_limit", 1}});
  b.Look();
  const Calls calls = b.slurm.Calls();
  CHECK(std::find(calls.begin(), calls.end(), "update JobId=3 Nice=7 AdminComment=berth nice") != calls.end());
  CHECK(std::find(calls.begin(), calls.end(), "update JobId=2 Nice=7 AdminComment=berth nice") != calls.end());
  // Job 4 would start too; job 1 of priority 99 would not.
  CHECK(b.slurm.Job(5)["priority"] == 101);
  CHECK(b.slurm.Job(5)["nice"] == -100);
  CHECK(b.controller->Release() == 1);
  CHECK(b.slurm.Job(5)["nice"] == 0);
  CHECK(b.slurm.Job(5)["priority"] == 1);
  CHECK(b.slurm.Job(4)["admin_comment"] == "of the site");
}

TEST_CASE("advise: what job_submit.lua holds is given back, since nothing else would release it", "[slurm]") {
  Beside b(ControlMode::kAdvise);
  b.slurm.AddJob(1);
  b.slurm.AddJob(2, {{"admin_comment", ""}});  // its user's hold
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"release 1", "update JobId=1 AdminComment=berth-left"});
}

TEST_CASE("dry run, advise: a scheduler that stops jobs plans with no GPUs that it never gets", "[slurm]") {
  const ControlMode mode = GENERATE(ControlMode::kDryRun, ControlMode::kAdvise);
  Beside b(mode, "srpt");
  TellSpeeds(b);
  // Job 1 has no checkpoints. --advise stops nobody, whatever jobs say.
  AddTheirs(b, 1, "gres:gpu:v100:4", mode == ControlMode::kDryRun ? "steps=30000" : "steps=30000,checkpoint");
  AddTheirs(b, 2, "gres:gpu:v100:4", "steps=30000,checkpoint");
  b.slurm.SetJob(2, {{"requeue", mode == ControlMode::kAdvise}});
  b.Look();
  CHECK(b.Status()["running"].size() == 2);
  b.slurm.Set("late", true);
  AddTheirs(b, 3, "gres:gpu:4", "steps=100");  // the shortest
  b.Look(1, 2.0);
  CHECK(b.controller->last_decision()["stops"].empty());
  REQUIRE(b.controller->last_decision()["starts"].size() == 1);
  CHECK(b.controller->last_decision()["starts"][0]["id"] == "3");
  CHECK(b.controller->last_decision()["starts"][0]["nodes"] == Json{"p1"});
}

TEST_CASE("dry run: what it would stop is said, and what would start on those GPUs", "[slurm]") {
  Beside b(ControlMode::kDryRun, "srpt");
  TellSpeeds(b);
  AddTheirs(b, 1, "gres:gpu:v100:4", "steps=30000,checkpoint");
  AddTheirs(b, 2, "gres:gpu:v100:4", "steps=30000");
  b.Look();
  CHECK(b.Nodes(1) == "v1");
  CHECK(b.Status()["would"].empty());
  b.slurm.Set("late", true);
  AddTheirs(b, 3, "gres:gpu:v100:4", "steps=100");
  b.Look(1, 2.0);
  const Json stops = {{{"id", "1"}}}, starts = {{{"id", "3"}, {"type", "v100"}, {"nodes", {"v1"}}}};
  CHECK(b.controller->last_decision() == Json{{"starts", starts}, {"stops", stops}});
  b.Look(1, 61.0);  // decided anew, since job 1 runs on, and said no second time
  CHECK(b.controller->last_decision() == Json{{"starts", starts}, {"stops", stops}});
  REQUIRE(b.Log("decision").size() == 2);
  for (const Json& line : b.Log("decision")) CHECK((line["stops"] == stops && line["starts"] == starts));
  Json status = b.Status();
  REQUIRE(status["would"].size() == 2);
  CHECK((status["would"][0]["id"] == "3" && status["would"][0]["what"] == "start on v1" && status["would"][0]["slurm"].is_null()));
  CHECK((status["would"][1]["id"] == "1" && status["would"][1]["what"] == "requeue" && status["would"][1]["slurm"].is_null()));
  REQUIRE(status["running"].size() == 2);
  CHECK((status["running"][0]["id"] == "1" && status["running"][0]["type"] == "v100"));
  // It was said at 3 s; at 65 s job 1 has ended, and job 3 runs.
  b.slurm.End(1);
  b.slurm.Set("late", false);
  b.Look();
  status = b.Status();
  REQUIRE(status["would"].size() == 2);
  CHECK(status["would"][0]["slurm"] == "started on v1 after 62 s");
  CHECK(status["would"][1]["slurm"] == "ended after 62 s");
  CHECK(b.slurm.Calls().empty());
}

TEST_CASE("dry run: only of jobs that it saw waiting is it said that it would not start them yet", "[slurm]") {
  Beside b(ControlMode::kDryRun, "sjf");
  b.Look();
  AddTheirs(b, 1, "gres:gpu:v100:4", "");  // comes and starts between two looks
  b.Look();
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.Status()["would"].empty());
  // Two v100 nodes, of which one is taken: job 2 is shorter and goes first, and Slurm starts job 3.
  b.slurm.Set("late", true);
  AddTheirs(b, 2, "gres:gpu:v100:4", "");
  AddTheirs(b, 3, "gres:gpu:v100:4", "");
  b.slurm.SetJob(2, {{"time_limit", 1}});
  b.Look();
  b.slurm.SetJob(3, {{"priority", 10}});
  b.slurm.Set("late", false);
  b.Look();
  const Json would = b.Status()["would"];
  REQUIRE(would.size() == 2);
  CHECK((would[0]["id"] == "3" && would[0]["what"] == "not start it yet" && would[0]["slurm"] == "started on v2"));
  CHECK((would[1]["id"] == "2" && would[1]["what"] == "start on v2" && would[1]["slurm"].is_null()));
}

TEST_CASE("dry run: a hold of Slurm's own is told from a user's", "[slurm]") {
  Beside b(ControlMode::kDryRun);
  b.slurm.AddJob(1, {{"admin_comment", ""}, {"state_reason", "BadConstraints"}});
  b.slurm.AddJob(2, {{"admin_comment", ""}});
  b.Look();
  CHECK(b.Status()["queue"][0]["reason"] == "held by Slurm: BadConstraints");
  CHECK(b.Status()["queue"][1]["reason"] == "held by its user");
}

TEST_CASE("dry run: a move is a stop and a start elsewhere", "[slurm]") {
  Beside b(ControlMode::kDryRun, "srpt");
  TellSpeeds(b);
  AddTheirs(b, 1, "gres:gpu:4", "steps=30000,checkpoint");
  for (const int id : {2, 3}) AddTheirs(b, id, "gres:gpu:v100:4", "steps=30000");
  b.Look();
  CHECK(b.Nodes(1) == "p1");
  b.slurm.End(2);
  b.Look(1, 2.0);
  CHECK(b.controller->last_decision()["stops"] == Json{{{"id", "1"}}});
  CHECK(b.controller->last_decision()["starts"] == Json{{{"id", "1"}, {"type", "v100"}, {"nodes", {"v1"}}}});
  CHECK(b.Status()["running"].size() == 2);
  CHECK(b.Status()["would"].size() == 2);
  CHECK(b.slurm.Calls().empty());
}

}  // namespace berth
