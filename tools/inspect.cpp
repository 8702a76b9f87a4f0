// berth inspect: what any Berth file holds.
#include <iostream>
#include <limits>

#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "tools/inspect_contents.hpp"
#include "tools/output_file.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

std::string Indented(const std::string& text) {
  std::string result = "\n";
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result.substr(0, result.size() - 1);
}

void Print(const Json& contents) {
  for (const auto& [name, value] : contents["attributes"].items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    std::cout << "  " << name << ": " << (text.find('\n') == std::string::npos ? text : Indented(text))
              << "\n";
  }
  Table table({"dataset", "type", "shape"});
  for (const Json& dataset : contents["datasets"]) {
    table.AddRow(
        {dataset["path"].get<std::string>(), dataset["type"].get<std::string>(), dataset["shape"].dump()});
  }
  std::cout << "\n" << table.ToString();
}

}  // namespace

int RunInspect(const std::vector<std::string>& arguments) {
  Options options("inspect", "FILE [--json FILE]", "says what a Berth file holds");
  options.Positional("file", "a scenario, policy, checkpoint, event log or evaluation (.h5)");
  if (!options.Parse(arguments)) return 0;
  const std::string file = options.Required("file");
  CheckJsonWritable(options);

  const std::string kind = h5::KindOf(file);
  const h5::Reader verified(file, kind, std::numeric_limits<int>::max());  // whole and unchanged, or an Error
  Json json{{"file", file}, {"kind", kind}, {"version", verified.version()}};
  json.update(Hdf5Contents(file));
  std::cout << file << ": " << kind << ", format version " << verified.version() << "\n";
  if (kind == "scenario") {
    const Scenario scenario = ReadScenario(file);
    json["scenario"] = ScenarioJson(scenario);
    std::cout << ScenarioReport(scenario);
  }
  Print(json);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  return 0;
}

}  // namespace berth
