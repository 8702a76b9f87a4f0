// The controller of `berth serve --slurm`, against a Slurm of files (tests/slurm/fake_slurm.py) and a clock that the test sets.
// Cases are worked out by hand; what the controller asked of scontrol stands in the calls.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

}  // namespace

TEST_CASE("control: a held job is pinned and released, and runs where it was put", "[slurm]") {
  Beside b;
  b.slurm.AddJob(7, {{"tres_per_job", "gres:gpu:v100:2"}});
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=7 ReqNodeList=v1 AdminComment=berth pinned Priority=0", "release 7"});
  CHECK(b.Status()["queue"][0]["reason"] == "released, starts any moment");
  b.Look();
  CHECK(b.slurm.Calls().empty());
  CHECK(b.State(7) == "RUNNING");
  CHECK(b.Status()["queue"].empty());
  CHECK(b.Status()["running"][0]["nodes"] == Json{"v1"});
  CHECK(b.Status()["running"][0]["type"] == "v100");
  CHECK(b.Status()["counts"]["released"] == 1);
  b.slurm.End(7);
  b.Look();
  CHECK(b.Status()["running"].empty());
  REQUIRE(b.Log("start").size() == 1);
  CHECK(b.Log("start")[0]["devices"] == Json{4, 5});  // p100 has devices 0 to 3, v1 4 to 7
  REQUIRE(b.Log("end").size() == 1);
  CHECK(b.Log("end")[0]["state"] == "COMPLETED");
}

TEST_CASE("control: jobs whose shapes differ get nodes that have them", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:p100:3"}});
  b.slurm.AddJob(2, {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:2"}, {"node_count", 2}});
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:2"}, {"node_count", 2}});  // -N2 --gpus=2: one on each
  b.Look(2);
  CHECK(b.Nodes(1) == "p1");
  CHECK(b.Nodes(2) == "v1,v2");
  CHECK(b.Nodes(3) == "v1,v2");
  CHECK(b.slurm.Job(3)["gres_detail"].size() == 2);
  b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:v100:2"}});  // one GPU is left on each of v1 and v2
  b.Look(2);
  CHECK(b.Nodes(4) == "v1,v2");
}

TEST_CASE("control: GPU types whose names begin alike are types of their own", "[slurm]") {
  Beside b;
  b.slurm.Set("nodes", Json::array());
  b.slurm.AddNode("a1", "a100", 4);
  b.slurm.AddNode("a2", "a100", 8);
  b.slurm.AddNode("s1", "a100-sxm", 4);
  b.slurm.AddNode("t1", "a100-8", 8);  // as Berth would call nodes with 8 a100
  const test::TemporaryFolder folder;
  std::ofstream(folder / "site.json") << R"({"classes": [{"name": "job", "steps_per_s": {"a100": 2, "a100-sxm": 3}}]})";
  b.site = ReadSiteFile(folder / "site.json");
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:a100-sxm:1"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:a100:8"}});
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:a100:4"}});
  b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:a100:1"}});
  b.Look(3);
  CHECK(b.Nodes(1) == "s1");
  CHECK(b.Nodes(2) == "a2");
  CHECK(b.Nodes(3) == "a1");
  CHECK(b.State(4) == "PENDING");  // all a100 are taken; s1 and t1 have other GPUs
  const LiveCluster& live = b.controller->live();
  std::vector<std::string> names;
  for (const GpuType& type : live.types()) names.push_back(type.name);
  CHECK(names == std::vector<std::string>{"a100", "a100-8-8", "a100-8", "a100-sxm"});
  CHECK(live.gpu_types() == std::vector<std::string>{"a100", "a100", "a100-8", "a100-sxm"});
  // By the site file, but for a100-8, of which it says nothing.
  CHECK((live.Speed(0, 0) == 2.0 && live.Speed(0, 1) == 2.0 && live.Speed(0, 3) == 3.0));
  REQUIRE(b.Log("begin").size() == 1);
  CHECK(b.Log("begin")[0]["types"][1]["gpu_type"] == "a100");
}

