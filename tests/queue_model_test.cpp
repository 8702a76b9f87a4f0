// The queue model of rollouts against the simulator under the score rule that it plays, and by hand; the
// encoder Lookahead by hand.
#include "env/predict/queue_model.hpp"

#include <cmath>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/plan.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// Four GPUs, three of them held until 100 s. A wants all for 100 s, B one for 50 s, C one for 200 s.
QueueModel Three(double seconds_of_b = 50.0) {
  QueueModel model;
  model.Reset(1, 0.0, std::vector<int>{1});
  model.Runs(100.0, 0, 3);
  for (const auto& [gang, seconds] : {std::pair(4, 100.0), std::pair(1, seconds_of_b), std::pair(1, 200.0)}) {
    model.Waits(0.0, gang, std::vector<double>{seconds});
  }
  return model;
}
enum { kA, kB, kC };
constexpr QueueRules kStrict = {false, false}, kEasy = {false, true}, kBlocks = {true, false},
                     kPublished = {true, true};

// Of seven jobs that came at once, each of less area than the one before it: which are tried.
std::vector<int> Tried(const std::string& encoder_spec) {
  std::vector<test::TinyJob> jobs = {{0, 100, 0, 2}};
  for (int i = 0; i < 7; ++i) jobs.push_back({0, 80.0 - 10.0 * i});
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, jobs);
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  MdpSpec mdp;
  mdp.preemptive = false;
  mdp.encoder = encoder_spec;
  const auto encoder = MakeEncoder(mdp);
  encoder->Begin(view);
  const std::vector<int> waiting = {1, 2, 3, 4, 5, 6, 7}, room = {2};
  const ObservationLayout layout = EncoderOf("Lookahead").Layout(7, 1);
  std::vector<float> out(U(layout.size()));
  encoder->Encode({view, room, waiting, waiting}, layout, out);
  std::vector<int> tried;
  for (int row = 0; row < 7; ++row)
    tried.push_back(out[U(layout.jobs_offset() + row * layout.job_channels + 7)] > 0);
  return tried;
}

ScenarioData RandomLog(std::uint64_t seed, Clock clock) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double now = 0.0;
  for (int i = 0; i < 60; ++i) {
    jobs.push_back(
        {now, 1.0 + stream.Exponential(150.0), 0, 1 << static_cast<int>(stream.Below(3))});  // 1, 2, 4
    now += stream.Exponential(60.0);
  }
  ScenarioData data = test::TinyData({{"a", 5}}, {{1.0}}, jobs, clock);
  for (const test::TinyJob& job : jobs) data.jobs.requested_s.push_back(job.steps);
  return data;
}

}  // namespace

TEST_CASE("queue model: from its start on a whole log is the simulator's, under every rule") {
  const std::uint64_t seed = GENERATE(range(1, 9));
  struct Case {
    const char* scheduler;
    QueueRules rules;
    Clock clock;
  };
  for (const Case& c :
       {Case{"saf", kStrict, {ClockKind::kEvent}}, Case{"saf(backfill=easy)", kEasy, {ClockKind::kEvent}},
        Case{"saf(semantics=commit)", kBlocks, {ClockKind::kHpc}},
        Case{"saf(semantics=commit,backfill=easy)", kPublished, {ClockKind::kHpc}}}) {
    CAPTURE(c.scheduler, seed);
    const ScenarioData data = RandomLog(seed, c.clock);
    const auto scheduler = test::Make(c.scheduler);
    const RunResult run = Run(Scenario(data), *scheduler, c.scheduler, {});
    QueueModel model;
    model.Reset(1, 0.0, std::vector<int>{5});
    model.Waits(0.0, data.jobs.gang[0], std::span(&data.jobs.total_steps[0], 1));
    for (std::size_t i = 1; i < data.jobs.arrival.size(); ++i) {
      model.Comes(data.jobs.arrival[i], data.jobs.gang[i], std::span(&data.jobs.total_steps[i], 1));
    }
    const double expected = run.metrics.hpc_bounded_slowdown * static_cast<double>(data.jobs.arrival.size());
    CHECK(expected > 100.0);  // somebody waits
    CHECK(model.Play(0, c.rules) == Approx(expected).epsilon(1e-12));
    CHECK(model.Play(0, c.rules) == Approx(expected).epsilon(1e-12));  // and plays again
  }
}

