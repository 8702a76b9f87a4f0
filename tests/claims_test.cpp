// The symmetries that rows claim (env/sim/scheduler.hpp: Claims), and what Decide allocates. Arrivals, sizes,
// weights and rates are drawn so that no two choices tie; completions may differ in the last bits, since sums
// change their order.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/sim/simulator.hpp"
#include "tests/allocations.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using test::Make;
constexpr int kBatch = 6;  // jobs that arrive together

// 48 jobs in batches on three GPU types; about twice the work that the cluster does between two batches.
ScenarioData Untied(std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  std::vector<double> weight;
  double now = 0.0;
  for (int i = 0; i < 8 * kBatch; ++i) {
    if (i % kBatch == 0) now += stream.Uniform(50.0, 150.0);
    jobs.push_back(
        {now, stream.Uniform(20.0, 2000.0), static_cast<int>(stream.Below(3)), 1 << stream.Below(3)});
    weight.push_back(stream.Uniform(1.0, 5.0));
  }
  ScenarioData data = test::TinyData({{"v100", 4}, {"p100", 6}, {"k80", 5}},
                                     {{4.1, 2.3, 1.2}, {2.2, 2.6, 0.7}, {1.3, 1.9, 0.4}}, jobs);
  data.jobs.weight = weight;
  data.seed = seed;
  return data;
}

template <typename T>
void Rotate(std::vector<T>& values, std::size_t begin, std::size_t count) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
  std::rotate(first, first + 1, first + static_cast<std::ptrdiff_t>(count));
}

ScenarioData RenameTypes(ScenarioData data) {
  const std::size_t types = data.cluster.types.size();
  Rotate(data.cluster.types, 0, types);
  for (std::size_t row = 0; row < data.throughputs.alone.size(); row += types) {
    Rotate(data.throughputs.alone, row, types);
  }
  return data;
}

ScenarioData RenameJobs(ScenarioData data) {
  for (std::size_t i = 0; i < data.jobs.id.size(); i += kBatch) {
    Rotate(data.jobs.id, i, kBatch);
    Rotate(data.jobs.job_type, i, kBatch);
    Rotate(data.jobs.gang, i, kBatch);
    Rotate(data.jobs.total_steps, i, kBatch);
    Rotate(data.jobs.weight, i, kBatch);
  }
  return data;
}

constexpr double kSlower = 3.0;

ScenarioData ScaleTimes(ScenarioData data) {
  for (double& arrival : data.jobs.arrival) arrival *= kSlower;
  for (double& steps : data.jobs.total_steps) steps *= kSlower;
  return data;
}

// Completion of each job by its id.
std::map<std::int64_t, double> Completions(ScenarioData data, const std::string& spec) {
  const Scenario scenario(std::move(data));
  const auto scheduler = Make(spec);
  Simulator simulator(scenario);
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    REQUIRE(simulator.Apply(decision).ok());
  }
  REQUIRE(simulator.finished());
  std::map<std::int64_t, double> done;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const auto i = static_cast<std::size_t>(job);
    done[scenario.data().jobs.id[i]] = simulator.state().completion[i];
  }
  return done;
}

// The largest relative difference of a completion from `scale` times its twin.
double Difference(const ScenarioData& data, const ScenarioData& twin, const std::string& spec,
                  double scale = 1.0) {
  const auto expected = Completions(data, spec), found = Completions(twin, spec);
  REQUIRE(expected.size() == found.size());
  double worst = 0.0;
  for (const auto& [id, time] : expected) {
    worst = std::max(worst, std::abs(found.at(id) - scale * time) / (scale * time));
  }
  return worst;
}

constexpr double kSame = 1e-9;  // rounding of sums in another order; one other choice moves seconds

}  // namespace

TEST_CASE("schedulers: the symmetries that a row claims are there") {
  int claims = 0;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    claims += info.claims.types + info.claims.jobs + info.claims.times;
    DYNAMIC_SECTION(info.name) {
      for (std::uint64_t seed : {11, 12, 13, 14}) {
        CAPTURE(seed);
        const ScenarioData data = Untied(seed);
        if (info.claims.types) CHECK(Difference(data, RenameTypes(data), info.name) < kSame);
        if (info.claims.jobs) CHECK(Difference(data, RenameJobs(data), info.name) < kSame);
        if (info.claims.times) CHECK(Difference(data, ScaleTimes(data), info.name, kSlower) < kSame);
      }
    }
  }
  CHECK(claims >= 15);
}

TEST_CASE("schedulers: each renaming shows in a scheduler that lacks the symmetry") {
  const ScenarioData data = Untied(11);
  CHECK(Difference(data, RenameTypes(data), "fcfs(place=first)") > kSame);
  CHECK(Difference(data, RenameJobs(data), "fcfs") > kSame);
  CHECK(Difference(data, ScaleTimes(data), "las", kSlower) > kSame);
}

TEST_CASE("schedulers: what Decide allocates after a first episode is counted and said") {
  const std::int64_t before = test::Allocations();
  const std::vector<double> counted(3);
  REQUIRE(test::Allocations() == before + 1);
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    const Scenario scenario = test::RandomScenario(15, 40, {ClockKind::kEvent});
    const auto scheduler = Make(info.name);
    Decision decision;
    std::int64_t allocations = 0, calls = 0;
    for (const bool warm : {false, true}) {
      Simulator simulator(scenario);
      scheduler->Reset(simulator.View(scheduler->knowledge()));
      while (simulator.AdvanceToDecision()) {
        decision.Clear();
        const ClusterView view = simulator.View(scheduler->knowledge());
        const std::int64_t begin = test::Allocations();
        scheduler->Decide(view, decision);
        if (warm) {
          allocations += test::Allocations() - begin;
          ++calls;
        }
        REQUIRE(simulator.Apply(decision).ok());
      }
    }
    REQUIRE(calls > 0);
    // Reported only: an LP solver allocates as it likes.
    std::printf("%s: %lld allocations in %lld decisions\n", info.name, static_cast<long long>(allocations),
                static_cast<long long>(calls));
  }
}

}  // namespace berth
