// The C API: policies that backfill, which go by when jobs end.
#include <algorithm>
#include <string>
#include <vector>

#include "env/gym/encoder.hpp"
#include "env/sim/metrics.hpp"
#include "policies/c_api/berth.h"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// All scores are equal, so jobs come in order of arrival.
PolicyBundle EasyInOrder(Knowledge knowledge) {
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8)", EncoderOf(kObservationV1).Layout(6, 1), 6 + 1, 5);
  for (NamedArray& array : bundle.arrays) std::fill(array.values.begin(), array.values.end(), 0.0F);
  std::fill(bundle.examples.scores.begin(), bundle.examples.scores.end(), 0.0F);
  std::fill(bundle.examples.value.begin(), bundle.examples.value.end(), 0.0F);
  bundle.mdp.encoder = kObservationV1, bundle.gpu_types = {"a"};
  bundle.mdp.preemptive = false, bundle.mdp.work_conserving = true;
  bundle.mdp.knowledge = knowledge, bundle.reserve = Reserve::kEasy;
  return bundle;
}

// Four GPUs at 100 s. Job 0 holds three, job 1 waits for all four, job 2 for the one that is left.
struct Moment {
  const test::TemporaryFolder folder;
  berth_policy* policy = nullptr;
  berth_gpu_type type = {"a", 4};
  berth_job jobs[3] = {BERTH_JOB_INIT, BERTH_JOB_INIT, BERTH_JOB_INIT};
  double rates[3] = {1.0, 1.0, 1.0};
  std::string why;

  explicit Moment(Knowledge knowledge) {
    SaveBundle(EasyInOrder(knowledge), folder / "p.h5");
    REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, nullptr, 0) == BERTH_OK);
    jobs[0].arrival_s = 40.0, jobs[0].gang = 3, jobs[0].running_on = 0, jobs[0].attained_s = 50.0;
    jobs[0].requested_s = 100.0;  // until 150
    jobs[1].arrival_s = 60.0, jobs[1].gang = 4, jobs[1].requested_s = 10.0;
    jobs[2].arrival_s = 70.0, jobs[2].requested_s = 80.0;  // until 180
  }
  Moment(const Moment&) = delete;
  Moment& operator=(const Moment&) = delete;
  ~Moment() { berth_policy_free(policy); }

  berth_status Decide(std::vector<int32_t>& runs_on) {
    berth_cluster cluster = BERTH_CLUSTER_INIT;
    cluster.now_s = 100.0;
    cluster.types = &type, cluster.num_types = 1;
    cluster.jobs = jobs, cluster.num_jobs = 3;
    cluster.rates = rates;
    runs_on.assign(3, -7);
    char said[512] = "";
    const berth_status status = berth_policy_decide(policy, &cluster, runs_on.data(), 3, said, sizeof said);
    why = said;
    return status;
  }
};

}  // namespace

TEST_CASE("c api: a policy that backfills without estimates refuses a job without a request by name") {
  Moment moment(GENERATE(Knowledge::kNone, Knowledge::kBlind));
  const int job = GENERATE(0, 1, 2);
  moment.jobs[job].requested_s = NAN;
  std::vector<int32_t> runs_on;
  CHECK(moment.Decide(runs_on) == BERTH_BAD_ARGUMENT);
  CHECK_THAT(moment.why, Catch::Contains("p.h5: job " + std::to_string(job) + ": requested_s: expected"));
  CHECK(runs_on == std::vector<int32_t>(3, -7));
}

// Job 2 would run until 180. It may if job 0 holds its GPUs that long, and may not if it gives them back before,
// since job 1 needs all four then.
TEST_CASE("c api: a policy that backfills expects a job back when its request is over") {
  Moment moment(GENERATE(Knowledge::kNone, Knowledge::kBlind, Knowledge::kEstimate, Knowledge::kOracle));
  const auto [attained, starts] = GENERATE(table<double, bool>({{50.0, false}, {21.0, false}, {20.0, true}, {0.0, true}}));
  CAPTURE(attained);
  moment.jobs[0].attained_s = attained;
  std::vector<int32_t> runs_on;
  REQUIRE(moment.Decide(runs_on) == BERTH_OK);
  CHECK(runs_on == std::vector<int32_t>{0, -1, starts ? 0 : -1});
}

// Two GPUs at 100 s, of which jobs 0 and 1 share one. Job 2 waits for both, job 3 for the one that is left.
TEST_CASE("the C API: a GPU that two share is free when both are done") {
  const test::TemporaryFolder folder;
  SaveBundle(EasyInOrder(Knowledge::kOracle), folder / "p.h5");
  berth_policy* policy = nullptr;
  REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, nullptr, 0) == BERTH_OK);
  berth_gpu_type type = {"a", 2};
  std::vector<berth_job> jobs(4, BERTH_JOB_INIT);
  for (std::size_t i = 0; i < 4; ++i) jobs[i].arrival_s = 10.0 * static_cast<double>(i);
  for (std::size_t i : {0, 1}) jobs[i].running_on = 0, jobs[i].attained_s = 50.0;
  jobs[2].gang = 2, jobs[2].remaining_steps = 10.0;
  const double rates[4] = {1.0, 1.0, 1.0, 1.0};
  const std::vector<double> pairs(16, 1.0);
  berth_job_details more[4] = {{0, 0, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, -1}, {0, 0, 0, -1}};
  berth_details details = BERTH_DETAILS_INIT;
  details.jobs = more;
  bool starts = false;
  SECTION("the head waits for the longer of the two") {
    jobs[0].remaining_steps = 20.0, jobs[1].remaining_steps = 1000.0;  // both are done at 1100
    details.pair_rates = pairs.data();
    jobs[3].remaining_steps = 500.0, starts = true;
  }
  SECTION("nobody says how fast they are together") {
    jobs[0].remaining_steps = jobs[1].remaining_steps = 50.0;  // until 150, as each alone
    jobs[3].remaining_steps = 1000.0;
  }
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  cluster.now_s = 100.0;
  cluster.types = &type, cluster.num_types = 1;
  cluster.jobs = jobs.data(), cluster.num_jobs = jobs.size();
  cluster.rates = rates;
  berth_command commands[4];
  std::size_t n = 77;
  char why[256] = "";
  const berth_status status = berth_policy_command(policy, &cluster, &details, commands, sizeof(berth_command), 4, &n, why, sizeof why);
  CAPTURE(why);
  REQUIRE(status == BERTH_OK);
  REQUIRE(n == (starts ? 1 : 0));
  if (starts) CHECK((commands[0].kind == BERTH_START && commands[0].job == 3));
  berth_policy_free(policy);
}

TEST_CASE("a policy that backfills without estimates refuses a job without a request, and runs on requests") {
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}, {1, 10, 0, 4}, {2, 80, 0, 1}});
  data.knowledge = Knowledge::kBlind;
  const auto run = [&] {
    return Run(Scenario(data), *MakePolicyScheduler(EasyInOrder(Knowledge::kBlind), "p.h5", false), "p", {});
  };
  CHECK_THROWS_WITH(run(), Catch::Contains("p.h5: job 0: requested_s: expected"));
  data.jobs.requested_s = {100.0, 10.0, 80.0};
  CHECK(run().jct_s == std::vector<double>{100.0, 109.0, 80.0});
}

}  // namespace berth
