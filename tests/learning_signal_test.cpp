// The learning signal against what it promises: hand-worked potentials, sums that telescope, arrivals whose
// compensation has mean 0, and a small decision process solved exactly, on which the bias of the policy
// gradient and the variance of the return are numbers.
#include "env/gym/signals/learning_signal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/signals/potential.hpp"
#include "env/gym/signals/wspt_potential.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

std::vector<WsptJob> Sorted(std::vector<WsptJob> jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const WsptJob& a, const WsptJob& b) { return a.Before(b); });
  return jobs;
}

// A queue at one GPU in steps of 1 s: jobs of 1 or 3 s, one arrives a step with probability 0.4, whom to
// serve is drawn by a softmax of theta x time left. Solved by recursion over the state: how many have 1, 2, 3
// s left.
class SmallQueue {
 public:
  using State = std::array<int, 3>;
  enum class Pays { kReward, kCounted, kOmitted, kExpected };
  struct Solved {
    double mean = 0.0, square = 0.0;  // of the return
    double gradient = 0.0;            // of the policy, as a policy gradient with these rewards finds it
  };

  SmallQueue(double theta, int steps, Pays pays) : theta_(theta), steps_(steps), pays_(pays) {}

  Solved Solve(int t, const State& state) {
    const double last = pays_ == Pays::kReward ? -Phi(state) : 0.0;
    if (t == steps_) return {last, last * last, 0.0};
    const auto [it, fresh] = solved_.try_emplace({t, state});
    if (!fresh) return it->second;
    double total = 0.0, mean_left = 0.0;
    for (int r = 0; r < 3; ++r) total += Likes(state, r);
    for (int r = 0; r < 3 && total > 0.0; ++r) mean_left += Likes(state, r) / total * (r + 1);
    Solved sum;
    const int served = total > 0.0 ? 3 : 1;  // an empty queue has one way on
    for (int r = 0; r < served; ++r) {
      const double chance = total > 0.0 ? Likes(state, r) / total : 1.0;
      if (chance == 0.0) continue;
      const Solved next = After(t, state, r);
      sum.mean += chance * next.mean;
      sum.square += chance * next.square;
      sum.gradient += chance * (next.gradient + (total > 0.0 ? (r + 1 - mean_left) * next.mean : 0.0));
    }
    return solved_[{t, state}] = sum;
  }

 private:
  static constexpr double kArrival = 0.4;

  double Likes(const State& state, int r) const { return state[U(r)] > 0 ? std::exp(theta_ * (r + 1)) : 0.0; }
  static std::vector<WsptJob> Jobs(const State& state) {
    std::vector<WsptJob> jobs;
    for (int r = 0; r < 3; ++r) jobs.insert(jobs.end(), U(state[U(r)]), WsptJob{1.0, r + 1.0, r + 1.0, true});
    return jobs;
  }
  static double Phi(const State& state) { return WsptCost(Jobs(state), 1.0, 1.0); }

  // One with r + 1 s left is served, somebody may arrive.
  Solved After(int t, const State& state, int r) {
    const double jobs = state[0] + state[1] + state[2];
    State left = state;
    if (jobs > 0) {
      --left[U(r)];
      if (r > 0) ++left[U(r - 1)];
    }
    const std::vector<WsptJob> may_arrive = {{1.0, 1.0, 1.0, true}, {1.0, 3.0, 3.0, true}};
    const double growth = kArrival * WsptGrowth(Jobs(left), may_arrive, 1.0, 1.0);
    Solved sum;
    for (int arrives : {-1, 0, 2}) {  // nobody, or a job of 1 or 3 s
      const double chance = arrives < 0 ? 1.0 - kArrival : kArrival / 2.0;
      State next = left;
      if (arrives >= 0) ++next[U(arrives)];
      double paid = -jobs;
      if (pays_ == Pays::kCounted) paid += Phi(state) - Phi(next);
      if (pays_ == Pays::kOmitted) paid += Phi(state) - Phi(left);
      if (pays_ == Pays::kExpected) paid += Phi(state) - Phi(left) - growth;
      const Solved rest = Solve(t + 1, next);
      sum.mean += chance * (paid + rest.mean);
      sum.square += chance * (paid * paid + 2.0 * paid * rest.mean + rest.square);
      sum.gradient += chance * rest.gradient;
    }
    return sum;
  }

  double theta_;
  int steps_;
  Pays pays_;
  std::map<std::pair<int, State>, Solved> solved_;
};

double Variance(const SmallQueue::Solved& solved) {
  return solved.square - solved.mean * solved.mean;
}

