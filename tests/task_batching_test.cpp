// Small jobs two on a GPU: by hand, against every choice of partner, and beside Gandiva's random pairs.
#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Decisions;
using test::TinyData;
using Log = std::vector<std::string>;

// One GPU type at 1 step/s; `beside[t][u]`: the rate of a job of kind t beside one of kind u.
ScenarioData Paired(int gpus, const std::vector<std::vector<double>>& beside,
                    const std::vector<test::TinyJob>& jobs) {
  ScenarioData data = TinyData({{"a", gpus}}, std::vector<std::vector<double>>(beside.size(), {1.0}), jobs);
  for (std::size_t t = 0; t < beside.size(); ++t) {
    for (std::size_t u = 0; u < beside.size(); ++u) {
      data.throughputs.pairs.push_back(beside[t][u]);
      data.throughputs.pairs.push_back(beside[u][t]);
    }
  }
  return data;
}

double MeanJct(const std::string& spec, const Scenario& scenario) {
  return test::RunOf(spec, scenario).metrics.mean_jct_s;
}

}  // namespace

TEST_CASE("task_batching: with whom, and whether, by hand", "[baselines]") {
  // Two GPUs hold 0 (kind 0) and 1 (kind 1). Job 2 of kind 2 does 0.5 + 0.6 beside kind 0 and 0.7 + 0.7
  // beside kind 1: it joins 1. 2 has 20 steps, 1 has 100: at 0.7 each 2 ends at 10 + 20/0.7.
  const std::vector<std::vector<double>> beside = {{0.5, 0.5, 0.6}, {0.5, 0.5, 0.7}, {0.5, 0.7, 0.4}};
  const std::vector<test::TinyJob> jobs = {{0, 100, 0}, {0, 100, 1}, {10, 20, 2}};
  const Scenario scenario(Paired(2, beside, jobs));
  CHECK(Decisions("task_batching", scenario).at(2).substr(0, 9) == "10 pack 2");
  const std::vector<double> ends = test::Ends("task_batching", scenario);
  CHECK(ends[0] == 100.0);
  CHECK(ends[2] == Approx(10 + 20 / 0.7).epsilon(1e-12));
  // 1 did 10 alone, 20 beside 2, and 70 alone again.
  CHECK(ends[1] == Approx(10 + 20 / 0.7 + 70).epsilon(1e-12));
  // 1.4 is not enough where more is asked for, nor for jobs that are not small; then they wait, as in fcfs.
  const std::vector<double> alone = test::Ends("fcfs", scenario);
  CHECK(test::Ends("task_batching(gain=1.4)", scenario) == alone);
  CHECK(test::Ends("task_batching(small_s=99)", scenario) == alone);
  CHECK(test::Ends("task_batching(small_s=100,gain=1.39)", scenario) == ends);
  // Beside its own kind (0.4 + 0.4) and beside kind 0 (0.5 + 0.5) it does not gain.
  CHECK(test::Ends("task_batching", Scenario(Paired(1, beside, {{0, 50, 2}, {0, 50, 2}}))) ==
        std::vector<double>{50.0, 100.0});
  // Who starts at the same instant is a host too, and nobody is a host twice.
  CHECK(test::Ends("task_batching", Scenario(Paired(1, {{0.75}}, {{0, 75}, {0, 75}, {0, 75}}))) ==
        std::vector<double>{100.0, 100.0, 175.0});
}

// GPU 0 is announced at 1 s to go at 20: who comes at 5 may not join job 0 there, and joins job 1: 5 + 10 / 0.75.
TEST_CASE("task_batching: nobody joins a job whose GPU is about to go", "[baselines]") {
  const Scenario scenario = test::With(Paired(2, {{0.75}}, {{0, 100}, {0, 100}, {5, 10}}),
                                       "failures(mtbf_h=0,events=20:60:gpu:a/0:19)");
  const std::vector<double> ends = test::Ends("task_batching", scenario);
  CHECK(ends[2] == Approx(5 + 10 / 0.75).epsilon(1e-12));
  CHECK(std::max(ends[0], ends[1]) < 300.0);
}

TEST_CASE("task_batching: strict, so that a gang is not kept waiting by new small jobs", "[baselines]") {
  // Two GPUs. Job 0 (100 s) runs, the gang 1 waits for both; jobs 2, 3, 4 could join each other for ever.
  const Scenario scenario(
      Paired(2, {{0.9}}, {{0, 100}, {0, 30}, {1, 10, 0, 2}, {2, 50}, {30, 50}, {60, 50}}));
  const std::vector<double> ends = test::Ends("task_batching", scenario);
  CHECK(ends[2] == 110.0);
  // In order of length it is first too (10 s), and the others follow by length.
  CHECK(test::Ends("task_batching(order=sjf)", scenario)[2] == 110.0);
}

TEST_CASE("task_batching: one GPU type's best partner is found among all", "[baselines]") {
  // 8 GPUs with jobs of 8 kinds; one more of a ninth: it joins the kind with the greatest sum.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, Purpose::kTest);
    std::vector<std::vector<double>> beside(9, std::vector<double>(9));
    for (auto& row : beside) {
      for (double& rate : row) rate = stream.Uniform(0.3, 0.9);
    }
    std::vector<test::TinyJob> jobs;
    for (int kind = 0; kind < 8; ++kind) jobs.push_back({0, 1000, kind});
    jobs.push_back({10, 100, 8});
    int best = -1;
    double most = 1.0;
    for (std::size_t kind = 0; kind < 8; ++kind) {
      const double sum = beside[8][kind] + beside[kind][8];
      if (sum > most) most = sum, best = static_cast<int>(kind);
    }
    const std::vector<double> ends = test::Ends("task_batching", Scenario(Paired(8, beside, jobs)));
    for (int kind = 0; kind < 8; ++kind)
      CHECK((ends[static_cast<std::size_t>(kind)] > 1000.0) == (kind == best));
  }
}

TEST_CASE("task_batching: where pairs gain differently it does better than random pairs", "[baselines]") {
  // Two kinds on 4 GPUs, each at nine tenths beside the other and at a third beside its own: 1.8 against
  // 0.67. Gandiva takes turns and pairs at random, keeping what gains; batching pairs what gains at once.
  double batching = 0.0, gandiva = 0.0, alone = 0.0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Stream stream(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 100; ++i) {
      now += stream.Exponential(30.0);
      jobs.push_back({now, stream.Uniform(50.0, 300.0), static_cast<int>(stream.Below(2))});
    }
    ScenarioData data = Paired(4, {{0.33, 0.9}, {0.9, 0.33}}, jobs);
    data.clock = {ClockKind::kRounds, 10.0};
    data.seed = seed;
    const Scenario scenario(std::move(data));
    batching += MeanJct("task_batching", scenario) / 5;
    gandiva += MeanJct("gandiva(reset_s=0)", scenario) / 5;
    alone += MeanJct("fcfs", scenario) / 5;
  }
  CAPTURE(batching, gandiva, alone);
  CHECK(batching < 0.9 * gandiva);
  CHECK(batching < 0.9 * alone);
}

}  // namespace berth
