// Load balancing: least loaded against one queue, power of two choices against the supermarket model, join
// the shortest queue against its Markov chain; fits by hand.
#include <algorithm>
#include <cmath>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::Tiny;
using test::TinyData;

// Poisson arrivals at `rate` a second, exponential sizes of mean 1 s, on these GPU types at 1 step/s.
Scenario Markovian(std::uint64_t seed, int jobs, double rate,
                   const std::vector<std::pair<std::string, int>>& types) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Exponential(1.0 / rate);
    list.push_back({now, stream.Exponential(1.0)});
  }
  ScenarioData data = test::TinyData(types, {std::vector<double>(types.size(), 1.0)}, list);
  data.seed = seed;
  return Scenario(std::move(data));
}

// Mean time in system of the second half of the jobs.
double MeanTime(const std::string& spec, const Scenario& scenario) {
  const RunResult result = Run(scenario, *test::Make(spec), spec, {});
  double sum = 0.0;
  const std::size_t from = result.jct_s.size() / 2;
  for (std::size_t i = from; i < result.jct_s.size(); ++i) sum += result.jct_s[i];
  return sum / static_cast<double>(result.jct_s.size() - from);
}

// Mean time in system of two M/M/1 queues of rate 1, arrivals at `rate` joining the shorter: the chain of
// both lengths, cut at 40, by Gauss-Seidel on its balance equations.
double ShorterOfTwo(double rate) {
  constexpr int kMost = 40;
  std::vector<std::vector<double>> p(kMost + 1, std::vector<double>(kMost + 1, 0.0));
  p[0][0] = 1.0;
  for (int sweep = 0; sweep < 2000; ++sweep) {
    for (int i = 0; i <= kMost; ++i) {
      for (int j = 0; j <= kMost; ++j) {
        if (i == 0 && j == 0) continue;  // stays 1: the others are relative to it
        const bool full = i == kMost && j == kMost;
        const double out = (full ? 0.0 : rate) + (i > 0) + (j > 0);
        const auto split = [](int a, int b) { return a < b ? 1.0 : a == b ? 0.5 : 0.0; };
        double in = 0.0;
        if (i > 0) in += rate * split(i - 1, j) * p[i - 1][j];
        if (j > 0) in += rate * split(j - 1, i) * p[i][j - 1];
        if (i < kMost) in += p[i + 1][j];
        if (j < kMost) in += p[i][j + 1];
        p[i][j] = in / out;
      }
    }
  }
  double total = 0.0, jobs = 0.0;
  for (int i = 0; i <= kMost; ++i) {
    for (int j = 0; j <= kMost; ++j) total += p[i][j], jobs += (i + j) * p[i][j];
  }
  return jobs / total / rate;
}

}  // namespace

TEST_CASE("least_loaded: on equal GPUs it is one queue, first come, first served", "[baselines]") {
  // A sample-path identity: with sizes known, the GPU with the least work is the one that frees first.
  for (std::uint64_t seed : {1, 2, 3}) {
    const Scenario scenario = Markovian(seed, 400, 3.6, {{"a", 4}});
    const std::vector<double> queues = Ends("least_loaded", scenario), one = Ends("fcfs", scenario);
    double worst = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) worst = std::max(worst, std::abs(queues[i] - one[i]));
    CHECK(worst < 1e-9);
  }
}

TEST_CASE("least_loaded: by load and by finish, by hand", "[baselines]") {
  // a runs at 4, b at 1. 0 (8 steps) takes a (idle like b, and faster): 0-2. 1 (8 steps) at 1: b is idle, so
  // by load it goes there, until 9; by finish it waits for a: 2-4.
  const Scenario scenario = Tiny({{"a", 1}, {"b", 1}}, {{4.0, 1.0}}, {{0, 8}, {1, 8}});
  CHECK(Ends("least_loaded", scenario) == std::vector<double>{2.0, 9.0});
  CHECK(Ends("least_loaded(by=finish)", scenario) == std::vector<double>{2.0, 4.0});
}

TEST_CASE("power_of_two: the supermarket model", "[baselines]") {
  // Mitzenmacher 1996, and Vvedenskaya et al. 1996: with d choices among many servers the mean time in system
  // tends to sum over i >= 1 of rho^((d^i - d) / (d - 1)); with one it is M/M/1's. A hundred servers are a
  // few tenths of a percent above the limit.
  const double rho = 0.6;
  double limit = 0.0;
  for (int i = 1; i < 8; ++i) limit += std::pow(rho, std::exp2(i) - 2.0);
  const auto measure = [&](const char* spec) {
    return test::Replicate(20, [&](std::uint64_t seed) {
      return MeanTime(spec, Markovian(seed, 12000, 100 * rho, {{"a", 100}}));
    });
  };
  const test::Replicated two = measure("power_of_two"), one = measure("power_of_two(choices=1)");
  CAPTURE(limit, two.mean, two.half, one.mean, one.half);
  CHECK(std::abs(two.mean - limit) <= two.half + 0.004 * limit);
  CHECK(two.half < 0.02 * limit);
  CHECK(std::abs(one.mean - 1.0 / (1.0 - rho)) <= one.half);
  CHECK(one.half < 0.04 / (1.0 - rho));
}

