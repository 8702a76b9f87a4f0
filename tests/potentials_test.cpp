// The potentials beside WSPT, and sums of potentials: hand-worked values, what no interval can be paid more
// than, what telescopes, with and without a discount, and arrivals that nobody's choice changes.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/signals/critical_ratio_potential.hpp"
#include "env/gym/signals/learning_signal.hpp"
#include "env/gym/signals/load_prices.hpp"
#include "env/gym/signals/work_potential.hpp"
#include "tests/a100s.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

struct Process {
  const char* reward;
  const char* counted;  // the signal that is shaping alone
  bool preemptive;
};
constexpr Process kProcesses[] = {
    {"jct", "wspt(arrivals=counted)", false},
    {"makespan", "work(arrivals=counted)", true},
    {"cost", "work(arrivals=counted)", true},
    {"cost", "work(arrivals=counted)", false},
    {"energy+10*cost", "work(arrivals=counted)", true},
    {"deadline", "critical_ratio(arrivals=counted)", true},
    {"deadline", "critical_ratio(arrivals=counted)", false},
    {"jct+1000*deadline", "wspt(arrivals=counted)+critical_ratio(exponent=1,arrivals=counted)", true},
};

SchedEnvOptions OptionsOf(const std::string& reward, const std::string& signal, bool preemptive = true) {
  SchedEnvOptions options;
  options.mdp.reward = reward;
  options.mdp.preemptive = options.mdp.work_conserving = preemptive;
  options.signal = signal;
  options.episode_jobs = 60;
  options.warmup_jobs = 0;
  return options;
}

SchedEnv MakeEnv(const SchedEnvOptions& options) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,p100=4,k80=4");
  return SchedEnv(MakeWorkload("synthetic(rate=2,jobs=100,gangs=1:0.7/2:0.3,slo=true)", settings), options, 0);
}

// One episode of arbitrary choices, each outcome shown to `see`.
template <class See>
void Play(SchedEnv& env, std::uint32_t choices, See&& see) {
  Stream stream(7, Purpose::kExplore, Split::kTrain, 0, choices);
  env.Begin(0);
  for (SchedEnv::Outcome outcome; !outcome.truncated && !outcome.terminated;) {
    std::vector<int> legal;
    for (int a = 0; a < env.num_actions(); ++a) {
      if (env.mask()[U(a)] != 0) legal.push_back(a);
    }
    outcome = env.Step(legal[stream.Below(static_cast<std::uint32_t>(legal.size()))]);
    see(outcome);
  }
}

// phi of all its potentials, as Settle has it.
double PhiOf(const std::string& spec, const MdpSpec& mdp, const Simulator& simulator) {
  double phi = 0.0;
  for (const std::string& part : SplitOutsideParentheses(spec, '+')) {
    for (const PotentialInfo& info : Potentials()) {
      Spec one = ParseSpec(part);
      if (info.name != one.name) continue;
      std::erase_if(one.params, [](const auto& param) { return param.first == "arrivals"; });
      Params params(one, info.params);
      const std::unique_ptr<Potential> potential = info.make(params, mdp);
      potential->Begin(simulator);
      phi += potential->Of(simulator, 0, /*growth=*/false).all;
    }
  }
  return phi;
}

}  // namespace

