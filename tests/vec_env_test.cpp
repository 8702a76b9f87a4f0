// The MDP face: rewards, discounts, masks, truncation, and the same bits on any number of threads.
#include "env/gym/vec_env.hpp"

#include <algorithm>
#include <cmath>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/discount.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/channel_ranges.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// A Poisson stream of jobs over two types, in which either type is the better one for half of the jobs.
class ToySource : public ScenarioSource {
 public:
  // `ends`: the episode drains, as a fixed scenario does; otherwise more jobs would come and it is cut.
  explicit ToySource(Clock clock, bool ends = true, double gap_s = 40.0)
      : clock_(clock), ends_(ends), gap_s_(gap_s) {}
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    Stream stream(seed, Purpose::kTest, split, env, episode);
    std::vector<test::TinyJob> list;
    double now = 0.0;
    for (int i = 0; i < jobs; ++i) {
      if (gap_s_ > 0.0) now += stream.Exponential(gap_s_);
      list.push_back({now, 1.0 + stream.Uniform(0.0, 200.0), static_cast<int>(stream.Below(2)),
                      1 + static_cast<int>(stream.Below(2))});
    }
    ScenarioData data = test::TinyData({{"a", 2}, {"b", 3}}, {{1.0, 3.0}, {2.0, 0.5}}, list, clock_);
    data.cluster.types[0].price_per_hour = 2.0;
    data.cluster.types[1].price_per_hour = 3.0;
    data.cluster.types[0].idle_power_w = 10.0;
    data.cluster.types[1].peak_power_w = 200.0;
    for (double arrival : data.jobs.arrival)
      data.jobs.deadline.push_back(arrival + stream.Uniform(20.0, 400.0));
    return Scenario(std::move(data));
  }
  bool fixed() const override { return ends_; }
  std::string Describe() const override { return "toy"; }

 private:
  Clock clock_;
  bool ends_;
  double gap_s_;  // mean time between arrivals; 0 = all come at once
};

// Starts every waiting job that fits, in order of arrival.
class Greedy : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView& view, Decision& decision) override {
    plan_.Begin(view, false);
    for (int job : view.waiting()) {
      if (const int type = FastestFit(view, plan_, job); type >= 0) plan_.Put(view, job, type);
    }
    plan_.Emit(view, decision);
  }

 private:
  Plan plan_;
};

// What each reward must add up to over an episode from an empty cluster, from the completions and the metrics
// alone.
double Expected(const std::string& reward, const Simulator& simulator) {
  const Metrics m = Measure(simulator, {});
  const JobTable& jobs = simulator.scenario().data().jobs;
  if (reward == "jct") return m.mean_jct_s * m.jobs;
  if (reward == "makespan") return m.makespan_s;
  if (reward == "deadline") return m.deadline_miss_rate * m.jobs;
  if (reward == "cost") return m.cost;
  if (reward == "energy") return m.energy_kwh;
  if (reward == "ftf") return m.max_ftf;
  if (reward == "utilization") return -m.utilization;
  if (reward == "late") return 0.0;  // nobody asks: tests/services_test.cpp has some who do
  if (reward == "demand") {
    double sum = 0.0;
    for (std::size_t j = 0; j < jobs.arrival.size(); ++j)
      sum += (simulator.state().completion[j] - jobs.arrival[j]) * jobs.gang[j];
    return sum;
  }
  REQUIRE(reward == "slowdown");  // a new reward needs its line here
  double sum = 0.0;
  for (std::size_t j = 0; j < jobs.arrival.size(); ++j) {
    const double alone =
        jobs.total_steps[j] / (jobs.job_type[j] == 0 ? 3.0 : 2.0);  // the best of its two rates
    sum += (simulator.state().completion[j] - jobs.arrival[j]) / std::max(alone, 10.0);
  }
  return sum;
}

int RandomLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::uint32_t legal = 0;
  for (std::uint8_t m : mask) legal += m;
  REQUIRE(legal >= 1);
  std::uint32_t pick = stream.Below(legal);
  for (std::size_t a = 0;; ++a) {
    if (mask[a] != 0 && pick-- == 0) return static_cast<int>(a);
  }
}

SchedEnvOptions Options(bool preemptive, int visible) {
  SchedEnvOptions options;
  options.mdp.preemptive = preemptive;
  options.mdp.visible = visible;
  options.mdp.work_conserving = false;
  options.mdp.tau_s = 500.0;
  options.warmup_jobs = 0;
  return options;
}

}  // namespace

