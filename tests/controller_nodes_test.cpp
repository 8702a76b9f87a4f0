// On which nodes a job is started: not where Slurm refused it, awake ones first, no more than it asks for. As controller_test.
#include <string>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/controller_beside.hpp"

namespace berth {
namespace {

using test::Beside;
using test::Calls;
using test::CountStarts;

}  // namespace

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

}  // namespace berth
