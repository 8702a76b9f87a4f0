// berth list: every table of components, with what their rows say of themselves.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>

#include "baselines/starvation.hpp"
#include "data/gpu_types.hpp"
#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/learning_signal.hpp"
#include "tools/learn_library.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

Json ParamsJson(std::span<const ParamInfo> params) {
  Json list = Json::array();
  for (const ParamInfo& param : params) {
    list.push_back({{"name", param.name}, {"default", param.default_value}, {"help", param.help}});
  }
  return list;
}

std::string ClaimsText(const Claims& claims) {
  std::string text;
  const auto add = [&text](bool claimed, const char* name) {
    if (claimed) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(claims.types, "types");
  add(claims.jobs, "jobs");
  add(claims.times, "times");
  return text;
}

Json ListSchedulers() {
  Json list = Json::array();
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      list.push_back({{"name", info.name},
                      {"summary", info.summary},
                      {"source", info.source},
                      {"reference_name", info.reference_name},
                      {"knowledge", ToString(info.knowledge)},
                      {"preemptive", info.preemptive},
                      {"claims", ClaimsText(info.claims)},
                      {"starves", Starves(info.name)},
                      {"params", ParamsJson(info.params)}});
    }
  }
  return list;
}

Json LearnRows(const std::vector<LearnInfo>& rows) {
  Json list = Json::array();
  for (const LearnInfo& info : rows) {
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"params", ParamsJson(info.params)}});
  }
  return list;
}

Json ListAgents() {
  return LearnRows(OpenLearnLibrary().agents());
}
Json ListNetworks() {
  return LearnRows(OpenLearnLibrary().networks());
}

Json ListRewards() {
  Json list = Json::array();
  for (const RewardInfo& info : Rewards()) {
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"terminal", info.terminal}});
  }
  return list;
}

Json ListSignals() {
  Json list = Json::array();
  list.push_back({{"name", "reward"},
                  {"summary", "the reward itself"},
                  {"source", "berth list rewards"},
                  {"params", Json::array()}});
  for (const PotentialInfo& info : Potentials()) {
    std::vector<ParamInfo> params(info.params.begin(), info.params.end());
    params.push_back(LearningSignal::kArrivals);
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"params", ParamsJson(params)}});
  }
  return list;
}

// Of an encoder or of a block.
template <class Info>
Json ChannelsJson(const Info& info) {
  Json channels = Json::object();
  const auto add = [&](const char* part, std::span<const ChannelInfo> of) {
    for (const ChannelInfo& channel : of) {
      channels[part].push_back({{"name", channel.name},
                                {"meaning", channel.meaning},
                                {"low", channel.low},
                                {"high", channel.high}});
    }
  };
  add("jobs", info.job);
  if constexpr (requires { info.entity; }) add("entities", info.entity);
  add("pairs", info.pair), add("types", info.type), add("global", info.global);
  return channels;
}

Json ListEncoders() {
  Json list = Json::array();
  for (const EncoderInfo& info : Encoders()) {
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"blocks", info.Blocks()},
                    {"params", ParamsJson(info.params)},
                    {"channels", ChannelsJson(info)}});
  }
  return list;
}

Json ListBlocks() {
  Json list = Json::array();
  for (const BlockInfo& info : Blocks()) {
    list.push_back({{"name", info.name},
                    {"version", info.version},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"params", ParamsJson(info.params)},
                    {"channels", ChannelsJson(info)}});
  }
  return list;
}

Json ListActions() {
  Json list = Json::array();
  list.push_back({{"name", kStartAlone},
                  {"summary",
                   "a job on a GPU type, with its gang; in a preemptive process it also moves, and who is "
                   "left out stops"},
                  {"source", "env/gym/decision_point.hpp"},
                  {"params", Json::array()}});
  for (const ActionInfo& info : Actions()) {
    struct {
      std::span<const ChannelInfo> job, pair, type, global;
    } const channels = {info.row, info.pair, info.column, {}};
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"params", ParamsJson(info.params)},
                    {"channels", ChannelsJson(channels)}});
  }
  return list;
}

Json ListOfFeatures() {
  Json rows = Json::array();
  for (const FeatureInfo& feature : ListFeatures(ShippedFeatures())) {
    Json params = Json::array();
    for (const auto& setting : feature.settings) {
      params.push_back({{"name", setting.name}, {"default", setting.default_value}, {"help", setting.help}});
    }
    rows.push_back({{"name", feature.name}, {"summary", feature.help}, {"params", params}});
  }
  return rows;
}

