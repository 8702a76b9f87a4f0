// Schedulers beside GPUs that are about to go (a notice of feature failures): nobody else may have them, so who runs there stops
// nobody, and is not stopped for nothing.
#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "env/predict/releases.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Ends;
using test::TinyData;
using test::With;

constexpr const char* kWhole[] = {"anticipate",
                                  "deadline_admission",
                                  "edf",
                                  "elastic_srpt",
                                  "equal_share",
                                  "evacuate",
                                  "fcfs",
                                  "gandiva",
                                  "gang_scheduling",
                                  "gavel",
                                  "gavel(objective=fifo)",
                                  "gavel_tuned",
                                  "gittins",
                                  "guard",
                                  "hierarchical",
                                  "las",
                                  "least_laxity",
                                  "matching",
                                  "nash_welfare",
                                  "optimus",
                                  "optimus_tuned",
                                  "pools(inner=srpt)",
                                  "predicted",
                                  "preempt_migrate",
                                  "priority(preemptive=true)",
                                  "proportional_fairness",
                                  "queue(order=sjf,preemption=order)",
                                  "round_robin",
                                  "shockwave",
                                  "srpt",
                                  "themis",
                                  "tiresias",
                                  "tuned",
                                  "tuned_blind",
                                  "weighted_round_robin"};
// Of a gang whose type has fewer GPUs now than it asks for, and which stays all the same.
constexpr const char* kGangs[] = {"edf",
                                  "elastic_srpt",
                                  "equal_share",
                                  "fcfs",
                                  "gandiva",
                                  "gang_scheduling",
                                  "gavel",
                                  "gavel(objective=fifo)",
                                  "gavel(packed=true)",
                                  "gavel_tuned",
                                  "gittins",
                                  "hierarchical",
                                  "las",
                                  "least_laxity",
                                  "matching",
                                  "nash_welfare",
                                  "optimus",
                                  "optimus_tuned",
                                  "pollux",
                                  "pools(inner=srpt)",
                                  "preempt_migrate",
                                  "priority(preemptive=true)",
                                  "proportional_fairness",
                                  "round_robin",
                                  "shockwave",
                                  "sia",
                                  "srpt",
                                  "tiresias",
                                  "tuned"};
constexpr const char* kQuickSlurm = "SchedulerParameters=bf_interval=1,bf_resolution=1,batch_sched_delay=0\n";

// Of kWhole: who moves no job, or none to another type.
constexpr const char* kMoveNobody[] = {"fcfs", "hierarchical", "predicted"};
constexpr const char* kKeepTypes[] = {"gang_scheduling", "pools(inner=srpt)"};

bool IsAmong(std::span<const char* const> specs, const std::string& spec) {
  return std::find(specs.begin(), specs.end(), spec) != specs.end();
}

}  // namespace

// Each job has a GPU of its own and would end before either goes, at 20,000 s, of which is told at 100 s. From then on one GPU is in
// service: the job there took the other one's place.
TEST_CASE("leaving GPUs: who stays there takes no room of those that stay", "[schedulers]") {
  for (const char* spec : kWhole) {
    for (const char* gpu : {"0", "1"}) {
      CAPTURE(spec, gpu);
      const std::vector<double> ends = Ends(spec, With(TinyData({{"v100", 2}}, {{1.0}}, {{0, 5000}, {0, 3000}}),
                                                       Join("failures(mtbf_h=0,events=20000:30000:gpu:v100/", gpu, ":19900)")));
      CHECK(ends[0] == Approx(5000.0));
      CHECK(ends[1] == Approx(3000.0));
    }
  }
}

// It would leave three GPUs to others, who are not there, and find three.
TEST_CASE("leaving GPUs: a gang that runs on one of them runs on", "[schedulers]") {
  for (const char* spec : kGangs) {
    CAPTURE(spec);
    CHECK(Ends(spec, With(TinyData({{"a", 4}}, {{1.0}}, {{0, 1000, 0, 4}}), "failures(mtbf_h=0,events=20000:30000:gpu:a/0:19900)"))[0] ==
          Approx(1000.0));
  }
}

