// Observations and masks against encoders and legality written afresh at every step.
#include <algorithm>
#include <bit>
#include <filesystem>

#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/plain_observation.hpp"
#include "tests/skip.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// Gangs of 1, 2 and 4 on three types, not all of which run everything; weights, deadlines, requests. Some
// jobs arrive together.
Scenario Varied(std::uint64_t seed, int jobs, Clock clock) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Below(3) == 0 ? 0.0 : stream.Exponential(30.0);
    list.push_back({now, 1.0 + stream.Uniform(0.0, 400.0), static_cast<int>(stream.Below(3)),
                    1 << static_cast<int>(stream.Below(3))});
  }
  ScenarioData data = test::TinyData({{"a", 4}, {"b", 5}, {"c", 2}},
                                     {{1.0, 3.0, 0.0}, {2.0, 0.5, 1.5}, {0.7, 0.0, 0.7}}, list, clock);
  for (const test::TinyJob& job : list) {
    data.jobs.weight.push_back(0.5 + stream.Uniform(0.0, 4.0));
    data.jobs.deadline.push_back(stream.Below(2) == 0 ? kNever : job.arrival + stream.Uniform(0.0, 4e5));
    data.jobs.requested_s.push_back(stream.Below(2) == 0 ? std::nan("") : 10.0 * (1 + stream.Below(40)));
  }
  return Scenario(std::move(data));
}

// One type, so that RLScheduler's encoder can be asked; many ties of request, gang and arrival.
Scenario OneType(std::uint64_t seed, int jobs) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Below(2) == 0 ? 0.0 : 20.0;
    list.push_back({now, 10.0 * (1 + stream.Below(20)), 0, 1 << static_cast<int>(stream.Below(3))});
  }
  ScenarioData data = test::TinyData({{"a", 6}}, {{1.0}}, list, {ClockKind::kHpc});
  for (const test::TinyJob& job : list) data.jobs.requested_s.push_back(job.steps + 100.0 * stream.Below(3));
  return Scenario(std::move(data));
}

std::vector<int> PlainCandidates(const ClusterView& view, const MdpSpec& mdp) {
  const std::span<const int> source = mdp.preemptive ? view.active() : view.waiting();
  std::vector<int> jobs(source.begin(), source.end());
  const auto key = [&](int job) {
    if (mdp.knowledge >= Knowledge::kEstimate) return view.RemainingSteps(job) / view.BestRate(job);
    return mdp.knowledge >= Knowledge::kBlind ? view.AttainedSeconds(job) : view.Arrival(job);
  };
  if (mdp.order == QueueOrder::kShortest)
    std::stable_sort(jobs.begin(), jobs.end(), [&](int a, int b) { return key(a) < key(b); });
  return jobs;
}

// The first ceil(q/2) and the last floor(q/2), or all.
std::vector<int> HeadAndTail(const std::vector<int>& jobs, int q) {
  std::vector<int> visible;
  const int n = static_cast<int>(jobs.size());
  for (int i = 0; i < n; ++i) {
    if (n <= q || i < (q + 1) / 2 || i >= n - q / 2) visible.push_back(jobs[U(i)]);
  }
  return visible;
}

// Legality at one point of `redecide`, kept by the test from its own actions.
struct PlainMask {
  std::vector<int> room;
  std::vector<std::uint8_t> placed;

  void Open(const ClusterView& view, const MdpSpec& mdp, const std::vector<int>& candidates,
            const std::vector<int>& visible) {
    room.assign(view.free_gpus().begin(), view.free_gpus().end());
    placed.assign(visible.size(), 0);
    if (!mdp.preemptive) return;
    for (std::size_t g = 0; g < room.size(); ++g) room[g] = view.types()[g].count;
    for (int job : candidates) {
      const bool seen = std::find(visible.begin(), visible.end(), job) != visible.end();
      if (!seen && view.IsRunning(job)) room[U(view.TypeOf(job))] -= view.Gang(job);
    }
  }
  bool Legal(const ClusterView& view, const std::vector<int>& visible, int row, int type) const {
    if (row >= static_cast<int>(visible.size()) || placed[U(row)] != 0) return false;
    const int job = visible[U(row)];
    return view.Rate(job, type) > 0.0 && view.Gang(job) <= room[U(type)];
  }
};

int RandomLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::vector<int> legal;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) legal.push_back(static_cast<int>(a));
  }
  REQUIRE(!legal.empty());
  return legal[stream.Below(static_cast<std::uint32_t>(legal.size()))];
}

