// What every workload is tested for, by being listed: a pure function of (seed, split, env, episode) whose
// training and evaluation streams never meet, valid, and safe to call from any thread.
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

ScenarioSettings DefaultSettings() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  settings.clock = {ClockKind::kRounds, 360.0};
  return settings;
}

// Its jobs know three types of GPUs alone, and ask for up to 48 of one.
ScenarioSettings SettingsFor(const std::string& spec) {
  ScenarioSettings settings = DefaultSettings();
  if (spec.rfind("adaptive", 0) == 0) settings.cluster = ParseCluster("t4=48/4");
  return settings;
}

std::shared_ptr<const ScenarioSource> Source(const std::string& spec) {
  return MakeWorkload(spec, SettingsFor(spec));
}

// Mean of `value(job)` over one large evaluation workload.
template <class Value>
double Mean(const Scenario& scenario, Value value) {
  double sum = 0.0;
  for (int job = 0; job < scenario.num_jobs(); ++job) sum += value(static_cast<std::size_t>(job));
  return sum / scenario.num_jobs();
}

}  // namespace

TEST_CASE("workload: the same key gives the same scenario, any other key another") {
  for (const WorkloadInfo& info : Workloads()) {
    CAPTURE(info.name);
    const auto source = Source(info.name);
    const std::uint64_t base = source->Make(7, Split::kTrain, 1, 2, 30).Hash();
    CHECK(source->Make(7, Split::kTrain, 1, 2, 30).Hash() == base);
    CHECK(Source(info.name)->Make(7, Split::kTrain, 1, 2, 30).Hash() == base);
    CHECK_FALSE(source->fixed());
    // The hash covers the seed, so the arrivals say whether the draws differ.
    const auto jobs = [&](std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode) {
      const Scenario scenario = source->Make(seed, split, env, episode, 30);
      return std::pair(scenario.data().jobs.arrival, scenario.data().jobs.total_steps);
    };
    const auto same = jobs(7, Split::kTrain, 1, 2);
    CHECK(jobs(8, Split::kTrain, 1, 2) != same);
    CHECK(jobs(7, Split::kEvaluate, 1, 2) != same);
    CHECK(jobs(7, Split::kTrain, 2, 2) != same);
    CHECK(jobs(7, Split::kTrain, 1, 3) != same);
    CHECK(jobs(7, Split::kTrain, 2, 1) != same);
    CHECK(jobs(8, Split::kTrain, 0, 2) !=
          jobs(7, Split::kTrain, 1, 2));  // run 8's env 0 is not run 7's env 1
  }
}

TEST_CASE("workload: settings and the number of jobs are respected") {
  for (const WorkloadInfo& info : Workloads()) {
    CAPTURE(info.name);
    ScenarioSettings settings = SettingsFor(info.name);
    settings.knowledge = Knowledge::kEstimate;
    settings.estimate_sigma = 0.5;
    settings.costs.restore_s = 3.0;
    const Scenario scenario = MakeWorkload(info.name, settings)->Make(5, Split::kEvaluate, 0, 0, 17);
    CHECK(scenario.num_jobs() == 17);
    CHECK(scenario.data().clock.ToString() == "rounds(360)");
    CHECK(scenario.data().knowledge == Knowledge::kEstimate);
    CHECK(scenario.data().costs.restore_s == 3.0);
    CHECK(scenario.num_gpus() == (std::string(info.name) == "adaptive" ? 48 : 36));
    CHECK(scenario.EstimateFactor(0) != 1.0);
    CHECK_FALSE(scenario.data().provenance.empty());
    CHECK(scenario.data().jobs.arrival[0] == 0.0);  // the first job arrives at once
  }
}

TEST_CASE("workload: the description is a spec that makes the same jobs") {
  for (const WorkloadInfo& info : Workloads()) {
    CAPTURE(info.name);
    const auto source = Source(info.name);
    const auto again = Source(source->Describe());
    CHECK(again->Describe() == source->Describe());
    CHECK(again->Make(1, Split::kTrain, 0, 0, 20).Hash() == source->Make(1, Split::kTrain, 0, 0, 20).Hash());
  }
}

