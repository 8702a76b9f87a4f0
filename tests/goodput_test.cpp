// Goodput: step times, epochs and batches of jobs by hand, profiles that are wrong, and the recorded runs of the
// Pollux artifact's simulator.
#include "env/features/goodput/goodput.hpp"
#include "env/features/goodput/goodput_now.hpp"

#include <filesystem>
#include <fstream>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/table.hpp"
#include "env/gym/score_order.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/command_points.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/reproduce/pollux/recorded.hpp"

namespace berth {
namespace {

// An application `tiny`: batches of 8 to 32, two epochs of 100 steps of the initial batch.
class TinyApplication {
 public:
  TinyApplication() {
    std::filesystem::create_directories(Path("profiles/tiny"));
    Write("profiles/tiny/placements.csv",
          "placement,local_bsz,step_time,sync_time\n"
          "1,8,1.0,0.0\n1,16,1.5,0.0\n2,8,1.2,0.2\n2,16,1.8,0.3\n11,8,1.4,0.4\n11,16,2.0,0.5\n");
    Write("profiles/tiny/validation-8.csv",
          "progress,iteration,metric,grad_sqr,grad_var\n100,100,0,1,1\n200,200,0,1,3\n");
    Write("profiles/tiny/validation-32.csv",
          "progress,iteration,metric,grad_sqr,grad_var\n110,40,0,1,1\n210,80,0,1,3\n");
  }
  std::string Path(const std::string& name) const { return folder_ / name; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(Path(name)) << text; }
  Features Feature(const std::string& more) const {
    return ParseFeatures("goodput(profiles=" + Path("profiles") + more + ")");
  }
  Scenario Jobs(const std::string& rows, const std::string& more, const Clock& clock) const {
    Write("jobs.csv", "name,time,application,num_replicas,batch_size\n" + rows);
    ScenarioSettings settings;
    settings.cluster = ParseCluster("t4=4/2");
    settings.clock = clock;
    settings.features = Feature(more);
    return FindFormat("adaptive").read(Path("jobs.csv"), settings);
  }

