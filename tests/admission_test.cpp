// Admission control and queueing rules against closed forms and by hand.
#include <algorithm>
#include <cmath>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tools/reproduce/queueing_theory.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::Tiny;
using test::TinyData;
using test::TinyJob;

std::vector<TinyJob> Poisson(std::uint64_t seed, int jobs, double rate) {
  Stream stream(seed, Purpose::kTest);
  std::vector<TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Exponential(1.0 / rate);
    list.push_back({now, stream.Exponential(1.0)});
  }
  return list;
}

}  // namespace

TEST_CASE("admission: a limit on jobs is the loss system", "[queueing]") {
  // M/M/2/5 at 2.2 arrivals a second: as fcfs(queue_limit=3), job by job, and losses by the closed form.
  const Scenario scenario = Tiny({{"a", 2}}, {{1.0}}, Poisson(1, 3000, 2.2));
  CHECK(Ends("admission(limit=5)", scenario) == Ends("fcfs(queue_limit=3)", scenario));
  const test::Replicated lost = test::Replicate(20, [](std::uint64_t seed) {
    const std::vector<double> ends =
        Ends("admission(limit=5)", Tiny({{"a", 2}}, {{1.0}}, Poisson(seed, 4000, 2.2)));
    return static_cast<double>(std::count(ends.begin(), ends.end(), kNever)) / 4000.0;
  });
  const double theory = MMcK(2, 5, 2.2, 1.0).lost;
  CAPTURE(lost.mean, lost.half, theory);
  CHECK(std::abs(lost.mean - theory) <= lost.half);
  CHECK(lost.half < 0.1 * theory);
}

TEST_CASE("admission: a limit on the predicted wait rejects exactly who would wait longer", "[queueing]") {
  // One GPU, first come, first served: the wait that an arrival finds is Lindley's, over those admitted.
  const std::vector<TinyJob> jobs = Poisson(2, 2000, 1.3);
  const std::vector<double> ends = Ends("admission(by=wait,limit=3)", Tiny({{"a", 1}}, {{1.0}}, jobs));
  double free_at = 0.0;
  int rejected = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const double wait = std::max(0.0, free_at - jobs[i].arrival);
    if (wait > 3.0) {
      CHECK(ends[i] == kNever);
      ++rejected;
      continue;
    }
    free_at = jobs[i].arrival + wait + jobs[i].steps;
    CHECK(ends[i] == Approx(free_at).epsilon(1e-12));
  }
  CHECK(rejected > 200);
  // Over any scheduler, and nobody is rejected without a limit.
  const Scenario scenario = Tiny({{"a", 1}}, {{1.0}}, Poisson(3, 200, 0.9));
  CHECK(Ends("admission(inner=srpt)", scenario) == Ends("srpt", scenario));
  CHECK_THROWS_WITH(test::Make("admission(inner=srtp)"), Catch::Contains("did you mean 'srpt'"));
}

TEST_CASE("token_bucket: by hand, and never more than burst + rate t in t seconds", "[queueing]") {
  // 360 an hour: a token every 10 s; a burst of 2; four GPUs. 0 and 1 enter at 0, 2 at 10, 3 at 20.
  const Scenario scenario = Tiny({{"a", 4}}, {{1.0}}, {{0, 100}, {0, 100}, {0, 100}, {5, 100}});
  CHECK(Decisions("token_bucket(rate_per_h=360,burst=2)", scenario) ==
        Log{"0 start 0@0", "0 start 1@0", "10 start 2@0", "20 start 3@0"});
  CHECK(Decisions("token_bucket(rate_per_h=360,burst=2,action=reject)", scenario) ==
        Log{"0 reject 2", "0 start 0@0", "0 start 1@0", "5 reject 3"});
  // Without a token there is no way in, also where these are the last: 2 and 3 come with 0 and 1.
  const Scenario last = Tiny({{"a", 4}}, {{1.0}}, {{0, 100}, {0, 100}, {0, 100}, {0, 100}},
                             {ClockKind::kReferenceRounds, 60.0});
  const std::vector<double> ends = Ends("token_bucket(rate_per_h=1,burst=2,action=reject)", last);
  CHECK(std::count(ends.begin(), ends.end(), kNever) == 2);
  const Scenario busy = Tiny({{"a", 50}}, {{1.0}}, Poisson(4, 600, 2.0));
  std::vector<double> entered;
  for (const Event& event : test::RunOf("token_bucket(rate_per_h=3600,burst=5)", busy).events) {
    if (event.kind == EventKind::kStart) entered.push_back(event.time);  // 50 GPUs: who enters starts
  }
  REQUIRE(entered.size() == 600);
  int tight = 0;
  for (std::size_t a = 0; a < entered.size(); ++a) {
    for (std::size_t b = a; b < entered.size(); ++b) {
      const double allowed = 5.0 + (entered[b] - entered[a]);
      CHECK(static_cast<double>(b - a + 1) <= allowed + 1e-6);
      tight += static_cast<double>(b - a + 1) > allowed - 1e-6;
    }
  }
  CHECK(tight > 0);
}

