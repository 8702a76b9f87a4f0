// What breaks beside Berth: a slurmctld that is away, nodes that die, jobs that somebody else requeues or suspends. As controller_test.
#include <string>

#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"
#include "tests/errors.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

// Back in the queue, as Slurm has a job that was requeued.
Json Requeued(const Beside& b, int restarts, const Json& more) {
  Json job = {{"job_state", "PENDING"},       {"restart_cnt", restarts}, {"submit_time", b.now}, {"start_time", 0}, {"nodes", ""},
              {"gres_detail", Json::array()}, {"held_gpus", Json::array()}};
  job.update(more);
  return job;
}

}  // namespace

TEST_CASE("control: where slurmctld does not answer no job has ended, whatever the exit code", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"comment", "steps=1000"}});
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  const std::string away = GENERATE("jobs", "nodes");
  b.slurm.Set("away", away);
  for (int i = 0; i < 2; ++i) {
    CHECK(test::Says(test::MessageOf([&] { b.Look(); }), away == "jobs" ? "squeue --json: expected an answer, found the error 'Failed while looking for jobs'"
                                                                        : "sinfo --json: expected an answer, found the error 'Unspecified error'"));
  }
  b.slurm.Set("away", nullptr);
  b.Look();
  CHECK(b.Log("job").size() == 1);
  CHECK(b.Log("start").size() == 1);
  CHECK(b.Log("end").empty());
  CHECK(b.Status()["healthy"] == true);
}

TEST_CASE("control: a job that is requeued after it ended begins anew", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"comment", "steps=100,checkpoint"}});
  b.Look(2);
  b.Look(1, 50.0);
  b.slurm.End(1, "FAILED");
  b.Look();
  REQUIRE(b.Log("end").size() == 1);
  CHECK(b.Log("end")[0]["steps"].get<double>() > 0.0);
  b.slurm.SetJob(1, Requeued(b, 1, {{"priority", 0}, {"state_reason", "JobHeldAdmin"}}));
  b.Look(2);
  CHECK(b.State(1) == "RUNNING");
  REQUIRE(b.Log("job").size() == 2);
  CHECK(b.Log("job")[1]["restarts"] == 1);
  const LiveCluster& live = b.controller->live();
  const LiveJob& job = live.job(live.Find("1"));
  CHECK(job.steps_done == 0.0);
  CHECK(job.attained_s == 0.0);
}

TEST_CASE("control: a job whose node died, or that somebody else requeues, is placed anew at once", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look(2);
  REQUIRE(b.Nodes(1) == "v1");
  const bool died = GENERATE(true, false);
  const bool soon = GENERATE(false, true);  // after it was released
  if (!soon) b.Look(1, 20.0);
  Json state = b.slurm.State();
  state["nodes"][0]["state"] = died ? "down" : "idle", state["late"] = true;
  b.slurm.Save(state);
  // As Slurm does, with a begin time.
  b.slurm.SetJob(1, Requeued(b, 1, {{"priority", 1}, {"state_reason", "BeginTime"}, {"eligible_time", b.now + 121.0}}));
  (void)b.slurm.Calls();
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"hold 1"});
  if (soon) {  // it may be so again
    b.Look(3);
    CHECK(b.slurm.Calls().empty());
    CHECK(b.Status()["queue"][0]["reason"] == "it was requeued");
    b.Look(1, 27.0);
  }
  b.Look(2);
  const std::string node = died ? "v2" : "v1";
  CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList=" + node + " AdminComment=berth pinned Priority=0 StartTime=now", "release 1"});
  CHECK(b.Status()["counts"]["refused"] == 0);
  b.slurm.Set("late", false);
  b.Look();
  CHECK(b.Nodes(1) == node);
}