TEST_CASE("potentials: the prices of two types by hand") {
  // Of one type, 4 GPUs: 1/4 each, and 8 GPU s take 2 s.
  const std::vector<TypedWork> alone = {{5.0, {1.0}}, {3.0, {1.0}}};
  const double four[] = {4.0}, ones[] = {1.0, 1.0};
  CHECK(FindLoadPrices(alone, four).load == Approx(2.0).epsilon(1e-12));
  CHECK(FindLoadPrices(alone, four).price[0] == 0.25);
  // A GPU of each. The first job is twice as fast on type 0, the second equally fast. Both at once take 2 s,
  // and no plan less: type 0's price p bounds it by 2 min(p, 2 - 2p) + 2 min(p, 1 - p), 2 at p = 1/2.
  const std::vector<TypedWork> both = {{2.0, {1.0, 0.5}}, {2.0, {1.0, 1.0}}};
  const LoadPrices found = FindLoadPrices(both, ones);
  CHECK(found.load <= 2.0 + 1e-12);
  CHECK(found.load > 1.98);
  CHECK(found.price[0] + found.price[1] == Approx(1.0).epsilon(1e-12));
  CHECK(FindLoadPrices({}, ones).load == 0.0);
  // A long job that needs one GPU of four: 10 s, however idle the others are, and 8 GPU s beside it.
  const std::vector<TypedWork> longest = {{10.0, {1.0}, 10.0}, {8.0, {1.0}, 2.0}};
  const LoadPrices of_longest = FindLoadPrices(longest, four);
  CHECK(of_longest.load <= 10.0 + 1e-12);
  CHECK(of_longest.load > 9.9);
  CHECK(of_longest.own[0] > 0.95);
  CHECK(4.0 * of_longest.price[0] + of_longest.own[0] + of_longest.own[1] == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("potentials: the share of the time to a deadline that a job has to run") {
  CHECK(MissChance(2.0, 4.0, 1.0) == 0.5);
  CHECK(MissChance(2.0, 4.0, 2.0) == Approx(0.25).epsilon(1e-14));
  CHECK(MissChance(0.0, 4.0, 2.0) == 0.0);
  CHECK(MissChance(4.0, 4.0, 2.0) == 1.0);
  CHECK(MissChance(9.0, 4.0, 2.0) == 1.0);  // cannot be kept
  CHECK(MissChance(1.0, 0.0, 2.0) == 1.0);  // not passed, not paid
  CHECK(MissChance(1.0, -1.0, 2.0) == 0.0);
}

TEST_CASE("potentials: who holds a part of a GPU is that part of its time in work") {
  // On one GPU jobs of 10 and 4 s wait, the longer one for a fifth of it: 2 GPU s of work go before 4, and the other
  // one waits 1.5 x 2 s for them. Whole, 4 s would go first.
  for (const int milli : {200, 1000}) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 4}});
    data.jobs.gpu_milli = {milli, 1000};
    data.features = ParseFeatures("sharing(share_suffices=true)");
    Simulator simulator{Scenario(data)};
    REQUIRE(simulator.AdvanceToDecision());
    CHECK(PhiOf("wspt", MdpSpec{}, simulator) == Approx(14.0 + 1.5 * (milli == 200 ? 2.0 : 4.0)));
  }
}

TEST_CASE("potentials: the work of who needs a part of a GPU is that part of its time") {
  // At 2 currency units a GPU second, 10 s of a fifth of a GPU and 4 s of a whole one. Of 5 s that come later, a fifth arrives.
  for (const int milli : {200, 1000}) {
    ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 10}, {0, 4}, {3, 5}});
    data.cluster.types[0].price_per_hour = 7200.0;
    data.jobs.gpu_milli = {milli, 1000, milli};
    data.features = ParseFeatures("sharing(share_suffices=true)");
    Simulator simulator{Scenario(data)};
    REQUIRE(simulator.AdvanceToDecision());
    MdpSpec mdp;
    mdp.reward = "cost";
    CHECK(PhiOf("work", mdp, simulator) == Approx(milli == 200 ? 12.0 : 28.0));

    SchedEnv env(FixedSource(Scenario(data), ""), OptionsOf("cost", "reward"), 0);
    double work = 0.0;
    Play(env, 0, [&](const SchedEnv::Outcome& outcome) { work += outcome.new_work; });
    CHECK(work == Approx(milli == 200 ? 1.0 : 5.0));
  }
}

TEST_CASE("potentials: GPUs that could be in slices are no more GPUs") {
  for (const char* spec : {"wspt", "even_share"}) {
    const auto phi = [&](const char* features) {
      Simulator simulator{Scenario(test::A100s(4, {{0, 100, 0, 4}, {0, 70, 0, 2}, {0, 50}, {0, 20}, {0, 10}}, {1.0}, features))};
      REQUIRE(simulator.AdvanceToDecision());
      return PhiOf(spec, MdpSpec{}, simulator);
    };
    CAPTURE(spec);
    CHECK(phi("partitions") == Approx(phi("")));
  }
}

TEST_CASE("potentials: a step is cheapest where its GPU seconds cost least") {
  SchedEnv env = MakeEnv(OptionsOf("jct", "reward"));
  env.Begin(0);
  const Scenario& scenario = env.simulator().scenario();
  const double price[] = {3.0, 2.0, 1.0};
  for (int job = 0; job < 20; ++job) {
    const double gang = scenario.data().jobs.gang[U(job)];
    double least = 1e300;
    for (int g = 0; g < 3; ++g) least = std::min(least, gang * price[g] / scenario.Rate(job, g));
    CHECK(LeastPrice(scenario, job, price) == least);
  }
}

TEST_CASE("potentials: each telescopes, and so do sums, preemptive or not") {
  for (const Process& process : kProcesses) {
    CAPTURE(process.reward, process.counted, process.preemptive);
    const SchedEnvOptions options = OptionsOf(process.reward, process.counted, process.preemptive);
    SchedEnv env = MakeEnv(options);
    env.Begin(0);
    const double first = PhiOf(process.counted, options.mdp, env.simulator());
    double paid = 0.0, signal = 0.0, moved = 0.0;
    Play(env, 0, [&](const SchedEnv::Outcome& outcome) {
      paid += outcome.reward, signal += outcome.signal;
      moved += std::abs(outcome.signal - outcome.reward);
    });
    const double last = PhiOf(process.counted, options.mdp, env.simulator());
    CHECK(signal == Approx(paid + first - last).epsilon(1e-9));
    CHECK(moved > 0.0);
  }
}

