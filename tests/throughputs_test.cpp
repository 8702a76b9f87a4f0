// The shipped throughput tables against the reference's own file, number by number, where that is there.
#include "data/throughputs.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "data/workloads.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

std::string Key(const std::string& job_type, int gang) {
  return "('" + job_type + "', " + std::to_string(gang) + ")";
}

}  // namespace

TEST_CASE("throughputs: every shipped number is the published one") {
  const std::string path = BERTH_SOURCE_DIR "/../shared/gavel/data/simulation_throughputs.json";
  if (!std::filesystem::exists(path)) return test::Skip("needs Gavel's simulation_throughputs.json");
  std::ifstream file(path);
  const auto published = nlohmann::json::parse(file);
  const ClusterSpec cluster = ParseCluster("p100=8,k80=8,v100=8");
  const ThroughputTable table = PublishedThroughputs(cluster);
  const std::size_t n = table.job_types.size(), types = cluster.types.size();
  int compared = 0;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t s = 0; s < table.gang_sizes.size(); ++s) {
      const std::string key = Key(table.job_types[a], table.gang_sizes[s]);
      for (std::size_t g = 0; g < types; ++g) {
        const std::string& type = cluster.types[g].name;
        const std::size_t at = (a * table.gang_sizes.size() + s) * types + g;
        CAPTURE(key, type);
        const auto& spread = published[type + "_unconsolidated"];
        REQUIRE(table.alone[at] ==
                (published[type].contains(key) ? published[type][key]["null"].get<double>() : 0.0));
        REQUIRE(table.unconsolidated[at] == (spread.contains(key) ? spread[key]["null"].get<double>() : 0.0));
        compared += 2;
      }
    }
    for (std::size_t b = 0; b < n; ++b) {
      for (std::size_t g = 0; g < types; ++g) {
        const auto& pair =
            published[cluster.types[g].name][Key(table.job_types[a], 1)][Key(table.job_types[b], 1)];
        REQUIRE(table.pairs[((a * n + b) * types + g) * 2] == pair[0].get<double>());
        REQUIRE(table.pairs[((a * n + b) * types + g) * 2 + 1] == pair[1].get<double>());
        compared += 2;
      }
    }
  }
  CHECK(compared == 26 * 4 * 3 * 2 + 26 * 26 * 3 * 2);
}

}  // namespace berth
