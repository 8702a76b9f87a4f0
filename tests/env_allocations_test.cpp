// What a step allocates, which should be nothing: where no episode ends only the devices of a running job,
// where the episode had none such in their slot yet; where one ends, the next one's scenario.
#include <algorithm>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/gym/sched_env.hpp"
#include "tests/allocations.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

SchedEnvOptions Options() {
  SchedEnvOptions options;
  options.episode_jobs = 60;
  options.warmup_jobs = 20;
  options.mdp.visible = 16;
  options.mdp.reward = "jct+slowdown+deadline+cost";
  options.warmup = [] {
    const SchedulerTable tables[] = {BaselineSchedulers()};
    return MakeScheduler("fcfs", tables);
  };
  return options;
}

std::shared_ptr<const ScenarioSource> Source(const std::string& cluster, const std::string& clock) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  settings.clock = Clock::Parse(clock);
  return MakeWorkload("synthetic(rate=6,slo=true)", settings);
}

int RandomLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::size_t at = stream.Below(static_cast<std::uint32_t>(mask.size()));
  while (mask[at] == 0) at = (at + 1) % mask.size();
  return static_cast<int>(at);
}

// Memory of the devices of running jobs: lists, and places in them.
std::pair<std::size_t, std::size_t> DeviceMemory(const Simulator& simulator) {
  const auto& slots = simulator.state().device_slots;
  std::size_t places = slots.capacity();
  for (const std::vector<int>& slot : slots) places += slot.capacity();
  return {slots.size(), places};
}

// Steps without an end of an episode, after three episodes; how many of them allocated.
struct Count {
  int steps = 0, for_devices = 0, otherwise = 0;
};

Count Play(const SchedEnvOptions& options, const std::string& cluster, const std::string& clock) {
  SchedEnv env(Source(cluster, clock), options, 0);
  Stream stream(1, Purpose::kTest);
  Count count;
  for (std::uint32_t episode = 0; episode < 8; ++episode) {
    env.Begin(episode);
    for (;;) {
      const int action = RandomLegal(env.mask(), stream);
      const auto had = DeviceMemory(env.simulator());
      const std::int64_t before = test::Allocations();
      const SchedEnv::Outcome outcome = env.Step(action);
      const std::int64_t made = test::Allocations() - before;
      if (outcome.terminated || outcome.truncated) break;
      if (episode < 3) continue;  // lists grow to what the first episodes ask for
      ++count.steps;
      if (made == 0) continue;
      ++(DeviceMemory(env.simulator()) != had ? count.for_devices : count.otherwise);
    }
  }
  return count;
}

void Expect(const Count& count) {
  CAPTURE(count.steps, count.for_devices, count.otherwise);
  CHECK(count.steps > 200);
  CHECK(count.otherwise == 0);
  CHECK(count.for_devices <= 5 * 36);  // once a slot and episode: there are at most 36 jobs of one GPU
}

}  // namespace

TEST_CASE("a step allocates for new device slots alone", "[mdp]") {
  SchedEnvOptions options = Options();
  SECTION("redecide, rounds") {
    Expect(Play(options, kDefaultCluster, "rounds(360)"));
  }
  SECTION("redecide, events, shortest first") {
    options.mdp.order = QueueOrder::kShortest;
    Expect(Play(options, kDefaultCluster, "event"));
  }
  SECTION("commit") {
    options.mdp.semantics = Semantics::kCommit;
    options.mdp.preemptive = false;
    options.mdp.commit_backfill = GENERATE(false, true);
    options.mdp.encoder = GENERATE("ObservationV1", "RLScheduler(longest_run_s=600000)");
    Expect(Play(options, "v100=24", "hpc"));
  }
  SECTION("rollouts") {
    options.mdp.semantics = GENERATE(Semantics::kCommit, Semantics::kRedecide);
    options.mdp.preemptive = false;
    options.mdp.encoder = "Lookahead(samples=2,future=8,tried=4)";
    Expect(Play(options, "v100=24", "hpc"));
  }
}

TEST_CASE("stepping many environments allocates no more than they do", "[mdp]") {
  // One GPU of each type: at most three slots of one device. Every allocation beyond theirs is the batch's
  // own.
  constexpr int kEnvs = 20;
  const auto env = MakeVecEnv(Source("v100=1,p100=1,k80=1", "event"), Options(), kEnvs, 1);
  StepStorage storage(kEnvs, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  std::vector<std::int32_t> actions(kEnvs);
  Stream stream(1, Purpose::kTest);
  int steps = 0, allocated = 0;
  for (int step = 0; step < 2000; ++step) {
    for (std::size_t i = 0; i < kEnvs; ++i) {
      const auto width = static_cast<std::size_t>(env->num_actions());
      actions[i] = RandomLegal(std::span(storage.action_mask).subspan(i * width, width), stream);
    }
    const StepBuffers buffers = storage.buffers();
    const std::int64_t before = test::Allocations();
    env->Step(actions, buffers);
    const bool made = test::Allocations() != before;
    const auto ended = [&](const std::vector<std::uint8_t>& flags) {
      return std::count(flags.begin(), flags.end(), 1) > 0;
    };
    if (step < 1000 || ended(storage.terminated) || ended(storage.truncated)) continue;
    ++steps;
    allocated += made ? 1 : 0;
  }
  CAPTURE(steps, allocated);
  CHECK(steps > 100);
  CHECK(allocated * 10 < steps);  // one a step would be the batch's own
}

}  // namespace berth
