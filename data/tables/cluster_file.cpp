#include "data/tables/cluster_file.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "data/gpu_types.hpp"
#include "data/tables/times.hpp"
#include "data/tables/toml_keys.hpp"
#include "data/tables/words.hpp"
#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kMostCount = 10'000'000, kMost = 1e9, kLongest = 1e12;
// Keys in the file, and the options that they stand for.
const std::map<std::string, std::string> kSettings = {
    {"clock", "clock"},
    {"knowledge", "knowledge"},
    {"sigma", "sigma"},
    {"features", "features"},
    {"checkpoint_cost", "checkpoint-cost"},
    {"restore_cost", "restore-cost"},
    {"migration_cost", "migration-cost"},
};

// The keys that stand above the first [[...]].
std::vector<std::string> OfTheWhole() {
  std::vector<std::string> keys = {"origin", "seed"};
  for (const auto& [key, option] : kSettings) keys.push_back(key);
  return keys;
}

GpuType ReadGpu(const std::string& path, const toml::table& table) {
  const Keys keys(path, table,
                  {"name", "count", "per_node", "memory_gb", "bandwidth_gb_s", "idle_power_w", "peak_power_w",
                   "price_per_hour"},
                  OfTheWhole());
  GpuType type;
  const std::string name = keys.Word("name");
  for (const GpuType& shipped : ShippedGpuTypes()) {
    if (SameWord(shipped.name, name)) type = shipped;
  }
  type.name = name;
  type.count = static_cast<int>(keys.Number("count", 0.0, 1.0, kMostCount, /*whole=*/true));
  if (type.count == 0)
    throw Error(Join(keys.Where("count"), ": expected how many GPUs there are, found none"));
  type.gpus_per_node = static_cast<int>(keys.Number("per_node", 1.0, 1.0, kMostCount, /*whole=*/true));
  type.memory_gb = keys.Number("memory_gb", type.memory_gb, 0.0, kMost);
  type.bandwidth_gb_s = keys.Number("bandwidth_gb_s", type.bandwidth_gb_s, 0.0, kMost);
  type.idle_power_w = keys.Number("idle_power_w", type.idle_power_w, 0.0, kMost);
  type.peak_power_w = keys.Number("peak_power_w", type.peak_power_w, 0.0, kMost);
  if (type.peak_power_w > 0.0 && type.idle_power_w > type.peak_power_w)
    throw Error(Join(keys.Where(keys.Has("idle_power_w") ? "idle_power_w" : "peak_power_w"),
                     ": expected an idle power of at most the peak's ", InWords(type.peak_power_w),
                     " W, found ", InWords(type.idle_power_w)));
  type.price_per_hour = keys.Number("price_per_hour", type.price_per_hour, 0.0, kMost);
  return type;
}

void CheckOnce(const std::string& path, const toml::table& table, const char* what, const std::string& name,
               std::set<std::string>& seen) {
  if (seen.insert(name).second) return;
  throw Error(Join(path, ":", table.source().begin.line, ": ", what, ": expected each name once, found '",
                   name, "' twice"));
}

JobTypeFacts ReadJobType(const std::string& path, const toml::table& table) {
  std::vector<std::string> known = {"name"};
  JobTypeTraits traits;
  ForEachColumn(traits, [&](const std::string& name, const auto&) { known.push_back(name); });
  const Keys keys(path, table, known, OfTheWhole());
  JobTypeFacts facts{keys.Text("name"), {}, Join(path, ":", table.source().begin.line)};
  for (const std::string& name : known) {
    const double most = name == "utilization" || name == "bandwidth" ? 1.0 : kMost;
    if (name != "name" && keys.Has(name.c_str()))
      facts.traits[name] = keys.Number(name.c_str(), 0.0, 0.0, most);
  }
  return facts;
}

// Those that there are (Gavel's water filling); whoever shares among tenants otherwise reads none.
std::string InnerPolicy(const Keys& keys) {
  static const std::vector<std::string> kPolicies = {"fairness", "fifo"};
  const std::string policy = keys.Text("inner_policy");
  if (std::find(kPolicies.begin(), kPolicies.end(), policy) == kPolicies.end())
    throw Error(Join(keys.Where("inner_policy"), ": expected fairness or fifo, found '", policy, "'",
                     DidYouMean(policy, kPolicies)));
  return policy;
}

}  // namespace

bool NamesClusterFile(const std::string& text) {
  return text.ends_with(".toml");
}

ClusterFile ReadClusterFile(const std::string& path) {
  const toml::table file = ParseToml(ReadText(path), path);
  std::vector<std::string> known = OfTheWhole();
  for (const char* name : {"gpu", "tenant", "job_type"}) known.push_back(name);
  const Keys keys(path, file, known);
  ClusterFile result;
  std::set<std::string> gpus, tenants, job_types;
  for (const toml::table* table : TomlTables(path, file, "gpu")) {
    result.cluster.types.push_back(ReadGpu(path, *table));
    CheckOnce(path, *table, "gpu", Lower(result.cluster.types.back().name), gpus);
  }
  if (result.cluster.types.empty())
    throw Error(Join(path, ": expected a [[gpu]] with name and count, found none"));
  for (const toml::table* table : TomlTables(path, file, "tenant")) {
    const Keys its(path, *table, {"name", "weight", "inner_policy"}, OfTheWhole());
    result.tenants.push_back({its.Text("name"), its.Number("weight", 1.0, 1e-9, kMost)});
    if (its.Has("inner_policy")) result.tenants.back().inner_policy = InnerPolicy(its);
    CheckOnce(path, *table, "tenant", result.tenants.back().name, tenants);
  }
  for (const toml::table* table : TomlTables(path, file, "job_type")) {
    result.job_types.push_back(ReadJobType(path, *table));
    CheckOnce(path, *table, "job_type", result.job_types.back().name, job_types);
  }
  if (keys.Has("origin")) {
    const toml::node& origin = *file.get("origin");
    const bool date = origin.is_date() || origin.is_date_time();
    result.origin_s = date                 ? ParseMoment(keys.Found("origin"), keys.Where("origin"))
                      : origin.is_string() ? ParseMoment(keys.Text("origin"), keys.Where("origin"))
                                           : keys.Number("origin", 0.0, -kLongest, kLongest);
  }
  result.seed = keys.Seed();
  std::map<std::uint32_t, std::string> lines;
  for (const auto& [key, option] : kSettings) {
    const toml::node* node = file.get(key);
    if (node == nullptr) continue;
    const std::string value = node->is_string() ? **node->as_string() : keys.Found(key.c_str());
    if ((!node->is_string() && !node->is_number()) || value.find_first_of("\n#") != std::string::npos)
      throw Error(Join(keys.Where(key.c_str()),
                       ": expected a number, or a text on one line without #, found ",
                       keys.Found(key.c_str())));
    lines[node->source().begin.line] = Join(option, "=", value, "\n");
  }
  std::uint32_t line = 1;
  for (const auto& [at, setting] : lines) {
    result.settings += std::string(at - line, '\n') + setting;
    line = at + 1;
  }
  return result;
}

}  // namespace berth