Json ListFormats() {
  Json list = Json::array();
  for (const FormatInfo& info : Formats()) {
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"clock", info.default_clock.ToString()}});
  }
  return list;
}

Json ListWorkloads() {
  Json list = Json::array();
  for (const WorkloadInfo& info : Workloads()) {
    list.push_back({{"name", info.name},
                    {"summary", info.summary},
                    {"source", info.source},
                    {"params", ParamsJson(info.params)}});
  }
  return list;
}

Json ListGpus() {
  Json list = Json::array();
  for (const GpuProduct& gpu : GpuProducts()) {
    const auto figure = [](double value) {
      return value > 0.0 ? Json(value) : Json();
    };  // null: not published
    const auto stated = [](double value, const char* unit) {
      return value > 0.0 ? Join(Fixed(value, value == std::floor(value) ? 0 : 2), unit) : std::string("-");
    };
    list.push_back(
        {{"name", gpu.type.name},
         {"summary", Join(gpu.product, ": ", stated(gpu.type.memory_gb, " GB"), ", ",
                          stated(gpu.type.bandwidth_gb_s, " GB/s"), ", ", stated(gpu.type.peak_power_w, " W"),
                          ", $", stated(gpu.type.price_per_hour, " an hour"))},
         {"memory_gb", figure(gpu.type.memory_gb)},
         {"bandwidth_gb_s", figure(gpu.type.bandwidth_gb_s)},
         {"peak_power_w", figure(gpu.type.peak_power_w)},
         {"idle_power_w", figure(gpu.type.idle_power_w)},
         {"idle_power_published", gpu.idle_published},
         {"price_per_hour", figure(gpu.type.price_per_hour)},
         {"source", gpu.spec_source},
         {"price_source", gpu.price_source}});
  }
  return list;
}

Json ListThroughputs() {
  Json list = Json::array();
  for (const ShippedThroughputs& table : ThroughputTables()) {
    Json figures = Json::array();
    for (const ThroughputFigure& figure : table.figures) {
      figures.push_back({{"job_type", figure.job_type},
                         {"gpu_type", figure.gpu_type},
                         {"gpus", figure.gang},
                         {"steps_per_s", figure.steps_per_s},
                         {"source", figure.source}});
    }
    list.push_back({{"name", table.name},
                    {"summary", table.summary},
                    {"source", table.source},
                    {"durations_on", table.reference},
                    {"gpu_types", table.gpu_types},
                    {"figures", figures}});
  }
  return list;
}

struct Kind {
  const char* name;
  Json (*list)();
  const char* use;  // a command, with NAME for a row's name
};
constexpr Kind kKinds[] = {
    {"schedulers", ListSchedulers, "evaluate --schedulers 'fcfs;NAME'"},
    {"agents", ListAgents, "train --agent NAME --out run"},
    {"networks", ListNetworks, "train --network NAME --out run"},
    {"encoders", ListEncoders, "train --encoder NAME --out run"},
    {"blocks", ListBlocks, "train --encoder 'observation(blocks=queue:1+NAME:1)' --out run"},
    {"actions", ListActions, "train --actions start,NAME --out run"},
    {"features", ListOfFeatures, "evaluate --features NAME"},
    {"rewards", ListRewards, "train --reward 'jct+0.5*NAME' --out run"},
    {"signals", ListSignals, "train --signal NAME --out run"},
    {"formats", ListFormats, "evaluate --scenario LOG --format NAME"},
    {"workloads", ListWorkloads, "evaluate --workload NAME"},
    {"gpus", ListGpus, "evaluate --cluster NAME=8 --workload toy"},
    {"throughputs", ListThroughputs, "evaluate --workload 'synthetic(table=NAME)' --cluster TYPE=COUNT,..."},
};

std::string KindNames(const char* separator, const char* last) {
  std::string names;
  for (const Kind& kind : kKinds) {
    const bool first = &kind == std::begin(kKinds), end = &kind + 1 == std::end(kKinds);
    names += first ? "" : end ? last : separator;
    names += kind.name;
  }
  return names;
}

const Kind& FindKind(const std::string& name) {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  throw Error(
      Join("kind: expected ", KindNames(", ", " or "), ", found '", name, "'", DidYouMean(name, names)));
}

// The kind's command with this name in it; a policy is nothing without its file.
std::string UseOf(const Kind& kind, const std::string& name) {
  std::string use = kind.use;
  if (name == "fcfs") return "evaluate --schedulers fcfs";  // which the others are compared with
  const std::string given = name == "policy" ? "policy(file=policy.h5)" : name;
  return use.replace(use.find("NAME"), std::string("NAME").size(), given);
}

