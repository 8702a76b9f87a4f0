#include "tools/serve/extender_table.hpp"

#include <cmath>
#include <limits>

#include "data/throughputs.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

// One object of the table, with the path of keys that leads there.
class Object {
 public:
  Object(const Json& json, std::string where, const std::vector<std::string>& known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw Error(Join(where_, ": expected an object, found ", json.type_name()));
    for (const auto& [key, value] : json.items()) {
      if (!known.empty() && std::find(known.begin(), known.end(), key) == known.end()) {
        throw Error(Join(where_, ": unknown key '", key, "'", DidYouMean(key, known)));
      }
    }
  }

  bool Has(const std::string& key) const { return json_.contains(key); }
  std::string At(const std::string& key) const { return Join(where_, ": ", key); }
  const Json& operator[](const std::string& key) const {
    if (!Has(key)) throw Error(Join(where_, ": expected a key '", key, "', found none"));
    return json_.at(key);
  }
  std::string Text(const std::string& key, const std::string& otherwise) const {
    if (!Has(key)) return otherwise;
    if (!json_.at(key).is_string()) throw Wrong(key, "a text");
    return json_.at(key).get<std::string>();
  }
  double Number(const std::string& key, double above) const {
    const Json& value = (*this)[key];
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= above) || std::isinf(number)) throw Wrong(key, Join("a number >= ", above));
    return number;
  }
  Error Wrong(const std::string& key, const std::string& expected) const {
    return Error(Join(At(key), ": expected ", expected, ", found ", json_.at(key).dump()));
  }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  std::string where_;
};

int TypeIndex(const ExtenderTable& table, const Json& name, const std::string& where) {
  std::vector<std::string> names;
  for (std::size_t g = 0; g < table.types.size(); ++g) {
    if (name.is_string() && table.types[g].name == name.get<std::string>()) return static_cast<int>(g);
    names.push_back(table.types[g].name);
  }
  throw Error(Join(where, ": expected one of gpu_types, found ", name.dump(),
                   name.is_string() ? DidYouMean(name.get<std::string>(), names) : ""));
}

void ReadTypes(const Object& top, ExtenderTable& table) {
  const Object types(top["gpu_types"], top.At("gpu_types"), {});
  for (const auto& [name, value] : types.json().items()) {
    const Object type(value, types.At(name), {"count", "labels"});
    GpuType row;
    row.name = name;
    const double count = type.Number("count", 1.0);
    if (count != std::floor(count) || count > 1e6) throw type.Wrong("count", "a whole number of GPUs");
    row.count = static_cast<int>(count);
    table.types.push_back(row);
    if (!type.Has("labels")) continue;
    if (!type["labels"].is_array()) throw type.Wrong("labels", "a list of texts");
    for (const Json& label : type["labels"]) {
      if (!label.is_string()) throw type.Wrong("labels", "a list of texts");
      const auto [at, is_new] =
          table.label_values.emplace(label.get<std::string>(), static_cast<int>(table.types.size()) - 1);
      if (!is_new) throw Error(Join(type.At("labels"), ": '", at->first, "' is the label of two types"));
    }
  }
  if (table.types.empty() || table.types.size() > 64) {
    throw Error(Join(top.At("gpu_types"), ": expected 1 to 64 GPU types, found ", table.types.size()));
  }
}

void ReadJobTypes(const Object& top, ExtenderTable& table) {
  if (!top.Has("job_types")) return;
  const Object job_types(top["job_types"], top.At("job_types"), {});
  for (const auto& [name, value] : job_types.json().items()) {
    const Object rates(value, job_types.At(name), {});
    std::vector<double>& row = table.job_types[name];
    row.resize(table.types.size());
    for (const auto& [type, rate] : rates.json().items()) {
      row[static_cast<std::size_t>(TypeIndex(table, type, job_types.At(name)))] = rates.Number(type, 0.0);
    }
  }
}

}  // namespace

