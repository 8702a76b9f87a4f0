// Each row of environments that are stepped together is, to the bit, an environment that is stepped by itself: under
// every clock, with all kinds of observations, actions and features.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/task_placement.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/catch.hpp"
#include "tests/drawn_process.hpp"
#include "tests/runs.hpp"

namespace berth {
namespace {

constexpr int kRows = 17;  // two blocks, which two threads take
constexpr int kSteps = 40, kMostSteps = 600;  // more than the first only until an episode ends

template <class T>
std::span<const T> RowOf(const std::vector<T>& all, std::size_t row) {
  const std::size_t width = all.size() / kRows;
  return std::span(all).subspan(row * width, width);
}

// memcmp: -0 is not 0 here, and a NaN is itself.
template <class T>
bool SameBits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}
bool SameBits(float a, double b) {
  const auto narrow = static_cast<float>(b);
  return std::memcmp(&a, &narrow, sizeof a) == 0;
}

// Random legal actions; halfway all go on with their next episodes. `kept`: rows that an environment leaves alone
// because they did not change must still be right.
template <class Env>
void CheckRows(VecEnv& vector, std::vector<Env>& single, bool kept) {
  StepStorage out(kRows, vector.layout().size(), vector.num_actions());
  std::vector<std::uint8_t> fresh(kRows);
  std::vector<float> new_jobs(kRows), new_work(kRows);
  StepBuffers buffers = out.buffers();
  buffers.new_jobs = new_jobs, buffers.new_work = new_work;
  if (kept) buffers.fresh = fresh;
  vector.Reset(buffers);
  Stream stream(9, Purpose::kTest);
  std::vector<std::int32_t> actions(kRows);
  int ends = 0, unchanged = 0;
  const auto compare = [&] {
    for (std::size_t i = 0; i < kRows; ++i) {
      REQUIRE((SameBits(RowOf(out.observation, i), single[i].observation()) &&
               SameBits(RowOf(out.action_mask, i), single[i].mask())));
      unchanged += !single[i].moved();
    }
  };
  for (int step = 0; step < kSteps || (ends == 0 && step < kMostSteps); ++step) {
    CAPTURE(step);
    compare();
    for (std::size_t i = 0; i < kRows; ++i) actions[i] = test::DrawLegal(RowOf(out.action_mask, i), stream);
    std::fill(fresh.begin(), fresh.end(), std::uint8_t{1});
    vector.Step(actions, buffers);
    for (std::size_t i = 0; i < kRows; ++i) {
      const typename Env::Outcome outcome = single[i].Step(actions[i]);
      bool same = SameBits(out.reward[i], outcome.reward) && SameBits(out.discount[i], outcome.discount) &&
                  (out.terminated[i] != 0) == outcome.terminated && (out.truncated[i] != 0) == outcome.truncated;
      if constexpr (requires { outcome.signal; }) {
        same = same && SameBits(out.signal[i], outcome.signal) && SameBits(new_work[i], outcome.new_work) &&
               new_jobs[i] == static_cast<float>(outcome.new_jobs);
      }
      REQUIRE(same);
      if (!outcome.terminated && !outcome.truncated) continue;
      ++ends;
      REQUIRE(SameBits(RowOf(out.final_observation, i), single[i].observation()));
      if (outcome.truncated) REQUIRE(SameBits(RowOf(out.final_mask, i), single[i].mask()));
      single[i].Begin(single[i].episode() + 1);
    }
    if (step != kSteps / 2) continue;
    compare();
    vector.NextEpisodes(buffers);
    for (Env& env : single) env.Begin(env.episode() + 1);
  }
  CHECK(ends > 0);
  if (kept) CHECK(unchanged > 0);
}

struct Configuration {
  const char* clock;
  const char* encoder;
  const char* actions;
  const char* features;
  const char* reward = "jct";
  bool preemptive = true;
  Semantics semantics = Semantics::kRedecide;
  const char* cluster = "v100=5/2,p100=3/1,k80=4/2";
  const char* workload = "synthetic(rate=6,jobs=25,gangs=1:0.7/2:0.2/4:0.1,slo=true)";
};

constexpr auto kRedecide = Semantics::kRedecide, kCommit = Semantics::kCommit;
constexpr const char* kAllFeatures =
    "topology(placement=consolidate,nodes_per_rack=1);elasticity(min_factor=0.3,max_factor=3,measured=false);"
    "checkpoints(gb=50,interval=600);failures(mtbf_h=10,repair_h=1);latency(cadence=both,period_s=500,launch_s=20);"
    "power(cap_w=2500,heat=true);services(rate_per_s=0.2:0.1,replicas=2:1);stages(depends=0.3,cpu_core_s=0.2,gpu_prep_s=0.1)";

const Configuration kConfigurations[] = {
    {"event", "ObservationV1", "start", ""},
    {"event", "ObservationV3", "start,wait", "", "slowdown"},
    {"rounds(360)", "ObservationV1", "start,pack,reject", "monitoring"},
    {"rounds(360)", "ObservationV2", "start,resize,pack,reject", "elasticity(min_factor=0.3,max_factor=3,measured=false)",
     "jct+0.5*deadline"},
    {"reference_rounds(360)", "ObservationV1", "start", ""},
    {"reference_rounds(360)", "ObservationV3", "start,reject", "", "jct", false},
    {"hpc", "ObservationV1", "start", "", "jct", false},
    {"hpc", "ObservationV2", "start", "", "jct", false, kCommit},
    {"hpc", "Lookahead", "start", "", "jct", false, kCommit},
    {"event", "ObservationV2", "start,gather,place,checkpoint,wait",
     "topology(placement=consolidate,nodes_per_rack=1);checkpoints(gb=50,interval=600);failures(mtbf_h=10,repair_h=1)"},
    {"event", "ObservationV2", "start,layout", "partitions(reconfig_s=100)", "jct", true, kRedecide, "a100=4/4,h100=2/1",
     "synthetic(rate=6,jobs=25,table=modern)"},
    {"rounds(360)", "ObservationV2", "start,share", "sharing", "jct", true, kRedecide, "v100=5/2,p100=3/1,k80=4/2",
     "synthetic(rate=6,jobs=25,parts=250:0.25/400:0.25/600:0.2)"},
    {"event", "ObservationV2", "start,scale,batch", "goodput(model=known)", "jct", true, kRedecide,
     "t4=16/4,a100_40gb=4/2,rtx2080ti=3/1", "adaptive(mix=newtrace,rate=60,jobs=25)"},
    {"event", "ObservationV2", "start,gather,place,resize,checkpoint,clock,cap,replicas,offload,reject,wait", kAllFeatures,
     "energy+jct"},
    {"rounds(360)", "ObservationV3", "start,resize,checkpoint,reject", kAllFeatures},
};

std::shared_ptr<const ScenarioSource> SourceOf(const Configuration& its) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(its.cluster);
  settings.features = ParseFeatures(its.features);
  settings.clock = Clock::Parse(its.clock);
  return MakeWorkload(its.workload, settings);
}

}  // namespace