// The job's GPU is to go at 15,000 s, which is told at 500 s. It goes to the idle one, at 0.9 steps/s, at once (gavel_tuned: within 360 s),
// 500 + 19,500 / 0.9 = 22,166.7. If it stayed it would lose 15,000 s of work.
TEST_CASE("leaving GPUs: who runs there moves to another type that is idle", "[schedulers]") {
  for (const char* spec : kWhole) {
    if (IsAmong(kMoveNobody, spec) || IsAmong(kKeepTypes, spec)) continue;
    CAPTURE(spec);
    const ScenarioData data = TinyData({{"v100", 1}, {"p100", 1}}, {{1.0, 0.9}}, {{0, 20000}});
    CHECK(Ends(spec, With(data, "failures(mtbf_h=0,events=15000:60000:gpu:v100/0:14500)"))[0] == Approx(22166.7).margin(40.0));
  }
}

// Told at 100 s, GPU 0 goes at 1,000 s: a job there, or a gang of four of whose GPUs it is one, goes to others of its type.
TEST_CASE("leaving GPUs: who runs there moves to others of its type that are idle", "[schedulers]") {
  for (const char* spec : kWhole) {
    if (IsAmong(kMoveNobody, spec)) continue;
    for (int gang : {1, 4}) {
      CAPTURE(spec, gang);
      const ScenarioData data = TinyData({{"a", 2 * gang}}, {{1.0}}, {{0, 2000, 0, gang}});
      CHECK(Ends(spec, With(data, "failures(mtbf_h=0,events=1000:30000:gpu:a/0:900)"))[0] == Approx(2000.0));
    }
  }
}

// GPU 0 goes at 1,000 s, told at 5 s: job 0 moves to GPU 1 and pays 10 s, for its own type too. Its turn of 20 s then ends at 30 s; job 1
// has 30-35, and job 0 its last 80 s. If the move were for nothing in the turn, it would end at 20 s.
TEST_CASE("leaving GPUs: a turn pays for the move", "[schedulers]") {
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}}, {{0, 100}, {6, 5}});
  data.costs.migration_s = 10.0;
  const Scenario scenario = With(data, "failures(mtbf_h=0,events=1000:30000:gpu:a/0:995)");
  CHECK(Ends("round_robin(quantum=20)", scenario) == std::vector<double>{115.0, 35.0});
}

// It would end at 1,000 s, and the GPU goes at 20,000 s: who knows so leaves it there, not at half the speed; who is blind moves it at
// 100 s, 100 + 900 / 0.5.
TEST_CASE("leaving GPUs: who ends in time stays", "[schedulers]") {
  const ScenarioData data = TinyData({{"v100", 1}, {"p100", 1}}, {{1.0, 0.5}}, {{0, 1000}});
  const Scenario scenario = With(data, "failures(mtbf_h=0,events=20000:60000:gpu:v100/0:19900)");
  for (const char* spec : {"srpt", "least_laxity", "matching", "tuned", "optimus", "elastic_srpt", "deadline_admission"}) {
    CAPTURE(spec);
    CHECK(Ends(spec, scenario)[0] == Approx(1000.0));
  }
  for (const char* spec : {"las", "edf", "tiresias", "equal_share"}) {
    CAPTURE(spec);
    CHECK(Ends(spec, scenario)[0] == Approx(1900.0));
  }
}

// A gang of two leaves its GPUs, of which one is to go at 50,000 s, for two at half the speed, as soon as that is told, at 100 s. The job that
// waits since 10 s for the kind that it left has the one that stays at once.
TEST_CASE("leaving GPUs: who waits has what a move frees", "[schedulers]") {
  const ScenarioData data =
      TinyData({{"v100", 2}, {"p100", 2}}, {{1.0, 0.5}, {1.0, 0.0}}, {{0, 60000, 0, 2}, {10, 500, 1}});
  const Scenario scenario = With(data, "failures(mtbf_h=0,events=50000:1e9:gpu:v100/0:49900)");
  for (const char* spec : {"edf", "queue(preemption=order)", "equal_share", "optimus_tuned"}) {
    CAPTURE(spec);
    const std::vector<double> ends = Ends(spec, scenario);
    CHECK(ends[0] == Approx(119900.0));
    CHECK(ends[1] == Approx(600.0));
  }
}