TEST_CASE("the undiscounted return is minus the summed JCT, and discounts follow simulated time") {
  const Clock clock = GENERATE(Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0});
  const bool preemptive = GENERATE(true, false);
  const int visible = GENERATE(2, 5, 40);
  CAPTURE(clock.ToString(), preemptive, visible);
  SchedEnvOptions options = Options(preemptive, visible);
  options.mdp.work_conserving = GENERATE(true, false);
  options.episode_jobs = 30;
  SchedEnv env(std::make_shared<ToySource>(clock), options, 0);
  Stream stream(5, Purpose::kTest);
  env.Begin(0);
  double sum = 0.0, product = 1.0;
  const double start = env.simulator().now();
  double skipped = env.simulator().JobSeconds();  // before the first choice
  for (;;) {
    const SchedEnv::Outcome outcome = env.Step(RandomLegal(env.mask(), stream));
    REQUIRE(CheckInvariants(env.simulator()) == "");
    sum += outcome.reward;
    product *= outcome.discount;
    if (outcome.terminated) break;
    REQUIRE_FALSE(outcome.truncated);
  }
  const std::vector<double> jct = CompletionTimes(env.simulator(), {});
  double total = 0.0;
  for (double x : jct) total += x;
  CHECK(-sum + skipped == Approx(total));
  CHECK(product == Approx(std::exp(-(env.simulator().now() - start) / 500.0)));
  CHECK(env.MeanJct() == Approx(total / static_cast<double>(jct.size())));
}

TEST_CASE("every reward's return is the metric that it names") {
  for (const RewardInfo& info : Rewards()) {
    DYNAMIC_SECTION(info.name) {
      SchedEnvOptions options = Options(true, 8);
      options.mdp.reward = std::string("2*") + info.name;
      options.episode_jobs = 30;
      SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}), options, 0);
      Stream stream(6, Purpose::kTest);
      env.Begin(0);
      Reward before(info.name);  // the first choice
      before.Begin(env.simulator());
      const double skipped = before.Running(env.simulator());
      double sum = 0.0;
      for (SchedEnv::Outcome outcome; !outcome.terminated;) {
        outcome = env.Step(RandomLegal(env.mask(), stream));
        sum += outcome.reward;
      }
      CHECK(-sum / 2.0 + skipped == Approx(Expected(info.name, env.simulator())));
      // What a search minimises is the same of a finished run, a job, where there is such. The metrics
      // count a slowdown below 1, of a job shorter than the bound of 10 s, as 1.
      const Metrics metrics = Measure(env.simulator(), {});
      const std::string name = info.name;
      if (info.a_job == nullptr) {
        CHECK_THROWS_AS(before.AJob(metrics), Error);
      } else {
        const double all = before.AJob(metrics) * metrics.jobs;
        CHECK(all == Approx(name == "slowdown" ? metrics.mean_slowdown * metrics.jobs
                                               : Expected(name, env.simulator())));
      }
    }
  }
}

TEST_CASE(
    "who arrives is counted once, with their work, and episodes say how many jobs they begin and end with") {
  SchedEnvOptions options = Options(/*preemptive=*/true, 8);
  options.episode_jobs = 10;
  options.warmup_jobs = 20;
  options.warmup = [] { return std::make_unique<Greedy>(); };
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false);
  SchedEnv alone(source, options, 0);
  alone.Begin(0);
  auto env = MakeVecEnv(source, options, 1, 1);
  StepStorage storage(1, env->layout().size(), env->num_actions());
  float new_jobs = 0.0F, new_work = 0.0F;
  StepBuffers out = storage.buffers();
  out.new_jobs = {&new_jobs, 1}, out.new_work = {&new_work, 1};
  env->Reset(out);
  Stream stream(11, Purpose::kTest);
  double begun = alone.simulator().jobs_in_system(), ended = 0.0, came = 0.0, work = 0.0;
  for (int episode = 0, before = alone.simulator().arrived_jobs(); episode < 3;) {
    const std::int32_t action = RandomLegal(alone.mask(), stream);
    const SchedEnv::Outcome outcome = alone.Step(action);
    env->Step({&action, 1}, out);
    came += new_jobs, work += new_work;
    if (!outcome.terminated && !outcome.truncated) continue;
    // ToySource: the best rates are 3 and 2 steps a second.
    const JobTable& jobs = alone.simulator().scenario().data().jobs;
    double expected = 0.0;
    for (int job = before; job < alone.simulator().arrived_jobs(); ++job)
      expected += jobs.gang[U(job)] * jobs.total_steps[U(job)] / (jobs.job_type[U(job)] == 0 ? 3.0 : 2.0);
    CHECK(came == alone.simulator().arrived_jobs() - before);
    CHECK(work == Approx(expected));
    ended += alone.simulator().jobs_in_system();
    alone.Begin(static_cast<std::uint32_t>(++episode));
    if (episode < 3) begun += alone.simulator().jobs_in_system();
    before = alone.simulator().arrived_jobs();
    came = work = 0.0;
  }
  // Saved and loaded with the rest of the environment.
  const std::vector<std::uint8_t> state = env->SaveState();
  auto loaded = MakeVecEnv(source, options, 1, 1);
  loaded->LoadState(state, storage.buffers());
  for (VecEnv* one : {env.get(), loaded.get()}) {
    const EpisodeStats stats = one->TakeStats();
    CHECK(stats.episodes == 3);
    CHECK(stats.backlog_begin_sum == begun);
    CHECK(stats.backlog_end_sum == ended);
  }
  CHECK(begun > 0.0);
}

