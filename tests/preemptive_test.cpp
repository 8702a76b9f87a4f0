// Gittins indices by brute force and the policy against dynamic programming; Tiresias' queues by hand; when
// preempt_migrate stops and moves, against enumeration.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "baselines/preemptive/service_distribution.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using Log = std::vector<std::string>;
using test::Decisions;
using test::Ends;
using test::Tiny;
using test::TinyData;

// sup over D of P(S - a <= D | S > a) / E[min(S - a, D) | S > a], by trying a fine grid of D and all values.
double IndexByTrying(const std::vector<double>& sizes, double a) {
  std::vector<double> tries;
  for (double size : sizes) tries.push_back(size - a);
  for (int k = 1; k <= 400; ++k) tries.push_back(0.05 * k);
  double best = 0.0;
  for (double d : tries) {
    if (d <= 0.0) continue;
    double ended = 0.0, expected = 0.0, left = 0.0;
    for (double size : sizes) {
      if (size <= a) continue;
      left += 1.0;
      ended += size - a <= d;
      expected += std::min(size - a, d);
    }
    if (left > 0.0) best = std::max(best, ended / expected);
  }
  return best;
}

// Jobs of sizes 1, 2 or 5 with chances, on one server that may change every second: least expected sum of
// completion times over all blind policies, and that of the policy that serves the greatest index.
class Bandits {
 public:
  Bandits(std::vector<double> sizes) : sizes_(std::move(sizes)) {
    for (double size : sizes_) distribution_.Add(size);
  }
  double Best(std::vector<int> ages, bool by_index) {
    std::erase(ages, kDone);
    if (ages.empty()) return 0.0;
    std::sort(ages.begin(), ages.end());
    auto& known = by_index ? by_index_ : best_;
    if (const auto found = known.find(ages); found != known.end()) return found->second;
    std::size_t first = 0;
    double greatest = -1.0;
    for (std::size_t i = 0; i < ages.size(); ++i) {
      const double index = distribution_.GittinsIndex(ages[i]);
      if (index > greatest) greatest = index, first = i;
    }
    double best = kNever;
    for (std::size_t i = 0; i < ages.size(); ++i) {
      if (by_index && i != first) continue;
      // All present wait a second; job i ends with the hazard of its age.
      std::vector<int> goes_on = ages, ends = ages;
      ++goes_on[i];
      ends[i] = kDone;
      const double hazard = Hazard(ages[i]);
      double value = static_cast<double>(ages.size()) + hazard * Best(ends, by_index);
      if (hazard < 1.0) value += (1.0 - hazard) * Best(goes_on, by_index);
      best = std::min(best, value);
    }
    return known[ages] = best;
  }

 private:
  static constexpr int kDone = -1;
  double Hazard(int age) const {
    double left = 0.0, ends = 0.0;
    for (double size : sizes_) {
      left += size > age;
      ends += size == age + 1;
    }
    return ends / left;
  }
  std::vector<double> sizes_;
  ServiceDistribution distribution_;
  std::map<std::vector<int>, double> best_, by_index_;
};

}  // namespace

TEST_CASE("gittins: indices of random discrete distributions by trying every D", "[baselines]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Stream stream(seed, Purpose::kTest);
    std::vector<double> sizes;
    ServiceDistribution distribution;
    for (int i = 0; i < 12; ++i) {
      sizes.push_back(0.25 * (1 + stream.Below(60)));
      distribution.Add(sizes.back());
    }
    for (const double a : {0.0, 0.3, 1.0, 2.5, 7.0, 14.0, 20.0}) {
      CAPTURE(seed, a);
      CHECK(distribution.GittinsIndex(a) == Approx(IndexByTrying(sizes, a)).epsilon(1e-12));
    }
  }
  // By hand: sizes 1 and 9. Fresh: D = 1 gives (1/2) / 1; D = 9 gives 1 / 5. After 1 s only 9 is left: 1 / 8.
  const ServiceDistribution two = ServiceDistribution::Parse("1:9", "sizes");
  CHECK(two.GittinsIndex(0.0) == 0.5);
  CHECK(two.GittinsIndex(1.0) == 0.125);
  CHECK(two.GittinsIndex(9.0) == 0.0);
  // Tiresias' simulator looks a fixed D ahead: D = 9 gives 1 / 5 when fresh.
  CHECK(two.GittinsIndex(0.0, 9.0) == 0.2);
  CHECK_THROWS_WITH(ServiceDistribution::Parse("1:-9", "sizes"), Catch::Contains("above 0"));
  // A rounding error short of 1 s is 1 s, and of 9 s nothing is left; 9 is still within 1 of one short of 8.
  CHECK(two.GittinsIndex(std::nextafter(1.0, 0.0)) == Approx(0.125));
  CHECK(two.GittinsIndex(std::nextafter(9.0, 0.0)) == 0.0);
  CHECK(two.GittinsIndex(std::nextafter(8.0, 0.0), 1.0) == Approx(1.0));
}