std::vector<double> ExtenderTable::RatesOf(const std::string& job_type, int gang) const {
  const auto own = job_types.find(job_type);
  if (own != job_types.end()) return own->second;
  std::vector<std::string> names = published.job_types;
  for (std::size_t t = 0; t < published.job_types.size(); ++t) {
    if (published.job_types[t] != job_type) continue;
    std::vector<double> rates;
    for (std::size_t g = 0; g < types.size(); ++g) {
      rates.push_back(AloneRate(published, static_cast<int>(t), gang, static_cast<int>(g),
                                static_cast<int>(types.size())));
    }
    return rates;
  }
  for (const auto& [name, rates] : job_types) names.push_back(name);
  throw Error(Join("unknown job type '", job_type, "'", DidYouMean(job_type, names)));
}

ExtenderTable ReadExtenderTable(const std::string& path) {
  const Json json = ReadJson(path);
  const Object top(json, path,
                   {"gpu_types", "node_label", "nodes", "resource", "job_types", "annotations", "defaults",
                    "gang_timeout_s", "gang_room", "evict_unsaved_from_priority"});
  ExtenderTable table;
  ReadTypes(top, table);
  table.node_label = top.Text("node_label", "nvidia.com/gpu.product");
  table.resource = top.Text("resource", "nvidia.com/gpu");
  if (top.Has("nodes")) {
    const Object nodes(top["nodes"], top.At("nodes"), {});
    for (const auto& [name, type] : nodes.json().items()) {
      table.nodes[name] = type.is_null() ? -1 : TypeIndex(table, type, nodes.At(name));
    }
  }
  ReadJobTypes(top, table);
  const Json none = Json::object();
  const Object names(
      top.Has("annotations") ? top["annotations"] : none, top.At("annotations"),
      {"job_type", "remaining_steps", "remaining_s", "weight", "checkpoint", "pod_group", "min_member"});
  table.job_type_annotation = names.Text("job_type", "berth/job-type");
  table.remaining_steps_annotation = names.Text("remaining_steps", "berth/remaining-steps");
  table.remaining_s_annotation = names.Text("remaining_s", "berth/remaining-seconds");
  table.weight_annotation = names.Text("weight", "berth/weight");
  table.checkpoint_annotation = names.Text("checkpoint", "berth/checkpoint-seconds");
  table.pod_group_label = names.Text("pod_group", "scheduling.x-k8s.io/pod-group");
  table.min_member_annotation = names.Text("min_member", "berth/min-member");
  const Object defaults(top.Has("defaults") ? top["defaults"] : none, top.At("defaults"),
                        {"job_type", "remaining_s", "weight"});
  table.default_job_type = defaults.Text("job_type", "");
  const double least = std::numeric_limits<double>::min();
  table.default_remaining_s = defaults.Has("remaining_s") ? defaults.Number("remaining_s", least) : 3600.0;
  table.default_weight = defaults.Has("weight") ? defaults.Number("weight", least) : 1.0;
  table.gang_timeout_s = top.Has("gang_timeout_s") ? top.Number("gang_timeout_s", least) : 300.0;
  const std::string room = top.Text("gang_room", "node");
  if (room != "node" && room != "gpus") throw top.Wrong("gang_room", "'node' or 'gpus'");
  table.whole_nodes = room == "node";
  if (top.Has("evict_unsaved_from_priority")) {
    const double priority = top.Number("evict_unsaved_from_priority", std::numeric_limits<int>::min());
    if (priority != std::floor(priority) || priority > std::numeric_limits<int>::max()) {
      throw top.Wrong("evict_unsaved_from_priority", "a priority as PriorityClasses have");
    }
    table.evict_unsaved_from = static_cast<int>(priority);
  }
  try {
    table.published = PublishedThroughputs({table.types});
  } catch (const Error&) {
    // A type without measurements: the table's own job types are all there are.
  }
  if (!table.default_job_type.empty()) {
    try {
      (void)table.RatesOf(table.default_job_type, 1);
    } catch (const Error& error) {
      throw Error(Join(defaults.At("job_type"), ": ", error.what()));
    }
  }
  return table;
}

}  // namespace berth