TEST_CASE("an episode of a generator is cut when its jobs have arrived, with the observation of that point") {
  const bool preemptive = GENERATE(true, false);
  SchedEnvOptions options = Options(preemptive, 8);
  options.episode_jobs = 10;
  options.warmup_jobs = GENERATE(0, 20);
  options.warmup = [] { return std::make_unique<Greedy>(); };
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false);
  auto env = MakeVecEnv(source, options, 3, 1);
  std::vector<SchedEnv> alone;
  for (std::uint32_t i = 0; i < 3; ++i) alone.emplace_back(source, options, i).Begin(0);
  StepStorage storage(3, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  Stream stream(7, Purpose::kTest);
  std::vector<std::int32_t> actions(3);
  int truncated = 0, full = 0;  // cuts, and those where waiting alone is legal
  for (int step = 0; step < 2000; ++step) {
    const auto width = static_cast<std::size_t>(env->num_actions());
    for (std::size_t i = 0; i < 3; ++i) {
      actions[i] = RandomLegal(std::span(storage.action_mask).subspan(i * width, width), stream);
    }
    env->Step(actions, storage.buffers());
    for (std::size_t i = 0; i < 3; ++i) {
      const SchedEnv::Outcome outcome = alone[i].Step(actions[i]);
      REQUIRE(outcome.truncated == (storage.truncated[i] != 0));
      REQUIRE_FALSE(storage.terminated[i]);  // more jobs would come: an episode is cut, it does not drain
      if (!outcome.truncated) continue;
      ++truncated;
      const auto d = static_cast<std::size_t>(env->layout().size());
      const auto final_row = std::span(storage.final_observation).subspan(i * d, d);
      REQUIRE(std::equal(final_row.begin(), final_row.end(), alone[i].observation().begin()));
      const auto final_mask = std::span(storage.final_mask).subspan(i * width, width);
      REQUIRE(std::equal(final_mask.begin(), final_mask.end(), alone[i].mask().begin()));
      REQUIRE(std::count(final_mask.begin(), final_mask.end(), 1) >= 1);
      full += final_mask[width - 1] && std::count(final_mask.begin(), final_mask.end(), 1) == 1;
      alone[i].Begin(alone[i].episode() + 1);
      const auto next_row = std::span(storage.observation).subspan(i * d, d);
      REQUIRE(std::equal(next_row.begin(), next_row.end(), alone[i].observation().begin()));
      REQUIRE_FALSE(std::equal(final_row.begin(), final_row.end(), next_row.begin()));
    }
  }
  CHECK(truncated > 10);
  // Without preemption the cluster may be full at the cut: its mask then allows waiting, as if the next job
  // were known to come.
  if (!preemptive) CHECK(full > 0);
  CHECK(env->TakeStats().episodes == truncated);
}