TEST_CASE("rows of a vector of environments are environments that are stepped by themselves, in every configuration") {
  for (const Configuration& its : kConfigurations) {
    CAPTURE(its.clock, its.encoder, its.actions, its.features);
    const auto source = SourceOf(its);
    for (const bool reread : {false, true}) {
      CAPTURE(reread);
      SchedEnvOptions options;
      options.mdp.encoder = its.encoder;
      options.mdp.actions = ResolveActions(its.actions);
      options.mdp.semantics = its.semantics;
      options.mdp.preemptive = its.preemptive;
      options.mdp.work_conserving = its.preemptive && !reread;
      options.mdp.on_change = !reread;
      options.mdp.reread = reread && options.mdp.actions != "start";
      options.mdp.visible = 6;
      options.mdp.reward = its.reward;
      options.mdp.tau_s = 5000.0;
      options.seed = 3;
      options.episode_jobs = 3;
      options.warmup_jobs = reread ? 5 : 0;
      options.warmup = [] { return test::Make("fcfs"); };
      const auto vector = MakeVecEnv(source, options, kRows, /*threads=*/2);
      std::vector<SchedEnv> single;
      single.reserve(kRows);
      for (std::uint32_t i = 0; i < kRows; ++i) single.emplace_back(source, options, i).Begin(0);
      CheckRows(*vector, single, /*kept=*/!reread && its.semantics == Semantics::kRedecide);
    }
  }
}

TEST_CASE("rows of the textbooks' environment are environments that are stepped by themselves") {
  for (const char* clock : {"event", "rounds(360)", "reference_rounds(360)", "hpc"}) {
    for (const char* reward : {kMeanUtilization, "jct"}) {
      CAPTURE(clock, reward);
      Configuration its = kConfigurations[0];
      its.clock = clock;
      const auto source = SourceOf(its);
      TaskPlacementOptions options;
      options.reward = reward;
      options.seed = 3;
      options.episode_jobs = 8;
      const auto vector = MakeTaskPlacement(source, options, kRows, /*threads=*/2);
      std::vector<TaskPlacement> single;
      single.reserve(kRows);
      for (std::uint32_t i = 0; i < kRows; ++i) single.emplace_back(source, options, i).Begin(0);
      CheckRows(*vector, single, /*kept=*/false);
    }
  }
}

}  // namespace berth