TEST_CASE("gittins: no blind policy has a smaller expected sum of completion times", "[baselines]") {
  for (const auto& sizes :
       std::vector<std::vector<double>>{{1, 2, 5}, {1, 1, 1, 6}, {3, 4, 4}, {1, 4, 5, 5}}) {
    Bandits bandits(sizes);
    CHECK(bandits.Best({0, 0, 0}, true) == Approx(bandits.Best({0, 0, 0}, false)).epsilon(1e-12));
    CHECK(bandits.Best({0, 2, 1}, true) == Approx(bandits.Best({0, 2, 1}, false)).epsilon(1e-12));
  }
}

TEST_CASE("gittins: the scheduler serves the greatest index", "[baselines]") {
  // Sizes 1 or 9 are expected: each new job is tried for a second, those that go on then come in turn.
  CHECK(Decisions("gittins(services=1:9,slice=1)", Tiny({{"a", 1}}, {{1.0}}, {{0, 9}, {0, 1}, {0, 9}})) ==
        Log{"0 start 0@0", "1 stop 0", "1 start 1@0", "2 start 2@0", "3 stop 2", "3 start 0@0",
            "11 start 2@0"});
  // Learned: of the first job, of 2 s. A fresh one may end in 2 s, one of 3 s is never expected to.
  CHECK(Decisions("gittins(slice=1)", Tiny({{"a", 1}}, {{1.0}}, {{0, 2}, {2, 5}, {5, 2}})) ==
        Log{"0 start 0@0", "2 start 1@0", "5 stop 1", "5 start 2@0", "7 start 1@0"});
}

// 3600 s are ten rounds, however the sums of steps over rates are rounded: 0 has the first turn, 1 the second.
TEST_CASE("las: a turn is a quantum at any rate", "[baselines]") {
  for (const double rate : {1.0, 4.9, 9.7, 0.3}) {
    CAPTURE(rate);
    const Clock clock{ClockKind::kRounds, 360.0};
    const double steps = 18000.0 * rate;
    const Log log = Decisions("las", Tiny({{"a", 1}}, {{rate}}, {{0, steps}, {0, steps}}, clock));
    REQUIRE(log.size() > 7);
    CHECK(Log(log.begin(), log.begin() + 7) == Log{"0 start 0@0", "3600 stop 0", "3600 start 1@0", "7200 stop 1",
                                                   "7200 start 0@0", "10800 stop 0", "10800 start 1@0"});
  }
}

TEST_CASE("tiresias: queues and thresholds by hand", "[baselines]") {
  // One GPU, thresholds 2 and 4 GPU-seconds. 0 (5 s) drops at 2; 1 (3 s) has 2-4 and drops; then first come,
  // first served within the second queue: 0 has 4-6 and drops to the third; 1 ends 6-7; 0 ends 7-8.
  CHECK(Decisions("tiresias(thresholds=2:4)", Tiny({{"a", 1}}, {{1.0}}, {{0, 5}, {0, 3}})) ==
        Log{"0 start 0@0", "2 stop 0", "2 start 1@0", "4 stop 1", "4 start 0@0", "6 stop 0", "6 start 1@0",
            "7 start 0@0"});
  // Two-dimensional: a gang of 2 has 4 GPU-seconds after 2 s.
  CHECK(Decisions("tiresias(thresholds=4)", Tiny({{"a", 2}}, {{1.0}}, {{0, 5, 0, 2}, {0, 1, 0, 2}})) ==
        Log{"0 start 0@0", "2 stop 0", "2 start 1@0", "3 start 0@0"});
  // Promotion: 0 ran for 2 s and waits; after 3 times as long, at 8, it is back in the first queue, behind 1,
  // which drops at 10; 0 then runs.
  const Scenario busy = Tiny({{"a", 1}}, {{1.0}}, {{0, 4}, {2, 2}, {4, 2}, {6, 2}, {8, 2}, {10, 2}});
  CHECK(Ends("tiresias(thresholds=2)", busy)[0] == 14.0);
  CHECK(Ends("tiresias(thresholds=2,promote=3)", busy)[0] == 12.0);
  CHECK_THROWS_WITH(test::Make("tiresias(thresholds=4:2)"), Catch::Contains("ascending"));
  CHECK_THROWS_WITH(test::Make("tiresias(thresholds=4:x)"), Catch::Contains("thresholds"));
  CHECK_THROWS_WITH(test::Make("tiresias(delta=5)"), Catch::Contains("policy=las does not read it"));
  CHECK(test::Make("tiresias(policy=gittins,delta=5)") != nullptr);
}

// Both are in the second queue from 100 s on, though nobody looks. GPU 1 fails at 200 s under job 1, which ran for 200 s: it waits as long,
// and has job 0's at 400 s.
TEST_CASE("tiresias: who loses its GPU to a failure waits from then on", "[baselines]") {
  const Scenario scenario = test::With(TinyData({{"a", 2}}, {{1.0}}, {{0, 1000}, {0, 1000}}),
                                       "failures(mtbf_h=0,events=200:30000:gpu:a/1)");
  double first = kNever;
  for (const Event& event : test::RunOf("tiresias(thresholds=100,promote=1)", scenario).events) {
    if (event.kind == EventKind::kStop && event.job == 0) first = std::min(first, event.time);
  }
  CHECK(first == 400.0);
}

