// Whose hold it is: of Berth, of a job's user or of an administrator; and what is given back to Slurm. As controller_test.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

// The watchdog beside it; what to end.
pid_t Watch(const test::FakeSlurm& slurm, const char* dead_s) {
  const std::string watchdog = slurm / "bin/watchdog", heartbeat = slurm / "heartbeat";
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
    execl(watchdog.c_str(), watchdog.c_str(), heartbeat.c_str(), dead_s, nullptr);
    _exit(127);
  }
  return child;
}

// Within a minute?
bool Until(const test::FakeSlurm& slurm, int id, const char* key, const Json& value) {
  for (int i = 0; i < 600 && slurm.Job(id)[key] != value; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return slurm.Job(id)[key] == value;
}

}  // namespace

TEST_CASE("the page's mode switch: what control held is given back, what it may not is refused", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:p100:1"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:8"}});
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:8"}});
  b.Look();
  (void)b.slurm.Calls();
  REQUIRE(b.board.AskMode("dry-run"));
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList= AdminComment=berth-left", "update JobId=2 ReqNodeList= AdminComment=berth-left",
                                 "release 3", "update JobId=3 AdminComment=berth-left"});
  CHECK(b.Status()["mode"] == "dry-run");
  CHECK(b.Log("mode").size() == 1);
  for (int id = 1; id <= 3; ++id) CHECK(b.slurm.Job(id)["priority"] == 1);
  b.slurm.Set("config", {{"PriorityType", "priority/basic"}});
  REQUIRE(b.board.AskMode("advise"));
  b.Look();
  CHECK(b.Status()["mode"] == "dry-run");
  CHECK(b.Status()["refusals"][0]["what"] == "mode advise");
  b.slurm.AddJob(4);
  REQUIRE(b.board.AskMode("control"));
  b.Look();
  CHECK(b.Status()["mode"] == "control");
  CHECK(CountStarts(b.slurm.Calls(), "release 4") == 1);
}

TEST_CASE("the page's mode switch: to control only where the watchdog would see a heartbeat", "[slurm]") {
  Beside b(ControlMode::kDryRun);
  b.options.out = "";
  b.slurm.AddJob(1);
  b.Look();
  REQUIRE(b.board.AskMode(GENERATE("advise", "control")));
  b.Look();
  CHECK(b.Status()["mode"] == "dry-run");
  CHECK_THAT(b.Status()["refusals"][0]["why"].get<std::string>(), Catch::Contains("expected --out"));
  CHECK(b.slurm.Calls().empty());
}

TEST_CASE("control: who cannot write its log asks nothing and shows no heartbeat", "[slurm]") {
  Beside b;
  std::filesystem::create_directories(b.options.out);
  std::filesystem::create_symlink("/dev/full", b.options.out + "/decisions.jsonl");
  b.slurm.AddJob(1);
  for (int look = 0; look < 2; ++look) CHECK_THROWS_WITH(b.Look(), Catch::Contains("expected room for the log"));
  CHECK(b.slurm.Calls().empty());
  CHECK_FALSE(std::filesystem::exists(b.options.out + "/heartbeat"));
}

TEST_CASE("control: what a user holds after Berth released it stays the user's, until the user releases it", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.options.all_holds = GENERATE(false, true);
  b.slurm.AddJob(1, {{"admin_comment", b.options.all_holds ? "" : "berth"}});
  b.Look();
  CHECK(b.slurm.Job(1)["priority"] == 1);
  (void)b.slurm.Calls();
  b.slurm.SetJob(1, {{"priority", 0}, {"state_reason", "JobHeldUser"}});
  SECTION("seen by the controller that released it") {}
  SECTION("seen by one that is started again") { b.Restart(); }
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList= AdminComment=berth-left"});
  CHECK(b.Status()["queue"][0]["reason"] == "held by its user");
  b.slurm.Set("late", false);
  b.Look(5, 30.0);
  CHECK(b.controller->Release() == 0);
  CHECK(b.slurm.Calls().empty());
  CHECK(b.slurm.Job(1)["priority"] == 0);
  b.slurm.SetJob(1, {{"priority", 1}, {"state_reason", "None"}});
  b.Look();
  CHECK(b.State(1) == "RUNNING");
  CHECK(b.slurm.Calls().empty());
}

