#include "tools/reproduce/fgd/run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "data/csv_file.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tools/reproduce/fgd/run.hpp"

namespace berth::fgd {
namespace {

constexpr std::uint32_t kOrder = 0, kChoices = 1, kNames = 2, kTypical = 3;  // streams

// The choices of a policy for one kind of pod, node by node, each kept until its node changes.
class KeptChoices {
 public:
  explicit KeptChoices(std::size_t nodes) : version_(nodes, 0) {}
  void Changed(std::size_t node) { ++version_[node]; }
  const Choice& Of(const Policy& policy, const Pod& pod, const Node& node, std::size_t index,
                   const Fragmentation& fragmentation,
                   std::vector<std::pair<std::uint32_t, Choice>>& of_kind) {
    auto& [at, choice] = of_kind[index];
    if (at != version_[index] + 1) {
      at = version_[index] + 1;
      choice = policy.choose(node, pod, fragmentation);
    }
    return choice;
  }
  // Memory and allowed models say where a pod fits, not how well.
  std::vector<std::pair<std::uint32_t, Choice>>& Kind(const Pod& pod) {
    auto& kind = kinds_[{pod.cpu, pod.gpus, pod.milli}];
    if (kind.empty()) kind.resize(version_.size());
    return kind;
  }
  void Forget() { kinds_.clear(); }

 private:
  std::vector<std::uint32_t> version_;
  std::map<std::tuple<int, int, int>, std::vector<std::pair<std::uint32_t, Choice>>> kinds_;
};

// Means of what was seen after each pod, by whole percents arrived, as the published tables are made.
class Means {
 public:
  void Add(double percent, double value) {
    const auto at = static_cast<std::size_t>(std::nearbyint(percent));
    if (at >= sum_.size()) return;
    sum_[at] += value;
    ++count_[at];
  }
  std::vector<double> Values() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < sum_.size(); ++i)
      values.push_back(count_[i] > 0 ? sum_[i] / count_[i] : std::numeric_limits<double>::quiet_NaN());
    return values;
  }

 private:
  std::vector<double> sum_ = std::vector<double>(kPercents, 0.0);
  std::vector<int> count_ = std::vector<int>(kPercents, 0);
};

}  // namespace

double Workload::CapacityMilli() const {
  double milli = 0.0;
  for (const Node& node : nodes) milli += node.gpus * kWhole;
  return milli;
}

Workload WorkloadOf(const OpenbNodes& nodes, const std::vector<OpenbPod>& pods) {
  Workload workload;
  for (const OpenbNode& node : nodes.nodes) workload.nodes.push_back(NodeOf(node));
  for (const OpenbPod& pod : pods) workload.pods.push_back(PodOf(pod));
  return workload;
}

std::vector<Pod> PodSequence(const Workload& workload, std::uint64_t seed) {
  Stream random(seed, Purpose::kShuffle, Split::kEvaluate, kOrder);
  std::vector<Pod> pods = workload.pods;
  Shuffle(pods, random);
  const double most = kMostDemand * workload.CapacityMilli();
  double demand = 0.0;
  for (const Pod& pod : pods) demand += pod.gpus * pod.milli;
  while (demand > most) {
    const std::size_t at = random.Below(static_cast<std::uint32_t>(pods.size()));
    demand -= pods[at].gpus * pods[at].milli;
    pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (pods.size() < workload.pods.size()) return pods;
  const auto count = static_cast<std::uint32_t>(workload.pods.size());
  for (;;) {
    const Pod& pod = workload.pods[random.Below(count)];
    if (demand + pod.milli > most) return pods;  // of one GPU: so in the authors' code
    demand += pod.gpus * pod.milli;
    pods.push_back(pod);
  }
}

RunOutcome RunPolicy(const Workload& workload, const Policy& policy, std::uint64_t seed, bool keep) {
  Stream ties(seed, Purpose::kShuffle, Split::kEvaluate, kTypical);
  const Fragmentation fragmentation(TypicalPods(workload.pods, ties));
  Stream random(seed, Purpose::kShuffle, Split::kEvaluate, kChoices);
  std::vector<Node> nodes = workload.nodes;
  Stream names(seed, Purpose::kShuffle, Split::kEvaluate, kNames);
  Shuffle(nodes, names);
  std::vector<double> fragments;
  double fragmented = 0.0;
  for (const Node& node : nodes) fragmented += fragments.emplace_back(fragmentation.Of(node));
  KeptChoices kept(nodes.size());
  const double capacity = workload.CapacityMilli();
  double arrived = 0.0, allocated = 0.0;
  Means allocation, fragmentation_curve;
  RunOutcome outcome;
  for (const Pod& pod : PodSequence(workload, seed)) {
    ++outcome.pods;
    arrived += pod.gpus * pod.milli;
    int where = -1;
    Choice choice;
    if (policy.choose == nullptr) {
      std::uint32_t fitting = 0;
      for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
        if (Fits(nodes[U(n)], pod) && random.Below(++fitting) == 0) where = n;
      }
      if (where >= 0 && pod.Shares()) choice.gpu = RandomGpu(nodes[U(where)], pod, random);
    } else {
      if (!keep) kept.Forget();
      auto& of_kind = kept.Kind(pod);
      for (int n = 0; n < static_cast<int>(nodes.size()); ++n) {
        if (!Fits(nodes[U(n)], pod)) continue;
        const Choice& here = kept.Of(policy, pod, nodes[U(n)], U(n), fragmentation, of_kind);
        if (where < 0 || here.score > choice.score) where = n, choice = here;
      }
    }
    if (where < 0) {
      ++outcome.failed;
    } else {
      Node& node = nodes[U(where)];
      Place(node, pod, choice.gpu);
      kept.Changed(U(where));
      allocated += pod.gpus * pod.milli;
      const double now = fragmentation.Of(node);
      fragmented += now - fragments[U(where)];
      fragments[U(where)] = now;
    }
    allocation.Add(100.0 * arrived / capacity, 100.0 * allocated / capacity);
    fragmentation_curve.Add(100.0 * arrived / capacity, 100.0 * fragmented / capacity);
  }
  outcome.allocated = allocation.Values();
  outcome.fragmented = fragmentation_curve.Values();
  return outcome;
}

std::vector<PublishedRun> ReadPublishedRuns(const std::string& path) {
  static constexpr const char* kColumns[] = {"workload", "sc_policy", "seed", "0", "130"};
  CsvFile file(path, kColumns);
  std::vector<PublishedRun> runs;
  while (file.Next()) {
    PublishedRun run{file.Text("workload"), file.Text("sc_policy"), {}};
    for (int percent = 0; percent < kPercents; ++percent) {
      const std::string column = std::to_string(percent);
      run.by_percent.push_back(file.Text(column).empty() ? std::numeric_limits<double>::quiet_NaN()
                                                         : file.Number(column));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  double sum = 0.0;
  for (double x : values) {
    if (std::isnan(x)) continue;
    spread.low = spread.runs == 0 ? x : std::min(spread.low, x);
    spread.high = spread.runs == 0 ? x : std::max(spread.high, x);
    sum += x;
    ++spread.runs;
  }
  if (spread.runs == 0) return spread;
  spread.mean = sum / spread.runs;
  double squares = 0.0;
  for (double x : values) {
    if (!std::isnan(x)) squares += (x - spread.mean) * (x - spread.mean);
  }
  spread.sd = spread.runs > 1 ? std::sqrt(squares / (spread.runs - 1)) : 0.0;
  return spread;
}

}  // namespace berth::fgd
