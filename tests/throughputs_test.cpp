// The shipped throughput tables against the reference's own file, number by number, where that is there.
#include "data/throughputs.hpp"

#include <algorithm>
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

ClusterSpec ClusterOf(const std::vector<std::string>& types) {
  ClusterSpec cluster;
  for (const std::string& type : types) {
    cluster.types.emplace_back();
    cluster.types.back().name = type, cluster.types.back().count = 8;
  }
  return cluster;
}

}  // namespace

TEST_CASE("throughputs: each shipped table holds its figures, in any order of GPU types") {
  for (const ShippedThroughputs& shipped : ThroughputTables()) {
    CAPTURE(shipped.name);
    CHECK(std::count(shipped.gpu_types.begin(), shipped.gpu_types.end(), shipped.reference) == 1);
    std::vector<std::string> types = shipped.gpu_types;
    std::reverse(types.begin(), types.end());
    const ThroughputTable table = shipped.Table(ClusterOf(types));
    const int count = static_cast<int>(types.size());
    CHECK(shipped.figures.size() % types.size() == 0);
    for (const ThroughputFigure& figure : shipped.figures) {
      const auto g = std::find(types.begin(), types.end(), figure.gpu_type) - types.begin();
      CAPTURE(figure.job_type, figure.gpu_type, figure.gang);
      REQUIRE_FALSE(figure.source.empty());
      REQUIRE(AloneRate(table, JobTypeIndex(table, figure.job_type, "test"), figure.gang, static_cast<int>(g),
                        count) == figure.steps_per_s);
    }
  }
  CHECK_THROWS_WITH(FindThroughputs("modem"), Catch::Contains("did you mean 'modern'"));
}

TEST_CASE("throughputs: of the modern table at least 40% are measured, and gangs are credible") {
  const ShippedThroughputs& modern = FindThroughputs("modern");
  CHECK(modern.gpu_types.size() >= 6);
  const auto measured = std::count_if(modern.figures.begin(), modern.figures.end(),
                                      [](const ThroughputFigure& f) { return f.source != "model"; });
  CHECK(measured >= 0.4 * static_cast<double>(modern.figures.size()));
  const ThroughputTable table = modern.Table(ClusterOf(modern.gpu_types));
  CHECK(table.job_types.size() >= 10);
  // Lambda's ResNet-50 in FP16: 1,582 images/s on one A100 SXM4, 22,059 on eight H100 SXM5.
  const int resnet = JobTypeIndex(table, "ResNet-50 (FP16)", "test"),
            types = static_cast<int>(modern.gpu_types.size());
  const auto of = [&](const std::string& type, int gang) {
    const auto g =
        std::find(modern.gpu_types.begin(), modern.gpu_types.end(), type) - modern.gpu_types.begin();
    return AloneRate(table, resnet, gang, static_cast<int>(g), types);
  };
  CHECK(of("a100", 1) == 1.0);
  CHECK(of("h100", 8) == Approx(22059.0 / 1582.0).epsilon(1e-3));
  for (int job = 0; job < static_cast<int>(table.job_types.size()); ++job) {
    for (int g = 0; g < types; ++g) {
      const double alone = AloneRate(table, job, 1, g, types);
      CAPTURE(table.job_types[static_cast<std::size_t>(job)], g);
      for (const int gang : {2, 4, 8}) {
        const double rate = AloneRate(table, job, gang, g, types);
        REQUIRE(rate <= 1.11 * gang * alone);
        REQUIRE(rate >= 0.89 * AloneRate(table, job, gang / 2, g, types));
      }
    }
  }
}

TEST_CASE("throughputs: synthetic draws from the table that it is told, on GPUs of today") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("h100=8,a100=8,t4=16");
  const auto source = MakeWorkload("synthetic(table=modern,rate=2,gangs=multi,slo=true)", settings);
  const Scenario drawn = source->Make(1, Split::kTrain, 0, 0, 200);
  const JobTable& jobs = drawn.data().jobs;
  for (int job = 0; job < drawn.num_jobs(); ++job) {
    // Deadlines are at 1.2, 2 or 10 times what the job takes on A100s.
    const auto i = static_cast<std::size_t>(job);
    const double alone = jobs.total_steps[i] / drawn.Rate(job, 1);
    const double slack = (jobs.deadline[i] - jobs.arrival[i]) / alone;
    CAPTURE(job, slack);
    REQUIRE((slack >= 1.19 && slack < 10.4));
    REQUIRE(drawn.Rate(job, 0) > drawn.Rate(job, 1));
  }
  CHECK_THROWS_WITH(MakeWorkload("synthetic(rate=2)", settings),
                    Catch::Contains("table=modern has all of this cluster"));
  settings.cluster = ParseCluster("h100=8,k80=8");
  CHECK_THROWS_WITH(MakeWorkload("synthetic(rate=2)", settings),
                    Catch::Contains("found 'h100'") && !Catch::Contains("modern"));
  CHECK_THROWS_WITH(
      MakeWorkload("synthetic(table=moderm)", settings),
      Catch::Contains("synthetic: table: expected") && Catch::Contains("did you mean 'modern'"));
}

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
