#include "data/openb.hpp"

#include <algorithm>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr const char* kNodeColumns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};
constexpr const char* kPodColumns[] = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"};

int AtLeastZero(const CsvFile& file, const char* column) {
  const int value = file.Integer(column);
  if (value < 0) throw Error(Join(file.Where(), ": ", column, ": expected at least 0, found ", value));
  return value;
}

double SecondsOrNan(const CsvFile& file, const char* column) {
  if (!file.Has(column) || file.Text(column).empty()) return std::numeric_limits<double>::quiet_NaN();
  return file.Number(column);
}

std::uint64_t Models(const CsvFile& file, const std::vector<std::string>& known) {
  std::uint64_t bits = 0;
  for (const std::string& model : SplitOutsideParentheses(file.Text("gpu_spec"), '|')) {
    const auto at = std::find(known.begin(), known.end(), model);
    if (at == known.end()) {
      throw Error(Join(file.Where(), ": gpu_spec: no node has a '", model, "'", DidYouMean(model, known)));
    }
    bits |= std::uint64_t{1} << (at - known.begin());
  }
  return bits;
}

}  // namespace

OpenbNodes ReadOpenbNodes(const std::string& path) {
  CsvFile file(path, kNodeColumns);
  OpenbNodes all;
  while (file.Next()) {
    OpenbNode node;
    node.name = file.Text("sn");
    node.cpu_milli = AtLeastZero(file, "cpu_milli");
    node.memory_mib = AtLeastZero(file, "memory_mib");
    node.gpus = AtLeastZero(file, "gpu");
    if (node.gpus > 0) {
      const std::string model = file.Text("model");
      const auto at = std::find(all.models.begin(), all.models.end(), model);
      node.model = static_cast<int>(at - all.models.begin());
      if (at == all.models.end()) all.models.push_back(model);
      if (all.models.size() > 64)
        throw Error(Join(file.Where(), ": expected at most 64 GPU models, found more"));
    }
    all.nodes.push_back(std::move(node));
  }
  if (all.nodes.empty()) throw Error(Join(path, ": expected a node a line, found none"));
  std::stable_sort(all.nodes.begin(), all.nodes.end(),
                   [](const OpenbNode& a, const OpenbNode& b) { return a.name < b.name; });
  return all;
}

std::vector<OpenbPod> ReadOpenbPods(const std::string& path, const OpenbNodes& nodes) {
  CsvFile file(path, kPodColumns);
  std::vector<OpenbPod> pods;
  while (file.Next()) {
    OpenbPod pod;
    pod.name = file.Text("name");
    pod.cpu_milli = AtLeastZero(file, "cpu_milli");
    pod.memory_mib = AtLeastZero(file, "memory_mib");
    pod.gpus = AtLeastZero(file, "num_gpu");
    if (pod.gpus > 0) {
      pod.gpu_milli = file.Integer("gpu_milli");
      if (pod.gpu_milli < 1 || pod.gpu_milli > 1000)
        throw Error(Join(file.Where(), ": gpu_milli: expected 1 to 1000, found ", pod.gpu_milli));
      if (pod.gpus > 1 && pod.gpu_milli < 1000) {
        throw Error(Join(file.Where(), ": gpu_milli: expected 1000 of each of ", pod.gpus, " GPUs, found ",
                         pod.gpu_milli));
      }
      if (file.Has("gpu_spec")) pod.models = Models(file, nodes.models);
    }
    if (file.Has("qos")) pod.qos = file.Text("qos");
    pod.running = file.Has("pod_phase") && file.Text("pod_phase") == "Running";
    pod.created = SecondsOrNan(file, "creation_time");
    pod.scheduled = SecondsOrNan(file, "scheduled_time");
    pod.deleted = SecondsOrNan(file, "deletion_time");
    pod.line = file.line();
    pods.push_back(std::move(pod));
  }
  if (pods.empty()) throw Error(Join(path, ": expected a pod a line, found none"));
  std::stable_sort(pods.begin(), pods.end(),
                   [](const OpenbPod& a, const OpenbPod& b) { return a.name < b.name; });
  return pods;
}

}  // namespace berth
