// The C API: times count from whatever the caller counts them from.
#include <algorithm>
#include <string>
#include <vector>

#include "env/gym/encoder.hpp"
#include "policies/c_api/berth.h"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

TEST_CASE("c api: the same moment is decided alike, whatever its times count from") {
  const test::TemporaryFolder folder;
  const std::string encoder = GENERATE("ObservationV1", "ObservationV3");
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8)", EncoderOf(encoder).Layout(6, 2), 6 * 2 + 1, 5);
  bundle.mdp.encoder = encoder, bundle.gpu_types = {"fast", "slow"};
  SaveBundle(bundle, folder / "p.h5");
  berth_policy* policy = nullptr;
  REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, nullptr, 0) == BERTH_OK);
  const berth_gpu_type types[] = {{"fast", 2}, {"slow", 2}};
  const double rates[] = {4.0, 1.0, 3.0, 1.0, 2.0, 1.0, 2.0, 2.0};
  // Four jobs of two GPUs each, of which two find room. Whole seconds, which every origin here leaves exact.
  const auto decided = [&](double origin) {
    berth_job blank = BERTH_JOB_INIT;
    std::vector<berth_job> jobs(4, blank);
    for (std::size_t i = 0; i < 4; ++i) {
      jobs[i].arrival_s = origin + 100.0 * static_cast<double>(i), jobs[i].remaining_steps = 1000.0, jobs[i].gang = 2;
      jobs[i].deadline_s = jobs[i].arrival_s + 5000.0;
    }
    berth_cluster cluster = BERTH_CLUSTER_INIT;
    cluster.now_s = origin + 400.0;
    cluster.types = types, cluster.num_types = 2;
    cluster.jobs = jobs.data(), cluster.num_jobs = jobs.size();
    cluster.rates = rates;
    std::vector<int32_t> runs_on(4, -7);
    char why[256] = "";
    const berth_status status = berth_policy_decide(policy, &cluster, runs_on.data(), 4, why, sizeof why);
    CAPTURE(origin, why);
    CHECK(status == BERTH_OK);
    return runs_on;
  };
  const std::vector<int32_t> expected = decided(0.0);
  CHECK(*std::max_element(expected.begin(), expected.end()) >= 0);
  CHECK(decided(-200.0) == expected);  // some before 0, some after
  CHECK(decided(-400.0) == expected);
  CHECK(decided(-1e9) == expected);
  CHECK(decided(1e9) == expected);
  berth_policy_free(policy);
}

}  // namespace berth