TEST_CASE("queue model: who goes first, by hand") {
  QueueModel model = Three();
  CHECK(std::vector<int>(model.order().begin(), model.order().end()) == std::vector<int>{kB, kC, kA});
  // A holds the idle GPU for itself until 100 s: B ends by then and passes under EASY, C does not.
  CHECK(model.Play(kA, kEasy) == Approx(2.0 + 1.0 + 2.0));
  CHECK(model.Play(kA, kPublished) == Approx(2.0 + 1.0 + 2.0));
  CHECK(model.Play(kA, kStrict) == Approx(2.0 + 5.0 + 2.0));  // both start at 200 s
  CHECK(model.Play(kA, kBlocks) == Approx(2.0 + 5.0 + 2.0));
  // An hour of waiting costs 36: of A and C 100 and 200 s.
  CHECK(model.Play(kA, {false, true, 36.0}) == Approx(5.0 + 3.0));
  // B at once, C at 50 s, A when C ends at 250 s.
  CHECK(model.Play(kB, kEasy) == Approx(1.0 + 1.25 + 3.5));
  // C at once, B at 100 s, A when C ends at 200 s.
  CHECK(model.Play(kC, kEasy) == Approx(1.0 + 3.0 + 3.0));
  // A backfilled job may end when A starts under EASY, and must end before it as published: B at 200 s.
  QueueModel exact = Three(100.0);
  CHECK(exact.Play(kA, kEasy) == Approx(2.0 + 1.0 + 2.0));
  CHECK(exact.Play(kA, kPublished) == Approx(2.0 + 3.0 + 2.0));
}

TEST_CASE("queue model: who comes, several types, and who never fits, by hand") {
  QueueModel model = Three();
  // D, one GPU for 10 s, comes at 10 s. B is gone at 50 s; D fits between 50 and 100 s: (40 + 10) / 10.
  model.Comes(10.0, 1, std::vector<double>{10.0});
  CHECK(model.Play(kA, kEasy) == Approx(2.0 + 1.0 + 2.0 + 5.0));
  model.NobodyComes();
  CHECK(model.Play(kA, kEasy) == Approx(5.0));
  // Two types of one GPU each, idle. A job goes where it is fastest, the next where there is room.
  model.Reset(2, 0.0, std::vector<int>{1, 1});
  model.Waits(0.0, 1, std::vector<double>{100.0, 50.0});
  model.Waits(0.0, 1, std::vector<double>{150.0, 60.0});
  model.Waits(0.0, 1, std::vector<double>{kNever, 70.0});
  // First on the second type, second on the first in 150 s instead of 60, third at 50 s.
  CHECK(model.Play(0, kEasy) == Approx(1.0 + 2.5 + 120.0 / 70.0));
  // Two GPUs of a type are nowhere; one that does not come back is none.
  CHECK_FALSE(model.EverFits(2, std::vector<double>{10.0, 10.0}));
  model.Runs(kNever, 0, 1);
  CHECK_FALSE(model.EverFits(2, std::vector<double>{10.0, 10.0}));
  model.Runs(100.0, 0, 1);
  CHECK(model.EverFits(2, std::vector<double>{10.0, 10.0}));
  CHECK_FALSE(model.EverFits(2, std::vector<double>{kNever, 10.0}));
}