TEST_CASE("control: no more tasks of an array run than it allows, and others pass them", "[slurm]") {
  Beside b;
  for (int task = 0; task < 4; ++task)
    b.slurm.AddJob(11 + task, {{"array_job_id", 11}, {"array_task_id", task}, {"array_max_tasks", 2}});
  b.slurm.AddJob(20);
  b.Look(3);
  Calls calls = b.slurm.Calls();
  CHECK(CountStarts(calls, "release 11_") == 2);
  CHECK(CountStarts(calls, "release 20") == 1);
  CHECK(b.Status()["queue"][0]["reason"] == "waits for its array's limit");
  b.slurm.End(11);
  b.Look(2);
  CHECK(b.slurm.Calls() == Calls{"update JobId=11_2 ReqNodeList=" + b.Nodes(13) + " AdminComment=berth pinned Priority=0", "release 11_2"});
}

TEST_CASE("control: nodes that the user named are kept, and no others are pinned", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"required_nodes", "v2"}});
  b.slurm.AddJob(2, {{"required_nodes", "v1,v2"}, {"node_count", 2}, {"tres_per_job", "gres:gpu:2"}});
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"release 1", "release 2"});
  b.Look();
  CHECK(b.Nodes(1) == "v2");
  CHECK(b.Nodes(2) == "v1,v2");
  CHECK(b.slurm.Job(1)["required_nodes"] == "v2");
}

TEST_CASE("control: what Slurm refuses is recorded, shown, and offered again after a pause", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1);
  b.slurm.Set("refuses", {{"release", "Requested node configuration is not available"}});
  b.Look();
  CHECK(b.slurm.Calls().size() == 2);
  b.Look(5);
  CHECK(b.slurm.Calls().empty());
  const Json status = b.Status();
  CHECK(status["counts"]["refused"] == 1);
  CHECK(status["refusals"][0]["id"] == "1");
  CHECK(status["refusals"][0]["why"] == "Requested node configuration is not available");
  CHECK(status["queue"][0]["reason"] == "Slurm refused: Requested node configuration is not available");
  CHECK(b.Log("order").back()["refused"] == "Requested node configuration is not available");
  b.slurm.Set("refuses", Json::object());
  b.Look(2, 30.0);
  CHECK(b.State(1) == "RUNNING");
}

TEST_CASE("control: who is released and does not start is held again, and offered later", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look(4);
  CHECK(b.slurm.Calls().size() == 2);
  CHECK(b.Status()["nodes"].size() == 3);
  // Its GPUs are its own meanwhile: job 2 goes elsewhere.
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=2 ReqNodeList=v2 AdminComment=berth pinned Priority=0", "release 2"});
  b.Look(1, 12.0);  // 15 s after the order of job 1
  CHECK(b.slurm.Calls() == Calls{"hold 1"});
  CHECK(b.slurm.Job(1)["priority"] == 0);
  CHECK(b.Status()["refusals"][0]["what"] == "start");
  b.slurm.Set("late", false);
  b.Look(2);
  CHECK(b.State(1) == "PENDING");  // paused
  b.Look(2, 30.0);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.State(2) == "RUNNING");
}

TEST_CASE("control: no more changes a minute than were allowed", "[slurm]") {
  Beside b;
  b.options.changes_per_minute = 2;
  for (int id = 1; id <= 5; ++id) b.slurm.AddJob(id);
  b.Look(10);
  CHECK(CountStarts(b.slurm.Calls(), "release") == 2);
  b.Look(1, 61.0);
  CHECK(CountStarts(b.slurm.Calls(), "release") == 2);
  b.Look(1, 61.0);
  CHECK(CountStarts(b.slurm.Calls(), "release") == 1);
  b.Look();
  for (int id = 1; id <= 5; ++id) CHECK(b.State(id) == "RUNNING");
}