// One of a gang's four GPUs is to go at 20,000 s. It could do with fewer: the three that stay are faster than the idle K80.
TEST_CASE("leaving GPUs: who may be narrower goes to nothing slower than what it keeps", "[schedulers]") {
  const ScenarioData data = TinyData({{"v100", 4}, {"k80", 1}}, {{1.0, 0.3}}, {{0, 2000, 0, 4}});
  const Scenario scenario = With(data, "failures(mtbf_h=0,events=20000:30000:gpu:v100/0:19900);elasticity(min_factor=0.25)");
  for (const char* spec : {"equal_share", "optimus", "elastic_srpt"}) {
    CAPTURE(spec);
    CHECK(Ends(spec, scenario)[0] == Approx(2000.0));
  }
}

// Linear speed-ups: 4 of a at 2 steps/s, the one of b at 0.5. At 1,000 s it is told that all of a, or three of them, go at 5,000 s. Until
// 4,999 s the job stays as wide as it is: 9,998 of 20,000 steps. Then it takes b, or keeps the one of a that stays: 4,999 + 10,002 / 0.5.
TEST_CASE("leaving GPUs: who finds fewer idle goes there at the last moment", "[schedulers]") {
  for (const char* spec : {"equal_share", "optimus", "optimus(interval=0)", "optimus_tuned", "elastic_srpt", "themis"}) {
    for (const int leave : {4, 3}) {
      CAPTURE(spec, leave);
      std::string events;
      for (int gpu = 0; gpu < leave; ++gpu) events += Join(gpu > 0 ? "|" : "", "5000:1e9:gpu:a/", gpu, ":4000");
      const ScenarioData data = TinyData({{"a", 4}, {"b", 1}}, {{1.0, leave == 4 ? 1.0 : 0.0}}, {{0, 20000, 0, 2}});
      const Scenario scenario =
          With(data, Join("failures(mtbf_h=0,events=", events,
                          ");elasticity(scaling=linear,measured=false,min_factor=0.5,max_factor=2,resize_s=0)"));
      CHECK(Ends(spec, scenario)[0] == Approx(25003.0));
    }
  }
}

// The V100 of the second job is to go at 50,000 s, which is told at 500 s. It is at 2 steps/s on the P100, which the first leaves at
// 1,000 s: 990 of 20,000 steps done, it ends there at 10,505 s. The third, at 1 step/s, finds nothing else in service, and is next.
TEST_CASE("leaving GPUs: gavel moves who runs there to another type that is idle", "[schedulers][gavel]") {
  const ScenarioData data =
      TinyData({{"v100", 1}, {"p100", 1}}, {{0.0, 2.0}, {1.0, 2.0}, {2.0, 1.0}}, {{0, 2000, 0}, {10, 20000, 1}, {1500, 20000, 2}});
  const std::vector<double> ends = Ends("gavel(objective=fifo)", With(data, "failures(mtbf_h=0,events=50000:60000:gpu:v100/0:49500)"));
  CHECK(ends == std::vector<double>{1000, 10505, 30505});
}

// Half of a GPU, and two fifths. Two of four go at 3,000 s, which is told at 500 s: the jobs go to the others and lose nothing.
TEST_CASE("leaving GPUs: who holds a part of one moves to another", "[schedulers][gavel]") {
  ScenarioData data = TinyData({{"a", 4}}, {{1.0}}, {{0, 5000}, {0, 9000}});
  data.jobs.gpu_milli = {500, 400};
  const Scenario scenario = With(data, "failures(mtbf_h=0,events=3000:1e9:gpu:a/0:2500|3000:1e9:gpu:a/1:2500);sharing");
  for (const char* spec : {"gavel", "gavel(objective=fifo)", "gandiva", "las"}) {
    CAPTURE(spec);
    CHECK(Ends(spec, scenario) == std::vector<double>{10000, 22500});
  }
}

// Two GPUs; that of the longest job is to go at 500,000 s, which is told at 50 s. To stop it for the job of 10 s that comes at 100 s frees
// nothing: the other one gives way.
TEST_CASE("leaving GPUs: preempt_migrate stops nobody whose leaving frees nothing", "[schedulers]") {
  const std::vector<double> ends = Ends("preempt_migrate", With(TinyData({{"a", 2}}, {{1.0}}, {{0, 400000}, {0, 100000}, {100, 10}}),
                                                                "failures(mtbf_h=0,events=500000:500001:gpu:a/0:499950)"));
  CHECK(ends == std::vector<double>{400000, 100010, 110});
}