TEST_CASE("workload: four threads make what one makes") {
  for (const WorkloadInfo& info : Workloads()) {
    CAPTURE(info.name);
    const auto source = Source(info.name);
    constexpr std::uint32_t kEpisodes = 32;
    std::vector<std::uint64_t> alone(kEpisodes), together(kEpisodes);
    for (std::uint32_t e = 0; e < kEpisodes; ++e)
      alone[e] = source->Make(3, Split::kTrain, e % 4, e, 40).Hash();
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint32_t e = t; e < kEpisodes; e += 4)
          together[e] = source->Make(3, Split::kTrain, t, e, 40).Hash();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(alone == together);
    CHECK(std::set<std::uint64_t>(alone.begin(), alone.end()).size() == kEpisodes);
  }
}

TEST_CASE("workload: an unknown name, parameter or value is an error that names the nearest right one") {
  CHECK_THROWS_WITH(Source("syntetic"), Catch::Contains("did you mean 'synthetic'"));
  for (const WorkloadInfo& info : Workloads()) {
    CAPTURE(info.name);
    const std::string name = info.name;
    const std::string first = info.params[0].name;
    CHECK_THROWS_WITH(Source(name + "(" + first + "x=2)"), Catch::Contains("did you mean '" + first + "'"));
    for (const char* bad : {"(rate=-1)", "(rate=nan)", "(rate=x)", "(jobs=0)", "(jobs=2.5)"}) {
      CAPTURE(bad);
      CHECK_THROWS_AS(Source(name + bad), Error);
    }
  }
  ScenarioSettings settings = DefaultSettings();
  settings.cluster = ParseCluster("h100=8");
  CHECK_THROWS_WITH(MakeWorkload("synthetic", settings), Catch::Contains("k80, p100, v100"));
  settings.cluster = ParseCluster("v100=4");
  CHECK_THROWS_WITH(MakeWorkload("synthetic(gangs=multi)", settings),
                    Catch::Contains("in gangs of 8, which no GPU type"));
}

TEST_CASE("synthetic draws the distributions of Gavel's generate_job") {
  const Scenario scenario = Source("synthetic(rate=4,gangs=multi,priorities=true,slo=true)")
                                ->Make(2, Split::kEvaluate, 0, 0, 40000);
  const JobTable& jobs = scenario.data().jobs;
  const ThroughputTable& table = scenario.data().throughputs;
  const double n = scenario.num_jobs();
  // Gaps of mean 3600 / 4 = 900 s; five standard errors.
  CHECK(std::abs(jobs.arrival.back() / (n - 1) - 900.0) < 5 * 900.0 / std::sqrt(n));
  const auto share = [&](int gang) {
    return Mean(scenario, [&](std::size_t j) { return jobs.gang[j] == gang ? 1.0 : 0.0; });
  };
  CHECK(std::abs(share(1) - 0.70) < 5 * std::sqrt(0.70 * 0.30 / n));
  CHECK(std::abs(share(2) - 0.10) < 5 * std::sqrt(0.10 * 0.90 / n));
  CHECK(std::abs(share(4) - 0.15) < 5 * std::sqrt(0.15 * 0.85 / n));
  CHECK(std::abs(share(8) - 0.05) < 5 * std::sqrt(0.05 * 0.95 / n));
  // Run time alone on V100s, from the truncated steps: long with probability 0.2; mean
  // 60 (0.2 (10^4 - 10^3) / ln 10 + 0.8 (10^3 - 10^1.5) / (1.5 ln 10)) s = 60 (781.7 + 224.3) s = 16.8 h; sd
  // 39 h.
  const auto v100 = [&](std::size_t j) {
    const std::size_t s = jobs.gang[j] == 1 ? 0 : jobs.gang[j] == 2 ? 1 : jobs.gang[j] == 4 ? 2 : 3;
    return jobs.total_steps[j] / table.alone[(static_cast<std::size_t>(jobs.job_type[j]) * 4 + s) * 3];
  };
  CHECK(std::abs(Mean(scenario, v100) / 3600.0 - 16.77) < 5 * 39.0 / std::sqrt(n));
  CHECK(std::abs(Mean(scenario, [&](std::size_t j) { return v100(j) > 60000.0 ? 1.0 : 0.0; }) - 0.2) <
        5 * std::sqrt(0.2 * 0.8 / n));
  CHECK(std::abs(Mean(scenario, [&](std::size_t j) { return jobs.weight[j] == 5.0 ? 1.0 : 0.0; }) - 0.2) <
        5 * std::sqrt(0.2 * 0.8 / n));
  const auto slo = [&](std::size_t j) { return (jobs.deadline[j] - jobs.arrival[j]) / v100(j); };
  CHECK(std::abs(Mean(scenario, [&](std::size_t j) { return std::abs(slo(j) - 1.2) < 0.05 ? 1.0 : 0.0; }) -
                 0.33) < 5 * std::sqrt(0.33 * 0.67 / n));
  CHECK(std::abs(Mean(scenario, [&](std::size_t j) { return slo(j) > 9.0 ? 1.0 : 0.0; }) - 0.33) <
        5 * std::sqrt(0.33 * 0.67 / n));
  std::set<int> types(jobs.job_type.begin(), jobs.job_type.end());
  CHECK(types.size() == 26);
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const auto j = static_cast<std::size_t>(job);
    REQUIRE(jobs.total_steps[j] >= 1.0);
    REQUIRE(jobs.total_steps[j] == std::floor(jobs.total_steps[j]));
  }
}