SchedEnvOptions Plain(const std::string& signal) {
  SchedEnvOptions options;
  options.signal = signal;
  options.episode_jobs = 60;
  options.warmup_jobs = 0;
  return options;
}

std::shared_ptr<const ScenarioSource> Source(const std::string& workload) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,p100=4,k80=4");
  return MakeWorkload(workload, settings);
}

int AnyLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::vector<int> legal;
  for (std::size_t a = 0; a < mask.size(); ++a) {
    if (mask[a] != 0) legal.push_back(static_cast<int>(a));
  }
  return legal[stream.Below(static_cast<std::uint32_t>(legal.size()))];
}

}  // namespace

TEST_CASE("learning signal: WSPT of three jobs by hand") {
  // Weight over work 1, 0.5, 0.25; 2 GPUs: waits 0, 2/2, (2+4)/2, of which the delays count twice.
  const auto jobs = Sorted({{1.0, 4.0, 4.0, true}, {2.0, 2.0, 2.0, true}, {2.0, 1.0, 4.0, true}});
  CHECK(jobs[0].work == 2.0);
  CHECK(jobs[1].weight == 2.0);
  CHECK(WsptCost(jobs, 2.0, 2.0) == 2.0 * 2.0 + 2.0 * (1.0 + 2.0 * 1.0) + 1.0 * (4.0 + 2.0 * 3.0));
  CHECK(WsptCost({}, 2.0, 2.0) == 0.0);
}

TEST_CASE("learning signal: an even share of two jobs by hand") {
  const auto phi = [](int gpus, const std::vector<test::TinyJob>& jobs) {
    const Scenario scenario = test::Tiny({{"v100", gpus}}, {{1.0}}, jobs);
    Simulator simulator(scenario);
    REQUIRE(simulator.AdvanceToDecision());
    const PotentialInfo info = EvenShareInfo();
    Params params({"even_share", {}}, {});
    const std::unique_ptr<Potential> potential = info.make(params, MdpSpec{});
    potential->Begin(simulator);
    return potential->Of(simulator, 1, false);
  };
  // On a GPU each they need 10 and 20 s; on one for both half as fast until the first is done, after 20 s.
  CHECK(phi(2, {{0.0, 10.0}, {0.0, 20.0}}).all == Approx(10.0 + 20.0));
  CHECK(phi(1, {{0.0, 10.0}, {0.0, 20.0}}).all == Approx(20.0 + 30.0));
  CHECK(phi(1, {{0.0, 10.0}, {0.0, 20.0}}).known == Approx(10.0));
  // A gang of 2 and a job of 1 on 2 GPUs: the gang has its turn half of the time, 20 s for its 10, and the
  // other is done by then.
  CHECK(phi(2, {{0.0, 10.0, 0, 2}, {0.0, 20.0}}).all == Approx(20.0 + 20.0));
}

TEST_CASE("learning signal: growth is the mean of what one more job adds") {
  Stream stream(5, Purpose::kTest, Split::kTrain, 0, 0);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<WsptJob> jobs, more;
    for (int k = 0; k < trial % 7; ++k)
      jobs.push_back({0.5 + stream.Uniform(), 10.0 * stream.Uniform(), 40.0 * stream.Uniform(), true});
    for (int k = 0; k < 5; ++k)
      more.push_back({0.5 + stream.Uniform(), 10.0 * stream.Uniform(), 40.0 * stream.Uniform(), true});
    jobs = Sorted(jobs), more = Sorted(more);
    double sum = 0.0;
    for (const WsptJob& one : more) {
      std::vector<WsptJob> with = jobs;
      with.push_back(one);
      sum += WsptCost(Sorted(with), 1.5, 3.0) - WsptCost(jobs, 1.5, 3.0);
    }
    CHECK(WsptGrowth(jobs, more, 1.5, 3.0) == Approx(sum / 5.0).epsilon(1e-12));
  }
}