TEST_CASE("Lookahead: gains are those of the queue model, by hand", "[mdp]") {
  // The same queue; nobody comes (future=0), so that nothing is in doubt.
  ScenarioData data = test::TinyData(
      {{"a", 4}}, {{1.0}}, {{0, 100, 0, 2}, {0, 100, 0, 1}, {0, 100, 0, 4}, {0, 50, 0, 1}, {0, 200}});
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  MdpSpec mdp;
  mdp.preemptive = false;
  mdp.encoder = "Lookahead(future=0)";
  const auto encoder = MakeEncoder(mdp);
  encoder->Begin(view);
  Plan plan;
  plan.Begin(view, /*preemptive=*/false);
  plan.Put(view, 0, 0);
  plan.Put(view, 1, 0);
  const std::vector<int> jobs = {2, 3, 4}, room = {1};
  const ObservationLayout layout = EncoderOf("Lookahead").Layout(4, 1);
  std::vector<float> out(U(layout.size()), -1.0F);
  const auto shown = [&](int row, int channel) {
    return out[U(layout.jobs_offset() + row * layout.job_channels + 6 + channel)];
  };
  encoder->Encode({view, room, jobs, jobs, &plan}, layout, out);
  const double of_b = 1.0 + 1.25 + 3.5;
  for (const auto& [row, place, gain] : {std::tuple(0, 2, (of_b - 5.0) / of_b), std::tuple(1, 0, 0.0),
                                         std::tuple(2, 1, (of_b - 7.0) / of_b)}) {
    CAPTURE(row);
    CHECK(shown(row, 0) == Approx(std::log(1.0 + place) / 5.0).epsilon(1e-6));
    CHECK(shown(row, 1) == 1.0F);
    CHECK(shown(row, 2) == Approx(10.0 * gain).epsilon(1e-6));
    CHECK(shown(row, 3) == 0.0F);
  }
  for (int channel = -6; channel < 4; ++channel) CHECK(shown(3, channel) == 0.0F);  // nobody
  // Only the first two by area: of the third nothing is known.
  mdp.encoder = "Lookahead(future=0,tried=2)";
  const auto two = MakeEncoder(mdp);
  two->Begin(view);
  two->Encode({view, room, jobs, jobs, &plan}, layout, out);
  CHECK(shown(0, 1) == 0.0F);
  CHECK(shown(0, 2) == -4.0F);
  CHECK(shown(2, 2) == Approx(10.0 * (of_b - 7.0) / of_b).epsilon(1e-6));
  // Three have the least area, and one of the rest came first.
  CHECK(Tried("Lookahead(future=0,tried=3,oldest=1)") == std::vector<int>{1, 0, 0, 0, 1, 1, 1});
  // One that never fits beside what is there is not played, and changes nothing for the others.
  const std::vector<int> two_gpus = {2}, one_more = {1, 2, 3};
  two->Encode({view, two_gpus, one_more, one_more}, layout, out);
  CHECK(shown(0, 1) == 1.0F);
  CHECK(shown(1, 1) == 0.0F);
  CHECK(shown(1, 2) == -4.0F);
  CHECK(shown(2, 1) == 1.0F);
  // Nobody fits: redeciding, nothing starts whatever is chosen, so nothing is played.
  const std::vector<int> full = {0};
  encoder->Encode({view, full, jobs, jobs, &plan}, layout, out);
  for (int row : {0, 1, 2}) CHECK(shown(row, 1) == 0.0F);
}

