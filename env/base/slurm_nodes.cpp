// The nodes with GPUs and the partitions that a slurm.conf declares.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostNodes = 200'000,
                      kMostMembers = 10'000'000;  // nodes, and those of all partitions and all sets together

// What NodeName lines say of `key`, or `same`, which NodeName=DEFAULT says for those behind it.
class NodeWord {
 public:
  explicit NodeWord(std::string_view key, std::string_view same = "") : key_(key), same_(same) {}
  const std::string* Of(const SlurmLine& line) {
    const std::string* stated = line.Find(key_);
    if (stated == nullptr) stated = line.Find(same_);
    const std::string* word = stated == nullptr ? usual_ : stated;
    if (SameWord(*line.Find("nodename"), "default")) usual_ = word;
    return word;
  }

 private:
  std::string_view key_, same_;
  const std::string* usual_ = nullptr;
};

// "8", or "8k", which is 8192. -1: no such number.
long long CountOf(const std::string& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  long long factor = 1;
  if (digits + 1 == text.size()) {
    const std::size_t power = std::string_view("kmgtp").find(
        static_cast<char>(std::tolower(static_cast<unsigned char>(text[digits]))));
    if (power == std::string_view::npos) return -1;
    factor = 1LL << std::min<std::size_t>(10 * (power + 1), 40);
  } else if (digits != text.size()) {
    return -1;
  }
  if (digits == 0) return -1;
  return digits > 4 ? 1'000'000 : std::stoll(text.substr(0, digits)) * factor;  // more than any node has
}

struct NodeGpus {
  std::string type;
  int count = 0;
};

// "gpu", "gpu:4", "gpu:a100", "gpu:a100:4(S:0-1)", "gpu:a100:no_consume:4". Other resources are passed over.
NodeGpus GpusOf(const std::string& gres, const std::string& where) {
  NodeGpus gpus;
  for (const std::string& entry : SplitOutsideParentheses(gres, ',')) {
    std::vector<std::string> words = SplitOutsideParentheses(entry.substr(0, entry.find('(')), ':');
    if (words.empty() || words[0] != "gpu") continue;
    if (gpus.count > 0)
      throw Error(Join(where, ": Gres: expected one type of GPU a node, found '", gres, "'"));
    // How Slurm counts them does not change what is there.
    std::erase_if(words, [](const std::string& word) { return SameWord(word, "no_consume"); });
    long long number = words.size() > 1 ? CountOf(words.back()) : -1;
    if ((number < 0 && words.size() > 2) || words.size() > 3)
      throw Error(Join(where, ": Gres: expected gpu:TYPE:COUNT, found '", entry, "'"));
    if (number >= 0)
      words.pop_back();
    else
      number = 1;
    if (number < 1 || number > 1024)
      throw Error(Join(where, ": Gres: expected 1 to 1024 GPUs a node, found ", number));
    gpus = {words.size() > 1 ? words[1] : "gpu", static_cast<int>(number)};
  }
  return gpus;
}

// `number`: of all nodes, -1 = without GPUs. Throws Error for a node that nobody declared.
void AddNode(const std::string& host, const std::map<std::string, int>& number, const std::string& where,
             std::vector<int>& nodes) {
  const auto at = number.find(host);
  if (at == number.end()) throw Error(Join(where, ": there is no NodeName=", host));
  if (at->second >= 0) nodes.push_back(at->second);
}

// What partitions may name in place of nodes.
using NodeSets = std::map<std::string, std::vector<int>>;

// Of NodeSet lines: the nodes listed and those with the feature.
NodeSets NodeSetsOf(const std::vector<SlurmLine>& lines, const std::map<std::string, int>& number,
                    const std::string& path) {
  NodeSets sets;
  std::map<std::string, std::vector<int>> with;  // by feature
  NodeWord features("feature", "features");
  std::size_t members = 0;
  for (const SlurmLine& line : lines) {
    const std::string* names = line.Find("nodename");
    if (names == nullptr) continue;
    const std::string* said = features.Of(line);
    if (said == nullptr || SameWord(*names, "default")) continue;
    const std::vector<std::string> hosts = ExpandHosts(*names, Join(path, ":", line.number, ": NodeName"));
    for (const std::string& one : SplitOutsideParentheses(*said, ',')) {
      std::vector<int>& of = with[one];
      for (const std::string& host : hosts) {
        const auto at = number.find(host);
        if (at != number.end() && at->second >= 0) of.push_back(at->second), ++members;
      }
      if (members > kMostMembers)
        throw Error(Join(path, ":", line.number, ": expected fewer features of nodes"));
    }
  }
  for (const SlurmLine& line : lines) {
    const std::string* name = line.Find("nodeset");
    if (name == nullptr) continue;
    const std::string where = Join(path, ":", line.number, ": Nodes");
    std::vector<int>& nodes = sets[*name];
    if (const std::string* one = line.Find("feature"); one != nullptr) {
      if (const auto at = with.find(*one); at != with.end()) nodes = at->second;
    }
    if (const std::string* listed = line.Find("nodes"); listed != nullptr) {
      for (const std::string& host : ExpandHosts(*listed, where)) AddNode(host, number, where, nodes);
    }
    members += nodes.size();
    if (members > kMostMembers)
      throw Error(Join(where, ": expected at most ", kMostMembers, " nodes of all sets, found more"));
  }
  return sets;
}

}  // namespace

