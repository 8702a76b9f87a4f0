// The order of the scheduler slurm by hand: weights, sizes, Fair Tree and the classic formula.
#include <cmath>
#include <string>
#include <vector>

#include "baselines/slurm/priority.hpp"
#include "tests/catch.hpp"
#include "tests/slurm_by_hand.hpp"

namespace berth {
namespace {

using test::kOne;
using test::kQuick;
using test::SlurmConf;
using test::SlurmJob;
using test::SlurmScenario;
using test::SlurmStarts;

}  // namespace

TEST_CASE("slurm: priority orders the queue by QoS, partition, size, age and fair share") {
  const std::string head = "PriorityType=priority/multifactor\nSchedulerType=sched/builtin\n" + kQuick;
  const std::string part = "PartitionName=main Default=YES\n";
  const auto starts = [&](const std::string& weights, const std::vector<SlurmJob>& jobs, const std::string& more = "") {
    return SlurmStarts(SlurmConf(head + weights + part).Spec(more), SlurmScenario(jobs, 1));
  };
  // One node, held until 100; then the better half first, one after the other.
  CHECK(starts("PriorityWeightQOS=1000\n", {{0, 100, 4}, {10, 10, 4}, {20, 10, 4, 0, "main:urgent"}},
               ",qos=urgent:100+normal:10") == std::vector<double>{0, 110, 100});
  CHECK(starts("PriorityWeightPartition=10\nPartitionName=fast PriorityJobFactor=5\n",
               {{0, 100, 4}, {10, 10, 4}, {20, 10, 4, 0, "fast:normal"}}) == std::vector<double>{0, 110, 100});
  CHECK(starts("PriorityWeightJobSize=1000\n", {{0, 100, 4}, {10, 10, 3}, {20, 10, 4}}) == std::vector<double>{0, 110, 100});
  CHECK(starts("PriorityWeightJobSize=1000\nPriorityFavorSmall=YES\n", {{0, 100, 4}, {10, 10, 4}, {20, 10, 3}}) ==
        std::vector<double>{0, 110, 100});
  // Age is counted at multiples of PriorityCalcPeriod (1 min): at 60, 50 s of 100 against 40 s, so 500 against 400 + 2 x 10 / 10.
  CHECK(starts("PriorityWeightAge=1000\nPriorityMaxAge=1:40\nPriorityCalcPeriod=1\nPriorityWeightQOS=90\n",
               {{0, 100, 4}, {10, 10, 4}, {20, 10, 4, 0, "main:urgent"}}, ",qos=urgent:1") == std::vector<double>{0, 100, 110});
  CHECK(starts("PriorityWeightAge=1000\nPriorityMaxAge=1:40\nPriorityCalcPeriod=1\nPriorityWeightQOS=110\n",
               {{0, 100, 4}, {10, 10, 4}, {20, 10, 4, 0, "main:urgent"}}, ",qos=urgent:1") == std::vector<double>{0, 110, 100});
  // a/x has used the node, b/y nothing.
  CHECK(starts("PriorityWeightFairShare=1000\nPriorityCalcPeriod=1\n", {{0, 100, 4}, {10, 10, 4}, {20, 10, 4, 0, "main:normal", 1}}) ==
        std::vector<double>{0, 110, 100});
}

TEST_CASE("slurm: PriorityWeightTRES counts the GPUs of a job as a share of its partition's") {
  // n1 is busy until 100, n2 until 1000. Of `main`, 8 GPUs, the second has 4: 500; of `one`, 4 GPUs, the third has 3: 750.
  const SlurmConf conf("PriorityType=priority/multifactor\nSchedulerType=sched/builtin\nPriorityWeightTRES=gres/gpu=1000\n" + kQuick +
                       "NodeName=n[1-2] Gres=gpu:a100:4\nPartitionName=main Nodes=ALL Default=YES\nPartitionName=one Nodes=n1\n");
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario({{0, 100, 4, 0, "one:normal"},
                                                {0, 1000, 4},
                                                {10, 10, 4},
                                                {20, 10, 3, 0, "one:normal"}},
                                               2)) == std::vector<double>{0, 0, 110, 100});
}