 private:
  test::TemporaryFolder folder_;
};

std::string GoodputErrorOf(const TinyApplication& tiny, const std::string& rows = "a,0,tiny,1,8\n") {
  try {
    tiny.Jobs(rows, "", {});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// A ring of nodes begins anywhere: (4, 2) is (2, 4). Measured placements are linear in the batch. (2, 1) was
// not measured: 3 GPUs on 2 nodes are 1.5 a node, of which 2 nodes have 1 alone (placement 11), so that stands.
TEST_CASE("goodput: step times of placements and between them") {
  CHECK(PlacementName(std::vector<int>{4, 0, 2}) == "2-4");
  CHECK(PlacementName(std::vector<int>{3, 1, 2}) == "1-2-3");
  CHECK(PlacementName(std::vector<int>{2, 1, 3}) == "1-3-2");
  const TinyApplication tiny;
  const std::vector<Application> read = ReadApplications(tiny.Path("profiles"), "", "");
  REQUIRE(read.size() == 1);
  const StepTable& steps = read[0].speeds[0].steps;
  CHECK(steps.At(std::vector<int>{2}, 12).step == Approx(1.5));
  CHECK(steps.At(std::vector<int>{2}, 12).compute == Approx(1.25));
  CHECK(steps.At(std::vector<int>{2}, 20).step == 0.0);
  CHECK(steps.At(std::vector<int>{2, 1}, 8).step == Approx(1.4));
  CHECK(steps.MaxAtomic(std::vector<int>{1, 1}) == 16);
  CHECK(read[0].curve.Target(2) == 200.0);
  CHECK(read[0].curve.EpochAt(100.0) == 1);
  CHECK(read[0].curve.Iterations(20.0, 1) == Approx(140.0));
  CHECK(read[0].On("k80") != nullptr);  // files that name no type are of any
}

// Batch 32 on 2 GPUs: 16 on each, scale 4. Epoch 1: gain (1 + 1) / (1/4 + 1) = 1.6 a step of 1.8 s, 112.5 s for
// 100; epoch 2: (3 + 1) / (3/4 + 1) = 2.2857, 78.75 s. After 30 s of starting that is 221.25 s.
// By the artifact's rules, arrived at 10: it starts at 60 and trains from 90. In the round from 180 the epoch ends
// after 22.5 s, rounded to even 22, at 202; 38 s bring 48.254; from 240 on 40.75 s, rounded 41, are left: 281.
// Preprocessing of 1 s a step, on 16 cores or on the GPUs, adds 200 s: its pace is not that of the training.
TEST_CASE("goodput: a job's epochs by hand") {
  const TinyApplication tiny;
  const Scenario exact = tiny.Jobs("a,0,tiny,2,32\n", ",batch=submitted", {});
  CHECK(test::Ends("fcfs", exact)[0] == Approx(221.25));
  const Scenario rounds =
      tiny.Jobs("a,10,tiny,2,32\n", ",batch=submitted,rules=pollux", {ClockKind::kRounds, 60.0});
  CHECK(test::Ends("fcfs", rounds)[0] == 281.0);
  CHECK(exact.data().jobs.total_steps[0] == 200.0);
  for (const char* offload : {"0", "1"}) {
    CAPTURE(offload);
    const std::string stages = "stages(cpu_core_s=16,cores_per_gpu=8,gpu_prep_s=1,overlap=false,offload=";
    const Features both = ParseFeaturesBeside(exact.data().features, Join(stages, offload, ")"));
    CHECK(test::Ends("fcfs", WithFeatures(exact, both))[0] == Approx(421.25));
  }
}

TEST_CASE("goodput: the batch is a command") {
  const TinyApplication tiny;
  Simulator sim(tiny.Jobs("a,0,tiny,2,32\n", ",batch=submitted", {}), {});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  decision.controls.push_back({kBatchControl, 0, 16.0});
  REQUIRE(sim.Apply(decision).ok());
  const auto& goodput = *sim.state().features.Find<GoodputState>();
  CHECK(goodput.Batch(0) == 16);
  decision.Clear();
  decision.controls.push_back({kBatchControl, 0, 33.0});  // its largest is 32
  CHECK_FALSE(sim.Apply(decision).ok());
  decision.controls[0].value = 0.0;  // as it finds best
  REQUIRE(sim.Apply(decision).ok());
  CHECK(goodput.Batch(0) >= 8);
}

// Two jobs on the same two nodes slow each other down (Pollux, sec. 5.3.2); alone on one node nobody is in the way.
TEST_CASE("goodput: interference ends with the run that it slowed") {
  const TinyApplication tiny;
  const Scenario scenario = tiny.Jobs("a,0,tiny,2,16\nb,0,tiny,2,16\n", ",batch=submitted,interference=0.5,restart_s=0", {});
  const auto rate_on_one_node = [&](bool both_before) {
    Simulator sim(scenario, {});
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, 0, std::vector<int>{0, 2});
    if (both_before) decision.Start(1, 0, std::vector<int>{1, 3});
    decision.wake_at = 0.5;
    REQUIRE(sim.Apply(decision).ok());
    const double spread = sim.state().rate[0];
    REQUIRE(sim.AdvanceToDecision());
    decision.Clear();
    decision.Stop(0);
    if (both_before) decision.Stop(1);
    decision.wake_at = 1.0;
    REQUIRE(sim.Apply(decision).ok());
    REQUIRE(sim.AdvanceToDecision());
    decision.Clear();
    decision.Start(0, 0, std::vector<int>{0, 1});
    REQUIRE(sim.Apply(decision).ok());
    return std::pair(spread, sim.state().rate[0]);
  };
  const auto alone = rate_on_one_node(false), beside = rate_on_one_node(true);
  CHECK(beside.first == 0.5 * alone.first);
  CHECK(beside.second == alone.second);
}

// By Sia's artifact a job that moves to other nodes, as many GPUs on each, runs on: nothing of it is saved, and it owes what it owed.
TEST_CASE("goodput: a move that is free saves nothing") {
  const TinyApplication tiny;
  const Scenario plain = tiny.Jobs("a,0,tiny,1,8\n", ",rules=sia,batch=submitted", {ClockKind::kRounds, 60.0});
  Simulator sim(WithFeatures(plain, ParseFeatures(ToString(plain.data().features) + ";checkpoints(gb=10,shared=true,interval=7)")), {});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0, std::vector<int>{0});
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  const auto& checkpoints = *sim.state().features.Find<CheckpointState>();
  const double saved_at = checkpoints.saved_at[0], storage = checkpoints.storage_free_at, safe = sim.state().safe_steps[0];
  decision.Clear();
  decision.Move(0, 0, std::vector<int>{2});
  REQUIRE(sim.Apply(decision).ok());
  CHECK(checkpoints.saved_at[0] == saved_at);
  CHECK(checkpoints.storage_free_at == storage);
  CHECK(sim.state().safe_steps[0] == safe);
}

// From 60 s on: 10 s of resizing and 30 of starting anew.
TEST_CASE("goodput: a resize of elasticity is a start, and costs one") {
  const TinyApplication tiny;
  const Scenario plain = tiny.Jobs("a,0,tiny,1,8\n", ",restart_s=30", {});
  Simulator sim(WithFeatures(plain, ParseFeatures(ToString(plain.data().features) + ";elasticity(resize_s=10)")), {});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.StartAt(0, 0, 1);
  decision.wake_at = 60.0;
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().progress_from[0] == 30.0);
  REQUIRE(sim.AdvanceToDecision());
  decision.Clear();
  decision.Resize(0, 0, 2);
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().progress_from[0] == 100.0);
  CHECK(sim.state().features.Find<GoodputState>()->jobs[0].starts == 2);
}

