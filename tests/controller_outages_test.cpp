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

}  // namespace berth