// 50 jobs, of which up to 50 - 40 are the warm-up's: after k of them the episode is over with job k + 40, truncated
// but for k = 10, with which no job is left to come.
TEST_CASE("an episode of a whole log is cut while some of its jobs are to come, and else worked off") {
  SchedEnvOptions options = Options(true, 8);
  options.episode_jobs = 40;
  options.warmup_jobs = 20;
  options.warmup = [] { return std::make_unique<Greedy>(); };
  const auto source = FixedSource(ToySource(Clock{ClockKind::kEvent}).Make(1, Split::kTrain, 0, 0, 50), "50 jobs");
  SchedEnv env(source, options, 0);
  Stream stream(7, Purpose::kTest);
  int cut = 0, worked_off = 0;
  for (std::uint32_t episode = 0; episode < 150; ++episode) {
    env.Begin(episode);
    SchedEnv::Outcome outcome;
    while (!outcome.truncated && !outcome.terminated) outcome = env.Step(RandomLegal(env.mask(), stream));
    CHECK(outcome.truncated == env.simulator().arrivals_remain());
    CHECK(env.simulator().arrived_jobs() >= 40);
    if (outcome.terminated) CHECK(Measure(env.simulator(), {}).unfinished == 0);
    ++(outcome.truncated ? cut : worked_off);
  }
  CHECK(cut > worked_off);
  CHECK(worked_off > 0);
}

TEST_CASE("passing time is no instant, however large tau is") {
  const float below = std::nextafter(1.0F, 0.0F);
  CHECK(DiscountOf(0.0, 1e12) == 1.0);
  CHECK(DiscountOf(1e-9, 1e12) == below);       // exp(-1e-21) is 1 as a double already
  CHECK(DiscountOf(1.0, 1e9) == below);         // 1 - 1e-9, which a float rounds to 1
  CHECK(DiscountOf(1.0, 1e3) == Exp(-1.0 / 1e3));
  SchedEnvOptions options = Options(true, 8);
  options.mdp.tau_s = 1e12;
  options.episode_jobs = 10;
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false);
  SchedEnv alone(source, options, 0);
  alone.Begin(0);
  auto env = MakeVecEnv(source, options, 1, 1);
  StepStorage storage(1, env->layout().size(), env->num_actions());
  env->Reset(storage.buffers());
  Stream stream(7, Purpose::kTest);
  int passed = 0, instants = 0;
  for (int step = 0; step < 200; ++step) {
    const std::int32_t action = RandomLegal(alone.mask(), stream);
    const double before = alone.simulator().now();
    const SchedEnv::Outcome outcome = alone.Step(action);
    env->Step({&action, 1}, storage.buffers());
    const bool passes = alone.simulator().now() > before;
    REQUIRE(storage.discount[0] == (passes ? below : 1.0F));
    ++(passes ? passed : instants);
    if (outcome.terminated || outcome.truncated) alone.Begin(alone.episode() + 1);
  }
  CHECK((passed > 0 && instants > 0));
}

TEST_CASE("an episode of jobs that come all at once is worked off to its end") {
  SchedEnvOptions options = Options(true, 8);
  options.episode_jobs = 10;
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false, /*gap_s=*/0.0);
  SchedEnv env(source, options, 0);
  env.Begin(0);
  Stream stream(7, Purpose::kTest);
  SchedEnv::Outcome outcome;
  double cost = 0.0;
  while (!outcome.terminated) {
    outcome = env.Step(RandomLegal(env.mask(), stream));
    REQUIRE_FALSE(outcome.truncated);
    cost -= outcome.reward;
  }
  CHECK(Measure(env.simulator(), {}).unfinished == 0);
  CHECK(cost > 0.0);
}

TEST_CASE("an episode of a generator is worked off to its end where the reward is paid there") {
  SchedEnvOptions options = Options(true, 8);
  options.episode_jobs = 10;
  options.mdp.reward = "ftf";
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false);
  SchedEnv env(source, options, 0);
  env.Begin(0);
  Stream stream(7, Purpose::kTest);
  SchedEnv::Outcome outcome;
  while (!outcome.terminated) {
    REQUIRE(outcome.reward == 0.0);
    outcome = env.Step(RandomLegal(env.mask(), stream));
    REQUIRE_FALSE(outcome.truncated);
  }
  CHECK(outcome.reward == Approx(-Measure(env.simulator(), {}).max_ftf).epsilon(1e-12));
}

TEST_CASE("an episode starts from a cluster that the warm-up scheduler has filled") {
  SchedEnvOptions options = Options(true, 8);
  options.episode_jobs = 10;
  options.warmup_jobs = 20;
  options.warmup = [] { return std::make_unique<Greedy>(); };
  SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false), options, 0);
  int fewest = 1000, most = 0, busy = 0;
  for (std::uint32_t episode = 0; episode < 60; ++episode) {
    env.Begin(episode);
    fewest = std::min(fewest, env.simulator().arrived_jobs());
    most = std::max(most, env.simulator().arrived_jobs());
    busy += !env.simulator().state().running.empty();
    CHECK(env.history().empty());
    CHECK(CheckInvariants(env.simulator()) == "");
  }
  CHECK(fewest <= 3);
  CHECK(most >= 18);
  CHECK(busy > 30);
}

