// The scheduler slurm by hand: partitions, backfill, preemption, nodes, and what slurm.conf may say.
#include <string>
#include <vector>

#include "baselines/slurm/node_space.hpp"
#include "baselines/slurm/nodes.hpp"
#include "baselines/slurm/settings.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
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

TEST_CASE("slurm: backfill starts what delays no reservation, which holds whole nodes") {
  // Two nodes. A and B start at once. C needs both nodes: it can at 100, when A's limit is over. At 50 B ends: D would end at 90
  // and starts; E would end at 110. C runs from 100 to 200, then E.
  const SlurmConf conf(kOne);
  const std::vector<SlurmJob> jobs = {{0, 100, 4}, {0, 50, 4}, {1, 100, 8}, {2, 40, 4}, {2, 60, 4}};
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario(jobs, 2)) == std::vector<double>{0, 0, 100, 50, 200});
  // Without backfill D waits too, with and behind C.
  const SlurmConf builtin("SchedulerType=sched/builtin\n" + kOne);
  CHECK(SlurmStarts(builtin.Spec(), SlurmScenario(jobs, 2)) == std::vector<double>{0, 0, 100, 200, 200});
  const SlurmConf never("SchedulerParameters=bf_interval=-1,batch_sched_delay=0\nSchedulerType=sched/backfill\nPartitionName=main\n");
  CHECK(SlurmStarts(never.Spec(), SlurmScenario(jobs, 2)) == std::vector<double>{0, 0, 100, 200, 200});
  // One node. A holds 3 GPUs until 100, C waits for 4. D needs the GPU that is left for 20 s and starts, E for 200 s: it would
  // end after C's start on a node that is promised whole.
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario({{0, 100, 3}, {1, 50, 4}, {2, 20, 1}, {3, 200, 1}}, 1)) ==
        std::vector<double>{0, 100, 2, 150});
}

TEST_CASE("slurm: the interval of backfill and the delay of batch jobs pass before either runs") {
  // B needs 4 GPUs, D may pass it. Nobody waited at 0, so that backfill first ran at 1, for B: D starts at 31.
  const std::string bf = "SchedulerParameters=bf_interval=30,bf_resolution=1,batch_sched_delay=3\nPartitionName=main\n";
  CHECK(SlurmStarts(SlurmConf(bf).Spec(), SlurmScenario({{0, 100, 3}, {1, 50, 4}, {2, 20, 1}}, 1)) ==
        std::vector<double>{0, 100, 31});
  // The main scheduler ran at 0, so that a job of second 1 starts at 3, though a GPU is idle.
  const SlurmConf main_alone("SchedulerType=sched/builtin\n" + bf);
  CHECK(SlurmStarts(main_alone.Spec(), SlurmScenario({{0, 100, 3}, {1, 50, 1}}, 1)) == std::vector<double>{0, 3});
}

TEST_CASE("slurm: a partition's nodes, tier, limits and state") {
  const std::string nodes = "NodeName=n[1-2] Gres=gpu:a100:4\n" + kQuick;
  // `short` has n1 alone and comes first. Its second job does not fit, which keeps n1 from `main` when n1 is free again at 100:
  // main's job waits for n2, though it is older.
  const SlurmConf tiers("SchedulerType=sched/builtin\n" + nodes +
                        "PartitionName=main Nodes=ALL Default=YES\nPartitionName=short Nodes=n1 PriorityTier=2\n");
  CHECK(SlurmStarts(tiers.Spec(), SlurmScenario({{0, 100, 4, 0, "short:normal"},
                                                 {0, 150, 4},
                                                 {1, 10, 4},
                                                 {2, 50, 4, 0, "short:normal"}},
                                                2)) == std::vector<double>{0, 0, 150, 100});
  // Longer than the partition allows, more nodes than it allows, larger than its nodes, or of one that is down: turned away. The last waits
  // for n1, where the first runs until 60.
  const SlurmConf limits(nodes +
                         "PartitionName=main Nodes=ALL Default=YES MaxTime=1 MaxNodes=1\nPartitionName=one Nodes=n1\n"
                         "PartitionName=off Nodes=ALL State=DOWN\n");
  CHECK(SlurmStarts(limits.Spec(), SlurmScenario({{0, 60, 1}, {0, 61, 1}, {0, 10, 8}, {0, 10, 8, 0, "one:normal"},
                                                  {0, 10, 1, 0, "off:normal"}, {0, 500, 4, 0, "one:normal"}}, 2)) ==
        std::vector<double>{0, -1, -1, -1, -1, 60});
}

