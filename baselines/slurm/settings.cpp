#include "baselines/slurm/settings.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

double NumberIn(const std::string& text, double low, double high, const std::string& where) {
  const double value = ParseNumber(text, where);
  if (!(value >= low && value <= high))
    throw Error(Join(where, ": expected ", low, " to ", high, ", found ", text));
  return value;
}

bool YesNo(const std::string& text, const std::string& where) {
  const std::string lower = Lower(text);
  if (lower == "yes" || lower == "true" || lower == "1" || lower == "up") return true;
  if (lower == "no" || lower == "false" || lower == "0" || lower == "down") return false;
  throw Error(Join(where, ": expected YES or NO, found '", text, "'"));
}

// One of `names`; others are named in the error.
std::size_t OneOf(const std::string& text, const std::vector<std::string>& names, const std::string& where) {
  const auto at = std::find(names.begin(), names.end(), Lower(text));
  if (at != names.end()) return static_cast<std::size_t>(at - names.begin());
  throw Error(Join(where, ": expected one of ", Listed(names), ", found '", text, "'",
                   DidYouMean(Lower(text), names)));
}

struct NumberKey {
  const char* key;
  double SlurmSettings::*member;
};
constexpr NumberKey kWeights[] = {
    {"priorityweightage", &SlurmSettings::weight_age},
    {"priorityweightfairshare", &SlurmSettings::weight_fair_share},
    {"priorityweightjobsize", &SlurmSettings::weight_size},
    {"priorityweightpartition", &SlurmSettings::weight_partition},
    {"priorityweightqos", &SlurmSettings::weight_qos},
};

struct BackfillNumber {
  const char* key;
  double SlurmSettings::*member;
  double low, high, factor;  // to seconds
};
constexpr BackfillNumber kBackfillNumbers[] = {
    {"bf_interval", &SlurmSettings::bf_interval, 1, 10800, 1},
    {"bf_window", &SlurmSettings::bf_window, 1, 43200, 60},
    {"bf_resolution", &SlurmSettings::bf_resolution, 1, 3600, 1},
    {"bf_window_scale", &SlurmSettings::bf_window_scale, 0, 1e9, 1},
    {"bf_min_age_reserve", &SlurmSettings::bf_min_age_reserve, 0, 2592000, 1},
    {"batch_sched_delay", &SlurmSettings::batch_sched_delay, 0, 1e9, 1},
};
struct BackfillCount {
  const char* key;
  int SlurmSettings::*member;
};
constexpr BackfillCount kBackfillCounts[] = {
    {"bf_max_job_test", &SlurmSettings::bf_max_job_test},
    {"bf_max_job_part", &SlurmSettings::bf_max_job_part},
    {"bf_max_job_user", &SlurmSettings::bf_max_job_user},
    {"bf_max_job_start", &SlurmSettings::bf_max_job_start},
};
// They say how the daemon spends its own time, which the simulator does not.
const std::vector<std::string> kOfTheDaemon = {
    "bf_continue", "bf_max_time",        "bf_yield_interval",  "bf_yield_sleep",      "bf_yield_rpc_cnt",
    "max_rpc_cnt", "sched_interval",     "sched_min_interval", "sched_max_job_start", "default_queue_depth",
    "defer",       "build_queue_timeout"};