TEST_CASE("control: a job that is requeued for its user to look at has not ended, and stays the user's", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"comment", "checkpoint"}});
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  b.slurm.SetJob(1, {{"job_state", "SPECIAL_EXIT"}, {"priority", 0}, {"state_reason", "JobHeldUser"}, {"state_description", "job requeued in special exit state"},
                     {"restart_cnt", 1}, {"start_time", 0}, {"nodes", ""}, {"gres_detail", Json::array()}, {"held_gpus", Json::array()}});
  (void)b.slurm.Calls();
  SECTION("taken off its nodes by a controller that goes on") {
    b.Look();
    CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList= AdminComment=berth-left"});
    b.Look(5, 30.0);
    CHECK(b.slurm.Calls().empty());
    CHECK(b.Status()["queue"][0]["reason"] == "held by its user");
    CHECK(b.Log("end").empty());
    CHECK(b.Log("stop").size() == 1);
  }
  SECTION("by --release") {
    CHECK(b.controller->Release() == 1);
    CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList= AdminComment=berth-left"});
  }
}

TEST_CASE("control: a hold of Berth's own is told from a user's, and so is a requeue", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=9000,checkpoint"}});
  b.Look(2), b.Look(1, 15.0);  // released, and held again since it did not start
  CHECK(b.slurm.Job(1)["priority"] == 0);
  b.slurm.Set("late", false);
  b.Restart();  // knows by the job alone whose hold it is
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  for (int id = 2; id <= 3; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=10"}});
  b.Look(2);
  CHECK(b.State(1) == "PENDING");  // requeued and held
  b.Restart();
  b.Look(2);
  for (int id = 2; id <= 3; ++id) b.slurm.End(id);
  b.Look(3);
  CHECK(b.State(1) == "RUNNING");
}

TEST_CASE("control: all holds are Berth's where it is told so, but an administrator's, and can be given back", "[slurm]") {
  Beside b;
  b.options.all_holds = true;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"admin_comment", ""}, {"tres_per_job", "gres:gpu:v100:8"}});
  b.slurm.AddJob(2, {{"admin_comment", ""}, {"tres_per_job", "gres:gpu:v100:8"}});  // waits
  b.slurm.AddJob(3, {{"admin_comment", ""}, {"state_reason", "JobHeldAdmin"}});
  b.slurm.AddJob(4, {{"admin_comment", "of the site"}});
  b.slurm.AddJob(5, {{"admin_comment", ""}, {"tres_per_job", "gres:gpu:v100:9"}});  // more than there are
  b.Look(2);
  CHECK(b.slurm.Job(1)["admin_comment"] == "berth pinned");
  CHECK(b.slurm.Job(2)["admin_comment"] == "berth");
  CHECK(b.slurm.Job(3)["admin_comment"] == "");
  CHECK(b.slurm.Job(4)["admin_comment"] == "of the site");
  CHECK(b.slurm.Job(5)["admin_comment"] == "");
  (void)b.slurm.Calls();
  b.Look(3);
  CHECK(b.slurm.Calls().empty());
  CHECK(b.controller->Release() == 2);
  for (int id = 1; id <= 2; ++id) CHECK((b.slurm.Job(id)["priority"] == 1 && b.slurm.Job(id)["admin_comment"] == "berth-left"));
  for (int id = 3; id <= 5; ++id) CHECK(b.slurm.Job(id)["priority"] == 0);
  // Held again by its user after it was given back, it stays so, whoever asks.
  b.slurm.SetJob(2, {{"priority", 0}, {"state_reason", "JobHeldUser"}});
  b.Restart();
  (void)b.slurm.Calls();
  b.Look(3);
  CHECK(b.controller->Release() == 0);
  CHECK(b.slurm.Job(2)["priority"] == 0);
}