SchedEnvOptions Options(int visible, int jobs) {
  SchedEnvOptions options;
  options.mdp.visible = visible;
  options.warmup_jobs = 0;
  options.episode_jobs = jobs;
  return options;
}

}  // namespace

TEST_CASE("redecide: every observation and mask is what working everything out afresh gives", "[mdp]") {
  SchedEnvOptions options = Options(GENERATE(3, 8, 60), 60);
  options.mdp.preemptive = GENERATE(true, false);
  options.mdp.work_conserving = GENERATE(true, false);
  options.mdp.knowledge = GENERATE(Knowledge::kNone, Knowledge::kBlind, Knowledge::kEstimate);
  options.mdp.order = GENERATE(QueueOrder::kArrival, QueueOrder::kShortest);
  const Clock clock = GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 45.0});
  SchedEnv env(FixedSource(WithKnowledge(Varied(3, 60, clock), Knowledge::kEstimate, 0.4), "varied"), options,
               0);
  env.Begin(0);
  Stream stream(4, Purpose::kTest);
  PlainMask plain;
  double point = -1.0;
  int steps = 0;
  for (SchedEnv::Outcome outcome; !outcome.terminated; ++steps) {
    const ClusterView view = env.simulator().View(options.mdp.knowledge);
    const std::vector<int> candidates = PlainCandidates(view, options.mdp);
    const std::vector<int> visible = HeadAndTail(candidates, options.mdp.visible);
    if (view.now() != point) plain.Open(view, options.mdp, candidates, visible);
    point = view.now();
    const ObservationLayout layout = env.layout();
    const std::vector<float> expected =
        test::PlainObservationV1({view, view.free_gpus(), candidates, visible}, options.mdp, layout);
    REQUIRE(std::equal(expected.begin(), expected.end(), env.observation().begin(), env.observation().end()));
    for (int row = 0; row < layout.q; ++row) {
      for (int type = 0; type < layout.g; ++type) {
        const bool legal = plain.Legal(view, visible, row, type);
        if ((env.mask()[U(row * layout.g + type)] != 0) != legal) FAIL("row " << row << " type " << type);
      }
    }
    const int action = RandomLegal(env.mask(), stream);
    if (action < layout.q * layout.g) {
      const int row = action / layout.g;
      plain.placed[U(row)] = 1;
      plain.room[U(action % layout.g)] -= view.Gang(visible[U(row)]);
    }
    outcome = env.Step(action);
  }
  CHECK(steps >= 60);  // at least one a job
}

TEST_CASE("commit: every observation is what working everything out afresh gives", "[mdp]") {
  SchedEnvOptions options = Options(GENERATE(4, 60), 60);
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  options.mdp.commit_backfill = GENERATE(true, false);
  const Clock clock = GENERATE(Clock{ClockKind::kHpc}, Clock{ClockKind::kRounds, 45.0});
  SchedEnv env(FixedSource(Varied(5, 60, clock), "varied"), options, 0);
  env.Begin(0);
  Stream stream(4, Purpose::kTest);
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const ClusterView view = env.simulator().View(options.mdp.knowledge);
    const std::vector<int> candidates = PlainCandidates(view, options.mdp);
    const std::vector<int> visible = HeadAndTail(candidates, options.mdp.visible);
    const std::vector<float> expected =
        test::PlainObservationV1({view, view.free_gpus(), candidates, visible}, options.mdp, env.layout());
    REQUIRE(std::equal(expected.begin(), expected.end(), env.observation().begin(), env.observation().end()));
    for (int row = 0; row < env.layout().q; ++row) {
      for (int type = 0; type < env.layout().g; ++type) {
        const bool legal = row < static_cast<int>(visible.size()) && view.Rate(visible[U(row)], type) > 0.0;
        if ((env.mask()[U(row * env.layout().g + type)] != 0) != legal)
          FAIL("row " << row << " type " << type);
      }
    }
    outcome = env.Step(RandomLegal(env.mask(), stream));
  }
}