TEST_CASE("slurm: who waits for nodes that another partition has closed closes none") {
  // n1 is an a100, n2 an h100. The second job of `short` waits for n1 and closes it. Then an a100 is all that the third may have:
  // it could not start even if what is left were empty, and the fourth passes it. The third starts behind `short`, at 150.
  const SlurmConf conf("SchedulerType=sched/builtin\nNodeName=n1 Gres=gpu:a100:4\nNodeName=n2 Gres=gpu:h100:4\n" + kQuick +
                       "PartitionName=main Nodes=ALL Default=YES\nPartitionName=short Nodes=n1 PriorityTier=2\n");
  const SlurmJob a100{2, 10, 4, 0, "main:normal", 0, 1}, any{3, 10, 4};
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario({{0, 100, 4, 0, "short:normal"}, {1, 50, 4, 0, "short:normal"}, a100, any}, 1, 1)) ==
        std::vector<double>{0, 100, 150, 3});
  // Where n1 is only held, not closed, the third does close its partition.
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario({{0, 100, 4, 0, "short:normal"}, a100, any}, 1, 1)) ==
        std::vector<double>{0, 100, 100});
}

TEST_CASE("slurm: looking ahead, a job on other nodes lets the next on these count as well") {
  // On n1 two jobs hold 2 GPUs until 40 and 1 until 200. The fourth needs 2 there: behind the first, at 40. But the window of that end
  // reaches to 60 + 30, the next to end is the third, on n2, at 80, which is passed over; then the second counts too, and the
  // fourth is promised n1 from 200 on only. So the fifth may have the last GPU until 102.
  const SlurmConf conf("NodeName=n1 Gres=gpu:a100:4\nNodeName=n2 Gres=gpu:h100:4\n" + kQuick +
                       "PartitionName=main Nodes=n1 Default=YES\nPartitionName=other Nodes=n2\n");
  const auto starts = [&](double third) {
    return SlurmStarts(conf.Spec(), SlurmScenario({{0, 40, 2}, {0, 200, 1}, {0, third, 4, 0, "other:normal"}, {1, 50, 2}, {2, 100, 1}},
                                                  1, 1));
  };
  CHECK(starts(80) == std::vector<double>{0, 0, 0, 40, 2});
  // With the third until 91, beyond the window, it is promised n1 at 40, and the fifth waits for it to be over.
  CHECK(starts(91) == std::vector<double>{0, 0, 0, 40, 40});
}

TEST_CASE("slurm: preemption by tier and by QoS") {
  const std::vector<SlurmJob> jobs = {{0, 100, 4, 0, "low:low"}, {10, 20, 4, 0, "high:high"}};
  const std::string parts = kQuick + "PartitionName=low Default=YES\nPartitionName=high PriorityTier=9\n";
  CHECK(SlurmStarts(SlurmConf(parts).Spec(), SlurmScenario(jobs, 1)) == std::vector<double>{0, 100});
  const SlurmConf tier("PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n" + parts);
  CHECK(SlurmStarts(tier.Spec(), SlurmScenario(jobs, 1)) == std::vector<double>{0, 10});
  CHECK(test::Ends(tier.Spec(), SlurmScenario(jobs, 1)) == std::vector<double>{120, 30});
  const SlurmConf qos("PreemptType=preempt/qos\nPreemptMode=REQUEUE\n" + kQuick + "PartitionName=low Default=YES\n");
  CHECK(SlurmStarts(qos.Spec(",qos=high:9+low:1"), SlurmScenario(jobs, 1)) == std::vector<double>{0, 100});
  CHECK(SlurmStarts(qos.Spec(",qos=high:9+low:1,preempt=high>low"), SlurmScenario(jobs, 1)) == std::vector<double>{0, 10});
}

