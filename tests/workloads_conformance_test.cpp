// What every workload is tested for, by being listed: a pure function of (seed, split, env, episode) whose
// training and evaluation streams never meet, valid, and safe to call from any thread.
#include <cmath>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "data/workloads.hpp"
#include "env/check.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

ScenarioSettings DefaultSettings() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kDefaultCluster);
  settings.clock = {ClockKind::kRounds, 360.0};
  return settings;
}

std::shared_ptr<const ScenarioSource> Source(const std::string& spec) {
  return MakeWorkload(spec, DefaultSettings());
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
    ScenarioSettings settings = DefaultSettings();
    settings.knowledge = Knowledge::kEstimate;
    settings.estimate_sigma = 0.5;
    settings.costs.restore_s = 3.0;
    const Scenario scenario = MakeWorkload(info.name, settings)->Make(5, Split::kEvaluate, 0, 0, 17);
    CHECK(scenario.num_jobs() == 17);
    CHECK(scenario.data().clock.ToString() == "rounds(360)");
    CHECK(scenario.data().knowledge == Knowledge::kEstimate);
    CHECK(scenario.data().costs.restore_s == 3.0);
    CHECK(scenario.num_gpus() == 36);
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
  CHECK_THROWS_WITH(MakeWorkload("synthetic", settings), Catch::Contains("k80, p100 and v100"));
  settings.cluster = ParseCluster("v100=4");
  CHECK_THROWS_WITH(MakeWorkload("synthetic(gangs=multi)", settings),
                    Catch::Contains("in gangs of 8, which no GPU type"));
}

TEST_CASE("synthetic draws the reference's distributions (gavel/SPEC.md §10)") {
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