// Two nodes of 2 GPUs and 10 cores. 0, in the second queue, is stopped at 200 s. From 210 s on there are GPUs for it, but 2 and 3 have the
// cores. It has waited long enough when 4 comes, and is then ahead of 5 as 2 ends at 410 s: it has 800 s left, and 5 runs for 300 s.
TEST_CASE("tiresias: who finds GPUs but no cores waits all the same", "[baselines]") {
  ScenarioData data = TinyData({{"a", 4}}, {{1.0}},
                               {{0, 1000}, {200, 10, 0, 4}, {205, 200}, {205, 10000}, {250, 1}, {300, 300}});
  data.cluster.types[0].gpus_per_node = 2;
  data.jobs.demand = {10, 0, 10, 10, 0, 10};
  const Scenario scenario = test::With(data, "topology(cpus_per_node=10,slowdown=none)");
  const auto never = Ends("tiresias(thresholds=100)", scenario);
  CHECK((never[0] == 1510.0 && never[5] == 710.0));
  const auto promoted = Ends("tiresias(thresholds=100,promote=0.1)", scenario);
  CHECK((promoted[0] == 1210.0 && promoted[5] == 1510.0));
}

TEST_CASE("gittins, tiresias: service is that of the GPUs that a job held, not of its gang", "[baselines]") {
  ScenarioData data = TinyData({{"a", 2}}, {{1.0}}, {{0, 1000, 0, 2}});
  data.features = ParseFeatures("elasticity");
  Simulator sim(Scenario(data), {});
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.StartAt(0, 0, 1);
  decision.wake_at = 100.0;
  REQUIRE(sim.Apply(decision).ok());
  REQUIRE(sim.AdvanceToDecision());
  CHECK(AttainedGpuSeconds(sim.View(Knowledge::kBlind), 0) == 100.0);
}

TEST_CASE("preempt_migrate: stops a job exactly when that saves time, whatever it costs", "[baselines]") {
  // One GPU; v runs with r s left when w of p s comes. Left alone v ends at r and w at r + p; stopped, w ends
  // at p and v at p + c + r, c what stopping and starting v costs: `charge` makes it of a number drawn.
  const auto check = [](auto charge) {
    int stops = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Stream stream(seed, Purpose::kTest);
      const double r = stream.Uniform(1.0, 50.0), p = stream.Uniform(1.0, 50.0);
      ScenarioData data = TinyData({{"a", 1}}, {{1.0}, {1.0}}, {{0, 10 + r, 0}, {10, p, 1}});
      const double c = charge(stream.Uniform(0.0, 20.0), data);
      const std::vector<double> ends = Ends("preempt_migrate", Scenario(data));
      const double alone = r + (r + p), stopped = p + (p + c + r);
      CAPTURE(seed, r, p, c);
      CHECK(ends[0] - 10 + ends[1] - 10 == Approx(std::min(alone, stopped)).epsilon(1e-12));
      stops += stopped < alone;
    }
    CHECK(stops > 10);
    CHECK(stops < 50);
  };
  check([](double s, ScenarioData& data) {
    data.costs = {0.4 * s, 0.6 * s, 7.0};
    return s;
  });
  check([](double gb, ScenarioData& data) {  // saving and loading v by its size; w has none
    data.traits.checkpoint_gb = {gb, 0.0};
    data.features = ParseFeatures("checkpoints(write_gb_s=2,read_gb_s=4)");
    return gb / 2.0 + gb / 4.0;
  });
}

// Of five GPUs the longest job has one and the next four, of which the pair that comes at 100 s needs two: the longest goes on.
TEST_CASE("preempt_migrate: stops nobody whom another's GPUs make needless", "[baselines]") {
  CHECK(Ends("preempt_migrate", Tiny({{"a", 5}}, {{1.0}}, {{0, 50000, 0, 4}, {0, 60000}, {100, 1000, 0, 2}})) ==
        std::vector<double>{51000, 60000, 1100});
}

TEST_CASE("preempt_migrate: moves a job exactly when it then ends sooner", "[baselines]") {
  // Type a at 2 steps/s is held by job 0 until 10; job 1 (s steps) runs on b at 1 and may move then.
  int moves = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Stream stream(seed, Purpose::kTest);
    const double s = stream.Uniform(22.0, 80.0), c = stream.Uniform(0.0, 40.0);
    ScenarioData data = TinyData({{"a", 1}, {"b", 1}}, {{2.0, 1.0}}, {{0, 20}, {0, s}});
    data.costs = {0.2 * c, 0.3 * c, 0.5 * c};
    const double stays = s, goes = 10.0 + c + (s - 10.0) / 2.0;
    CAPTURE(seed, s, c);
    CHECK(Ends("preempt_migrate", Scenario(data))[1] == Approx(std::min(stays, goes)).epsilon(1e-12));
    moves += goes < stays;
  }
  CHECK(moves > 10);
  CHECK(moves < 50);
}

}  // namespace berth