TEST_CASE("goodput: what GPUs are worth now, by hand") {
  const TinyApplication tiny;
  Simulator sim(tiny.Jobs("a,0,tiny,1,8\n", "", {}), {});
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView view = sim.View(Knowledge::kOracle);
  GoodputNow now;
  now.Begin(view);
  // First epoch, noise as large as the gradient: batch 8 on one GPU takes 1 s, 16 on two 1.2 s and counts as
  // 2 / (1 / 2 + 1) steps of the first. Larger ones count less than they take.
  CHECK(now.At(view, 0, 0, 1) == Approx(1.0));
  CHECK(now.At(view, 0, 0, 2) == Approx(2.0 / 1.5 / 1.2));
}

// 8 on each GPU, scale 1 to 4: gains 1, 2 / 1.5, 2 / (4 / 3) and 2 / 1.25 in the first epoch. A step of 0.5 s on 2 GPUs, 3 s on 3 and
// 1 s on 4 makes 2.67, 0.5 and 1.6 steps/s. So 4 GPUs gain nothing over the 2 that are best, but over the gang of 3 that comes next.
TEST_CASE("goodput: a job that its gang slows down may be scaled beyond it, by hand") {
  const TinyApplication tiny;
  tiny.Write("profiles/tiny/placements.csv",
             "placement,local_bsz,step_time,sync_time\n1,8,1.0,0.0\n2,8,0.5,0.1\n12,8,3.0,0.1\n22,8,1.0,0.1\n");
  Simulator sim(tiny.Jobs("a,0,tiny,3,24\n", "", {}), {});
  REQUIRE(sim.AdvanceToDecision());
  const ClusterView view = sim.View(Knowledge::kOracle);
  GoodputNow now;
  now.Begin(view);
  CHECK(now.At(view, 0, 0, 2) == Approx(2.0 / 1.5 / 0.5));
  CHECK(now.At(view, 0, 0, 3) == Approx(0.5));
  CHECK(now.At(view, 0, 0, 4) == Approx(1.6));
  MdpSpec mdp;
  mdp.actions = ResolveActions("start,scale");
  DecisionPoint point(mdp);
  point.Begin(view);
  test::OpenPoint(point, view);
  const int two = test::CommandAt(point, "scale", 0, 1), four = test::CommandAt(point, "scale", 0, 2),
            gang = test::CommandAt(point, "start", 0, -1);
  std::vector<float> scores(U(point.done()) + 1, 0.0F);
  scores[U(two)] = 4.0F, scores[U(four)] = 3.0F, scores[U(gang)] = 2.0F, scores[U(point.done())] = 1.0F;
  ScoreOrder order;
  order.Rank(view, point, scores, nullptr);
  order.Fill(view, point, Reserve::kNone);
  CHECK(point.plan().WidthOf(0) == 4);
}