SlurmNodes NodesOf(const std::vector<SlurmLine>& lines, const std::string& path) {
  SlurmNodes all;
  std::vector<std::string> types;
  std::map<std::string, std::pair<std::string, int>> known;  // by type: as it is first written, GPUs a node
  NodeWord gres("gres"), state("state");
  for (const SlurmLine& line : lines) {
    const std::string where = Join(path, ":", line.number);
    if (const std::string* file = line.Find("include"))
      throw Error(Join(where, ": expected the lines of '", *file,
                       "' in place of its Include, which is not followed: it may declare nodes"));
    const std::string* names = line.Find("nodename");
    if (names == nullptr) continue;
    const std::string* of_gpus = gres.Of(line);
    const std::string* of_state = state.Of(line);
    if (SameWord(*names, "default")) continue;
    const NodeGpus gpus = GpusOf(of_gpus == nullptr ? "" : *of_gpus, where);
    const std::vector<std::string> hosts = ExpandHosts(*names, where + ": NodeName");
    if (all.nodes.size() + all.without_gpu.size() + all.future.size() + hosts.size() > kMostNodes)
      throw Error(Join(where, ": expected at most ", kMostNodes, " nodes in all, found more"));
    if (gpus.count == 0 || (of_state != nullptr && SameWord(*of_state, "future"))) {
      std::vector<std::string>& other = gpus.count == 0 ? all.without_gpu : all.future;
      other.insert(other.end(), hosts.begin(), hosts.end());
      continue;
    }
    const auto& [type, usual] = known.try_emplace(Lower(gpus.type), gpus.type, gpus.count).first->second;
    const std::string name = gpus.count == usual ? type : Join(type, "-", gpus.count);
    if (std::find(types.begin(), types.end(), name) == types.end()) types.push_back(name);
    for (const std::string& host : hosts) all.nodes.push_back({host, type, name, gpus.count, line.number});
  }
  std::stable_sort(all.nodes.begin(), all.nodes.end(), [&](const SlurmNode& a, const SlurmNode& b) {
    return std::find(types.begin(), types.end(), a.type) < std::find(types.begin(), types.end(), b.type);
  });
  return all;
}

std::vector<SlurmPartition> PartitionsOf(const std::vector<SlurmLine>& lines, const SlurmNodes& nodes,
                                         const std::string& path) {
  std::map<std::string, int> number;
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) number[nodes.nodes[i].name] = static_cast<int>(i);
  for (const std::string& name : nodes.without_gpu) number[name] = -1;
  for (const std::string& name : nodes.future) number[name] = -1;
  const NodeSets sets = NodeSetsOf(lines, number, path);
  std::vector<SlurmPartition> partitions;
  std::string usual = "";  // what PartitionName=DEFAULT says, for those behind it
  std::size_t members = 0;
  for (const SlurmLine& line : lines) {
    const std::string* name = line.Find("partitionname");
    if (name == nullptr) continue;
    const std::string* listed = line.Find("nodes");
    if (SameWord(*name, "default")) {
      if (listed != nullptr) usual = *listed;
      continue;
    }
    SlurmPartition partition{*name, {}, &line};
    const std::string text = listed == nullptr ? usual : *listed;
    const std::string where = Join(path, ":", line.number, ": Nodes");
    const auto check = [&] {
      if (members + partition.nodes.size() > kMostMembers)
        throw Error(Join(where, ": expected at most ", kMostMembers, " nodes of all partitions, found more"));
    };
    if (SameWord(text, "all")) {
      for (std::size_t i = 0; i < nodes.nodes.size(); ++i) partition.nodes.push_back(static_cast<int>(i));
    } else {
      std::set<std::string> taken;  // sets
      for (const std::string& host : ExpandHosts(text, where)) {
        if (const auto set = sets.find(host); set != sets.end()) {
          if (!taken.insert(host).second) continue;
          partition.nodes.insert(partition.nodes.end(), set->second.begin(), set->second.end());
          check();
          continue;
        }
        AddNode(host, number, where, partition.nodes);
      }
      std::sort(partition.nodes.begin(), partition.nodes.end());
      if (!taken.empty())  // which may have nodes in common
        partition.nodes.erase(std::unique(partition.nodes.begin(), partition.nodes.end()),
                              partition.nodes.end());
    }
    check();
    members += partition.nodes.size();
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

}  // namespace berth