// Shares of 5 standard errors at most; whatever the list says, other draws stay where they were.
TEST_CASE("synthetic: gangs in any stated shares") {
  const auto jobs = [](const std::string& gangs, int count) {
    return Source("synthetic(gangs=" + gangs + ")")->Make(3, Split::kEvaluate, 0, 0, count).data().jobs;
  };
  constexpr int kJobs = 20000;
  for (const auto& [text, shares] : std::vector<std::pair<std::string, std::map<int, double>>>{
           {"1:0.8/2:0.2", {{1, 0.8}, {2, 0.2}}},
           {"8:0.25/1:0.5/4:0.25", {{1, 0.5}, {4, 0.25}, {8, 0.25}}},
           {"1:0.1/2:0.2/4:0.3/8:0.4", {{1, 0.1}, {2, 0.2}, {4, 0.3}, {8, 0.4}}}}) {
    CAPTURE(text);
    std::map<int, int> drawn;
    for (int gang : jobs(text, kJobs).gang) ++drawn[gang];
    CHECK(drawn.size() == shares.size());
    for (const auto& [gang, share] : shares) {
      CAPTURE(gang, drawn[gang]);
      CHECK(std::abs(drawn[gang] - share * kJobs) < 5 * std::sqrt(share * (1 - share) * kJobs));
    }
  }
  // The names are lists that somebody named.
  for (const auto& [name, list] :
       {std::pair("single", "1:1"), std::pair("multi", "1:0.7/2:0.1/4:0.15/8:0.05")}) {
    const JobTable named = jobs(name, 2000), listed = jobs(list, 2000);
    CHECK(named.gang == listed.gang);
    CHECK(named.job_type == listed.job_type);
    CHECK(named.total_steps == listed.total_steps);
    CHECK(named.arrival == listed.arrival);
  }
}