TEST_CASE("control: a job that was released to a node that goes out of service before the start goes elsewhere at once", "[slurm]") {
  Beside b;
  b.slurm.Set("late", true);
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}});
  b.Look();
  CHECK(b.slurm.Job(1)["required_nodes"] == "v1");
  (void)b.slurm.Calls();
  const auto flag = [&](const char* what) {
    Json state = b.slurm.State();
    state["nodes"][0]["state_flags"] = {what};
    b.slurm.Save(state);
    b.Look();
  };
  flag("POWERING_UP");  // for the job
  CHECK(b.slurm.Calls().empty());
  flag("DRAIN");
  CHECK(b.slurm.Calls() == Calls{"hold 1"});
  b.Look();
  CHECK(b.slurm.Calls() == Calls{"update JobId=1 ReqNodeList=v2 AdminComment=berth pinned Priority=0", "release 1"});
}

TEST_CASE("control: a job that an administrator suspended is not stopped, and nobody plans with its GPUs", "[slurm]") {
  Beside b(ControlMode::kControl, "srpt");
  b.slurm.AddJob(1, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=30000,checkpoint"}});
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=20000"}});
  b.Look(2);
  b.slurm.SetJob(1, {{"job_state", "SUSPENDED"}, {"suspend_time", b.now}, {"pre_sus_time", 0}});
  b.Look(2, 2.0);
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"comment", "steps=100"}});
  (void)b.slurm.Calls();
  b.Look(3, 2.0);
  CHECK(b.slurm.Calls().empty());
  CHECK(b.State(1) == "SUSPENDED");
  CHECK(b.Status()["running"].size() == 2);
  CHECK(b.controller->live().FreeGpus() == std::vector<int>{4, 0});  // p100, v100
  b.slurm.SetJob(1, {{"job_state", "RUNNING"}, {"suspend_time", b.now}});
  b.Look(1, 2.0);  // is news
  CHECK(b.slurm.Calls() == Calls{"requeuehold Incomplete 1"});
}

TEST_CASE("control: a job that was requeued runs on no more and no fewer nodes than it asked for, whatever it ran on", "[slurm]") {
  Beside b;
  for (int id = 1; id <= 2; ++id) b.slurm.AddJob(id, {{"tres_per_job", "gres:gpu:v100:2"}, {"required_nodes", Join("v", id)}});
  b.Look(2);  // two GPUs are free on each of v1 and v2
  const bool one = GENERATE(true, false);  // -N1, or as they come
  b.slurm.AddJob(3, {{"tres_per_job", "gres:gpu:v100:4"}, {"max_nodes", one ? 1 : 0}});
  b.Look(2);
  CHECK(b.Nodes(3) == (one ? "" : "v1,v2"));
  b.slurm.End(one ? 1 : 2);
  b.Look(2);
  CHECK(b.State(3) == "RUNNING");
  const auto requeue = [&](bool says_least) {
    Json job = Requeued(b, 1, {{"priority", 0}, {"state_reason", "JobHeldAdmin"}});
    if (!says_least) job["tres_req_str"] = "";
    b.slurm.SetJob(3, job);
  };
  if (one) {  // four GPUs are free on two nodes alone: it waits
    b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:v100:2"}, {"required_nodes", "v1"}, {"priority", 1}, {"admin_comment", ""}});
    requeue(GENERATE(true, false));
    CHECK(b.slurm.Job(3)["max_nodes"] == 0);
    b.Look(3);
    CHECK(b.State(4) == "RUNNING");
    CHECK(b.State(3) == "PENDING");
    b.slurm.End(4);
    b.Look(3);
    CHECK(b.Nodes(3) == "v1");
    return;
  }
  // v2 has all four again: it is enough, though the job had two nodes.
  CHECK(b.slurm.Job(3)["node_count"] == 2);
  const bool known = GENERATE(true, false);
  CAPTURE(known);
  if (!known) b.Restart();  // knows by the job alone
  requeue(true);
  b.Look(4);
  CHECK(b.Nodes(3) == "v2");
}