TEST_CASE("the watchdog gives back what Berth holds or pinned, and leaves its users their holds", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.Set("late", true);
  slurm.AddJob(1);                                                                                                         // held for Berth
  slurm.AddJob(2, {{"admin_comment", "berth pinned"}, {"required_nodes", "v1"}, {"state_reason", "JobHeldAdmin"}});       // pinned, held again
  slurm.AddJob(3, {{"admin_comment", "berth pinned"}, {"required_nodes", "v1"}, {"priority", 4}, {"state_reason", ""}});  // released
  slurm.AddJob(4, {{"admin_comment", ""}});                                                                                // its user's hold
  const pid_t child = Watch(slurm, "1");
  const auto until = [&](int id, const char* key, const Json& value) { return Until(slurm, id, key, value); };
  CHECK(until(2, "admin_comment", "berth-left"));  // the last that it does
  for (int id = 1; id <= 3; ++id) CHECK((slurm.Job(id)["admin_comment"] == "berth-left" && slurm.Job(id)["priority"] != 0 && slurm.Job(id)["required_nodes"] == ""));
  CHECK((slurm.Job(4)["admin_comment"] == "" && slurm.Job(4)["priority"] == 0));
  // Job 3 is held by its user while Berth is dead: it stays so when the watchdog has looked again, as job 5 tells.
  slurm.SetJob(3, {{"priority", 0}, {"state_reason", "JobHeldUser"}});
  slurm.AddJob(5);
  CHECK(until(5, "admin_comment", "berth-left"));
  CHECK(slurm.Job(3)["priority"] == 0);
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
}

TEST_CASE("the watchdog counts no time in which Slurm does not answer", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.AddJob(1);
  slurm.Set("silent", true);
  const pid_t child = Watch(slurm, "10");
  std::this_thread::sleep_for(std::chrono::seconds(11));
  slurm.Set("silent", false);
  std::this_thread::sleep_for(std::chrono::seconds(3));
  CHECK(slurm.Job(1)["priority"] == 0);  // Berth has time to look again
  CHECK(Until(slurm, 1, "admin_comment", "berth-left"));  // it does not
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
}

TEST_CASE("the watchdog counts the time in which Slurm answers where it does not always", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.AddJob(1);
  slurm.Set("flaky", 2);
  const pid_t child = Watch(slurm, "4");
  CHECK(Until(slurm, 1, "admin_comment", "berth-left"));
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
}

TEST_CASE("the watchdog counts the time in which Slurm answers slowly, and asks nothing more as it takes over", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.AddJob(1);
  slurm.Set("slow", 3);
  const pid_t child = Watch(slurm, "4");
  CHECK(Until(slurm, 1, "admin_comment", "berth-left"));
  std::string asked;
  std::ifstream(slurm / "state.json.asked") >> asked;
  CHECK(asked.size() <= 1);  // after a second: it is answered when 4 are over
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
}

TEST_CASE("the watchdog shows that it lives while Slurm keeps it waiting", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.Set("hangs", true);
  const pid_t child = Watch(slurm, "10");
  const auto shown = [&] {
    std::this_thread::sleep_for(std::chrono::seconds(4));
    std::string text;
    std::ifstream(slurm / "heartbeat.watchdog") >> text;
    return text;
  };
  const std::string first = shown();
  CHECK_FALSE(first.empty());
  CHECK(shown() != first);
  kill(child, SIGTERM);
  waitpid(child, nullptr, 0);
}

TEST_CASE("release: all that Berth holds is given back, and nothing of others", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"admin_comment", "berth pinned"}, {"required_nodes", "v1"}, {"state_reason", "JobHeldAdmin"}});
  b.slurm.AddJob(2);
  b.slurm.AddJob(3, {{"admin_comment", "berth pinned"}, {"priority", 4}, {"required_nodes", "v2"}});
  b.slurm.AddJob(4, {{"admin_comment", ""}});
  b.slurm.AddJob(5, {{"priority", 9}});
  b.slurm.AddJob(6, {{"admin_comment", "berth pinned"}, {"priority", 4}, {"required_nodes", "v2"}, {"job_state", "RUNNING"}, {"nodes", "v2"}});
  b.slurm.Set("late", true);
  b.Restart();
  int pinned = 0;
  CHECK(b.controller->Release(&pinned) == 3);
  CHECK(pinned == 1);
  CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList= AdminComment=berth", "release 1", "update JobId=1 AdminComment=berth-left", "release 2",
                                 "update JobId=2 AdminComment=berth-left", "update JobId=3 ReqNodeList= AdminComment=berth-left"});
  CHECK(b.controller->Release() == 0);
}

}  // namespace berth
