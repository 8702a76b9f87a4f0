// evaluate --metrics: columns by name, and those that follow what is on; the same as CSV.
#include "tools/metric_columns.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <sstream>
#include <string>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/evaluation_table.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

Scenario Drawn(const std::string& workload, const std::string& features) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,k80=4");
  settings.clock = {ClockKind::kEvent};
  settings.features = ParseFeatures(features, ShippedFeatures());
  return MakeWorkload(workload, settings)->Make(1, Split::kTrain, 0, 0, 20);
}

// Of a CSV without line breaks in its cells.
std::vector<std::vector<std::string>> Cells(const std::string& text) {
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == '\n') {
      lines.push_back({""});
    } else if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

// What the JSON says of a column of the CSV; null = nothing.
static Json Said(const Json& rows, std::size_t row, const std::string& column) {
  const Json& json = rows[row];
  const bool one = json["workloads"].size() == 1;  // no intervals, and the ratio stands in the CSV alone
  if (column == "jct_ratio" && one)
    return json["mean_jct_s"].get<double>() / rows[0]["mean_jct_s"].get<double>();
  if (column == "jct_ratio") return json["jct_ratio"]["mean"];
  if (column == "jct_ratio_low" || column == "jct_ratio_high")
    return one ? Json() : json["jct_ratio"][column.substr(10)];
  if (column == "mean_jct_low_s" || column == "mean_jct_high_s")
    return one ? Json() : json["mean_jct_ci95_s"][column == "mean_jct_low_s" ? 0 : 1];
  return json.at(column);
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
  CHECK_THROWS_WITH(MetricColumns(" ,", {}), Catch::Contains("expected names of figures, found none"));
  CHECK_THROWS_WITH(MetricColumns("p99,enery", {}),
                    Catch::Contains("found 'enery'") && Catch::Contains("'energy'") &&
                        Catch::Contains("; there are jct, p50, ") && Catch::Contains("in --json"));
  const Scenario plain = Drawn("synthetic", "");  // nobody misses a deadline where there is none
  CHECK(MetricColumns("deadline_misses", {&plain, 1}).at(0).Cell(metrics) == "-");
}

TEST_CASE("metrics: a figure of jobs is none where no job finished, of a feature's too") {
  Metrics metrics;
  metrics.Set("restarts_per_job", 0.25), metrics.Set("electricity_cost", 2.0);
  const auto figure = [&](const std::string& key) {
    for (const auto& [its, value] : Figures(metrics)) {
      if (its == key) return value;
    }
    return -1.0;
  };
  for (const char* of_jobs : {"restarts_per_job", "preemptions_per_job", "mean_wait_s"}) CHECK(std::isnan(figure(of_jobs)));
  CHECK(figure("electricity_cost") == 2.0);
  metrics.jobs = 1;
  CHECK(figure("restarts_per_job") == 0.25);
}

TEST_CASE("metrics: the usual columns follow deadlines and features") {
  const std::string plain = Usual(Drawn("synthetic", ""));
  CHECK(plain.find("deadline") == std::string::npos);
  CHECK(Usual(Drawn("synthetic(slo=true)", "")) == plain + ",deadline_misses");
  CHECK(Usual(Drawn("synthetic", "power")).find("energy,cost") != std::string::npos);
  CHECK(Usual(Drawn("synthetic", "topology")).find("fragmentation") != std::string::npos);
  // A page shows more, and nothing twice: MetricColumns refuses that.
  for (const char* features : {"", "power"}) {
    const Scenario scenario = Drawn("synthetic(slo=true)", features);
    const std::string page = PageMetrics({&scenario, 1});
    CHECK(page.find(Usual(scenario) + ",ftf,jain,preemptions") == 0);
    CHECK_NOTHROW(MetricColumns(page, {&scenario, 1}));
    CHECK(page.find(",energy") != std::string::npos);
  }
}