// Of two GPUs at 2 steps/s (a) one is about to go: that of the job of 100 s, or that of 10,000 s. The job of 1,000 steps that comes at 10 s
// takes the GPU at 1 step/s (b) in the first case, for none of a is free before 10,000 s, and ends at 1,010 s; in the second it has that
// of a at 100 s, and ends at 600 s.
TEST_CASE("leaving GPUs: nobody waits for one that goes with its job", "[schedulers]") {
  for (const char* spec : {"conservative", "critical_path", "milp", "annealing", "genetic"}) {
    std::vector<double> ends;
    for (const char* gpu : {"0", "1"}) {
      CAPTURE(spec, gpu);
      const ScenarioData data = TinyData({{"a", 2}, {"b", 1}}, {{2.0, 1.0}}, {{0, 200}, {0, 20000}, {10, 1000}});
      ends.push_back(Ends(spec, With(data, Join("failures(mtbf_h=0,events=1000:1e9:gpu:a/", gpu, ":995)")))[2]);
    }
    CAPTURE(spec, ends[0], ends[1]);
    CHECK(std::min(ends[0], ends[1]) == Approx(600.0));
    CHECK(std::max(ends[0], ends[1]) == Approx(1010.0));
  }
}

// The first job's GPU is to go at 20,000 s, which is told at 100 s. The second finds the other one idle: both meet their deadlines.
TEST_CASE("leaving GPUs: deadline_admission rejects nobody for them", "[schedulers]") {
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}}, {{0, 5000}, {1000, 1000}});
  data.jobs.deadline = {5500, 2500};
  CHECK(Ends("deadline_admission", With(data, "failures(mtbf_h=0,events=20000:30000:gpu:a/0:19900)")) == std::vector<double>{5000, 2000});
}

// Three GPUs, of which that of the job of 100 s is about to go. The head of the queue wants two, which are free at 300 s, not at 100: so
// the job of 200 s passes it at 20 s.
TEST_CASE("leaving GPUs: who backfills reserves none that goes with its job", "[schedulers]") {
  const Scenario scenario = With(TinyData({{"a", 3}}, {{1.0}}, {{0, 100}, {0, 300}, {10, 50, 0, 2}, {20, 200}}),
                                 "failures(mtbf_h=0,events=1000:1e9:gpu:a/0:995)");
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << kQuickSlurm << "PartitionName=main Default=YES\n";
  for (const std::string& spec : {std::string("easy"), std::string("fcfs(semantics=commit,backfill=easy)"),
                                  Join("slurm(conf=", folder / "slurm.conf", ")")}) {
    CAPTURE(spec);
    CHECK(Ends(spec, scenario) == std::vector<double>{100, 300, 350, 220});
  }
  // What frozen policies and the blocks `batch` and `lookahead` go by.
  Simulator simulator{scenario};
  REQUIRE(simulator.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0), decision.Start(1, 0);
  CHECK_FALSE(simulator.View(Knowledge::kEstimate).AnyLeaving());
  REQUIRE(simulator.Apply(decision).ok());
  while (simulator.now() < 10.0) REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kEstimate);
  CHECK(view.AnyLeaving());
  Releases releases;
  releases.Collect(view, 0, view.free_gpus()[0], nullptr);
  CHECK(releases.When(1).time == 10.0);
  CHECK(releases.When(2).time == Approx(300.0));
  CHECK(releases.When(3).time == kNever);
}

// Two GPUs with a job each, of which the first is about to go: to preempt who runs there frees nothing.
TEST_CASE("leaving GPUs: slurm preempts whose GPUs stay", "[schedulers]") {
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}, {1.0}}, {{0, 1000}, {0, 1000}, {10, 20, 1}});
  data.throughputs.job_types = {"low", "high"};
  const test::TemporaryFolder folder;
  std::ofstream(folder / "slurm.conf") << kQuickSlurm << "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"
                                       << "PartitionName=low Default=YES\nPartitionName=high PriorityTier=9\n";
  CHECK(Ends(Join("slurm(conf=", folder / "slurm.conf", ")"), With(data, "failures(mtbf_h=0,events=5000:1e9:gpu:a/0:4995)")) ==
        std::vector<double>{1000, 1020, 30});
}

}  // namespace berth