TEST_CASE("Lookahead: what may come is in doubt, and the same whenever it is asked", "[mdp]") {
  SchedEnvOptions options;
  options.mdp.encoder = "Lookahead";
  options.mdp.semantics = GENERATE(Semantics::kCommit, Semantics::kRedecide);
  options.mdp.preemptive = false;
  options.episode_jobs = 60;
  options.warmup_jobs = 0;
  SchedEnv env(FixedSource(Scenario(RandomLog(3, {ClockKind::kEvent})), "log"), options, 0);
  env.Begin(0);
  const ObservationLayout& layout = env.layout();
  int doubts = 0, differences = 0;
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const ClusterView view = env.simulator().View(Knowledge::kOracle);
    const std::vector<int> waiting(view.waiting().begin(), view.waiting().end());
    std::vector<float> now(env.observation().begin(), env.observation().end());
    if (env.moved()) {
      const auto fresh = MakeEncoder(options.mdp);
      fresh->Begin(view);
      std::vector<int> visible;
      fresh->Select(view, waiting, layout.q, visible);
      std::vector<float> again(now.size());
      fresh->Encode({view, view.free_gpus(), waiting, visible}, layout, again);
      REQUIRE(now == again);
      for (int row = 0; row < layout.q; ++row) {
        const float* job = now.data() + layout.jobs_offset() + row * layout.job_channels;
        doubts += job[9] > 0.0F;
        differences += job[7] == 1.0F && job[8] != 0.0F;
        if (job[0] == 1.0F && job[6] == 0.0F) REQUIRE((job[8] == 0.0F && job[9] == 0.0F) == (job[7] == 1.0F));
      }
    }
    int action = 0;
    while (env.mask()[U(action)] == 0) ++action;
    outcome = env.Step(action);
  }
  CHECK(doubts > 50);
  CHECK(differences > 50);
}

// The square of a standard error of n draws is an nth of their variance, on average, for every n: with two draws it is
// eight times as large as with sixteen, less what the channel's cap at 4 takes from the larger ones. With n + 1 in the
// place of n - 1 it would be 3.0 times at most.
TEST_CASE("Lookahead: doubt is the standard error of few draws as of many", "[mdp]") {
  double squares[2] = {0.0, 0.0};
  for (const auto& [samples, seed] : std::vector<std::pair<int, std::uint64_t>>{
           {2, 3}, {16, 3}, {2, 4}, {16, 4}, {2, 5}, {16, 5}, {2, 6}, {16, 6}}) {
    SchedEnvOptions options;
    options.mdp.encoder = Join("Lookahead(samples=", samples, ")");
    options.mdp.semantics = Semantics::kCommit;
    options.mdp.preemptive = false;
    options.episode_jobs = 60;
    options.warmup_jobs = 0;
    SchedEnv env(FixedSource(Scenario(RandomLog(seed, {ClockKind::kEvent})), "log"), options, 0);
    env.Begin(0);
    const ObservationLayout& layout = env.layout();
    for (SchedEnv::Outcome outcome; !outcome.terminated;) {
      for (int row = 0; row < layout.q; ++row) {
        const double doubt = env.observation()[U(layout.jobs_offset() + row * layout.job_channels + 9)];
        squares[samples == 2 ? 0 : 1] += doubt * doubt;
      }
      int action = 0;
      while (env.mask()[U(action)] == 0) ++action;
      outcome = env.Step(action);
    }
  }
  CAPTURE(squares[0], squares[1]);
  CHECK(squares[0] > 4.5 * squares[1]);
  CHECK(squares[0] < 8.5 * squares[1]);
}

TEST_CASE("Lookahead: what does not suit it is one line", "[mdp]") {
  MdpSpec mdp;
  mdp.encoder = "Lookahead";
  CHECK_THROWS_WITH(MakeEncoder(mdp),
                    "block batch: expected a non-preemptive process, found a preemptive one");
  mdp.preemptive = false;
  mdp.knowledge = Knowledge::kBlind;
  CHECK_THROWS_WITH(MakeEncoder(mdp),
                    "block batch: expected knowledge estimate or oracle, found blind");
  mdp.knowledge = Knowledge::kEstimate;
  mdp.encoder = "Lookahead(backfill=all)";
  CHECK_THROWS_WITH(MakeEncoder(mdp),
                    "block lookahead: backfill: expected auto, easy or none, found 'all'");
  mdp.encoder = "Lookahead(backfill=none)";
  mdp.semantics = Semantics::kCommit;
  CHECK_THROWS_WITH(MakeEncoder(mdp),
                    "block lookahead: backfill: expected auto under commit, found 'none'");
  mdp.encoder = "Lookahead(samples=1)";
  CHECK_THROWS(MakeEncoder(mdp));
}

}  // namespace berth
