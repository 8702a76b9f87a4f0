// What one policy for all clusters is trained on, and what it is held to.
#include <algorithm>
#include <set>
#include <string>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "tests/catch.hpp"
#include "tools/reproduce/actions/combinations.hpp"

namespace berth {

TEST_CASE("combinations: ten held out are none of those that are trained on, and all make episodes") {
  const std::vector<Combination> trained = TrainingCombinations(), held_out = HeldOutCombinations();
  REQUIRE(held_out.size() == 10);
  for (const Combination& it : held_out) CHECK(std::find(trained.begin(), trained.end(), it) == trained.end());
  std::set<std::string> seen;
  for (const Combination& it : trained) seen.insert(it.cluster + it.workload + it.features);
  CHECK(seen.size() == trained.size());

  const auto source = MakeWorkload(MixOf(trained), ScenarioSettings{});
  REQUIRE(source->kinds() == static_cast<int>(trained.size()));
  int with_features = 0;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const Scenario scenario = source->Make(0, Split::kTrain, static_cast<std::uint32_t>(i), 0, /*jobs=*/20);
    CHECK(ToString(scenario.data().features) == ToString(ParseFeatures(trained[i].features)));
    with_features += scenario.data().features.any();
  }
  CHECK(with_features >= static_cast<int>(trained.size()) / 2);
  for (const Combination& it : held_out) {
    ScenarioSettings settings;
    settings.cluster = ParseCluster(it.cluster);
    settings.features = ParseFeatures(it.features);
    CHECK(MakeWorkload(it.workload, settings)->Make(0, Split::kEvaluate, 0, 0, 20).num_jobs() == 20);
  }
}

}  // namespace berth