TEST_CASE("control: a job whose tasks or CPUs take more nodes than it asks for has as many again after a requeue", "[slurm]") {
  Beside b;
  // -n2 --ntasks-per-node=1 with GPUs on each node and with two in all; -n16 on nodes of 8 CPUs. None says -N.
  const Json change = GENERATE(Json{{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:1"}, {"tasks", 2}, {"tasks_per_node", 1}},
                               Json{{"tres_per_job", "gres:gpu:v100:2"}, {"tasks", 2}, {"tasks_per_node", 1}},
                               Json{{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:2"}, {"tasks", 16}, {"tasks_per_node", 0}, {"cpus", 16}});
  const bool known = GENERATE(true, false);
  CAPTURE(change.dump(), known);
  Json job = {{"node_count", 2}, {"tres_req_str", "cpu=2,mem=1000M,node=1,billing=2"}};
  job.update(change);
  b.slurm.AddJob(1, job);
  b.Look(2);
  REQUIRE(b.Nodes(1) == "v1,v2");
  if (!known) b.Restart();
  b.slurm.SetJob(1, Requeued(b, 1, {{"priority", 0}, {"state_reason", "JobHeldAdmin"}}));
  b.Look(4);
  CHECK(b.Nodes(1) == "v1,v2");
  CHECK(b.slurm.Job(1)["required_nodes"] == "v1,v2");
  const LiveCluster& live = b.controller->live();
  const LiveJob& again = live.job(live.Find("1"));
  CHECK(again.slurm.gpus == (job.value("tasks", 0) == 16 ? 4 : 2));
}

TEST_CASE("control: after a requeue a job runs on as many nodes as its user has asked for since", "[slurm]") {
  Beside b;
  b.slurm.AddJob(1, {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:2"}, {"node_count", 2}, {"max_nodes", 2}, {"cpus", 2}});
  b.Look(2);
  REQUIRE(b.Nodes(1) == "v1,v2");
  // scontrol update NumNodes=1
  const Json one = {{"priority", 0}, {"state_reason", "JobHeldAdmin"}, {"tres_req_str", "cpu=2,node=1"}, {"asked_nodes", {1, 1}}};
  b.slurm.SetJob(1, Requeued(b, 1, one));
  b.Look(4);
  CHECK(b.Nodes(1) == "v1");
  const LiveCluster& live = b.controller->live();
  CHECK(live.job(live.Find("1")).slurm.gpus == 2);
  // -N1, and then NumNodes=2-3
  b.slurm.End(1);
  b.slurm.AddJob(2, {{"tres_per_job", "gres:gpu:v100:4"}, {"max_nodes", 1}});
  b.Look(2);
  REQUIRE(b.Nodes(2) == "v1");
  b.slurm.SetJob(2, Requeued(b, 1, {{"priority", 0}, {"state_reason", "JobHeldAdmin"}, {"tres_req_str", "cpu=1,node=2"}, {"asked_nodes", {2, 3}}}));
  b.Look(4);
  CHECK(b.Nodes(2) == "v1,v2");
}

TEST_CASE("control: jobs with GPUs on each of a range of nodes are Slurm's, which chooses how many", "[slurm]") {
  Beside b;
  const auto by_node = [](int least, int most) -> Json {
    return {{"tres_per_job", ""}, {"tres_per_node", "gres:gpu:v100:2"}, {"node_count", least}, {"max_nodes", most}};
  };
  b.slurm.AddJob(1, by_node(1, 3));
  b.slurm.AddJob(2, by_node(2, 2));
  b.slurm.AddJob(3, by_node(1, 0));
  b.slurm.AddJob(4, {{"tres_per_job", "gres:gpu:v100:2"}, {"node_count", 1}, {"max_nodes", 3}});  // two in all
  b.slurm.Set("late", true);
  b.Look();
  CHECK(b.slurm.Job(1)["admin_comment"] == "berth-left");
  for (int id = 2; id <= 3; ++id) CHECK(b.slurm.Job(id)["admin_comment"] == "berth pinned");
  CHECK(b.slurm.Job(4)["admin_comment"] != "berth-left");
  b.Look();
  CHECK(b.Status()["queue"][0]["reason"].get<std::string>().starts_with("left to Slurm"));
}

}  // namespace berth
