// Schedulers that pack: the round mechanism with pairs by hand, Gandiva's rule, and every packed policy on a
// cluster with more jobs than GPUs under every clock. (The conformance suites walk the same schedulers.)
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "baselines/gavel/gandiva.hpp"
#include "baselines/gavel/round_mechanism.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"

namespace berth {
namespace {

using gavel::PairShares;
using test::Make;

// One kind of job, 2 steps/s alone and 1 beside another, on one type.
ScenarioData OneKind(int jobs, int gpus, double steps, Clock clock) {
  ScenarioData data = test::TinyData(
      {{"a", gpus}}, {{2.0}}, std::vector<test::TinyJob>(static_cast<std::size_t>(jobs), {0, steps}), clock);
  data.throughputs.pairs = {1.0, 1.0};
  return data;
}

// The same shares at every reset.
class Fixed final : public gavel::AllocationSource {
 public:
  Fixed(gavel::Allocation alone, PairShares pairs) : alone_(std::move(alone)), pairs_(std::move(pairs)) {}
  void Allocate(const ClusterView&, std::span<const int> jobs, gavel::Allocation& x) override {
    REQUIRE(jobs.size() == alone_.size());
    x = alone_;
  }
  const PairShares* pairs() const override { return &pairs_; }

 private:
  gavel::Allocation alone_;
  PairShares pairs_;
};

// Who runs after each of `rounds` decisions, a pair as "0+1".
std::vector<std::string> Rounds(Simulator& simulator, Fixed& source, int rounds) {
  gavel::RoundMechanism mechanism;
  mechanism.Reset(simulator.View(Knowledge::kBlind), {});
  std::vector<std::string> log;
  Decision decision;
  for (int k = 0; k < rounds; ++k) {
    REQUIRE(simulator.AdvanceToDecision());
    decision.Clear();
    const ClusterView view = simulator.View(Knowledge::kBlind);
    mechanism.Decide(view, source, decision);
    REQUIRE(simulator.Apply(decision).ok());
    REQUIRE(CheckInvariants(simulator) == "");
    std::string line;
    for (int job : view.running()) {
      const int partner = view.Partner(job);
      if (partner >= 0 && partner < job) continue;
      if (!line.empty()) line.append(" ");
      line.append(partner < 0 ? Join(job) : Join(job, "+", partner)).append(Join("@", view.Devices(job)[0]));
    }
    log.push_back(line);
  }
  return log;
}

}  // namespace

TEST_CASE("packing mechanism: a pair gets its share of rounds and holds up its members' own") {
  // One GPU, rounds of 100 s. Shares: job 0 alone 0.2, jobs 1 and 2 together 0.8. Priority = share / (time /
  // all time), half a round given to each of the 4 units at the start (3 jobs, 1 pair: 200 s in all).
  //   round  0's time  pair's  all   0.2 / f_0  0.8 / f_pair   runs
  //   1      50        50      200   0.80       3.20           pair
  //   2      50        150     300   1.20       1.60           pair
  //   3      50        250     400   1.60       1.28           0
  //   4      150       250     500   0.67       1.60           pair
  //   5      150       350     600   0.80       1.37           pair
  //   6      150       450     700   0.93       1.24           pair
  //   7      150       550     800   1.07       1.16           pair
  //   8      150       650     900   1.20       1.11           0
  Simulator simulator(Scenario(OneKind(3, 1, 1e4, {ClockKind::kRounds, 100.0})));
  Fixed source({0.2, 0.0, 0.0}, {{{1, 2}}, {0.8}});
  const std::string pair = "1+2@0";
  CHECK(Rounds(simulator, source, 8) ==
        std::vector<std::string>{pair, pair, "0@0", pair, pair, pair, pair, "0@0"});
}

TEST_CASE("packing mechanism: who can stay on a GPU stays when pairs form and part") {
  // Two GPUs; jobs 0 and 1 alone 0.5 each and together 0.5. All tie: single jobs first. Then
  //   round  0, 1 each  pair  all   0.5 / f  0.5 / f_pair   runs
  //   1      50         50    150   1.5      1.5            0 and 1
  //   2      150        50    350   1.17     3.5            the pair: 1 comes to 0
  //   3      150        150   450   1.5      1.5            0 and 1: 1 leaves again
  Simulator simulator(Scenario(OneKind(2, 2, 1e4, {ClockKind::kRounds, 100.0})), {.keep_events = true});
  Fixed source({0.5, 0.5}, {{{0, 1}}, {0.5}});
  CHECK(Rounds(simulator, source, 3) == std::vector<std::string>{"0@0 1@1", "0+1@0", "0@0 1@1"});
  std::vector<EventKind> kinds;
  for (const Event& event : simulator.events()) kinds.push_back(event.kind);
  using enum EventKind;
  CHECK(kinds == std::vector<EventKind>{kArrive, kArrive, kStart, kStart, kPack, kMove});
}

TEST_CASE("packing mechanism: a pair that cannot run is passed over, and holds nobody up") {
  // Jobs of kind 0 cannot share with each other here: the pair's share stays unused, and job 1 gets the GPU.
  ScenarioData data = OneKind(3, 1, 1e4, {ClockKind::kRounds, 100.0});
  data.throughputs.pairs = {1.0, 0.0};
  Simulator simulator{Scenario(data)};
  Fixed source({0.0, 0.1, 0.0}, {{{0, 2}}, {0.9}});
  CHECK(Rounds(simulator, source, 2) == std::vector<std::string>{"1@0", "1@0"});
}

namespace {

gavel::PackedProblem Shareable(int jobs, int gpus, double rate_beside) {
  gavel::PackedProblem problem;
  problem.base.workers = {gpus};
  for (int i = 0; i < jobs; ++i) problem.base.key.push_back(i);
  const auto m = static_cast<std::size_t>(jobs);
  problem.base.gang.assign(m, 1);
  problem.base.weight.assign(m, 1.0);
  problem.base.throughput.assign(m, 1.0);
  problem.beside.assign(m * m, rate_beside);
  return problem;
}

}  // namespace

TEST_CASE("gandiva: pairs only where GPUs are short, keeps what gains, and draws anew what does not") {
  gavel::GandivaPacking gandiva;
  gavel::PackedAllocation x;
  gandiva.Reset(7);
  // 4 jobs on 4 GPUs: everyone alone.
  REQUIRE(gandiva.Allocate(Shareable(4, 4, 0.9), x));
  CHECK(x.pairs.empty());
  CHECK(x.alone == gavel::Allocation{1, 1, 1, 1});
  // 6 jobs on 2 GPUs, each worth 1.8 together: three pairs, 2/3 of a GPU each; they stay, call after call.
  const gavel::PackedProblem good = Shareable(6, 2, 0.9);
  REQUIRE(gandiva.Allocate(good, x));
  REQUIRE(x.pairs.size() == 3);
  CHECK(x.alone == gavel::Allocation(6, 0.0));
  CHECK(x.together == gavel::Allocation(3, 2.0 / 3.0));
  CHECK(Violation(good, x) <= 1e-12);
  const auto pairs = x.pairs;
  for (int call = 0; call < 20; ++call) {
    REQUIRE(gandiva.Allocate(good, x));
    CHECK(x.pairs == pairs);
  }
  // A member ends: its mate is paired with nobody, the other two pairs stay.
  gavel::PackedProblem fewer = Shareable(5, 2, 0.9);
  const int gone = pairs[1][1];
  fewer.base.key.clear();
  for (int i = 0; i < 6; ++i) {
    if (i != gone) fewer.base.key.push_back(i);
  }
  REQUIRE(gandiva.Allocate(fewer, x));
  std::vector<std::array<int, 2>> left;
  for (const auto& [a, b] : x.pairs)
    left.push_back(
        {fewer.base.key[static_cast<std::size_t>(a)], fewer.base.key[static_cast<std::size_t>(b)]});
  CHECK(left == std::vector<std::array<int, 2>>{pairs[0], pairs[2]});
  // Worth 0.8 together: every call draws anew.
  gandiva.Reset(7);
  std::vector<std::vector<std::array<int, 2>>> seen;
  for (int call = 0; call < 20; ++call) {
    REQUIRE(gandiva.Allocate(Shareable(6, 2, 0.4), x));
    if (std::find(seen.begin(), seen.end(), x.pairs) == seen.end()) seen.push_back(x.pairs);
  }
  CHECK(seen.size() > 5);  // of 15 ways to pair six
  // Gangs of 2 have no rates beside each other: they are never paired.
  gavel::PackedProblem gangs = Shareable(4, 4, 0.0);
  gangs.base.gang.assign(4, 2);
  REQUIRE(gandiva.Allocate(gangs, x));
  CHECK(x.pairs.empty());
  CHECK(x.alone == gavel::Allocation(4, 0.5));
}

TEST_CASE("gandiva: every pairing of four comes up about as often") {
  // Three ways to pair four jobs; 3,000 draws: 1,000 each, standard deviation 26.
  std::vector<int> count(3, 0);
  const gavel::PackedProblem problem = Shareable(4, 1, 0.9);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    gavel::GandivaPacking gandiva;
    gavel::PackedAllocation x;
    gandiva.Reset(seed);
    REQUIRE(gandiva.Allocate(problem, x));
    REQUIRE(x.pairs.size() == 2);
    ++count[static_cast<std::size_t>(x.pairs[0][1] - 1)];
  }
  for (int times : count) CHECK(std::abs(times - 1000) < 5 * 26);
}

