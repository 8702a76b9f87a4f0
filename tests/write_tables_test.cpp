// Scenarios as tables of one's own (`inspect --tables`).
#include "data/tables/write_tables.hpp"

#include <cmath>
#include <fstream>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

using Catch::Matchers::Contains;
using test::Berth;
using test::MessageOf;
using test::TemporaryFolder;

TEST_CASE("tables: a scenario as tables and back is the same to its hash", "[cli]") {
  const TemporaryFolder tables;
  const auto write = [&](const std::string& name, const std::string& text) { std::ofstream(tables / name) << text; };
  const auto same = [&](const Scenario& scenario) {
    const ScenarioTables text = TablesOf(scenario);
    write("jobs.csv", text.jobs);
    WriteScenario(scenario, tables / "a.h5");
    write("speeds.csv", text.speeds), write("cluster.toml", text.cluster);
    const auto made = Berth(
        tables, "convert --format table jobs.csv --cluster cluster.toml --throughputs speeds.csv --out b.h5");
    INFO(made.error << text.cluster);
    REQUIRE(made.code == 0);
    CHECK(ReadScenario(tables / "b.h5").Hash() == scenario.Hash());
  };
  for (const char* spec :
       {"synthetic(rate=2,jobs=40,gangs=multi,priorities=true,slo=true)", "toy", "queueing(jobs=30)"}) {
    CAPTURE(spec);
    ScenarioSettings settings;
    settings.cluster = ParseCluster("v100=12/4,p100=12,k80=12");
    settings.clock = {ClockKind::kRounds, 360.0};
    settings.features = ParseFeatures("topology;power(cap_w=9000)");
    settings.costs = {10.0, 20.5, 0.1};
    same(MakeWorkload(spec, settings)->Make(7, Split::kEvaluate, 0, 0));
  }
  ScenarioData data;  // every column that there is
  data.cluster = ParseCluster("a100=8/4,h100=2");
  data.throughputs = {{"one, \"two\"", "b"}, {1, 2, 4}, {1, 2, 1, 2, 1.1, 2, 1, 2, 1, 2, 1, 2}, {}, {}};
  data.throughputs.pairs = {0.5, 0.5, 0.6, 0.6, 0.3, 0.4, 0.1, 0.2, 0.4, 0.3, 0.2, 0.1, 0.7, 0.7, 0.8, 0.8};
  data.jobs.id = {5, 3, 4};
  data.jobs.arrival = {1.0 / 3.0, 100, 200};
  data.jobs.job_type = {0, 1, 0}, data.jobs.gang = {1, 4, 2};
  data.jobs.gang_min = {1, 2, 2}, data.jobs.gang_max = {1, 4, 4};
  data.jobs.total_steps = {1e-3, 1e9, 0.1 + 0.2};
  data.jobs.weight = {1, 1, 1}, data.jobs.deadline = {kNever, 250, kNever};
  data.jobs.requested_s = {std::nan(""), 3600, 60}, data.jobs.tenant = {1, 0, 1};
  data.jobs.allowed = {~std::uint64_t{0}, 1, 3}, data.jobs.gpu_milli = {250, 1000, 1000},
  data.jobs.qos = {1, 0, 2};
  data.jobs.demand = {4, 16.5, 1, 0, 2, 8};
  data.traits.memory_gb = {10, 0}, data.traits.utilization = {0.5, 1};
  data.traits.bandwidth = {0, 0.5}, data.traits.traffic_gb = {0.1 + 0.2, 0};
  data.traits.checkpoint_gb = {std::nan(""), 0}, data.traits.gradient_gb = {0.25, std::nan("")};
  data.cluster.types[1].bandwidth_gb_s = 1e4 / 3.0;  // its own, not what is known of it
  data.tenants = {{"ann \"a\"", 2.5, "fairness"}, {"bob", 1, "fifo"}};
  data.knowledge = Knowledge::kEstimate, data.estimate_sigma = 0.3, data.seed = 9;
  same(Scenario(data));
  data.believed.alone = data.throughputs.alone;
  CHECK_THAT(MessageOf([&] { TablesOf(Scenario(data)); }), Contains("rates that only schedulers believe"));
  CheckOneLine(Berth(tables, "inspect a.h5 --tables ."), "--tables: expected a folder without jobs.csv");
  const auto shown = Berth(tables, "inspect a.h5 --tables t");
  CHECK(shown.code == 0);
  CHECK_THAT(
      shown.out,
      Contains("convert --format table t/jobs.csv --cluster t/cluster.toml --throughputs t/speeds.csv"));
}

}  // namespace berth