namespace {

// Plays `scenario` at random and compares every observation with the plain encoder's. Returns how often more
// jobs waited than were visible.
int PlayRlScheduler(const Scenario& scenario, int queue, double longest, bool backfill) {
  SchedEnvOptions options = Options(queue, scenario.num_jobs());
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  options.mdp.commit_backfill = backfill;
  options.mdp.encoder = Join("RLScheduler(longest_run_s=", longest, ")");
  SchedEnv env(FixedSource(scenario, "one type"), options, 0);
  env.Begin(0);
  REQUIRE(env.observation().size() == U(queue) * 8);
  Stream stream(4, Purpose::kTest);
  int crowded = 0;
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const ClusterView view = env.simulator().View(options.mdp.knowledge);
    const std::vector<int> waiting(view.waiting().begin(), view.waiting().end());
    const std::vector<int> visible = test::PlainRlSchedulerVisible(view, waiting, queue);
    crowded += waiting.size() > visible.size() ? 1 : 0;
    const std::vector<float> expected =
        test::PlainRlScheduler({view, view.free_gpus(), waiting, visible}, longest, queue);
    REQUIRE(std::equal(expected.begin(), expected.end(), env.observation().begin(), env.observation().end()));
    for (int row = 0; row < queue; ++row) {
      if ((env.mask()[U(row)] != 0) != (row < static_cast<int>(visible.size()))) FAIL("row " << row);
    }
    outcome = env.Step(RandomLegal(env.mask(), stream));
  }
  return crowded;
}

}  // namespace

TEST_CASE("RLScheduler's observation is the published one, more jobs waiting than are shown or not",
          "[hpc][mdp]") {
  const bool backfill = GENERATE(true, false);
  CHECK(PlayRlScheduler(OneType(6, 150), 8, 300.0, backfill) > 50);
  CHECK(PlayRlScheduler(OneType(7, 100), 128, 150.0, backfill) == 0);
}

namespace {

// What the authors' own code showed (DIR-LAB/deep-batch-scheduler at cd433e3d, HPCSimPickJobs.py run under
// Python with numpy 2.4.6, TensorFlow and gym stubbed out): jobs start .. start + jobs - 1 of Lublin-1, at
// step k = 1, 2, ... the action (7919 k) mod (visible jobs).
struct Recorded {
  int start, jobs;
  bool backfill;
  int steps;
  int crowded;              // steps at which more than 128 waited
  std::uint64_t hash;       // FNV-1a over the float32 observations of all steps
  double bounded_slowdown;  // mean
};
constexpr Recorded kRecorded[] = {
    {1981, 1024, false, 1024, 643, 0x4dd214b97dd1fc98, 2797.002166416509},
    {1981, 1024, true, 179, 0, 0x7f31718eb2511188, 111.79214269847164},
    {4299, 512, false, 512, 254, 0xdb9b096242756dec, 3337.9854495066224},
};

}  // namespace

TEST_CASE("RLScheduler's observation is what its authors' code showed, to the bit", "[hpc][mdp]") {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/traces/rlscheduler-lublin/";
  if (!std::filesystem::exists(folder)) return test::Skip("needs RLScheduler's Lublin logs (not shipped)");
  const Scenario log = FindFormat("swf").read(folder + "lublin_256.swf.gz", {});
  for (const Recorded& recorded : kRecorded) {
    CAPTURE(recorded.start, recorded.backfill);
    SchedEnvOptions options = Options(128, recorded.jobs);
    options.mdp.semantics = Semantics::kCommit;
    options.mdp.preemptive = false;
    options.mdp.commit_backfill = recorded.backfill;
    options.mdp.encoder = "RLScheduler(longest_run_s=124707)";
    const Scenario sequence = Sequence(log, recorded.start, recorded.jobs, {ClockKind::kHpc});
    SchedEnv env(FixedSource(sequence, "Lublin-1"), options, 0);
    env.Begin(0);
    std::uint64_t hash = 1469598103934665603ULL;
    int step = 0, crowded = 0;
    for (SchedEnv::Outcome outcome; !outcome.terminated;) {
      for (const float x : env.observation()) {
        const auto bits = std::bit_cast<std::uint32_t>(x);
        for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ (bits >> shift & 0xff)) * 1099511628211ULL;
      }
      crowded += env.simulator().state().waiting.size() > 128 ? 1 : 0;
      const auto visible = static_cast<int>(std::count(env.mask().begin(), env.mask().end(), 1));
      outcome = env.Step(++step * 7919 % visible);
    }
    CHECK(step == recorded.steps);
    CHECK(crowded == recorded.crowded);
    CHECK(hash == recorded.hash);
    CHECK(Measure(env.simulator(), {}).hpc_bounded_slowdown ==
          Approx(recorded.bounded_slowdown).epsilon(1e-12));
  }
}