// A line a row; what one may know of a job's future stands beside a scheduler's name.
void PrintBrief(const Json& rows, const Kind& kind) {
  std::size_t width = 0;
  for (const Json& row : rows) width = std::max(width, row["name"].get<std::string>().size());
  for (const Json& row : rows) {
    std::string name = row["name"];
    name.resize(width, ' ');
    std::string knowledge = row.value("knowledge", "");
    if (!knowledge.empty()) knowledge.resize(10, ' ');
    std::cout << name << "  " << knowledge << row["summary"].get<std::string>() << "\n";
  }
  std::cout << "\nparameters, sources: " << CommandName() << " list " << kind.name
            << " --name NAME,... | --full\n";
}

// Those of the rows that --name asks for, in that order.
Json Named(const Json& rows, const Options& options) {
  std::vector<std::string> known;
  for (const Json& row : rows) known.push_back(row["name"]);
  Json named = Json::array();
  for (const std::string& name : SplitOutsideParentheses(options.Text("name"), ',')) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      throw Error(Join(options.Where("name"), ": expected names of the list, found '", name, "'",
                       DidYouMean(name, known)));
    }
    named.push_back(rows[static_cast<std::size_t>(found - known.begin())]);
  }
  return named;
}

// Steps/s of gangs of one, a line a job type; "~" marks what a model says.
void PrintSpeeds(const Json& row) {
  std::vector<std::string> cells = {"steps/s of one GPU"};
  for (const Json& type : row["gpu_types"]) cells.push_back(type);
  Table table(cells);
  cells.clear();
  for (const Json& figure : row["figures"]) {
    if (figure["gpus"] != 1) continue;
    if (cells.empty()) cells.push_back(figure["job_type"]);
    cells.push_back(Join(figure["source"] == "model" ? "~" : "", Fixed(figure["steps_per_s"], 2)));
    if (cells.size() > row["gpu_types"].size()) table.AddRow(std::move(cells)), cells.clear();
  }
  std::cout << table.ToString();
}

void PrintFull(const Json& rows) {
  for (const Json& row : rows) {
    std::cout << row["name"].get<std::string>() << ": " << row["summary"].get<std::string>() << "\n";
    for (const auto& [key, value] : row.items()) {
      if (key == "name" || key == "summary" || key == "params" || key == "channels" || key == "figures")
        continue;
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      // In the reference's command line a scheduler has another name, or there is none like it.
      std::cout << "    " << (key == "reference_name" ? "reference" : key) << ": "
                << (text == "" ? "-" : text) << "\n";
    }
    for (const char* part : {"jobs", "entities", "pairs", "types", "global"}) {
      if (!row.contains("channels") || !row["channels"].contains(part)) continue;
      for (const Json& channel : row["channels"][part]) {
        std::cout << "    " << part << "." << channel["name"].get<std::string>() << ": "
                  << channel["meaning"].get<std::string>() << "\n";
      }
    }
    if (row.contains("figures")) PrintSpeeds(row);
    if (!row.contains("params")) continue;
    for (const Json& param : row["params"]) {
      std::cout << "    " << param["name"].get<std::string>() << "=" << param["default"].get<std::string>()
                << "  " << param["help"].get<std::string>() << "\n";
    }
  }
}

}  // namespace

int RunList(const std::vector<std::string>& arguments) {
  Options options("list", KindNames(" | ", " | "),
                  "lists components with their parameters, defaults and sources");
  options.Positional("kind", KindNames(", ", " or "));
  options.Value("name", "", "only these rows, separated by commas, in full [all, a line each]");
  options.Switch("full", "parameters, defaults and sources of every row");
  if (!options.Parse(arguments)) return 0;
  const Kind& kind = FindKind(options.Required("kind"));
  CheckJsonWritable(options);
  Json rows = kind.list();
  const bool named = !options.Text("name").empty();
  if (named) rows = Named(rows, options);
  WriteJson(options, Json{{kind.name, rows}, {"config", ConfigJson(options)}});
  if (named || options.Bool("full")) {
    PrintFull(rows);
  } else {
    PrintBrief(rows, kind);
  }
  std::cout << (named ? NextStep("how it is used", UseOf(kind, rows[0]["name"]))
                      : NextStep("one of them in use, in the place of NAME", kind.use));
  return 0;
}

}  // namespace berth
