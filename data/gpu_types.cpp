#include "data/gpu_types.hpp"

#include <string>
#include <vector>

#include "data/shipped_csv.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// An idle GPU whose draw nobody published takes a tenth of its board's power, about what the others do.
constexpr double kIdleShare = 0.1;

}  // namespace

std::span<const GpuProduct> GpuProducts() {
  static const std::vector<GpuProduct> kProducts = [] {
    const std::vector<ShippedRow> rows = ShippedRows(kGpusCsv);
    std::vector<GpuProduct> products;
    for (auto row = rows.begin() + 1; row != rows.end(); ++row) {
      const auto column = [&](const char* name) { return ShippedColumn(rows.front(), name); };
      const auto text = [&](const char* name) { return std::string((*row)[U(column(name))]); };
      const auto number = [&](const char* name) { return ShippedNumber(*row, column(name)); };
      GpuProduct& product = products.emplace_back();
      product.type.name = text("name");
      product.type.memory_gb = number("memory_gb");
      product.type.bandwidth_gb_s = number("bandwidth_gb_s");
      product.type.peak_power_w = number("board_power_w");
      product.type.idle_power_w =
          text("idle_power_w").empty() ? kIdleShare * product.type.peak_power_w : number("idle_power_w");
      product.type.price_per_hour = number("price_per_hour");
      product.idle_published = !text("idle_power_w").empty();
      product.product = text("product");
      product.spec_source = text("spec_source"), product.price_source = text("price_source");
    }
    return products;
  }();
  return kProducts;
}

std::span<const GpuType> ShippedGpuTypes() {
  static const std::vector<GpuType> kTypes = [] {
    std::vector<GpuType> types;
    for (const GpuProduct& product : GpuProducts()) types.push_back(product.type);
    return types;
  }();
  return kTypes;
}

ClusterSpec ParseCluster(const std::string& text) {
  ClusterSpec cluster;
  std::vector<std::string> names;
  for (const GpuType& type : ShippedGpuTypes()) names.push_back(type.name);
  for (const std::string& part : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      const bool file = part.find('.') != std::string::npos;
      throw Error(Join("expected TYPE=COUNT or TYPE=COUNT/GPUS_PER_NODE, found '", part, "'",
                       file ? "; the name of a file ends in .toml" : ""));
    }
    const std::string name = part.substr(0, equals);
    GpuType type;
    for (const GpuType& shipped : ShippedGpuTypes()) {
      if (shipped.name == name) type = shipped;
    }
    if (type.name.empty())
      throw Error(Join("unknown GPU type '", name, "'", DidYouMean(name, names),
                       "; types of your own stand in a file: --cluster cluster.toml"));
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