TEST_CASE("synthetic: a list of gangs that is none is an error that says what one looks like") {
  const char* expected = "gangs: expected single, multi or such as 1:0.8/2:0.2 of 1, 2, 4, 8 GPUs, found ";
  for (const auto& [text, found] : std::vector<std::pair<std::string, std::string>>{
           {"mulit", "'mulit'"},
           {"", "''"},
           {"1:0.8/2", "'1:0.8/2'"},
           {"1:0.8/3:0.2", "'3:0.2'"},
           {"1:0.8/2:0.1", "'1:0.8/2:0.1', probabilities of sum 0.9"},
           {"1:1.2/2:-0.2", "'1:1.2', a probability beyond (0, 1]"},
           {"2:-0.2/1:1", "'2:-0.2', a probability beyond (0, 1]"},
           {"1:0.8/2:0.2/4:0", "'4:0', a probability beyond (0, 1]"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(Source("synthetic(gangs=" + text + ")"), Catch::Contains(expected + found));
  }
  for (const char* text : {"1:x", "x:1", "1:", ":1", "1:nan"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(Source(std::string("synthetic(gangs=") + text + ")"),
                      Catch::Contains("synthetic: gangs"));
  }
}

TEST_CASE("on: another cluster for the same jobs") {
  ScenarioSettings settings = DefaultSettings();
  settings.costs.restore_s = 3.0;
  const auto source =
      MakeWorkload("on(cluster=v100=6/2+p100=4,features=,of=synthetic(rate=0.7,gangs=1:0.8/2:0.2))", settings);
  CHECK(source->Describe().starts_with(
      "on(cluster=v100=6/2+p100=4,features=,of=synthetic(rate=0.7,jobs=1000,gangs=1:0.8/2:0.2"));
  const Scenario scenario = source->Make(4, Split::kTrain, 1, 2, 30);
  const std::vector<GpuType>& types = scenario.data().cluster.types;
  REQUIRE(types.size() == 2);
  CHECK((types[0].name == "v100" && types[0].count == 6 && types[0].gpus_per_node == 2));
  CHECK((types[1].name == "p100" && types[1].count == 4));
  CHECK(scenario.data().clock.ToString() == "rounds(360)");
  CHECK(scenario.data().costs.restore_s == 3.0);
  // As if --cluster had said so.
  settings.cluster = ParseCluster("v100=6/2,p100=4");
  const auto plain = MakeWorkload("synthetic(rate=0.7,gangs=1:0.8/2:0.2)", settings);
  CHECK(plain->Make(4, Split::kTrain, 1, 2, 30).Hash() == scenario.Hash());
}

TEST_CASE("on: a mix takes turns of clusters") {
  const auto source = Source(
      "mix(of=on(cluster=v100=4+p100=4,of=toy);toy;on(cluster=k80=2,of=mix(of=toy(rate=1);toy(rate=2))))");
  std::vector<int> gpus;
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    gpus.push_back(source->Make(seed, Split::kEvaluate, 0, 0, 5).num_gpus());
  CHECK(gpus == std::vector<int>{8, 36, 2, 8, 36, 2});
  CHECK(Source(source->Describe())->Make(2, Split::kTrain, 0, 0, 5).Hash() ==
        source->Make(2, Split::kTrain, 0, 0, 5).Hash());
}

TEST_CASE("on: what is no cluster or no workload is an error that says so") {
  for (const auto& [spec, found] : std::vector<std::pair<std::string, std::string>>{
           {"on(cluster=v10=12)", "on: parameter 'cluster', with '+' for ',': unknown GPU type 'v10'"},
           {"on(cluster=v100=12+p100)", "expected TYPE=COUNT or TYPE=COUNT/GPUS_PER_NODE, found 'p100'"},
           {"on(cluster=)", "found nothing"},
           {"on(cluster=v100=12,p100=12)", "on"},
           {"on(of=syntetic)", "did you mean 'synthetic'"},
           {"on(reward=jtc)", "on: parameter 'reward': reward 'jtc': unknown term 'jtc' (did you mean 'jct'?)"},
           {"on(reward=deadline)", "on: parameter 'reward': deadline: expected jobs with deadlines"},
           {"on(cluster=v100=4,of=synthetic(gangs=multi))", "in gangs of 8, which no GPU type"}}) {
    CAPTURE(spec);
    CHECK_THROWS_WITH(Source(spec), Catch::Contains(found));
  }
}

// Each episode of a mix is paid, and taught, as if its reward were the process's.
TEST_CASE("on: a reward of its own") {
  const auto source = Source(
      "mix(of=on(cluster=v100=2+p100=2,of=toy);on(cluster=v100=2+p100=2,reward=3*slowdown,of=toy);"
      "on(cluster=v100=2+p100=2,reward=2*jct,of=on(cluster=v100=2+p100=2,reward=7*makespan,of=toy)))");
  const auto plain = Source("on(cluster=v100=2+p100=2,of=toy)");
  CHECK(source->RewardOf(3, Split::kTrain, 0, 2) == "7*makespan");
  CHECK(plain->RewardOf(3, Split::kTrain, 0, 2).empty());
  CHECK(source->Describe().find("reward=,") == std::string::npos);
  CHECK(Source(source->Describe())->RewardOf(1, Split::kTrain, 0, 0) == "3*slowdown");
  for (const char* signal : {"auto", "reward"}) {
    SchedEnvOptions options;
    options.episode_jobs = 20;
    options.signal = signal;
    SchedEnv mixed(source, options, 0);
    double first = 0.0;
    for (std::uint32_t episode : {0U, 1U, 2U, 0U}) {
      SchedEnvOptions own = options;
      own.mdp.reward = std::vector<std::string>{"jct", "3*slowdown", "7*makespan"}[episode];
      SchedEnv alone(plain, own, 0);
      mixed.Begin(episode), alone.Begin(episode);
      double paid = 0.0;
      for (bool ended = false; !ended;) {
        const auto mask = mixed.mask();
        const auto action = static_cast<int>(std::find(mask.begin(), mask.end(), 1) - mask.begin());
        const SchedEnv::Outcome of_mix = mixed.Step(action), of_alone = alone.Step(action);
        REQUIRE(of_mix.reward == of_alone.reward);
        REQUIRE(of_mix.signal == of_alone.signal);
        paid += of_mix.reward;
        ended = of_mix.terminated || of_mix.truncated;
      }
      CHECK(paid < 0.0);
      if (episode == 0) CHECK((first == 0.0 || first == paid));
      if (episode == 0) first = paid;
    }
  }
}

// An observation has so many types: environments whose workloads have others say so, at whichever episode of
// whichever environment they meet one.
TEST_CASE("on: the decision process wants one number of GPU types") {
  SchedEnvOptions options;
  options.warmup_jobs = 0;
  options.episode_jobs = 5;
  const auto mixed = Source("mix(of=on(cluster=v100=4+k80=4,of=toy);on(cluster=v100=8,of=toy))");
  SchedEnv alone(mixed, options, 0);
  alone.Begin(0);
  CHECK_THROWS_WITH(alone.Begin(1), Catch::Contains("as many GPU types as the first one's 2") &&
                                        Catch::Contains("found 1 in episode 1 of environment 0 of mix("));
  const auto several = MakeVecEnv(mixed, options, 3, 2);
  StepStorage storage(3, several->layout().size(), several->num_actions());
  CHECK_THROWS_WITH(several->Reset(storage.buffers()),
                    Catch::Contains("found 1 in episode 0 of environment 1"));
  // Other counts of as many types are fine, other types too.
  const auto alike = MakeVecEnv(
      Source("mix(of=on(cluster=v100=4+k80=4,of=toy);on(cluster=p100=2+v100=8,of=toy))"), options, 3, 2);
  CHECK_NOTHROW(alike->Reset(storage.buffers()));
  CHECK(alike->simulator(0).scenario().num_gpus() == 8);
  CHECK(alike->simulator(1).scenario().num_gpus() == 10);
}

TEST_CASE("synthetic: an option moves no other option's draws") {
  const auto steps = [](const char* spec) {
    return Source(spec)->Make(1, Split::kTrain, 0, 0, 200).data().jobs.total_steps;
  };
  const auto arrivals = [](const char* spec) {
    return Source(spec)->Make(1, Split::kTrain, 0, 0, 200).data().jobs.arrival;
  };
  CHECK(steps("synthetic(slo=true)") == steps("synthetic"));
  CHECK(steps("synthetic(rate=9)") == steps("synthetic"));
  CHECK(arrivals("synthetic(gangs=multi)") == arrivals("synthetic"));
  for (double at : arrivals("synthetic(rate=0)")) REQUIRE(at == 0.0);  // static: all jobs at time 0
}

}  // namespace berth