TEST_CASE("RLScheduler's observation by hand", "[hpc][mdp]") {
  // 8 processors. Job 0 (4 of them, 100 s) starts at 0. Jobs 1 (8, 50 s) and 2 (2, 200 s) come at 10 and 30;
  // the agent is asked at 10, when job 1 waits alone, commits to it, and it starts at 100. Then job 2 has
  // waited 70 s.
  ScenarioData data = test::TinyData({{"p", 8}}, {{1.0}}, {{0, 100, 0, 4}, {10, 50, 0, 4}, {30, 200, 0, 2}},
                                     {ClockKind::kHpc});
  data.throughputs.gang_sizes = {1, 2, 8};
  data.jobs.gang = {2, 8, 2};
  data.jobs.requested_s = {120.0, 60.0, 400.0};
  SchedEnvOptions options = Options(2, 3);
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.preemptive = false;
  options.mdp.encoder = "RLScheduler(longest_run_s=240)";
  SchedEnv env(FixedSource(Scenario(std::move(data)), "by hand"), options, 0);
  env.Begin(0);
  const auto expect = [&](std::vector<double> row) {
    for (double x : {0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0}) row.push_back(x);  // the second row is absent
    for (std::size_t i = 0; i < row.size(); ++i) CHECK(env.observation()[i] == static_cast<float>(row[i]));
  };
  expect({0.0, 120.0 / 240.0, 2.0 / 8.0, 1, 1, 1, 1, 1.0 - 1e-5});
  env.Step(0);
  expect({0.0, 60.0 / 240.0, 1.0 - 1e-5, 1, 1, 1, 1, 1e-5});  // needs all 8: it does not fit
  env.Step(0);
  expect({70.0 / 43200.0, 1.0 - 1e-5, 2.0 / 8.0, 1, 1, 1, 1, 1e-5});
}

TEST_CASE("an encoder says what it is not for", "[mdp]") {
  const auto source = FixedSource(OneType(1, 5), "one type");
  SchedEnvOptions options = Options(4, 5);
  options.mdp.preemptive = false;
  options.mdp.encoder = "RLScheduler";
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("expected semantics commit"));
  options.mdp.semantics = Semantics::kCommit;
  options.mdp.knowledge = Knowledge::kBlind;
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("expected knowledge estimate"));
  options.mdp.knowledge = Knowledge::kOracle;
  SchedEnv wide(FixedSource(Varied(1, 5, {ClockKind::kHpc}), "three types"), options, 0);
  CHECK_THROWS_WITH(wide.Begin(0), Catch::Contains("one GPU type, found 3"));
  options.mdp.encoder = "RLSchedule";
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("did you mean 'RLScheduler'"));
  options.mdp.encoder = "RLScheduler(longest=1)";
  CHECK_THROWS_WITH(SchedEnv(source, options, 0), Catch::Contains("longest_run_s"));
}

TEST_CASE("a running sum of a reward is the sum over jobs", "[mdp]") {
  const Clock clock = GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 45.0});
  SchedEnvOptions options = Options(8, 200);
  options.mdp.reward = "slowdown+deadline";
  SchedEnv env(FixedSource(Varied(8, 200, clock), "varied"), options, 0);
  env.Begin(0);
  Stream stream(9, Purpose::kTest);
  const auto walked = [&] {
    const Simulator& simulator = env.simulator();
    const JobTable& jobs = simulator.scenario().data().jobs;
    double total = 0.0;
    for (int job = 0; job < simulator.arrived_jobs(); ++job) {
      const double until = std::min(simulator.now(), simulator.state().completion[U(job)]);
      const double alone = jobs.total_steps[U(job)] / simulator.scenario().BestRate(job);
      total += (until - jobs.arrival[U(job)]) / std::max(alone, 10.0);
      total += until > jobs.deadline[U(job)] ? 1.0 : 0.0;
    }
    return total;
  };
  double before = walked(), sum = 0.0;
  const double first = before;
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    outcome = env.Step(RandomLegal(env.mask(), stream));
    const double now = walked();
    REQUIRE(outcome.reward == Approx(before - now).epsilon(1e-9).margin(1e-9));
    before = now;
    sum += outcome.reward;
  }
  CHECK(-sum == Approx(before - first).epsilon(1e-12));
  CHECK(before > 0.0);
}

}  // namespace berth