// SchedulerParameters=a=1,b,c=2.
void ReadParameters(const std::string& text, const std::string& where, SlurmSettings& into) {
  for (const std::string& entry : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = entry.find('=');
    const std::string key = Lower(entry.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : entry.substr(equals + 1);
    const std::string what = Join(where, ": ", key);
    bool read = std::find(kOfTheDaemon.begin(), kOfTheDaemon.end(), key) != kOfTheDaemon.end();
    for (const BackfillNumber& number : kBackfillNumbers) {
      if (key != number.key) continue;
      read = true;
      const bool never = number.member == &SlurmSettings::bf_interval && value == "-1";
      into.*number.member =
          never ? kUnlimited : number.factor * NumberIn(value, number.low, number.high, what);
    }
    for (const BackfillCount& count : kBackfillCounts) {
      if (key != count.key) continue;
      read = true;
      into.*count.member = static_cast<int>(NumberIn(value, 0, 1e6, what));
    }
    if (!read) into.unread.push_back(key);
  }
}

void ReadFlags(const std::string& text, SlurmSettings& into) {
  for (const std::string& flag : SplitOutsideParentheses(text, ',')) {
    const std::string name = Lower(flag);
    if (name == "fair_tree")
      into.fair_tree = true;
    else if (name == "no_fair_tree")
      into.fair_tree = false;
    else if (name == "small_relative_to_time")
      into.relative_to_time = true;
    else
      into.unread.push_back("PriorityFlags=" + flag);
  }
}

void ReadTres(const std::string& text, const std::string& where, SlurmSettings& into) {
  for (const std::string& entry : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = entry.find('=');
    if (Lower(entry.substr(0, equals)) != "gres/gpu") {
      into.unread.push_back("PriorityWeightTRES=" + entry);
      continue;
    }
    into.weight_gpu = NumberIn(equals == std::string::npos ? "" : entry.substr(equals + 1), 0, 1e9, where);
  }
}

// Everything of a line that is neither a node nor a partition.
void ReadWord(const std::string& key, const std::string& value, const std::string& where,
              SlurmSettings& into) {
  for (const NumberKey& weight : kWeights) {
    if (key == weight.key) return void(into.*weight.member = NumberIn(value, 0, 4294967295.0, where));
  }
  const auto span = [&](double& member, bool zero_is_for_ever) {
    member = ParseSlurmSpan(value, where);
    if (zero_is_for_ever && member == 0.0) member = kUnlimited;
    if (!(member > 0.0)) throw Error(Join(where, ": expected more than 0, found '", value, "'"));
  };
  if (key == "prioritytype")
    into.multifactor = OneOf(value, {"priority/basic", "priority/multifactor"}, where) == 1;
  else if (key == "schedulertype")
    into.backfill = OneOf(value, {"sched/builtin", "sched/backfill"}, where) == 1;
  else if (key == "prioritydecayhalflife")
    span(into.half_life, true);
  else if (key == "prioritycalcperiod")
    span(into.calc_period, false);
  else if (key == "prioritymaxage")
    span(into.max_age, false);
  else if (key == "fairsharedampeningfactor")
    into.fair_share_dampening = NumberIn(value, 1, 65535, where);
  else if (key == "priorityfavorsmall")
    into.favor_small = YesNo(value, where);
  else if (key == "priorityflags")
    ReadFlags(value, into);
  else if (key == "priorityweighttres")
    ReadTres(value, where, into);
  else if (key == "schedulerparameters")
    ReadParameters(value, where, into);
  else if (key == "preempttype")
    into.preempt = static_cast<SlurmSettings::Preempt>(
        OneOf(value, {"preempt/none", "preempt/partition_prio", "preempt/qos"}, where));
  else if (key == "preemptmode") {
    const std::vector<std::string> modes = SplitOutsideParentheses(Lower(value), ',');
    for (const std::string& mode : modes)
      OneOf(mode, {"off", "cancel", "requeue", "suspend", "gang", "within"}, where);
    if (std::find(modes.begin(), modes.end(), "suspend") != modes.end())
      into.unread.push_back("PreemptMode=SUSPEND");
  } else if (key.rfind("priority", 0) == 0 || key.rfind("preempt", 0) == 0 || key.rfind("sched", 0) == 0) {
    into.unread.push_back(key);
  } else {
    ++into.other_unread;
  }
}

void ReadPartitionWord(const std::string& key, const std::string& value, const std::string& where,
                       SlurmSettings& into, SlurmPartitionRules& partition) {
  const auto count = [&](double low) {
    const std::string lower = Lower(value);
    return lower == "unlimited" || lower == "infinite" ? kUnlimited : NumberIn(value, low, 1e9, where);
  };
  if (key == "maxtime")
    partition.max_time = ParseSlurmSpan(value, where);
  else if (key == "defaulttime")
    partition.default_time = ParseSlurmSpan(value, where);
  else if (key == "maxnodes")
    partition.max_nodes = count(0);
  else if (key == "prioritytier")
    partition.tier = static_cast<int>(NumberIn(value, 0, 65533, where));
  else if (key == "priorityjobfactor")
    partition.job_factor = static_cast<int>(NumberIn(value, 0, 65533, where));
  else if (key == "priority")
    partition.tier = partition.job_factor = static_cast<int>(NumberIn(value, 0, 65533, where));
  else if (key == "state")
    partition.up = OneOf(value, {"up", "down", "drain", "inactive"}, where) == 0;
  else if (key == "preemptmode")
    partition.preempts = OneOf(value, {"off", "cancel", "requeue", "suspend", "gang"}, where) != 0;
  else if (key == "default")
    YesNo(value, where);
  else if (key != "nodes" && key != "partitionname")
    into.unread.push_back("partition's " + key);
}

void ReadPartitions(const std::vector<SlurmLine>& lines, const SlurmNodes& nodes, const std::string& path,
                    SlurmSettings& into) {
  const std::vector<SlurmPartition> found = PartitionsOf(lines, nodes, path);
  SlurmPartitionRules usual;
  std::size_t next = 0;
  for (const SlurmLine& line : lines) {
    const std::string* name = line.Find("partitionname");
    if (name == nullptr) continue;
    const bool is_usual = Lower(*name) == "default";
    SlurmPartitionRules partition = usual;
    for (const auto& [key, value] : line.words)
      ReadPartitionWord(key, value, Join(path, ":", line.number, ": ", key), into, partition);
    if (is_usual) {
      usual = partition;
      continue;
    }
    partition.name = *name;
    partition.nodes = found[next++].nodes;
    const std::string* chosen = line.Find("default");
    if (chosen != nullptr && YesNo(*chosen, path))
      into.default_partition = static_cast<int>(into.partitions.size());
    into.partitions.push_back(std::move(partition));
  }
}

}  // namespace