TEST_CASE("packing schedulers: pack where it pays, under every clock") {
  std::vector<std::string> specs = {"gandiva"};
  for (const char* objective :
       {"max_min", "makespan", "finish_time_fairness", "max_throughput_per_cost", "fifo", "water_filling"}) {
    specs.push_back(std::string("gavel(packed=true,objective=") + objective + ")");
  }
  for (const Clock& clock : test::AllClocks()) {
    // 12 equal jobs of 600 steps on 2 GPUs, as fast beside each other as alone. In turns they take 12 * 600 /
    // 2 / 2 s = 1800 s at least; packed two by two, 900.
    ScenarioData data = OneKind(12, 2, 600.0, clock);
    data.throughputs.pairs = {2.0, 2.0};
    const Scenario scenario{std::move(data)};
    for (const std::string& spec : specs) {
      CAPTURE(spec, clock.ToString());
      const RunResult run =
          Run(scenario, *Make(spec), spec, {.window = {}, .keep_events = true, .progress = {}});
      CHECK(run.metrics.jobs == 12);
      CHECK(std::any_of(run.events.begin(), run.events.end(),
                        [](const Event& event) { return event.kind == EventKind::kPack; }));
      CHECK(run.metrics.makespan_s >= 900.0);
      CHECK(run.metrics.makespan_s < 1300.0);
      CHECK(run.metrics.utilization <= 1.0);
    }
    const RunResult alone = Run(scenario, *Make("gavel"), "gavel", {});
    CHECK(alone.metrics.makespan_s >= 1800.0);
  }
}

TEST_CASE("packing schedulers: a wrong combination of parameters says what there is") {
  CHECK_THROWS_WITH(Make("gavel(packed=true,objective=allox)"),
                    Catch::Contains("no packed=true form") && Catch::Contains("max_min, makespan"));
  CHECK_THROWS_WITH(Make("gavel(packed=true,aware=false)"), Catch::Contains("expected aware=true"));
}

}  // namespace berth