TEST_CASE("control: who waited beyond the limit goes first, and GPUs are kept for it", "[slurm]") {
  // Shortest job first would start the short jobs of one GPU for ever; the job of 4 v100 has waited 2 h.
  Beside b(ControlMode::kControl, "sjf");
  b.options.starve_s = 3600.0;
  for (int id = 1; id <= 8; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:1"}});
  b.Look(2);
  for (int id = 1; id <= 8; ++id) CHECK(b.State(id) == "RUNNING");
  b.slurm.AddJob(20, {{"tres_per_job", "gres:gpu:v100:4"}, {"submit_time", b.now - 7200.0}, {"time_limit", 600}});
  for (int id = 31; id <= 34; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:1"}, {"time_limit", 1}});
  const auto ends = [&](int id) { b.slurm.End(id), b.Look(2); };
  std::vector<int> on_v1;
  for (int id = 1; id <= 8; ++id) {
    if (b.Nodes(id) == "v1") on_v1.push_back(id);
  }
  REQUIRE(on_v1.size() == 4);
  for (int i = 0; i < 3; ++i) ends(on_v1[static_cast<std::size_t>(i)]);
  for (int id = 31; id <= 34; ++id) CHECK(b.State(id) == "PENDING");
  const Json queue = b.Status()["queue"];
  CHECK(std::any_of(queue.begin(), queue.end(), [](const Json& row) {
    return row["id"] == "20" && row["reason"].get<std::string>().find("are kept for it") != std::string::npos;
  }));
  ends(on_v1[3]);
  CHECK(b.Nodes(20) == "v1");
  for (int id = 1; id <= 8; ++id) {
    if (b.State(id) == "RUNNING") b.slurm.End(id);
  }
  b.Look(2);
  for (int id = 31; id <= 34; ++id) CHECK(b.State(id) == "RUNNING");
}

TEST_CASE("control: a preemptive scheduler requeues who checkpoints, and starts it again elsewhere", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=30000,checkpoint"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=20000"}});  // does not
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=40000,checkpoint"}, {"requeue", false}});
  b.Look(2);
  CHECK(b.State(2) == "RUNNING");
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.State(3) == "PENDING");
  (void)b.slurm.Calls();
  b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100"}});
  b.Look(1, 2.0);
  CHECK(b.slurm.Calls() == Calls{"requeuehold Incomplete 1"});
  CHECK(b.State(2) == "RUNNING");
  b.Look(3);
  CHECK(b.State(4) == "RUNNING");
  CHECK(b.State(1) == "PENDING");
  CHECK(CountStarts(b.slurm.Calls(), "requeue") == 0);
  CHECK(b.Status()["counts"]["requeued"] == 1);
  b.slurm.End(4);
  b.Look(3);
  CHECK(b.State(1) == "RUNNING");
  REQUIRE(b.Log("stop").size() == 1);
  CHECK(b.Log("stop")[0]["steps"].get<double>() > 0.0);  // it goes on where it was
}

TEST_CASE("control: a run lasts long enough that its job may start anywhere after it", "[slurm]") {
  // A slurmd that revoked a job's credential a moment ago ends its next run as failed: also that of the run before the last.
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=30000,checkpoint"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=20000"}});
  b.Look(2, 0.3);
  CHECK(b.State(1) == "RUNNING");
  (void)b.slurm.Calls();
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100"}});
  b.Look(1, 0.3);
  CHECK(CountStarts(b.slurm.Calls(), "requeue") == 0);
  b.Look(4);
  CHECK(b.State(3) == "RUNNING");
  CHECK(b.State(1) == "PENDING");
}