SlurmSettings DefaultSlurmSettings() {
  SlurmSettings settings;
  settings.partitions.emplace_back();
  settings.partitions.back().name = "default";
  return settings;
}

SlurmSettings ReadSlurmSettings(const std::string& path) {
  const std::vector<SlurmLine> lines = ReadSlurmConf(path);
  const SlurmNodes nodes = NodesOf(lines, path);
  SlurmSettings settings;
  settings.nodes = nodes.nodes;
  std::map<int, double> weights;  // of the nodes of a line
  double usual = 1.0;             // NodeName=DEFAULT says it for those behind it
  for (const SlurmLine& line : lines) {
    const std::string* names = line.Find("nodename");
    if (names == nullptr) continue;
    const std::string* text = line.Find("weight");
    double& weight = weights[line.number] = usual;
    if (text != nullptr) weight = NumberIn(*text, 0, 4294967295.0, Join(path, ":", line.number, ": Weight"));
    if (Lower(*names) == "default") usual = weight;
  }
  for (const SlurmNode& node : settings.nodes) settings.node_weights.push_back(weights.at(node.line));
  for (const SlurmLine& line : lines) {
    if (line.Find("nodename") != nullptr || line.Find("partitionname") != nullptr ||
        line.Find("nodeset") != nullptr)
      continue;
    for (const auto& [key, value] : line.words)
      ReadWord(key, value, Join(path, ":", line.number, ": ", key), settings);
  }
  if (settings.bf_interval == kUnlimited) settings.backfill = false;
  ReadPartitions(lines, nodes, path, settings);
  if (settings.partitions.empty()) throw Error(Join(path, ": expected a line PartitionName=..., found none"));
  std::sort(settings.unread.begin(), settings.unread.end());
  settings.unread.erase(std::unique(settings.unread.begin(), settings.unread.end()), settings.unread.end());
  return settings;
}

}  // namespace berth
