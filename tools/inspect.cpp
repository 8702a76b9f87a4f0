// berth inspect: what any Berth file holds.
#include <hdf5.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <limits>
#include <utility>

#include "agents/search/search.hpp"
#include "data/hdf5_checked.hpp"
#include "data/hdf5_file.hpp"
#include "data/tables/write_tables.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/evaluation_shard.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/scenario_summary.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

Json AttributeValue(hid_t attribute, const std::string& where) {
  const h5::Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type.get()) == H5T_STRING) return h5::ReadText(attribute, where);
  if (H5Tget_class(type.get()) == H5T_FLOAT) {
    double value = 0.0;
    h5::ReadNumber(attribute, where, H5T_NATIVE_DOUBLE, &value);
    return value;
  }
  if (H5Tget_sign(type.get()) == H5T_SGN_NONE) {
    std::uint64_t value = 0;
    h5::ReadNumber(attribute, where, H5T_NATIVE_UINT64, &value);
    return value;
  }
  std::int64_t value = 0;
  h5::ReadNumber(attribute, where, H5T_NATIVE_INT64, &value);
  return value;
}

// Hashes are stored as 64-bit integers of whatever sign and read by people as 16 digits.
bool IsHash(const std::string& name) {
  return name.ends_with("hash") || name.ends_with("signature");
}

// {"attributes": {name: value}, "datasets": [{"path", "type", "shape"}]}, sorted by name. Nobody else uses
// HDF5 meanwhile: inspect is alone in its process.
Json Hdf5Contents(const h5::Reader& in) {
  const std::string& path = in.path();
  const h5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.ok()) throw Error(Join(path, ": cannot read"));
  Json contents{{"attributes", Json::object()}, {"datasets", Json::array()}};
  for (const std::string& name : in.Attributes()) {
    const h5::Handle attribute(H5Aopen(file.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
    if (!attribute.ok()) throw Error(Join(path, ": cannot read the attributes"));
    Json value = AttributeValue(attribute.get(), Join(path, ": attribute '", name, "'"));
    if (IsHash(name) && value.is_number_integer())
      value = HexSignature(static_cast<std::uint64_t>(value.get<std::int64_t>()));
    contents["attributes"][name] = value;
  }
  for (const std::string& name : in.Datasets()) {
    const h5::Handle set = h5::OpenDataset(file.get(), path, name);
    const h5::Handle type(H5Dget_type(set.get()), H5Tclose);
    const h5::Handle space(H5Dget_space(set.get()), H5Sclose);
    std::vector<hsize_t> shape(
        static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get()))));
    if (!shape.empty()) H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    contents["datasets"].push_back({{"path", name}, {"type", h5::TypeName(type.get())}, {"shape", shape}});
  }
  return contents;
}

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

// How it was asked for; "" where it does not say, as a text.
std::string ConfigOf(const Json& attributes) {
  const auto config = attributes.find("config");
  return config != attributes.end() && config->is_string() ? config->get<std::string>() : "";
}

// What one does with such a file, or nothing.
std::string NextOfFile(const std::string& kind, const std::string& file, const Json& attributes) {
  if (kind == "policy") return NextOfPolicy(file, ConfigOf(attributes));
  if (kind == "checkpoint") {
    const std::string run = std::filesystem::absolute(file).parent_path().string();
    return NextStep("its policy as a file", Join("export ", ForShell(run), " --out policy.h5"));
  }
  if (kind == "evaluation") return NextOfEvaluation(ConfigOf(attributes));
  if (kind == "events" && attributes.contains("config")) return NextOfEvents(ConfigOf(attributes));
  if (kind == kShardKind) return NextOfShard(file);
  if (kind == search::kKind)
    return NextStep("to go on with the search", Join("tune --resume --state ", ForShell(file)));
  return "";
}

// A folder holds no one thing: which of its files could be meant.
void CheckNoFolder(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::is_directory(path)) return;
  constexpr std::size_t kMost = 5;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path, fs::directory_options::skip_permission_denied)) {
    if (entry.path().extension() == ".h5") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  names.resize(std::min(names.size(), kMost));
  std::string files;
  for (const std::string& name : names) files += (files.empty() ? "; in it: " : ", ") + name;
  throw Error(Join("file: expected a file, found the folder ", path, files));
}

constexpr const char* kTables[] = {"jobs.csv", "speeds.csv", "cluster.toml"};

// Before anything is done: a scenario, and a folder in which nothing would be lost.
void CheckTables(Options& options, const std::string& file, const std::string& kind) {
  const std::string folder = options.Required("tables");
  if (kind != "scenario")
    throw Error(
        Join(options.Where("tables"), ": expected a scenario, found a file of kind '", kind, "': ", file));
  for (const char* name : kTables) {
    if (std::filesystem::exists(folder + "/" + name))
      throw Error(
          Join(options.Where("tables"), ": expected a folder without ", name, ", found ", folder, "/", name));
  }
  MakeFolder(folder, options.Where("tables"));
  for (const char* name : kTables) options.AddWritten("tables", folder + "/" + name);
}

// What to type to read them again.
std::string WriteTables(const Options& options, const Scenario& scenario) {
  const std::string folder = options.Text("tables");
  const ScenarioTables tables = InOption(options, "tables", [&] { return TablesOf(scenario); });
  const std::string* texts[] = {&tables.jobs, &tables.speeds, &tables.cluster};
  std::string files[3];
  for (std::size_t i = 0; i < 3; ++i) {
    WriteTextFile(folder + "/" + kTables[i], *texts[i]);
    files[i] = ForShell(folder + "/" + kTables[i]);
  }
  return NextStep("the same scenario, after changes",
                  Join("convert --format table ", files[0], " --cluster ", files[2], " --throughputs ",
                       files[1], " --out s.h5"));
}

}  // namespace

int RunInspect(const std::vector<std::string>& arguments) {
  Options options("inspect", "FILE [--tables DIR] [--rehash] [--json FILE]", "says what a Berth file holds");
  options.Positional("file", "a scenario, policy, checkpoint, event log or evaluation (.h5)");
  options.Value(
      "tables", "",
      "of a scenario: write jobs.csv, speeds.csv and cluster.toml, which convert reads, to this folder");
  options.Switch(
      "rehash",
      "accept a scenario that another program edited: check all of it, then write its content hash anew");
  if (!options.Parse(arguments)) return 0;
  const std::string file = options.Required("file");
  CheckNoFolder(file);
  CheckJsonWritable(options);

  const std::string kind = h5::KindOf(file);
  if (options.Given("tables")) CheckTables(options, file, kind);
  if (options.Bool("rehash")) {
    if (kind != "scenario")
      throw Error(
          Join(options.Where("rehash"), ": expected a scenario, found a file of kind '", kind, "': ", file));
    RehashScenario(file);
    std::cout << file << ": all of it was checked; accepted, with a content hash of what it holds now\n";
  }
  const h5::Reader verified(file, kind, std::numeric_limits<int>::max());  // whole and unchanged, or an Error
  Json json{{"file", file}, {"kind", kind}, {"version", verified.version()}};
  json.update(Hdf5Contents(verified));
  std::cout << file << ": " << kind << ", format version " << verified.version() << "\n";
  std::string next = NextOfFile(kind, file, json["attributes"]);
  if (kind == "scenario") {
    const Scenario scenario = ReadScenario(file);
    next = NextOfScenario(file, scenario);
    json["scenario"] = ScenarioJson(scenario);
    std::cout << ScenarioReport(scenario);
    if (options.Given("tables")) next = WriteTables(options, scenario);
  }
  Print(json);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  std::cout << next;
  return 0;
}

}  // namespace berth