// Every figure that there is: the header has the keys of the JSON, and the numbers are the same ones.
TEST_CASE("metrics: the CSV has the chosen figures, to the last digit those of the JSON") {
  const test::TemporaryFolder folder;
  std::string names;
  for (const MetricField& field : MetricFields()) names += Join(names.empty() ? "" : ",", field.key);
  for (const char* seeds : {"1:4", "1:2"}) {
    CAPTURE(seeds);
    const auto ran = test::Berth(
        folder, Join("evaluate --workload 'synthetic(rate=4,jobs=20,slo=true)' --cluster v100=2,k80=2 "
                     "--features topology --schedulers 'fcfs;queue(order=sjf,backfill=easy)' --seeds ",
                     seeds, " --csv t.csv --json t.json --metrics ", names));
    CAPTURE(ran.error);
    REQUIRE(ran.code == 0);
    const std::vector<std::vector<std::string>> lines = Cells(test::Slurp(folder / "t.csv"));
    const Json rows = ReadJson(folder / "t.json")["schedulers"];
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].size() == MetricFields().size() + 11);  // beside them what is not chosen
    int numbers = 0, features = 0;
    for (std::size_t row = 0; row < 2; ++row) {
      REQUIRE(lines[row + 1].size() == lines[0].size());
      for (std::size_t i = 0; i < lines[0].size(); ++i) {
        const std::string &column = lines[0][i], &cell = lines[row + 1][i];
        const Json said = Said(rows, row, column);
        CAPTURE(column, cell, said.dump());
        const bool of_feature =
            std::any_of(MetricFields().begin(), MetricFields().end(),
                        [&](const auto& field) { return field.member == nullptr && column == field.key; });
        if (said.is_number() && !cell.empty()) {
          CHECK(std::stod(cell) == said.get<double>());
          ++numbers, features += of_feature;
        } else if (said.is_number()) {  // which are 0 in the JSON where the feature is off
          CHECK((of_feature && said == 0.0));
        } else {
          CHECK(cell == (said.is_string() ? said.get<std::string>() : said.is_null() ? "" : said.dump()));
        }
      }
    }
    CHECK(numbers > 2 * 40);
    CHECK(features == 2 * 3);  // of topology
  }
  test::CheckOneLine(test::Berth(folder, "evaluate --csv no/such.csv"), "--csv: no/such.csv: cannot be written");
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

TEST_CASE("metrics: the row to look at first is of those that keep up") {
  const auto says = [](const std::vector<std::pair<double, double>>& jct_and_growth) {
    std::vector<ResultRow> rows;
    for (const auto& [jct, growth] : jct_and_growth) {
      RunResult run{};
      run.metrics.jobs = 1, run.metrics.mean_jct_s = jct, run.metrics.backlog_growth = growth;
      rows.push_back({"s" + std::to_string(rows.size()), Knowledge::kNone, {run}});
    }
    std::ostringstream text;
    std::streambuf* const before = std::cout.rdbuf(text.rdbuf());
    PrintEvaluation(EvaluationPlan{}, rows, {});
    std::cout.rdbuf(before);
    return text.str().substr(text.str().find("least mean JCT"));
  };
  CHECK(says({{7200, 0}, {3600, 0}}) == "least mean JCT: s1 with 1.00 h, 0.500 of s0's\n");
  CHECK(says({{7200, 0}, {3600, 0.5}, {9000, 0}}) == "least mean JCT of those that keep up: s0 with 2.00 h\n");
  CHECK(says({{3600, 0.5}, {7200, 0}}) ==
        "least mean JCT of those that keep up: s1 with 2.00 h; under s0 work arrives faster than it is finished\n");
  CHECK(says({{3600, 0.5}, {7200, 0.5}}) == "least mean JCT: s0 with 1.00 h, but even under it work arrives faster "
                                            "than it is finished: compare with fewer jobs or more GPUs\n");
}

TEST_CASE("metrics: simulate shows what deadlines and features add") {
  const test::TemporaryFolder folder;
  const std::string jobs = "simulate --cluster v100=4 --workload ";
  const auto plain = test::Berth(folder, jobs + "'synthetic(rate=4,jobs=10)'");
  const auto more = test::Berth(folder, jobs + "'synthetic(rate=4,jobs=10,slo=true)' --features power");
  REQUIRE((plain.code == 0 && more.code == 0));
  for (const char* title : {"missed %", "energy kWh", "cost"}) {
    CAPTURE(title);
    CHECK(plain.out.find(title) == std::string::npos);
    CHECK(more.out.find(title) != std::string::npos);
  }
}

}  // namespace berth