TEST_CASE("goodput: a batch that does not feed its GPUs is the least that was measured") {
  const TinyApplication tiny;
  Simulator sim(tiny.Jobs("a,0,tiny,2,32\n", "", {}), {});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  decision.controls.push_back({kBatchControl, 0, 8.0});
  REQUIRE(sim.Apply(decision).ok());
  CHECK(sim.state().features.Find<GoodputState>()->Batch(0) == 16);  // 8 on each
}

// A scenario file keeps a hash of all that was read. It was one of the targets of epochs, the mean step times of shapes
// and the largest batches: noise of gradients and steps of epochs could change, and 1-3 swap its times with 2-2.
TEST_CASE("goodput: profiles that changed are not taken for those of the scenario") {
  const TinyApplication tiny;
  const std::string placements = "placement,local_bsz,step_time,sync_time\n1,8,1.0,0.0\n1,16,1.5,0.0\n",
                    header = "progress,iteration,metric,grad_sqr,grad_var\n";
  const auto path = [](const char* name) { return Join("profiles/tiny/", name); };
  const auto content = [&tiny](const std::string& more = "") {
    return tiny.Feature(more).Find<GoodputSettings>()->content;
  };
  tiny.Write(path("placements.csv"), placements + "13,8,1.2,0.0\n22,8,1.4,0.0\n");
  tiny.Write("known.csv", "application,placement,local_bsz,step_time_s,sync_time_s\ntiny,2,8,1.5,0.1\n");
  const std::string known = Join(",known=", tiny.Path("known.csv")), before = content(), with_known = content(known);
  CHECK(before.size() == 20);
  CHECK(content(",content=" + before) == before);
  CHECK(content(known + ",content=" + with_known) == with_known);
  CHECK(before != with_known);

  const auto refused = [&](const std::string& more, const std::string& kept) {
    return test::Says(test::MessageOf([&] { tiny.Feature(more + ",content=" + kept); }),
                      Join("holds other numbers than when the scenario was made (content ", kept, ", found all-"));
  };
  tiny.Write("known.csv", "application,placement,local_bsz,step_time_s,sync_time_s\ntiny,11,8,1.5,0.1\n");
  CHECK(refused(known, with_known));
  tiny.Write(path("placements.csv"), placements + "13,8,1.4,0.0\n22,8,1.2,0.0\n");
  CHECK(refused("", before));
  tiny.Write(path("placements.csv"), placements + "13,8,1.2,0.0\n22,8,1.4,0.0\n");
  CHECK(content() == before);
  for (const char* second : {"210,81,0,1,3", "210,80,0,2,3", "210,80,0,1,4", "211,80,0,1,3"}) {
    CAPTURE(second);
    tiny.Write(path("validation-32.csv"), Join(header, "110,40,0,1,1\n", second, "\n"));
    CHECK(refused("", before));
  }
  tiny.Write(path("validation-32.csv"), header + "110,40,7,1,1\n210,80,8,1,3\n");  // a column that nobody reads
  CHECK(content() == before);
  std::filesystem::rename(tiny.Path(path("validation-32.csv")), tiny.Path(path("validation-64.csv")));
  CHECK(refused("", before));
}

// As `berth convert` of 0.2.0's first days wrote it for this folder.
TEST_CASE("goodput: scenario files with the hash of before can be read, and keep it") {
  const TinyApplication tiny;
  const std::string old = "f1e2d87f9dce13f5";
  CHECK(tiny.Feature(",content=" + old).Find<GoodputSettings>()->content == old);
  tiny.Write("profiles/tiny/validation-8.csv",
             "progress,iteration,metric,grad_sqr,grad_var\n100,100,0,1,1\n201,200,0,1,3\n");
  CHECK(test::Says(test::MessageOf([&] { tiny.Feature(",content=" + old); }), Join("(content ", old, ", found ")));
}