TEST_CASE("a fixed scenario is cut at random, within the jobs to train on") {
  // 100 jobs, one every 10 s, job j of j + 1 steps: the first job of a piece tells where it was cut.
  class Long : public ScenarioSource {
   public:
    Scenario Make(std::uint64_t, Split, std::uint32_t, std::uint32_t, int) const override {
      std::vector<test::TinyJob> jobs;
      for (int j = 0; j < 100; ++j) jobs.push_back({10.0 * j, 1.0 + j});
      return test::Tiny({{"a", 2}, {"b", 2}}, {{1.0, 2.0}}, jobs);
    }
    bool fixed() const override { return true; }
    std::string Describe() const override { return "long"; }
  };
  SchedEnvOptions options = Options(true, 8);
  options.episode_jobs = 10;
  options.jobs = {20, 60};
  SchedEnv env(std::make_shared<Long>(), options, 0);
  int first = 1000, last = 0;
  for (std::uint32_t episode = 0; episode < 200; ++episode) {
    env.Begin(episode);
    const Scenario& piece = env.simulator().scenario();
    CHECK(piece.num_jobs() == 10);
    CHECK(piece.data().jobs.arrival.front() == 0.0);
    const int at = static_cast<int>(piece.data().jobs.id.front());
    CHECK(piece.data().jobs.total_steps.front() == 1.0 + at);
    first = std::min(first, at);
    last = std::max(last, at);
  }
  CHECK(first >= 20);
  CHECK(first <= 22);
  CHECK(last >= 48);
  CHECK(last <= 50);
  options.jobs = {20, 101};
  CHECK_THROWS_AS(SchedEnv(std::make_shared<Long>(), options, 0), Error);
}

TEST_CASE("what a source throws in a worker reaches the caller as it is") {
  class Failing : public ToySource {
   public:
    Failing() : ToySource(Clock{ClockKind::kEvent}, /*ends=*/false) {}
    Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                  int jobs) const override {
      if (env == 3 && jobs > 1) throw Error("no workload for environment 3");
      return ToySource::Make(seed, split, env, episode, jobs);
    }
  };
  SchedEnvOptions options = Options(true, 8);
  for (int threads : {1, 2, 4}) {
    auto env = MakeVecEnv(std::make_shared<Failing>(), options, 4, threads);
    StepStorage storage(4, env->layout().size(), env->num_actions());
    CHECK_THROWS_WITH(env->Reset(storage.buffers()), "no workload for environment 3");
  }
}

TEST_CASE("a workload that never leaves a choice is an error, one that seldom does is drawn again") {
  // One job at a time on one GPU, done before the next comes: the only choice is to start it, which is asked.
  SchedEnvOptions options = Options(false, 4);
  options.episode_jobs = 1;
  options.warmup_jobs = 10;
  options.warmup = [] { return std::make_unique<Greedy>(); };
  SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}, /*ends=*/false), options, 0);
  for (std::uint32_t episode = 0; episode < 50; ++episode) {
    env.Begin(episode);
    CHECK(std::count(env.mask().begin(), env.mask().end(), 1) >= 1);
  }
}

TEST_CASE("the same bits on any number of threads, and after save and load") {
  SchedEnvOptions options = Options(true, 6);
  options.episode_jobs = 12;
  const auto source = std::make_shared<ToySource>(Clock{ClockKind::kRounds, 60.0}, /*ends=*/false);
  const auto make = [&](int threads) { return MakeVecEnv(source, options, 5, threads); };
  auto one = make(1), two = make(2), resumed = make(3);
  StepStorage a(5, one->layout().size(), one->num_actions()), b = a, c = a;
  one->Reset(a.buffers());
  two->Reset(b.buffers());
  Stream stream(8, Purpose::kTest);
  std::vector<std::int32_t> actions(5);
  for (int step = 0; step < 600; ++step) {
    for (std::size_t i = 0; i < 5; ++i) {
      const auto width = static_cast<std::size_t>(one->num_actions());
      actions[i] = RandomLegal(std::span(a.action_mask).subspan(i * width, width), stream);
    }
    one->Step(actions, a.buffers());
    two->Step(actions, b.buffers());
    if (step == 300) resumed->LoadState(one->SaveState(), c.buffers());
    if (step > 300) resumed->Step(actions, c.buffers());
    REQUIRE(a.observation == b.observation);
    REQUIRE(a.reward == b.reward);
    REQUIRE(a.action_mask == b.action_mask);
    if (step >= 300) REQUIRE(a.observation == c.observation);
    if (step > 300) REQUIRE(a.discount == c.discount);
  }
}

