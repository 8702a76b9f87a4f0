// The types, rates and layouts of a partitioned cluster (partitions.hpp).
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/partitions/partition_groups.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr const char* kFeature = "feature 'partitions': ";

// "TYPE:PRODUCT+...": type names to products.
std::map<std::string, const MigProduct*> StatedProducts(const PartitionSettings& settings,
                                                        const ScenarioData& data) {
  std::vector<std::string> products, types;
  for (const MigProduct& product : MigProducts()) products.emplace_back(product.name);
  for (const GpuType& type : data.cluster.types) types.push_back(type.name);
  std::map<std::string, const MigProduct*> stated;
  for (const std::string& pair : SplitOutsideParentheses(settings.like, '+')) {
    const std::size_t colon = pair.find(':');
    const std::string name = colon == std::string::npos ? pair : pair.substr(colon + 1),
                      type = pair.substr(0, colon);
    const auto at = std::find(products.begin(), products.end(), name);
    if (colon == std::string::npos || at == products.end())
      throw Error(Join(kFeature, "like: expected TYPE:PRODUCT with a product of ", Listed(products),
                       ", found '", pair, "'", DidYouMean(name, products)));
    if (std::find(types.begin(), types.end(), type) == types.end())
      throw Error(Join(kFeature, "like: the cluster has no '", type, "'", DidYouMean(type, types)));
    if (!stated.emplace(type, &MigProducts()[static_cast<std::size_t>(at - products.begin())]).second)
      throw Error(Join(kFeature, "like: expected each type once, found '", type, "' twice"));
  }
  return stated;
}

const MigProduct* ProductOf(const std::map<std::string, const MigProduct*>& stated, const GpuType& type) {
  if (const auto found = stated.find(type.name); found != stated.end()) return found->second;
  for (const MigProduct& product : MigProducts()) {
    if (type.name == product.type && (type.memory_gb == product.memory_gb || type.memory_gb == 0.0))
      return &product;
  }
  return nullptr;
}

std::string SliceName(const GpuType& whole, const MigProfile& profile) {
  return Join(whole.name, ".", profile.name);
}

int FindType(const ScenarioData& data, const std::string& name) {
  for (std::size_t g = 0; g < data.cluster.types.size(); ++g) {
    if (data.cluster.types[g].name == name) return static_cast<int>(g);
  }
  return -1;
}

struct Partitioned {
  int type;
  const MigProduct* product;
};

std::vector<Partitioned> Chosen(const PartitionSettings& settings, const ScenarioData& data) {
  const auto stated = StatedProducts(settings, data);
  std::vector<Partitioned> chosen;
  std::vector<std::string> able;
  for (const MigProduct& product : MigProducts()) able.emplace_back(product.type);
  for (const std::string& name : SplitOutsideParentheses(settings.type, '+')) {
    const int type = FindType(data, name);
    if (type < 0) throw Error(Join(kFeature, "type: the cluster has no '", name, "'"));
    const MigProduct* product = ProductOf(stated, data.cluster.types[U(type)]);
    if (product == nullptr) {
      throw Error(
          Join(kFeature, "type: '", name, "' with ", data.cluster.types[U(type)].memory_gb,
               " GB has no partitions, expected a30, a100 (40 or 80 GB), h100 or h200, or one named by like=",
               DidYouMean(name, able)));
    }
    chosen.push_back({type, product});
  }
  if (settings.type.empty()) {
    for (std::size_t g = 0; g < data.cluster.types.size(); ++g) {
      if (const MigProduct* product = ProductOf(stated, data.cluster.types[g]))
        chosen.push_back({static_cast<int>(g), product});
    }
  }
  if (chosen.empty())
    throw Error(Join(
        kFeature,
        "the cluster has no GPU type that can be partitioned: a30, a100, h100, h200, or one named by like="));
  return chosen;
}

// Instances named in any order, each at the first place that lets the others stand too.
bool PlaceAll(const MigProduct& product, const std::vector<int>& profiles, std::size_t next,
              MigLayout& layout) {
  if (next == profiles.size()) return true;
  const int p = profiles[next];
  for (int s = 0; s < static_cast<int>(product.profiles[U(p)].starts.size()); ++s) {
    layout.push_back({p, s});
    if (LegalLayout(product, layout) && PlaceAll(product, profiles, next + 1, layout)) return true;
    layout.pop_back();
  }
  return false;
}

MigLayout ParseLayout(const MigProduct& product, const std::string& text) {
  std::vector<std::string> names;
  for (const MigProfile& profile : product.profiles) names.emplace_back(profile.name);
  std::vector<int> profiles;
  for (const std::string& name : SplitOutsideParentheses(text, '+')) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      throw Error(Join(kFeature, "layout: ", product.name, " has profiles ", Listed(names), ", found '", name,
                       "'", DidYouMean(name, names)));
    }
    profiles.push_back(static_cast<int>(at - names.begin()));
  }
  MigLayout layout;
  if (!PlaceAll(product, profiles, 0, layout)) {
    throw Error(Join(kFeature, "layout: '", text, "' does not fit on one ", product.name, " (",
                     product.compute, " compute and ", product.memory, " memory slices)"));
  }
  std::sort(layout.begin(), layout.end(), [&](const MigSlice& a, const MigSlice& b) {
    return product.profiles[U(a.profile)].starts[U(a.start)] <
           product.profiles[U(b.profile)].starts[U(b.start)];
  });
  return layout;
}