TEST_CASE("control: what Berth can never start is given back to Slurm", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", ""}});                                                                    // no GPU
  b.slurm.AddJob(2, {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:1,gres:gpu:p100:1"}});              // two types
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:9"}});                                                     // more than there are
  b.slurm.AddJob(4, {{"tres_per_job", ""}, {"partition", "cpu"}});                                              // not in the partitions
  b.slurm.AddJob(5, {{"dependency", "afterok:9(unfulfilled)"}});                                                // waits
  b.Look(3);
  Calls calls = b.slurm.Calls();
  std::sort(calls.begin(), calls.end());
  CHECK(calls == Calls{"release 1", "release 2", "release 3", "update JobId=1 AdminComment=berth-left",
                       "update JobId=2 AdminComment=berth-left", "update JobId=3 AdminComment=berth-left"});
  const Json queue = b.Status()["queue"];
  REQUIRE(queue.size() == 2);
  CHECK(queue[0]["reason"].get<std::string>().starts_with("left to Slurm"));
  CHECK(queue[1]["reason"] == "waits for afterok:9(unfulfilled)");
}

TEST_CASE("a silent Slurm: the cycle says so, the heartbeat stops, and it goes on where it was", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1);
  b.Look();
  const auto beat = [&] {
    std::ifstream file(b.options.out + "/heartbeat");
    double at = 0.0;
    file >> at;
    return at;
  };
  CHECK(beat() == b.now);
  (void)b.slurm.Calls();
  b.slurm.Set("silent", true);
  for (int i = 0; i < 3; ++i)
    CHECK(test::Says(test::MessageOf([&] { b.Look(); }), "squeue: expected success, found exit code 1: Unable to contact slurm controller"));
  CHECK(beat() == b.now - 3.0);
  b.slurm.Set("silent", false);
  b.slurm.Set("late", false);
  b.Look(2);
  CHECK(beat() == b.now);
  CHECK(b.slurm.Calls().empty());
  CHECK(b.State(1) == "RUNNING");
  // A command that hangs is ended.
  b.controller.reset();
  b.options.command_s = 0.5, b.options.mode = ControlMode::kDryRun;
  b.slurm.Set("hangs", true);
  CHECK(test::Says(test::MessageOf([&] { b.Restart(); }), "scontrol: expected an answer within 0.5 s, found none"));
}

TEST_CASE("a controller that is started again at any time starts nothing twice and loses nothing", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:8"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:1"}});
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:p100:1"}, {"admin_comment", "berth pinned"}, {"required_nodes", "p1"}, {"state_reason", "JobHeldAdmin"}});  // pinned, then killed
  b.Look();
  CHECK(CountStarts(b.slurm.Calls(), "release") == 1);  // of job 1; fcfs lets none past job 2
  b.Restart();
  b.Look(2);
  // The GPUs of job 1, which has not started yet, are not given away.
  CHECK(b.slurm.Calls().empty());
  b.slurm.Set("late", false);
  b.Look(2);
  b.Restart();
  b.Look();
  CHECK(b.slurm.Calls().empty());
  CHECK(b.State(1) == "RUNNING");
  b.slurm.End(1);
  b.Restart();
  b.Look(2);
  CHECK(b.State(2) == "RUNNING");
  CHECK(b.State(3) == "RUNNING");
  Calls calls = b.slurm.Calls();
  CHECK(CountStarts(calls, "release 2") == 1);
  CHECK(CountStarts(calls, "release 3") == 1);
  CHECK(b.Log("begin").size() == 4);
}

TEST_CASE("control: nodes that come and go begin the view anew, and who was released keeps its GPUs", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  (void)b.slurm.Calls();
  b.slurm.AddNode("a1", "a100", 8);
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=2 ReqNodeList=v2 AdminComment=berth pinned Priority=0", "release 2"});
  b.slurm.Set("late", false);
  b.Look(2);
  CHECK(b.Status()["running"].size() == 2);
  CHECK(b.Status()["nodes"].size() == 4);
}

TEST_CASE("rounds: it decides at their beginnings alone, and says once what the cluster is", "[slurm]") {
  Beside b;
  b.options.clock = Clock::Parse("rounds(60)");  // kNow is 40 s into a round
  b.Look();
  b.slurm.AddJob(1);
  b.slurm.AddNode("a1", "a100", 8);
  b.Look(10);
  CHECK(b.slurm.Calls().empty());
  b.Look(1, 10.0);
  CHECK(CountStarts(b.slurm.Calls(), "release 1") == 1);
  CHECK(b.Log("begin").size() == 2);
}