TEST_CASE("c_mu: two classes of M/G/1 by Cobham's formula, and no other order is better", "[queueing]") {
  // Class 0: constant 2 s, weight 3 (c mu = 1.5); class 1: exponential of mean 0.4 s, weight 1 (c mu = 2.5):
  // 1 goes first, though it weighs less. Arrivals 0.25 and 0.8 a second: load 0.82.
  const double rate[] = {0.25, 0.8}, mean[] = {2.0, 0.4}, second[] = {4.0, 2.0 * 0.16}, weight[] = {3.0, 1.0};
  const PriorityClass order[] = {{rate[1], mean[1], second[1]}, {rate[0], mean[0], second[0]}};
  const std::vector<double> waits = WaitPriority(order);
  const PriorityClass other[] = {order[1], order[0]};
  const std::vector<double> worse = WaitPriority(other);
  const double total = rate[0] + rate[1];
  const double theory = (weight[1] * rate[1] * waits[0] + weight[0] * rate[0] * waits[1]) / total;
  const double reversed = (weight[0] * rate[0] * worse[0] + weight[1] * rate[1] * worse[1]) / total;
  CHECK(theory < 0.95 * reversed);
  const auto measure = [&](const char* spec) {
    return test::Replicate(20, [&](std::uint64_t seed) {
      Stream stream(seed, Purpose::kTest);
      std::vector<TinyJob> jobs;
      std::vector<double> weights;
      double now = 0.0;
      for (int i = 0; i < 6000; ++i) {
        now += stream.Exponential(1.0 / total);
        const int kind = stream.Uniform() * total < rate[0] ? 0 : 1;
        jobs.push_back({now, kind == 0 ? 2.0 : stream.Exponential(0.4), kind});
        weights.push_back(weight[kind]);
      }
      ScenarioData data = TinyData({{"a", 1}}, {{1.0}, {1.0}}, jobs);
      data.jobs.weight = weights;
      const std::vector<double> ends = Ends(spec, Scenario(data));
      double sum = 0.0;
      for (std::size_t i = 1000; i < jobs.size(); ++i)
        sum += weights[i] * (ends[i] - jobs[i].arrival - jobs[i].steps);
      return sum / 5000.0;
    });
  };
  for (const char* spec : {"c_mu", "c_mu(means=2:0.4)"}) {  // learned means end up in the same order
    const test::Replicated found = measure(spec);
    CAPTURE(spec, found.mean, found.half, theory, reversed);
    CHECK(std::abs(found.mean - theory) <= found.half);
  }
  // The order by weight alone is the other one.
  const test::Replicated priority = measure("priority");
  CHECK(std::abs(priority.mean - reversed) <= priority.half);
  CHECK_THROWS_WITH(Ends("c_mu(means=1)", Tiny({{"a", 1}}, {{1.0}, {1.0}}, {{0, 1}})),
                    Catch::Contains("job types"));
}

TEST_CASE("max_weight: by hand", "[queueing]") {
  // Types a and b; job type 0 runs at 3 and 1, type 1 at 2 and 2; equal means. Both are busy until 10 with 0
  // and
  // 1. Then 4 of type 0 wait (2-5) and 2 of type 1 (6, 7). Type 0 on a: 4 x 3 = 12, on b: 4 x 1; type 1: 2
  // x 2. 2 takes a; 3 are left: 0 on b weighs 3 x 1 = 3 against 4: 6 takes b.
  const Scenario scenario =
      Tiny({{"a", 1}, {"b", 1}}, {{3.0, 1.0}, {2.0, 2.0}},
           {{0, 30, 0}, {0, 20, 1}, {1, 60, 0}, {2, 60, 0}, {3, 60, 0}, {4, 60, 0}, {5, 60, 1}, {6, 60, 1}});
  const Log log = Decisions("max_weight(means=1:1)", scenario);
  REQUIRE(log.size() == 8);
  CHECK(Log(log.begin(), log.begin() + 4) ==
        Log{"0 start 0@0", "0 start 1@1", "10 start 2@0", "10 start 6@1"});
}

TEST_CASE("max_weight: keeps queues stable where a fixed priority does not", "[queueing]") {
  // Stolyar 2004: MaxWeight serves any load that some rule can. a and b; job type 0 runs on a only (1), type
  // 1 on both (1). 0.9 and 0.8 a second: type 1 must leave a to type 0. First come, first served on the
  // fastest type with room lets it take a.
  std::vector<TinyJob> jobs;
  Stream stream(9, Purpose::kTest);
  double now = 0.0;
  for (int i = 0; i < 6000; ++i) {
    now += stream.Exponential(1.0 / 1.7);
    jobs.push_back({now, stream.Exponential(1.0), stream.Uniform() < 0.9 / 1.7 ? 0 : 1});
  }
  const Scenario scenario = Tiny({{"a", 1}, {"b", 1}}, {{1.0, 0.0}, {1.0, 1.0}}, jobs);
  const auto mean = [&](const char* spec) {
    const std::vector<double> ends = Ends(spec, scenario);
    double sum = 0.0;
    for (std::size_t i = 0; i < jobs.size(); ++i) sum += (ends[i] - jobs[i].arrival) / 6000.0;
    return sum;
  };
  CHECK(mean("max_weight(means=1:1)") < 30.0);
  CHECK(mean("fcfs") > 3.0 * mean("max_weight(means=1:1)"));
}

}  // namespace berth