// Rates of every job type and gang on the slices of a type, beside the present columns.
void AddColumns(ScenarioData& data, int whole, const std::vector<const MigProfile*>& added,
                const MigProduct& product) {
  ThroughputTable& table = data.throughputs;
  const std::size_t types = data.cluster.types.size(), more = added.size(), sizes = table.gang_sizes.size();
  const auto widen = [&](std::vector<double>& column, std::size_t rows, std::size_t width, auto&& rate) {
    if (column.empty()) return;
    std::vector<double> wide;
    for (std::size_t row = 0; row < rows; ++row) {
      const auto begin = column.begin() + static_cast<std::ptrdiff_t>(row * types * width);
      wide.insert(wide.end(), begin, begin + static_cast<std::ptrdiff_t>(types * width));
      for (std::size_t k = 0; k < more; ++k) {
        for (std::size_t w = 0; w < width; ++w) wide.push_back(rate(row, *added[k], begin[whole]));
      }
    }
    column = std::move(wide);
  };
  const auto on_slice = [&](std::size_t row, const MigProfile& profile, double rate) {
    const std::size_t kind = row / sizes;
    if (table.gang_sizes[row % sizes] != 1) return 0.0;
    const double needs = data.traits.memory_gb.empty() ? 0.0 : data.traits.memory_gb[kind];
    const double usable = data.traits.utilization.empty() ? 1.0 : data.traits.utilization[kind];
    const double traffic = BandwidthShare(data, static_cast<int>(kind), whole, rate);
    if (needs > profile.memory_gb) return 0.0;
    const double fraction = static_cast<double>(profile.compute) / product.compute;
    const double channels = static_cast<double>(profile.memory) / product.memory;
    const double computes = fraction >= usable ? rate : rate * fraction / usable;
    return channels >= traffic ? computes : std::min(computes, rate * channels / traffic);
  };
  const auto none = [](std::size_t, const MigProfile&, double) { return 0.0; };
  const std::size_t kinds = table.job_types.size();
  widen(table.alone, kinds * sizes, 1, on_slice);
  widen(table.unconsolidated, kinds * sizes, 1, none);
  widen(table.pairs, kinds * kinds, 2, none);
}

}  // namespace

void PartitionSettings::AddTypes(ScenarioData& data) const {
  for (const auto& [whole, its] : Chosen(*this, data)) {
    const MigProduct& product = *its;
    std::vector<const MigProfile*> added;
    std::vector<GpuType> types;
    for (const MigProfile& profile : product.profiles) {
      GpuType slice = data.cluster.types[U(whole)];
      const auto starts = static_cast<int>(profile.starts.size());
      const int there = FindType(data, SliceName(slice, profile));
      if (there >= 0) {
        if (data.cluster.types[U(there)].count != slice.count * starts) {
          throw Error(Join(kFeature, "type '", data.cluster.types[U(there)].name, "': expected ",
                           slice.count * starts, " devices, ", starts, " of each GPU, found ",
                           data.cluster.types[U(there)].count));
        }
        data.cluster.types[U(there)].gpus_per_node = slice.gpus_per_node * starts;  // beside its GPU
        data.cluster.types[U(there)].part = {whole, profile.compute, product.compute};
        continue;
      }
      const double fraction = static_cast<double>(profile.compute) / product.compute;
      slice.name = SliceName(slice, profile);
      slice.count *= starts;
      slice.gpus_per_node *= starts;
      slice.memory_gb = profile.memory_gb;
      slice.bandwidth_gb_s *= static_cast<double>(profile.memory) / product.memory;
      slice.peak_power_w = (slice.peak_power_w - slice.idle_power_w) * fraction;
      slice.idle_power_w = 0.0;  // the whole GPU's, which is idle meanwhile
      slice.price_per_hour *= fraction;
      slice.part = {whole, profile.compute, product.compute};
      types.push_back(slice);
      added.push_back(&profile);
    }
    if (!data.jobs.allowed.empty() && data.cluster.types.size() + types.size() > 64)
      throw Error(Join(kFeature, "expected at most 64 GPU types with slices where jobs name theirs, found ",
                       data.cluster.types.size() + types.size()));
    AddColumns(data, whole, added, product);
    for (std::uint64_t& allowed : data.jobs.allowed) {
      if ((allowed >> whole & 1) == 0) continue;
      for (std::size_t k = 0; k < types.size(); ++k)
        allowed |= std::uint64_t{1} << (data.cluster.types.size() + k);
    }
    data.cluster.types.insert(data.cluster.types.end(), types.begin(), types.end());
  }
}

std::vector<PartitionGroup> PartitionGroups(const PartitionSettings& settings, const ScenarioData& data) {
  std::vector<PartitionGroup> groups;
  int first = 0;
  for (const auto& [type, product] : Chosen(settings, data)) {
    const GpuType& whole = data.cluster.types[U(type)];
    PartitionGroup group{product, type, {}, {}, first, whole.count, 0};
    for (const MigProfile& profile : group.product->profiles)
      group.slice_type.push_back(FindType(data, SliceName(whole, profile)));
    group.layouts = MaximalLayouts(*group.product);
    const MigLayout initial = ParseLayout(*group.product, settings.layout);
    const auto at = std::find(group.layouts.begin(), group.layouts.end(), initial);
    group.initial = static_cast<int>(at - group.layouts.begin());
    if (at == group.layouts.end()) group.layouts.push_back(initial);
    first += group.count;
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace berth