TEST_CASE("shortest_queue: two queues by their Markov chain", "[baselines]") {
  const double theory = ShorterOfTwo(1.5);
  CHECK(ShorterOfTwo(0.02) == Approx(1.0).epsilon(1e-3));  // nobody ever waits
  const test::Replicated shortest = test::Replicate(20, [](std::uint64_t seed) {
    return MeanTime("shortest_queue", Markovian(seed, 6000, 1.5, {{"a", 1}, {"b", 1}}));
  });
  CAPTURE(theory, shortest.mean, shortest.half);
  CHECK(std::abs(shortest.mean - theory) <= shortest.half);
  CHECK(shortest.half < 0.1 * theory);
  // A single queue for both (M/M/2: 1 / (1 - rho^2)) is better, random splitting (1 / (1 - rho)) worse.
  CHECK(theory > 1.0 / (1.0 - 0.75 * 0.75) + 0.1);
  CHECK(theory < 1.0 / (1.0 - 0.75) - 1.0);
}

TEST_CASE("best_fit and worst_fit: by hand", "[baselines]") {
  // a has 4 GPUs, b 2, equal rates. Best fit puts the gang of 2 on b (leaves 0) and keeps a whole for the
  // gang of 4; worst fit puts it on a, and the gang of 4 waits.
  const Scenario scenario =
      Tiny({{"a", 4}, {"b", 2}}, {{1.0, 1.0}}, {{0, 10, 0, 2}, {0, 10, 0, 4}, {0, 10, 0, 1}});
  CHECK(Decisions("best_fit", scenario) == Log{"0 start 0@1", "0 start 1@0", "10 start 2@1"});
  CHECK(Decisions("worst_fit", scenario) == Log{"0 start 0@0", "10 start 1@0", "10 start 2@1"});
  // 2 behind the waiting gang may overtake it: a has 2 left like b, the first of equals.
  CHECK(Decisions("worst_fit(overtake=true)", scenario) == Log{"0 start 0@0", "0 start 2@0", "10 start 1@0"});
}

TEST_CASE("best_fit, worst_fit and vector_fit are compositions of queue", "[baselines]") {
  for (std::uint64_t seed : {1, 2, 3}) {
    const Scenario scenario = test::RandomScenario(seed, 80, {});
    const auto signature = [&](const char* spec) { return test::RunOf(spec, scenario).signature; };
    CHECK(signature("best_fit") == signature("queue(placement=best_fit)"));
    CHECK(signature("worst_fit(overtake=true)") == signature("queue(placement=roomiest,overtake=true)"));
    CHECK(signature("vector_fit") == signature("queue(placement=vector_fit)"));
    CHECK(signature("best_fit") != signature("worst_fit"));
    // RandomScenario states no memory: then GPUs are all that counts.
    CHECK(signature("vector_fit") == signature("best_fit"));
  }
}

TEST_CASE("vector_fit: memory counts beside GPUs, by hand", "[baselines]") {
  // a: 2 GPUs of 80 GB, b: 3 of 16 GB; 5 GPUs and 208 GB in all. Kind 0 runs on both, so needs at most 16 GB;
  // kind 1 on a alone. A job of kind 0 leaves on a (1/5, (160 - 16)/208): 0.04 + 0.479 = 0.519, on b (2/5,
  // (48
  // - 16)/208): 0.16 + 0.024 = 0.184: it goes to b, and the two of kind 1 have a. By GPUs alone it takes a.
  ScenarioData data =
      TinyData({{"a", 2}, {"b", 3}}, {{2.0, 1.0}, {1.0, 0.0}}, {{0, 10, 0}, {0, 10, 1}, {0, 10, 1}});
  data.cluster.types[0].memory_gb = 80, data.cluster.types[1].memory_gb = 16;
  const Scenario scenario(data);
  CHECK(Decisions("vector_fit", scenario) == Log{"0 start 0@1", "0 start 1@0", "0 start 2@0"});
  CHECK(Decisions("best_fit", scenario) == Log{"0 start 0@0", "0 start 1@0", "5 start 2@0"});
  // Memory alone does not decide: with 3 GPUs of 20 GB as a and 30 of 16 GB as b, 33 and 540 GB, a job leaves
  // on a (2/33, (60 - 16)/540) and on b (29/33, (480 - 16)/540): it fills a first.
  data.cluster.types[0].count = 3, data.cluster.types[0].memory_gb = 20, data.cluster.types[1].count = 30;
  CHECK(Decisions("vector_fit", Scenario(data)).front() == "0 start 0@0");
  // 3 GPUs of 27 GB as a and 4 of 16 GB as b, 7 and 145 GB. Thought to need 16 GB a job leaves on a 0.0816 +
  // (65 / 145)^2 = 0.283, on b 0.184 + (48 / 145)^2 = 0.293. Said to need 4 GB, 0.0816 + (77 / 145)^2 = 0.364
  // and 0.184
  // + (60 / 145)^2 = 0.355.
  data.cluster.types[0].memory_gb = 27, data.cluster.types[1].count = 4;
  CHECK(Decisions("vector_fit", Scenario(data)).front() == "0 start 0@0");
  data.traits.memory_gb = {4, 27};
  CHECK(Decisions("vector_fit", Scenario(data)).front() == "0 start 0@1");
}

}  // namespace berth
