#include "tools/python/table_scenario.hpp"

#include "data/tables/job_table.hpp"
#include "tools/python/keywords.hpp"
#include "tools/scenario_options.hpp"

namespace berth {

WrittenScenario WriteTableScenario(const std::string& csv, const std::string& out,
                                   const std::map<std::string, std::string>& keywords) {
  Options options("Scenario.from_frame", "", "", OptionNames::kKeywords);
  options.Value("columns", "", "FIELD=COLUMN,... [guessed]");
  options.Value("throughputs", "", "measured speeds, a file");
  options.Value("skip-bad", "0", "rows that may be left out");
  options.Switch("estimate-missing", "estimate speeds that are missing");
  AddSettingOptions(options, "", "event");
  Give(options, keywords);
  const JobTableRequest request{options.Text("columns"), options.Text("throughputs"),
                                static_cast<int>(options.Integer("skip-bad", 0, 1'000'000'000)),
                                options.Bool("estimate-missing")};
  const JobTableScenario table = ReadTableQuietly(csv, request, options);
  ScenarioData data = table.scenario.data();
  data.provenance = "a table from Python";  // not the file between, which is gone by then
  WriteScenario(Scenario(std::move(data)), out);
  return {table.scenario.num_jobs(), table.notes, table.refused};
}

}  // namespace berth
