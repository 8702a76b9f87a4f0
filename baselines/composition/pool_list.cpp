#include "baselines/composition/pool_list.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr const char* kWhat = "pools: parameter 'pools'";
constexpr double kSlack = 1e-9;  // of a node: three thirds are one

PoolGpus ParseGpus(const std::string& text) {
  const std::size_t slash = text.find('/');
  PoolGpus gpus{text.substr(0, slash), 0.0};
  if (slash == std::string::npos) return gpus;
  gpus.share = ParseNumber(text.substr(slash + 1), Join(kWhat, ": the share in '", text, "'"));
  if (!(gpus.share > 0.0 && gpus.share <= 1.0)) {
    throw Error(Join(kWhat, ": expected a share of nodes above 0 and up to 1, found '", text, "'"));
  }
  return gpus;
}

// What this pool's entries say of the type: null = it has none of it.
const PoolGpus* PoolEntryFor(const PoolSpec& pool, const std::string& type) {
  for (const PoolGpus& gpus : pool.gpus) {
    if (gpus.type == type || gpus.type == "*") return &gpus;
  }
  return nullptr;
}

void CheckTypes(const std::vector<PoolSpec>& pools, std::span<const GpuType> types) {
  std::vector<std::string> known = {"*"};
  for (const GpuType& type : types) known.push_back(type.name);
  for (const PoolSpec& pool : pools) {
    for (const PoolGpus& gpus : pool.gpus) {
      if (std::find(known.begin(), known.end(), gpus.type) != known.end()) continue;
      throw Error(Join(kWhat, ": pool '", pool.name, "': expected a GPU type of the cluster or *, found '",
                       gpus.type, "'", DidYouMean(gpus.type, known)));
    }
  }
}

// [pools] the share of the type that each has.
std::vector<double> SharesOf(const std::vector<PoolSpec>& pools, const std::string& type) {
  std::vector<double> shares;
  double stated = 0.0;
  int rest = -1;
  for (const PoolSpec& pool : pools) {
    const PoolGpus* entry = PoolEntryFor(pool, type);
    shares.push_back(entry == nullptr ? 0.0 : entry->share);
    stated += shares.back();
    if (entry == nullptr || entry->share > 0.0) continue;
    if (rest >= 0) {
      throw Error(Join(kWhat, ": pools '", pools[static_cast<std::size_t>(rest)].name, "' and '", pool.name,
                       "' both have the rest of ", type, ": expected a share with one of them"));
    }
    rest = static_cast<int>(shares.size()) - 1;
  }
  if (stated > 1.0 + kSlack) {
    throw Error(Join(kWhat, ": expected shares of ", type, " that add up to at most 1, found ", stated));
  }
  if (rest >= 0) shares[static_cast<std::size_t>(rest)] = std::max(0.0, 1.0 - stated);
  return shares;
}

}  // namespace

std::vector<PoolSpec> ParsePools(std::string_view text, const std::string& inner) {
  std::vector<PoolSpec> pools;
  if (text == "types") return pools;
  for (const std::string& part : SplitOutsideParentheses(text, '|')) {
    const std::vector<std::string> fields = SplitOutsideParentheses(part, ':');
    if (fields.size() < 2 || fields.size() > 3) {
      throw Error(Join(kWhat, ": expected types, or NAME:GPUS or NAME:GPUS:SCHEDULER, found '", part, "'"));
    }
    PoolSpec pool{fields[0], {}, fields.size() == 3 ? fields[2] : inner};
    for (const std::string& gpus : SplitOutsideParentheses(fields[1], '+')) {
      pool.gpus.push_back(ParseGpus(gpus));
    }
    for (const PoolSpec& other : pools) {
      if (other.name == pool.name) throw Error(Join(kWhat, ": two pools are named '", pool.name, "'"));
    }
    pools.push_back(std::move(pool));
  }
  if (pools.empty()) throw Error(Join(kWhat, ": expected types, or NAME:GPUS:SCHEDULER|..., found nothing"));
  return pools;
}

std::vector<PoolSpec> PoolPerType(std::span<const GpuType> types, const std::string& inner) {
  std::vector<PoolSpec> pools;
  for (const GpuType& type : types) pools.push_back({type.name, {{type.name, 0.0}}, inner});
  return pools;
}

std::vector<std::vector<int>> PoolBounds(const std::vector<PoolSpec>& pools, std::span<const GpuType> types) {
  CheckTypes(pools, types);
  std::vector<std::vector<int>> bounds(pools.size() + 1, std::vector<int>(types.size(), 0));
  for (std::size_t type = 0; type < types.size(); ++type) {
    const std::vector<double> shares = SharesOf(pools, types[type].name);
    const int per_node = std::max(1, types[type].gpus_per_node), count = std::max(0, types[type].count);
    const int nodes = (count + per_node - 1) / per_node;
    double cumulated = 0.0;
    for (std::size_t pool = 0; pool < pools.size(); ++pool) {
      cumulated += shares[pool];
      const int upto = static_cast<int>(std::floor(cumulated * nodes + kSlack));
      bounds[pool + 1][type] = std::min(count, std::min(nodes, upto) * per_node);
    }
  }
  return bounds;
}

}  // namespace berth
