// The simulator and its schedulers against closed forms of queueing theory
// (tools/reproduce/queueing_systems.hpp says how they are measured). Seeds are 1..R, not chosen: at fresh
// seeds each row would fall outside of its 99% interval once in a hundred times. `berth reproduce queueing`
// measures the same systems far longer.
#include <cmath>

#include "env/base/check.hpp"
#include "env/sim/statistics.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tools/reproduce/queueing_systems.hpp"
#include "tools/reproduce/queueing_theory.hpp"

namespace berth {
namespace {

const QueueingSystem& Find(const std::string& name) {
  for (const QueueingSystem& system : QueueingSystems()) {
    if (system.name == name) return system;
  }
  throw Error(Join("no system ", name));
}

// With BERTH_DEBUG_CHECKS every decision recounts every job: runs long enough for the intervals take minutes
// there.
#ifdef BERTH_DEBUG_CHECKS
constexpr bool kTooSlow = true;
#else
constexpr bool kTooSlow = false;
#endif
const char* const kNeeds = "needs a build without BERTH_DEBUG_CHECKS (presets release and core)";

constexpr QueueingPlan kPlan = {.replications = 40, .jobs = 8000, .warmup = 1000, .tail = 2000, .threads = 1};

}  // namespace

TEST_CASE("queueing: every system lies within the 99% interval of its closed form", "[queueing]") {
  if (kTooSlow) return test::Skip(kNeeds);
  int quantities = 0;
  for (const QueueingSystem& system : QueueingSystems()) {
    if (system.slow) continue;
    DYNAMIC_SECTION(system.name) {
      const std::vector<QueueingEstimate> estimates = Measure(system, kPlan);
      for (std::size_t q = 0; q < estimates.size(); ++q) {
        const Quantity& quantity = system.quantities[q];
        const double half = estimates[q].HalfWidth(0.99);
        CAPTURE(quantity.name, quantity.theory, estimates[q].mean, half);
        CHECK(std::abs(estimates[q].mean - quantity.theory) <= half);
        CHECK(half < 0.12 * quantity.theory);  // the interval says something
        ++quantities;
      }
    }
  }
  CHECK(quantities > 0);
}

TEST_CASE("queueing: the comparison tells one rule from another", "[queueing]") {
  if (kTooSlow) return test::Skip(kNeeds);
  // The same measurement against a neighbour's closed form falls far outside.
  const auto off = [](const char* measured, const char* theory) {
    const QueueingEstimate estimate = Measure(Find(measured), kPlan)[0];
    return std::abs(estimate.mean - Find(theory).quantities[0].theory) > 2.0 * estimate.HalfWidth(0.99);
  };
  CHECK(off("M/M/1 fcfs", "M/M/1 sjf"));
  CHECK(off("M/M/1 sjf", "M/M/1 srpt"));
  CHECK(off("M/D/1 fcfs", "M/M/1 fcfs"));
  CHECK(off("M/G/1 priorities", "M/G/1 preemptive priorities"));
}

TEST_CASE("queueing: a run whose arrivals end too early is refused", "[queueing]") {
  const QueueingPlan plan = {.replications = 2, .jobs = 200, .warmup = 10, .tail = 0, .threads = 1};
  CHECK_THROWS_WITH(Measure(Find("M/M/1 fcfs"), plan), Catch::Contains("ran out"));
}

TEST_CASE("queueing theory: values that others computed, and special cases", "[queueing]") {
  // By hand: M/M/2 at a load of 1: B = (1/2) / (1 + 1 + 1/2) = 1/5, C = B / (1 - 1/2 (1 - B)) = 1/3.
  CHECK(ErlangB(2, 1.0) == Approx(0.2).epsilon(1e-15));
  CHECK(ErlangC(2, 1.0) == Approx(1.0 / 3.0).epsilon(1e-15));
  // Published Erlang B tables: 10 servers lose 1% of 4.461 erlangs, 100 servers 1% of 84.06.
  CHECK(ErlangB(10, 4.461) == Approx(0.01).epsilon(1e-3));
  CHECK(ErlangB(100, 84.06) == Approx(0.01).epsilon(1e-3));
  // M/M/1/K: lost = (1 - r) r^K / (1 - r^(K+1)); K = c is Erlang B; a large K loses nothing.
  CHECK(MMcK(1, 3, 0.5, 1.0).lost == Approx(0.5 * 0.125 / (1 - 0.0625)).epsilon(1e-14));
  CHECK(MMcK(4, 4, 3.0, 1.0).lost == Approx(ErlangB(4, 3.0)).epsilon(1e-14));
  CHECK(MMcK(3, 400, 2.4, 1.0).mean_wait == Approx(WaitMMc(3, 2.4, 1.0)).epsilon(1e-12));
  // One class, or one server, is the simpler system.
  const SizeDistribution exponential = SizeDistribution::Parse("exponential", 2.0);
  const PriorityClass all[] = {{0.3, 2.0, 8.0}};
  CHECK(WaitPriority(all)[0] == Approx(WaitMG1(0.3, exponential)).epsilon(1e-14));
  CHECK(DelayPreemptivePriority(all)[0] == Approx(WaitMG1(0.3, exponential)).epsilon(1e-14));
  CHECK(WaitMMc(1, 0.3, 2.0) == Approx(WaitMG1(0.3, exponential)).epsilon(1e-14));
  const double rates[] = {0.1, 0.2};
  const PriorityClass two[] = {{0.1, 2.0, 8.0}, {0.2, 2.0, 8.0}};
  for (std::size_t k : {0u, 1u}) {
    CHECK(WaitPriorityMMc(1, rates, 2.0)[k] == Approx(WaitPriority(two)[k]).epsilon(1e-14));
  }
  // Nearly equal sizes: SJF orders them at random, and SRPT never preempts: both are M/D/1, rho / (2 (1 -
  // rho)).
  const SizeDistribution same = SizeDistribution::Parse("bounded_pareto(alpha=1,range=1.0001)", 1.0);
  CHECK(WaitSjf(0.8, same) == Approx(2.0).epsilon(1e-3));
  CHECK(DelaySrpt(0.8, same) == Approx(2.0).epsilon(1e-3));
  // A burst that is no burst is a Poisson process.
  CHECK(DelayMmppM1(ArrivalModel::Parse("mmpp(burst=1,share=0.3,burst_s=7)", 2160.0), 1.0) ==
        Approx(WaitMMc(1, 0.6, 1.0)).epsilon(1e-9));
  // Bursts far shorter than a size average out; very long ones give each phase's own queue, weighted by its
  // arrivals: rates 1/3 and 2/3 (share 1/2): jobs in system (1/2 + 2) / 2 = 5/4, over the rate 1/2: 5/2,
  // less 1.
  CHECK(DelayMmppM1(ArrivalModel::Parse("mmpp(burst=2,share=0.5,burst_s=1e-5)", 1800.0), 1.0) ==
        Approx(WaitMMc(1, 0.5, 1.0)).epsilon(1e-4));
  CHECK(DelayMmppM1(ArrivalModel::Parse("mmpp(burst=2,share=0.5,burst_s=1e5)", 1800.0), 1.0) ==
        Approx(1.5).epsilon(1e-3));
}

TEST_CASE("queueing: Student's t as tabled", "[queueing]") {
  CHECK(StudentT(0.99, 1) == Approx(63.6567).epsilon(1e-5));
  CHECK(StudentT(0.99, 2) == Approx(9.92484).epsilon(1e-5));
  CHECK(StudentT(0.99, 5) == Approx(4.03214).epsilon(1e-5));
  CHECK(StudentT(0.99, 29) == Approx(2.75639).epsilon(1e-5));
  CHECK(StudentT(0.99, 40) == Approx(2.70446).epsilon(1e-5));
  CHECK(StudentT(0.95, 10) == Approx(2.22814).epsilon(1e-5));
}

}  // namespace berth
