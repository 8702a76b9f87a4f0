// Costs of Sia's integer program and its placement: by hand, and entry by entry against the authors' code.
#include "baselines/adaptive/sia_matrix.hpp"

#include <cmath>
#include <filesystem>

#include "baselines/adaptive/sia_placement.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/skip.hpp"
#include "tools/json.hpp"

namespace berth::sia {
namespace {

using Nodes = std::vector<NodeGpus>;

const char* const kSiaMatrices = BERTH_SOURCE_DIR "/../shared/anchors/sia/ilp/ilp_public.json.gz";

}  // namespace

TEST_CASE("sia: costs by hand", "[sia]") {
  const std::vector<Configuration> configurations = {{0, 1, 1}, {0, 1, 2}, {0, 1, 4}, {1, 1, 1}, {1, 1, 2}};
  // The worst valid one has 50 per second, so all are divided by that; what is not valid is divided too, and
  // raised to 1e-4 again. Nothing is known of type 1: it has 1 at one GPU.
  const std::vector<float> row = NormalisedGoodputs(std::vector<float>{50, 100, 0, 0, 0}, configurations);
  CHECK(row == std::vector<float>{1, 2, 1e-4f, 1, 1e-4f});
  // 0.5 per second: what is not valid becomes twice as much.
  CHECK(NormalisedGoodputs(std::vector<float>{0.5f, 1, 0, 2, 4}, configurations)[2] == 2e-4f);
  // A job of which nothing is known.
  CHECK(NormalisedGoodputs(std::vector<float>(5, 0.0f), configurations) ==
        std::vector<float>{1, 1e-4f, 1e-4f, 1, 1e-4f});
  // (600 - 2 x 30) / (600 + 30), unless the job is younger than one restart; a job that only restarts.
  CHECK(RestartFactor(600, 2, 30) == Approx(540.0 / 630.0));
  CHECK(RestartFactor(29, 5, 30) == 1.0);
  CHECK(RestartFactor(60, 3, 30) == 0.0);
  // 1, 2^-1/2 and 100; then half of it all but for configuration 1: 2^1/2, 2^-1/2, 200^1/2 x 10.
  CHECK(Costs(row, -1, 0.5) == std::vector<double>{1, 0.71, 100, 1, 100});
  CHECK(Costs(row, 1, 0.5) == std::vector<double>{1.41, 0.71, 141.42, 1.41, 141.42});
  CHECK(Costs(row, 1, 0.0) == std::vector<double>{3000, 0.71, 3000, 3000, 3000});
  CHECK(Costs(row, -1, 1.0, {-1.0, 500.0}) == std::vector<double>{1, 0.5, 500, 1, 500});

  const auto says = [](auto action, const std::string& part) { return test::Says(test::MessageOf(action), part); };
  CHECK(says([&] { NormalisedGoodputs(std::vector<float>{1}, configurations); }, "each of 5 configurations, found 1"));
  CHECK(says([&] { NormalisedGoodputs(std::vector<float>(5, NAN), configurations); }, "configuration 0: expected a number"));
  CHECK(says([&] { Costs(row, 5, 1.0); }, "previous: expected a configuration below 5 or -1, found 5"));
  CHECK(says([&] { Costs(row, 0, 1.0, {0.5, 3000}); }, "power: expected a number below 0, found 0.5"));
}

TEST_CASE("sia: costs recorded from the authors' code, every entry", "[sia][golden]") {
  if (!std::filesystem::exists(kSiaMatrices)) return test::Skip("needs records of Sia's own code (not shipped)");
  int entries = 0, differ = 0;
  for (const Json& instance : ReadJson(kSiaMatrices)) {
    if (!instance.contains("goodput")) continue;
    for (std::size_t job = 0; job < instance["goodput"].size(); ++job) {
      const auto goodput = instance["goodput"][job].get<std::vector<float>>();
      const auto recorded = instance["cost"][job].get<std::vector<double>>();
      const auto costs = Costs(goodput, instance["previous"][job], instance["restart_factor"][job]);
      for (std::size_t k = 0; k < costs.size(); ++k) {
        ++entries;
        differ += costs[k] != recorded[k];
        CHECK(std::abs(costs[k] - recorded[k]) < 0.0101);
      }
    }
  }
  // Goodputs and factors are recorded with seven digits: three costs stand within that of a rounding edge.
  CHECK(entries == 5225);
  CHECK(differ == 3);
}

TEST_CASE("sia: placement by hand", "[sia]") {
  // Type 0: job 2 has two whole nodes, 0 and 1; then job 0 the next whole one and half of node 3, where
  // the pointer stops beyond; the two jobs of one GPU begin at node 0 again: the free half of node 3 is next.
  const std::vector<PlacementJob> jobs = {{0, 6}, {0, 1}, {0, 8}, {-1, 0}, {1, 3}, {0, 1}, {1, 0}};
  const auto placed = Place(jobs, {{4, 4, 4, 4}, {2, 2}});
  CHECK(placed[2] == Nodes{{0, 4}, {1, 4}});
  CHECK(placed[0] == Nodes{{2, 4}, {3, 2}});
  CHECK(placed[1] == Nodes{{3, 1}});
  CHECK(placed[5] == Nodes{{3, 1}});
  CHECK(placed[3].empty());
  CHECK(placed[4] == Nodes{{0, 2}, {1, 1}});
  CHECK(placed[6].empty());
  // A node in use counts as not whole; the pointer ends beyond it, and what lacks is taken from there on.
  CHECK(Place(std::vector<PlacementJob>{{0, 8}}, {{4, 1, 3}})[0] == Nodes{{0, 4}, {1, 1}, {2, 3}});

  const auto says = [](auto action, const std::string& part) { return test::Says(test::MessageOf(action), part); };
  CHECK(says([] { Place(std::vector<PlacementJob>{{0, 3}, {0, 2}}, {{4}}); },
             "job 1 is to be placed on 2 GPUs of type 0, where 1 are left"));
  CHECK(says([] { Place(std::vector<PlacementJob>{{2, 3}}, {{4}, {4}}); }, "job 0: expected a type below 2 or -1, found 2"));
  CHECK(says([] { Place(std::vector<PlacementJob>{{0, -3}}, {{4}}); }, "job 0: expected at least 0 GPUs, found -3"));
  CHECK(says([] { Place({}, {{4, -4}}); }, "nodes of type 0: expected at least 0 GPUs, found -4"));
}

}  // namespace berth::sia
