#include "tests/toy_scenarios.hpp"

#include "env/rng.hpp"
#include "tests/tiny.hpp"

namespace berth::test {
namespace {

const std::vector<std::pair<std::string, int>> kTypes = {{"v100", 4}, {"p100", 5}, {"k80", 4}};
const std::vector<std::vector<double>> kRates = {{4.0, 2.0, 1.0}, {2.0, 2.0, 0.5}, {1.0, 2.0, 0.0}};

// Two jobs on one GPU: type 1 beside 1 costs neither anything; of two types the lower keeps its rate and the
// other has half of its own; 0 beside 0 and 2 beside 2 cannot.
std::vector<double> PairsOf(const std::vector<std::vector<double>>& rates) {
  std::vector<double> pairs;
  for (std::size_t a = 0; a < rates.size(); ++a) {
    for (std::size_t b = 0; b < rates.size(); ++b) {
      for (std::size_t g = 0; g < rates[a].size(); ++g) {
        const bool together = (a != b || a == 1) && rates[a][g] > 0.0 && rates[b][g] > 0.0;
        pairs.push_back(together ? rates[a][g] / (a > b ? 2.0 : 1.0) : 0.0);
        pairs.push_back(together ? rates[b][g] / (b > a ? 2.0 : 1.0) : 0.0);
      }
    }
  }
  return pairs;
}

}  // namespace

Scenario RandomScenario(std::uint64_t seed, int jobs, Clock clock) {
  Stream stream(seed, Purpose::kTest);
  std::vector<TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += 5.0 * stream.Below(9);
    list.push_back(
        {now, 20.0 * (1 + stream.Below(60)), static_cast<int>(stream.Below(3)), 1 << stream.Below(3)});
  }
  ScenarioData data = TinyData(kTypes, kRates, list, clock);
  data.throughputs.pairs = PairsOf(kRates);
  data.seed = seed;
  for (int i = 0; i < jobs; ++i) data.jobs.weight.push_back(stream.Below(2) == 0 ? 1.0 : 5.0);
  return Scenario(std::move(data));
}

std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(Clock clock) {
  const std::vector<TinyJob> at_once = {{0, 100, 0, 4}, {0, 40, 1, 1}, {0, 40, 1, 1},
                                        {0, 300, 2, 2}, {0, 10, 0, 1}, {0, 80, 0, 4}};
  return {
      {"no job", Tiny(kTypes, kRates, {}, clock)},
      {"one job", Tiny(kTypes, kRates, {{3, 100, 2, 2}}, clock)},
      {"all at once", Tiny(kTypes, kRates, at_once, clock)},
      {"one type", Tiny({{"v100", 4}}, {{2.0}, {1.0}, {0.5}}, at_once, clock)},
      {"one GPU", Tiny({{"v100", 1}}, {{2.0}}, {{0, 50}, {0, 20}, {5, 20}, {400, 30}}, clock)},
  };
}

std::vector<Clock> AllClocks() {
  return {{ClockKind::kEvent},
          {ClockKind::kRounds, 60.0},
          {ClockKind::kReferenceRounds, 60.0},
          {ClockKind::kHpc}};
}

}  // namespace berth::test