TEST_CASE("nodes of 23.02 and later come from scontrol", "[slurm]") {
  Beside b;
  b.slurm.Set("summed", true);
  b.slurm.Set("version", "24.05.3");
  b.slurm.AddJob(1);
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.Status()["slurm"]["version"] == "24.05.3");
  // It says how a job ended where it is asked for all states.
  b.slurm.AddJob(2, {{"comment", "steps=100"}});
  b.Look(2);
  b.Look(1, 50.0);
  b.slurm.End(2);
  b.Look();
  REQUIRE(b.Log("end").size() == 1);
  CHECK(b.Log("end")[0]["state"] == "COMPLETED");
  CHECK(std::filesystem::exists(b.options.out + "/speeds.json"));
  // And which GPUs others use.
  Json state = b.slurm.State();
  state["nodes"][2]["others"] = 3;
  b.slurm.Save(state);
  b.Look();
  CHECK(b.controller->live().nodes()[0].name == "p1");
  CHECK(b.controller->live().nodes()[0].used >= 3);
}

TEST_CASE("rights: who may not change jobs of others is told how to be allowed", "[slurm]") {
  if (geteuid() != 0) return test::Skip("changes who it is, as root alone can");
  const test::FakeSlurm slurm;
  SlurmCommands commands;
  const std::string config = commands.Config();
  CHECK(MissingRights(commands, config).empty());
  for (const std::string& path : {slurm.folder().path(), slurm / "state.json", slurm / "state.json.lock"})
    std::filesystem::permissions(path, std::filesystem::perms::all);
  const auto as_nobody = [&] {
    REQUIRE(seteuid(65534) == 0);
    const std::string missing = MissingRights(commands, config);
    REQUIRE(seteuid(0) == 0);
    return missing;
  };
  const std::string missing = as_nobody();
  CHECK(test::Says(missing, "expected root, root(0) or a user with AdminLevel=Operator (sacctmgr modify user name="));
  CHECK(test::Says(missing, " with None"));
  slurm.Set("level", "Operator");
  CHECK(as_nobody().empty());
}

TEST_CASE("the clock of slurmctld in the hour that clocks repeat, and beside it", "[slurm]") {
  const char* const zone = std::getenv("TZ");
  const std::string before = zone != nullptr ? zone : "";
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  tzset();
  const auto skew = [](const char* at, double now_s) { return ClockSkew(std::string("Configuration data as of ") + at + "\nX = 1\n", now_s); };
  // 2026-10-25 00:30 UTC is 02:30 in summer time, an hour later it is 02:30 again.
  const double first = 1'792'888'200.0;
  CHECK(skew("2026-10-25T02:30:00", first + 1.0) == 1.0);
  CHECK(skew("2026-10-25T02:30:00", first + 3598.0) == -2.0);
  CHECK(skew("2026-10-25T01:30:00", first) == 3600.0);          // in summer time alone
  CHECK(skew("2026-10-25T03:30:00", first + 3600.0) == -3600.0);  // in winter alone
  zone != nullptr ? setenv("TZ", before.c_str(), 1) : unsetenv("TZ");
  tzset();
}

TEST_CASE("it is not tried on a cluster that it cannot schedule", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1);
  b.options.partitions = {"gpuu"};
  b.Restart();
  CHECK(test::Says(test::MessageOf([&] { b.controller->TryScheduler(); }), "of partition gpuu, found none"));
  b.options.partitions = {"gpu"};
  b.Restart();
  CHECK(test::MessageOf([&] { b.controller->TryScheduler(); }) == "(no error)");
  CHECK(b.slurm.Calls().empty());
  b.slurm.Set("skew", 7200.0);
  setenv("SLURM_TIME_FORMAT", "relative", 1);  // of whoever starts it
  CHECK(test::Says(test::MessageOf([&] { b.Restart(); }), "clock: expected that of slurmctld's machine to within 3 s, found 7200 s ahead"));
  b.slurm.Set("skew", 0.0);
  b.slurm.Set("version", "20.11.9");
  CHECK(test::Says(test::MessageOf([&] { b.Restart(); }), "Slurm: expected version 21.08 or later"));
}

}  // namespace berth