TEST_CASE("slurm: settings are read, passed over and counted, or wrong in one line") {
  const SlurmSettings settings = ReadSlurmSettings(BERTH_SOURCE_DIR "/tests/slurm/slurm.conf");
  CHECK(settings.multifactor);
  CHECK(settings.weight_fair_share == 10000);
  CHECK(settings.half_life == 86400);
  CHECK(settings.calc_period == 60);
  CHECK(settings.max_age == 86400.0 * 0 + 3600.0);  // 0-1: no day and one hour
  CHECK(settings.partitions.size() == 2);
  CHECK(settings.partitions[1].max_time == 1800);
  CHECK(settings.partitions[1].nodes == std::vector<int>{0, 1, 2});
  CHECK(settings.unread.empty());
  const SlurmSettings odd = ReadSlurmSettings(
      SlurmConf("SlurmctldPort=6817\nSchedulerParameters=bf_licenses,bf_max_job_user=3\nPriorityWeightAssoc=4\n"
                "PartitionName=DEFAULT MaxTime=5\nPartitionName=x AllowGroups=y\n").path());
  CHECK(odd.unread == std::vector<std::string>{"bf_licenses", "partition's allowgroups", "priorityweightassoc"});
  CHECK(odd.other_unread == 1);
  CHECK(odd.bf_max_job_user == 3);
  CHECK(odd.partitions[0].max_time == 300);
  const SlurmSettings usual = ReadSlurmSettings(
      SlurmConf("NodeName=a Gres=gpu:a100:4\nNodeName=DEFAULT Weight=7 Gres=gpu:a100:4\nNodeName=b\nNodeName=c Weight=3\n"
                "PartitionName=x Nodes=ALL\n").path());
  CHECK(usual.node_weights == std::vector<double>{1, 7, 3});
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"PriorityWeightAge=lots", "slurm.conf:1: priorityweightage: expected a number, found 'lots'"},
           {"PriorityType=priority/multifaktor", "slurm.conf:1: prioritytype: expected one of"},
           {"SchedulerParameters=bf_interval=0", "slurm.conf:1: schedulerparameters: bf_interval: expected 1 to 10800, found 0"},
           {"PriorityDecayHalfLife=week", "slurm.conf:1: prioritydecayhalflife: expected"},
           {"PartitionName=x Nodes=n9", "slurm.conf:1: Nodes: there is no NodeName=n9"},
           {"PartitionName=x State=OPEN", "slurm.conf:1: state: expected one of up, down, drain, inactive, found 'OPEN'"},
           {"NodeName=n1 Gres=gpu:0", "slurm.conf:1: Gres: expected 1 to 1024"},
           {"Include more.conf", "slurm.conf:1: expected the lines of 'more.conf' in place of its Include"},
           {"what is this", "slurm.conf:1: expected Key=Value, found 'what'"},
           {"PriorityWeightAge=3", "slurm.conf: expected a line PartitionName=..., found none"},
       }) {
    const SlurmConf conf(line + "\n");
    CHECK(test::Says(test::MessageOf([&] { test::Make(conf.Spec()); }), expected));
  }
  CHECK(test::Says(test::MessageOf([&] { test::Make("slurm(conf=/no/such)"); }), "/no/such"));
  CHECK(test::Says(test::MessageOf([&] { test::Make("slurm(qos=urgent)"); }), "parameter 'qos': expected NAME:PRIORITY"));
  CHECK(test::Says(test::MessageOf([&] { test::Make("slurm(preempt=a>b)"); }), "parameter 'preempt': expected NAME>NAME"));
  const SlurmConf three("NodeName=n[1-3] Gres=gpu:a100:4\nPartitionName=x Nodes=ALL\n");
  CHECK(test::Says(test::MessageOf([&] { test::RunOf(three.Spec(), SlurmScenario({{0, 1, 1}}, 2)); }),
                   "3 nodes of 4 GPUs of type a100 in slurm.conf, expected those of the cluster: 2 of 4"));
  const SlurmConf other_case("NodeName=n[1-2] Gres=gpu:A100:4\nPartitionName=x Nodes=ALL\n");
  CHECK_NOTHROW(test::RunOf(other_case.Spec(), SlurmScenario({{0, 1, 1}}, 2)));
}

