// evaluate --metrics: columns by name, and those that follow what is on.
#include "tools/metric_columns.hpp"

#include <algorithm>
#include <string>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

Scenario Drawn(const std::string& workload, const std::string& features) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,k80=4");
  settings.clock = {ClockKind::kEvent};
  settings.features = ParseFeatures(features, ShippedFeatures());
  return MakeWorkload(workload, settings)->Make(1, Split::kTrain, 0, 0, 20);
}

std::string Usual(const Scenario& scenario) {
  return UsualMetrics({&scenario, 1});
}

}  // namespace

TEST_CASE("metrics: every short name and every key is a column in its unit") {
  Metrics metrics;
  metrics.p99_jct_s = 7200.0, metrics.utilization = 0.5, metrics.energy_kwh = 1.25;
  metrics.deadline_miss_rate = 0.125;
  const auto cell = [&](const std::string& name) { return MetricColumns(name, {}).at(0).Cell(metrics); };
  CHECK(cell("p99") == "2.00");
  CHECK(cell("p99_jct_s") == "2.00");
  CHECK(cell("util") == "50.0");
  CHECK(cell("deadline_misses") == "12.5");
  CHECK(cell("energy") == "1.2");
  for (const MetricField& field : MetricFields()) {
    CAPTURE(field.key);
    CHECK(MetricColumns(field.key, {}).size() == (std::string(field.key) == "mean_jct_s" ? 0 : 1));
  }
  CHECK(MetricColumns("jct,wait,cost,energy,deadline_misses,ftf", {}).size() == 5);
  CHECK_THROWS_WITH(MetricColumns("p99,p99_jct_s", {}), Catch::Contains("each figure once"));
  CHECK(MetricColumns("fragmentation", {}).at(0).Cell(metrics) == "-");
  CHECK_THROWS_WITH(MetricColumns("p99,enery", {}),
                    Catch::Contains("found 'enery'") && Catch::Contains("'energy'"));
}

TEST_CASE("metrics: the usual columns follow deadlines and features") {
  const std::string plain = Usual(Drawn("synthetic", ""));
  CHECK(plain.find("deadline") == std::string::npos);
  CHECK(Usual(Drawn("synthetic(slo=true)", "")) == plain + ",deadline_misses");
  CHECK(Usual(Drawn("synthetic", "power")).find("energy,cost") != std::string::npos);
  CHECK(Usual(Drawn("synthetic", "topology")).find("fragmentation") != std::string::npos);
}

TEST_CASE("metrics: evaluate shows them, and a wrong name is one line") {
  const test::TemporaryFolder folder;
  const std::string jobs =
      "evaluate --workload 'synthetic(rate=0,jobs=10)' --cluster v100=4 --seeds 1:3 --window 0:10 ";
  const auto shown = test::Berth(folder, jobs + "--schedulers fcfs --metrics cost,ftf_mean,preemptions");
  CAPTURE(shown.out, shown.error);
  CHECK(shown.code == 0);
  CHECK(shown.out.find("mean rho") != std::string::npos);
  CHECK(shown.out.find("max wait h") == std::string::npos);
  test::CheckOneLine(test::Berth(folder, jobs + "--metrics p98"),
                     "--metrics: expected names of figures, found 'p98'");
}

}  // namespace berth