TEST_CASE("potentials: discounted, it is the reward until a time of mean tau, and then the estimate") {
  // Where d_t is the chance that the clock runs on behind step t, sum over t of (d_0 ... d_t-1) F_t is
  //   phi(s_0) + sum over t of (d_0 ... d_t-1) (R_t - (1 - d_t) phi(s_t+1)) - (d_0 ... d_n-1) phi(s_n).
  const std::string counted = "wspt(arrivals=counted)";
  const SchedEnvOptions options = OptionsOf("jct", counted);
  SchedEnv env = MakeEnv(options);
  env.Begin(0);
  const double first = PhiOf(counted, options.mdp, env.simulator());
  double signal = 0.0, stopped = first, runs_on = 1.0;
  Play(env, 0, [&](const SchedEnv::Outcome& outcome) {
    signal += runs_on * outcome.signal;
    stopped += runs_on * outcome.reward;
    // No time passes within an instant, and nothing is left then of 1 - d.
    if (outcome.discount < 1.0)
      stopped -= runs_on * (1.0 - outcome.discount) * PhiOf(counted, options.mdp, env.simulator());
    runs_on *= outcome.discount;
  });
  stopped -= runs_on * PhiOf(counted, options.mdp, env.simulator());
  CHECK(signal == Approx(stopped).epsilon(1e-9));
  CHECK(runs_on < 0.9);
}

TEST_CASE("potentials: of work and deadlines what arrivals add is the same whatever is done") {
  for (const auto& [reward, spec] : {std::pair<std::string, std::string>{"makespan", "work"},
                                     {"energy", "work"},
                                     {"deadline", "critical_ratio"}}) {
    CAPTURE(reward);
    const SchedEnvOptions options = OptionsOf(reward, spec);
    std::array<double, 2> added = {};
    std::array<double, 2> paid = {};
    for (std::uint32_t choices = 0; choices < 2; ++choices) {
      SchedEnv env = MakeEnv(options);
      env.Begin(0);
      const double first = PhiOf(spec, options.mdp, env.simulator());
      Play(env, choices, [&](const SchedEnv::Outcome& outcome) {
        paid[choices] += outcome.reward;
        added[choices] += outcome.signal - outcome.reward;
      });
      added[choices] += PhiOf(spec, options.mdp, env.simulator()) - first;
    }
    CHECK(added[0] == Approx(added[1]).epsilon(1e-9));
    CHECK(added[0] > 0.0);
    if (reward != "makespan") CHECK(paid[0] != paid[1]);  // which the clock alone decides in an episode cut
  }
}

TEST_CASE("potentials: no interval is paid more than the least that its work costs") {
  // Prices are of a dual: a GPU's second earns at most its price, and all GPUs' together a second a second.
  for (const std::string reward : {"makespan", "cost", "energy"}) {
    CAPTURE(reward);
    SchedEnv env = MakeEnv(OptionsOf(reward, "auto"));
    double worst = 0.0, all = 0.0;
    Play(env, 0, [&](const SchedEnv::Outcome& outcome) {
      worst = std::max(worst, outcome.signal);
      all += outcome.signal;
    });
    CHECK(all < 0.0);
    CHECK(worst <= -1e-9 * all);
  }
}

TEST_CASE("potentials: auto takes all that know a term") {
  const auto chosen = [](const std::string& reward) {
    MdpSpec mdp;
    mdp.reward = reward;
    return LearningSignal("auto", mdp).ToString();
  };
  CHECK(chosen("makespan") == "work(arrivals=omitted)");
  CHECK(chosen("deadline") == "critical_ratio(exponent=2,arrivals=omitted)");
  CHECK(chosen("jct+100*cost").find("+work(arrivals=omitted)") != std::string::npos);
  CHECK(chosen("utilization") == "reward");
  CHECK(chosen("ftf") == "reward");
  MdpSpec mdp;
  mdp.reward = "jct+cost";
  // What it resolved to is what a run that goes on is given.
  const std::string resolved = LearningSignal("work+wspt(delay=1)", mdp).ToString();
  CHECK(LearningSignal(resolved, mdp).ToString() == resolved);
  CHECK_THROWS_WITH(LearningSignal("work+work", mdp), Catch::Matchers::Contains("twice"));
  CHECK_THROWS_WITH(LearningSignal("wspt+reward", mdp), Catch::Matchers::Contains("reward"));
  CHECK_THROWS_WITH(LearningSignal("", mdp), Catch::Matchers::Contains("expected auto"));
  CHECK_THROWS_WITH(LearningSignal("critical_ratio", mdp), Catch::Matchers::Contains("deadline"));
}

}  // namespace berth