TEST_CASE("slurm: SMALL_RELATIVE_TO_TIME divides by the time limit, of the partition where the job has none") {
  // One node, held until 100; each takes all of it, so that the factor is 1 / minutes. The second has no limit: an hour of the partition,
  // 1000 / 60. The third has 10 minutes, 1000 / 10, and goes first. By its true minute the second would count 1000.
  const SlurmConf conf("PriorityType=priority/multifactor\nSchedulerType=sched/builtin\nPriorityWeightJobSize=1000\n"
                       "PriorityFlags=SMALL_RELATIVE_TO_TIME\n" + kQuick + "PartitionName=main Default=YES MaxTime=60\n");
  ScenarioData data = SlurmScenario({{0, 100, 4}, {10, 60, 4}, {20, 60, 4, 600}}, 1).data();
  data.jobs.requested_s[1] = std::nan("");
  CHECK(SlurmStarts(conf.Spec(), Scenario(data)) == std::vector<double>{0, 160, 100});
}

TEST_CASE("slurm: fair tree ranks accounts, then users, root among them") {
  // Account a used all: its users stand behind b's, who shares the first rank of 4 with root. Of a's users y used a quarter.
  CHECK(FairTreeFactors({"a/x", "a/y", "b/z"}, {1, 1, 1}, {30, 10, 0}) == std::vector<double>{0.25, 0.5, 1.0});
  CHECK(FairTreeFactors({"a/x", "b/z"}, {1, 1}, {0, 0}) == std::vector<double>{1.0, 1.0});
  // What sshare of a real Slurm 22.05 printed for usages of 97 and 301: 0.666667 and 0.333333.
  CHECK(FairTreeFactors({"a/root", "b/root"}, {1, 1}, {97, 301}) == std::vector<double>{2.0 / 3.0, 1.0 / 3.0});
}

// Accounts a and b have a third of the shares each, as has root. Of all usage a has 1/2: x 3/8, y 1/8; z has the other half.
// x, with 3 of a's 4 shares: S = 3/4 x 1/3 = 1/4, UE = 3/8 + (1/2 - 3/8) x 3/4 = 15/32, F = 2^(-15/8).
// y: S = 1/4 x 1/3 = 1/12, UE = 1/8 + (1/2 - 1/8) x 1/4 = 7/32, F = 2^(-21/8). z: S = 1/3, UE = 1/2, F = 2^(-3/2).
TEST_CASE("slurm: the classic formula counts users within their accounts") {
  const std::vector<double> by_hand = {-15.0 / 8.0, -21.0 / 8.0, -3.0 / 2.0};
  for (const double dampening : {1.0, 5.0}) {
    const std::vector<double> factors = ClassicShareFactors({"a/x", "a/y", "b/z"}, {3, 1, 1}, {30, 10, 40}, dampening);
    REQUIRE(factors.size() == 3);
    for (std::size_t t = 0; t < 3; ++t) CHECK(factors[t] == Approx(std::pow(2.0, by_hand[t] / dampening)));
  }
  CHECK(ClassicShareFactors({"a/x", "b/z"}, {1, 1}, {0, 0}) == std::vector<double>{1.0, 1.0});
  // A tenant without an account is one: with root's share S = 1/2.
  CHECK(ClassicShareFactors({"default"}, {1}, {7})[0] == Approx(0.25));
  // u2 and u3 used nothing, but their account did: u4 goes first, though it used as much as u1.
  const std::vector<double> four = ClassicShareFactors({"a/u1", "a/u2", "a/u3", "b/u4"}, {1, 1, 1, 1}, {200, 0, 0, 180});
  CHECK(four[3] > four[1]);
  CHECK(four[1] == Approx(four[2]));
  CHECK(four[2] > four[0]);
  const SlurmSettings damped = ReadSlurmSettings(SlurmConf("FairShareDampeningFactor=5\n" + kOne).path());
  CHECK(damped.fair_share_dampening == 5.0);
  CHECK(damped.other_unread == 0);
  // x used all, S = 1/3: F = 2^-3, dampened 2^(-3/5). y used nothing and has 1.
  const auto second = [&](const std::string& line) {
    const SlurmConf conf("PriorityType=priority/multifactor\nSchedulerType=sched/builtin\nPriorityFlags=NO_FAIR_TREE\n"
                         "PriorityWeightFairShare=1000\nPriorityWeightQOS=500\nPriorityCalcPeriod=1\n" + line + kOne);
    return SlurmStarts(conf.Spec(",qos=high:1"), SlurmScenario({{0, 100, 4}, {10, 10, 4, 0, "main:high"}, {20, 10, 4, 0, "main:normal", 1}}, 1))[1];
  };
  CHECK(second("") == 110.0);                               // 500 + 125 against 1000
  CHECK(second("FairShareDampeningFactor=5\n") == 100.0);  // 500 + 659 against 1000
}

}  // namespace berth