TEST_CASE("commit: the chosen job blocks until it fits and starts at once where it does") {
  SchedEnvOptions options = Options(false, 8);
  options.mdp.semantics = Semantics::kCommit;
  options.episode_jobs = 3;
  // One GPU of 1 step/s. Jobs of 100, 50, 10 s at 0, 1, 2. After job 0 the agent commits to job 1 at t = 1
  // (alone in the queue), then to job 2: completions 100, 150, 160.
  const auto source = [] {
    class Fixed : public ScenarioSource {
     public:
      Scenario Make(std::uint64_t, Split, std::uint32_t, std::uint32_t, int) const override {
        return test::Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {1, 50}, {2, 10}}, {ClockKind::kHpc});
      }
      bool fixed() const override { return true; }
      std::string Describe() const override { return "fixed"; }
    };
    return std::make_shared<Fixed>();
  }();
  SchedEnv env(source, options, 0);
  env.Begin(0);
  CHECK(env.num_actions() == 8);
  CHECK(env.Step(0).reward == 0.0 - 1.0);  // job 0 starts at 0; one job for 1 s until job 1 arrives
  // Job 1 waits over [1, 100): two jobs until 2, then three.
  CHECK(env.Step(0).reward == -(2.0 + 3.0 * 98.0));
  const SchedEnv::Outcome last = env.Step(0);
  CHECK(last.terminated);
  CHECK(env.simulator().state().completion == std::vector<double>{100, 150, 160});
}

TEST_CASE("jobs beyond the visible keep their GPUs, and the global block counts them") {
  SchedEnvOptions options = Options(true, 2);
  options.episode_jobs = 30;
  SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}), options, 0);
  env.Begin(0);
  Stream stream(9, Purpose::kTest);
  bool hidden = false;
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const float beyond = env.observation()[static_cast<std::size_t>(env.layout().global_offset() + 2)];
    const auto there = static_cast<double>(env.simulator().jobs_in_system());
    CHECK(beyond == Approx(std::log(1.0 + std::max(0.0, there - 2.0)) / 5.0).margin(1e-6));
    hidden = hidden || beyond > 0.0f;
    // Offered are the first and the last; whoever else runs keeps its GPUs, unless it ends.
    const SimState before = env.simulator().state();
    outcome = env.Step(RandomLegal(env.mask(), stream));
    for (std::size_t k = 1; k + 1 < before.active.Jobs().size(); ++k) {
      const int job = before.active[k];
      const std::span<const int> had = before.Devices(job), has = env.simulator().state().Devices(job);
      if (had.empty() || env.simulator().state().phase[static_cast<std::size_t>(job)] == JobPhase::kDone)
        continue;
      REQUIRE(std::equal(had.begin(), had.end(), has.begin(), has.end()));
    }
  }
  CHECK(hidden);
}

TEST_CASE("a work-conserving process offers done only where nothing fits, and then plays it by itself") {
  SchedEnvOptions options = Options(true, 40);
  options.mdp.work_conserving = true;
  options.episode_jobs = 30;
  SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}), options, 0);
  env.Begin(0);
  Stream stream(11, Purpose::kTest);
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    CHECK(env.mask().back() == 0);
    outcome = env.Step(RandomLegal(env.mask(), stream));
  }
}

TEST_CASE("observation channels stay in their stated ranges") {
  const EncoderInfo encoder = EncoderOf(kObservationV1);
  SchedEnvOptions options = Options(true, 4);
  options.episode_jobs = 30;
  SchedEnv env(std::make_shared<ToySource>(Clock{ClockKind::kEvent}), options, 0);
  env.Begin(0);
  Stream stream(10, Purpose::kTest);
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    test::RequireRanges(encoder, env.layout(), env.observation());
    outcome = env.Step(RandomLegal(env.mask(), stream));
  }
}

}  // namespace berth