// Recorded from Slurm 22.05.8 (`sbatch -n GANG --gpus-per-task=1`), on three nodes of 4 GPUs with these free.
TEST_CASE("slurm: gangs that ask for GPUs a task lie where Slurm puts them") {
  struct Recorded {
    int gang;
    std::vector<int> free, got;
  };
  const Recorded recorded[] = {
      {1, {4, 0, 4}, {1, 0, 0}}, {1, {4, 4, 3}, {1, 0, 0}}, {1, {0, 2, 1}, {0, 1, 0}}, {2, {1, 4, 2}, {0, 0, 2}},
      {2, {3, 2, 4}, {0, 2, 0}}, {2, {3, 0, 1}, {2, 0, 0}}, {4, {4, 4, 3}, {4, 0, 0}}, {4, {3, 1, 2}, {3, 0, 1}},
      {4, {3, 0, 2}, {3, 0, 1}}, {4, {1, 3, 0}, {1, 3, 0}}, {4, {1, 3, 4}, {0, 0, 4}}, {4, {2, 1, 3}, {1, 0, 3}},
      {8, {2, 4, 3}, {1, 4, 3}}, {8, {3, 1, 4}, {3, 1, 4}}, {8, {4, 3, 4}, {4, 0, 4}}, {8, {4, 2, 1}, {0, 0, 0}},
  };
  const std::vector<double> weights(3, 1.0);
  for (const Recorded& row : recorded) {
    std::vector<int> got(3, 0);
    for (const SlurmTake& take : SpreadGang(row.gang, row.free, weights))
      got[static_cast<std::size_t>(take.node)] += take.gpus;
    CAPTURE(row.gang, row.free);
    CHECK(got == row.got);
  }
  // The least weight first, and from the next what is still missing.
  const std::vector<SlurmTake> two = SpreadGang(3, std::vector<int>{2, 4}, std::vector<double>{1.0, 2.0});
  REQUIRE(two.size() == 2);
  CHECK((two[0].node == 0 && two[0].gpus == 2 && two[1].node == 1 && two[1].gpus == 1));
}

// slurmctld looks once a second: A comes at 0.3 and starts at 1, B waits for its end at 11.5 and starts at 12.
TEST_CASE("slurm: starts wait for the second at which slurmctld looks") {
  const SlurmConf conf(kOne);
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario({{0.3, 10.5, 4}, {2, 5, 4}}, 1)) == std::vector<double>{1, 12});
  CHECK(SlurmStarts(conf.Spec(",look_s=0"), SlurmScenario({{0.3, 10.5, 4}, {2, 5, 4}}, 1)) ==
        std::vector<double>{0.3, 0.3 + 10.5});
}

TEST_CASE("slurm: a gang waits for a node of its own, or is spread") {
  // Two nodes of 4; three are in use of each. A gang of 2 waits for one of them to end, at 100, or starts at once.
  const std::vector<SlurmJob> jobs = {{0, 100, 3}, {0, 200, 3}, {1, 10, 2}};
  const SlurmConf conf(kOne);
  CHECK(SlurmStarts(conf.Spec(), SlurmScenario(jobs, 2)) == std::vector<double>{0, 0, 100});
  CHECK(SlurmStarts(conf.Spec(",gangs=spread"), SlurmScenario(jobs, 2)) == std::vector<double>{0, 0, 1});
}

TEST_CASE("slurm: a job that may have either of two types is promised the one that it can have first") {
  // Three GPUs of n1 are in use until 55, three of n2 until 50. C needs four. By a constraint, each type is looked at by itself: n2 at
  // 50, so that D takes the GPU that is left on n1. Else both ends are one window, behind which n1 comes first, and D takes n2.
  const SlurmConf conf("NodeName=n1 Gres=gpu:a100:4\nNodeName=n2 Gres=gpu:h100:4\n" + kQuick + "PartitionName=main Nodes=n1,n2 Default=YES\n");
  const SlurmJob on_n1{0, 55, 3, 0, "main:normal", 0, 1}, on_n2{0, 50, 3, 0, "main:normal", 0, 2};
  const Scenario scenario = SlurmScenario({on_n1, on_n2, {1, 10, 4}, {2, 100, 1}}, 1, 1);
  CHECK(SlurmStarts(conf.Spec(",gangs=spread"), scenario) == std::vector<double>{0, 0, 50, 2});
  CHECK(SlurmStarts(conf.Spec(), scenario) == std::vector<double>{0, 0, 55, 2});
}

TEST_CASE("slurm: windows of the future") {
  SlurmNodeSpace space;
  space.Reset(0, 100, 2);
  space.Promise(20, 40, std::vector<int>{1});
  CHECK(space.windows() == 3);
  std::vector<char> may = {1, 1};
  CHECK(space.Narrow(0, 10, may) == 40.0);  // the next window has fewer nodes, the one behind it more
  CHECK(may == std::vector<char>{1, 1});
  may = {1, 1};
  CHECK(space.Narrow(0, 30, may) == 40.0);  // from there node 1 is free again
  CHECK(may == std::vector<char>{1, 0});
  CHECK(space.Promised(39, 50, std::vector<int>{1}));
  CHECK_FALSE(space.Promised(40, 50, std::vector<int>{1}));
  CHECK_FALSE(space.Promised(0, 50, std::vector<int>{0}));
}

}  // namespace berth