TEST_CASE("goodput: a folder of curves that is not there is said by the name of its setting") {
  const TinyApplication tiny;
  const std::string curves = tiny.Path("nowhere");
  CHECK(test::MessageOf([&] { tiny.Feature(",curves=" + curves); }) ==
        Join("feature 'goodput': curves: expected a folder with validation files, found '", curves,
             "/tiny': No such file or directory"));
}

TEST_CASE("goodput: wrong profiles and jobs are said in a line") {
  for (const std::string name : {"curves", "known"})
    CHECK(test::MessageOf([&] { ParseFeatures("goodput(" + name + "=x)"); }) ==
          "feature 'goodput': " + name + ": expected profiles=DIR with it, found 'x' alone");
  const TinyApplication tiny;
  CHECK(GoodputErrorOf(tiny) == "");
  CHECK_THAT(GoodputErrorOf(tiny, "a,0,tinny,1,8\n"), Catch::Contains("job type 'tinny'") && Catch::Contains("did you mean 'tiny'"));
  CHECK_THAT(GoodputErrorOf(tiny, "a,0,tiny,1,0\n"), Catch::Contains("jobs.csv:2") && Catch::Contains("expected at least 1, found 0"));
  tiny.Write("profiles/tiny/validation-32.csv", "progress,iteration,metric,grad_sqr,grad_var\n110,40,0,1,1\n");
  CHECK_THAT(GoodputErrorOf(tiny), Catch::Contains("epochs"));
  tiny.Write("profiles/tiny/validation-32.csv", "progress,iteration,metric,grad_sqr,grad_var\n110,40,0,,1\n210,80,0,1,3\n");
  CHECK_THAT(GoodputErrorOf(tiny), Catch::Contains("validation-32.csv:2: column 'grad_sqr'"));
  tiny.Write("profiles/tiny/validation-32.csv", "progress,iteration,metric,grad_sqr,grad_var\n110,40,0,1,1\n100,80,0,1,3\n");
  CHECK_THAT(GoodputErrorOf(tiny), Catch::Contains("validation-32.csv:3: column 'progress': expected more than 110"));
}

// The largest batch that was trained with is the most of all GPUs together, the smallest of the placements the least of
// each of them. Rules of an artifact set a most of their own: 8 for yolov3 on Pollux' GPUs.
TEST_CASE("goodput: bounds of batches that cross are said in a line") {
  const TinyApplication tiny;
  tiny.Write("profiles/tiny/placements.csv",
             "placement,local_bsz,step_time,sync_time\n1,40,1.0,0.0\n1,64,1.5,0.0\n");
  CHECK(test::Says(GoodputErrorOf(tiny), "placements.csv: column 'local_bsz': expected a least batch of at most 32, the "
                                         "largest of tiny's validation-BATCH.csv, found 40"));
  tiny.Write("profiles/tiny/placements.csv",
             "placement,local_bsz,step_time,sync_time\n1,32,1.0,0.0\n1,64,1.5,0.0\n");
  std::filesystem::rename(tiny.Path("profiles/tiny"), tiny.Path("profiles/yolov3"));
  CHECK(test::Says(test::MessageOf([&] { tiny.Feature(",rules=pollux"); }),
                   "rules=pollux: yolov3: expected placements with a local_bsz of at most 8, found at least 32"));
}

TEST_CASE("goodput: Tiresias and Optimus end every job when the artifact's records say") {
  const std::string path = BERTH_SOURCE_DIR "/../shared/anchors/pollux";
  if (!std::filesystem::exists(path)) return test::Skip("needs " + path);
  const pollux::Folder folder(path);
  int compared = 0;
  for (const pollux::Run& run : folder.Recorded()) {
    if (run.policy == "pollux" || run.load != "1.0" || run.workload > 2) continue;
    const Scenario scenario = folder.Workload(run.load, run.workload, "submitted");
    const std::vector<double> ends = test::Ends(run.policy == "optimus" ? "optimus_tuned" : "tiresias(thresholds=57600,order=entered,nodes=most_free)", scenario);
    for (std::size_t job = 0; job < run.seconds.size(); ++job) {
      CAPTURE(run.policy, run.workload, job);
      REQUIRE(ends[job] - scenario.data().jobs.arrival[job] == run.seconds[job]);
      ++compared;
    }
  }
  CHECK(compared == 640);
}

}  // namespace berth