TEST_CASE("learning signal: on a queue solved exactly, expected arrivals leave no bias, omitted ones some") {
  using Pays = SmallQueue::Pays;
  for (const double theta : {0.0, -1.0, 1.0}) {
    const SmallQueue::State start = {1, 0, 2};
    const auto solve = [&](Pays pays) { return SmallQueue(theta, 8, pays).Solve(0, start); };
    const SmallQueue::Solved reward = solve(Pays::kReward), counted = solve(Pays::kCounted),
                             omitted = solve(Pays::kOmitted), expected = solve(Pays::kExpected);
    INFO("theta " << theta << ": gradient " << reward.gradient << ", omitted " << omitted.gradient
                  << ", variance " << Variance(reward) << " counted " << Variance(counted) << ", omitted "
                  << Variance(omitted) << ", expected " << Variance(expected));
    // -Phi at the end is the reward's here, so that all four are of one objective.
    CHECK(counted.gradient == Approx(reward.gradient).epsilon(1e-12));
    CHECK(expected.gradient == Approx(reward.gradient).epsilon(1e-12));
    CHECK(Variance(counted) == Approx(Variance(reward)).epsilon(1e-9));
    CHECK(Variance(expected) < 0.4 * Variance(counted));
    CHECK(Variance(omitted) < 0.5 * Variance(expected));
    // What agents/README.md says of it.
    const double bias = 1.0 - omitted.gradient / reward.gradient;
    CHECK(bias > 0.135);
    CHECK(bias < 0.175);
    if (theta != 0.0) continue;
    CHECK(Variance(counted) == Approx(244.0).margin(0.5));
    CHECK(Variance(expected) == Approx(56.0).margin(0.5));
    CHECK(Variance(omitted) == Approx(20.0).margin(0.5));
  }
}

TEST_CASE("learning signal: with arrivals counted it telescopes") {
  for (const char* reward : {"jct", "slowdown", "jct+0.5*slowdown"}) {
    SchedEnvOptions options = Plain("wspt(arrivals=counted)");
    options.mdp.reward = reward;
    SchedEnv env(Source("synthetic(rate=2,jobs=100,gangs=1:0.7/2:0.3)"), options, 0);
    env.Begin(0);
    Params params(ParseSpec("wspt"), WsptInfo().params);
    const std::unique_ptr<Potential> potential = WsptInfo().make(params, options.mdp);
    potential->Begin(env.simulator());
    const double first = potential->Of(env.simulator(), 0, /*growth=*/false).all;
    double paid = 0.0, signal = 0.0;
    Stream stream(7, Purpose::kExplore, Split::kTrain, 0, 0);
    for (SchedEnv::Outcome outcome; !outcome.truncated && !outcome.terminated;) {
      outcome = env.Step(AnyLegal(env.mask(), stream));
      paid += outcome.reward, signal += outcome.signal;
    }
    const double last = potential->Of(env.simulator(), 0, /*growth=*/false).all;
    CHECK(signal == Approx(paid + first - last).epsilon(1e-9));
    CHECK(first < last);
  }
}

TEST_CASE("learning signal: what arrivals add has the mean that is put in its place") {
  // The same actions paid in both ways: the difference is the martingale, whose increments have mean 0.
  const auto play = [](const std::string& signal, std::uint32_t episode) {
    SchedEnvOptions options = Plain(signal);
    options.warmup_jobs = 340;  // without a scheduler nobody plays them: they are drawn, and tell the rate
    SchedEnv env(Source("synthetic(rate=2)"), options, 0);
    env.Begin(episode);
    Stream stream(7, Purpose::kExplore, Split::kTrain, 0, episode);
    double sum = 0.0;
    for (SchedEnv::Outcome outcome; !outcome.truncated && !outcome.terminated;) {
      outcome = env.Step(AnyLegal(env.mask(), stream));
      sum += outcome.signal;
    }
    return sum;
  };
  constexpr int kEpisodes = 60;
  double sum = 0.0, squares = 0.0;
  for (std::uint32_t episode = 0; episode < kEpisodes; ++episode) {
    const double difference = play("wspt(arrivals=expected)", episode) - play("wspt(arrivals=counted)", episode);
    sum += difference, squares += difference * difference;
  }
  const double mean = sum / kEpisodes;
  const double error = std::sqrt((squares / kEpisodes - mean * mean) / (kEpisodes - 1));
  INFO("mean " << mean << ", standard error " << error);
  CHECK(std::abs(mean) < 3.0 * error);
}

TEST_CASE("learning signal: auto, and what it refuses") {
  MdpSpec mdp;
  CHECK(LearningSignal("auto", mdp).ToString() == "wspt(delay=1.5,exponent=1.6,arrivals=omitted)");
  CHECK(LearningSignal("reward", mdp).ToString() == "reward");
  mdp.reward = "energy";
  CHECK_THROWS_WITH(LearningSignal("wspt", mdp), Catch::Matchers::Contains("energy"));
  CHECK_THROWS_WITH(LearningSignal("wstp", MdpSpec{}), Catch::Matchers::Contains("did you mean 'wspt'"));
  CHECK_THROWS_WITH(LearningSignal("wspt(arrivals=some)", MdpSpec{}), Catch::Matchers::Contains("arrivals"));
}

}  // namespace berth
