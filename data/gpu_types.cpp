// Memory and peak power (board power limit): the vendors' data sheets. Idle power: typical nvidia-smi
// readings, rounded. Price: on-demand list prices per GPU-hour of large clouds in the types' main years, in
// US dollars, rounded; they weigh types against each other and are no quotation.
#include "data/gpu_types.hpp"

#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

GpuType Type(const char* name, double memory_gb, double idle_w, double peak_w, double price) {
  GpuType type;
  type.name = name;
  type.memory_gb = memory_gb;
  type.idle_power_w = idle_w;
  type.peak_power_w = peak_w;
  type.price_per_hour = price;
  return type;
}

}  // namespace

std::span<const GpuType> ShippedGpuTypes() {
  static const std::vector<GpuType> kTypes = {
      Type("k80", 12, 30, 150, 0.45),  // one of the two GPUs of a 24 GB, 300 W board
      Type("p100", 16, 30, 250, 1.46), Type("v100", 16, 40, 300, 2.48),  Type("t4", 16, 10, 70, 0.35),
      Type("a10", 24, 20, 150, 1.01),  Type("a30", 24, 30, 165, 1.20),   Type("a100", 80, 55, 400, 3.67),
      Type("h100", 80, 70, 700, 6.98), Type("h200", 141, 75, 700, 8.00), Type("cpu", 4, 2, 6, 0.04),
  };
  return kTypes;
}

ClusterSpec ParseCluster(const std::string& text) {
  ClusterSpec cluster;
  std::vector<std::string> names;
  for (const GpuType& type : ShippedGpuTypes()) names.push_back(type.name);
  for (const std::string& part : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      throw Error(Join("expected TYPE=COUNT or TYPE=COUNT/GPUS_PER_NODE, found '", part, "'"));
    }
    const std::string name = part.substr(0, equals);
    GpuType type;
    for (const GpuType& shipped : ShippedGpuTypes()) {
      if (shipped.name == name) type = shipped;
    }
    if (type.name.empty()) throw Error(Join("unknown GPU type '", name, "'", DidYouMean(name, names)));
    const std::string numbers = part.substr(equals + 1);
    const std::size_t slash = numbers.find('/');
    const auto bounded = [&](const std::string& digits, const char* what) {
      const long long value = ParseInteger(digits, name);
      if (value < 1 || value > 10000000)
        throw Error(Join(name, ": expected ", what, " of 1 to 10000000, found ", value));
      return static_cast<int>(value);
    };
    type.count = bounded(numbers.substr(0, slash), "a count");
    if (slash != std::string::npos) type.gpus_per_node = bounded(numbers.substr(slash + 1), "GPUs per node");
    for (const GpuType& other : cluster.types) {
      if (other.name == name) throw Error(Join("GPU type '", name, "' is named twice"));
    }
    cluster.types.push_back(type);
  }
  if (cluster.types.empty()) throw Error("expected TYPE=COUNT,..., found nothing");
  return cluster;
}

}  // namespace berth
