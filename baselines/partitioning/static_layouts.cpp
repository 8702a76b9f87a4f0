#include "baselines/partitioning/static_layouts.hpp"

#include <cmath>

#include "baselines/mip.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr int kNodes = 2000;  // of the search; what is found by then is used, and its bound is known

}  // namespace

StaticLayouts ChooseLayouts(const std::vector<LayoutChoice>& products, const std::vector<int>& fixed,
                            const std::vector<JobMix>& mix) {
  const std::size_t types = fixed.size();
  LpModel model;
  model.maximize = true;
  const int rate = model.AddColumn(1.0, 0.0, kLpInfinity);
  std::vector<std::vector<int>> uses(products.size());  // columns: GPUs by layout
  for (std::size_t p = 0; p < products.size(); ++p) {
    for (std::size_t l = 0; l < products[p].devices.size(); ++l) {
      uses[p].push_back(model.AddColumn(0.0, 0.0, products[p].gpus));
      model.integer.push_back(uses[p].back());
    }
  }
  std::vector<std::vector<int>> serves(mix.size(), std::vector<int>(types, -1));  // devices of type for kind
  for (std::size_t t = 0; t < mix.size(); ++t) {
    for (std::size_t k = 0; k < types; ++k) {
      if (mix[t].speed[k] > 0.0) serves[t][k] = model.AddColumn(0.0, 0.0, kLpInfinity);
    }
  }
  for (std::size_t p = 0; p < products.size(); ++p) {
    for (const int column : uses[p]) model.AddEntry(column, 1.0);
    model.EndRow(products[p].gpus, products[p].gpus);
  }
  for (std::size_t t = 0; t < mix.size(); ++t) {
    for (std::size_t k = 0; k < types; ++k) {
      if (serves[t][k] >= 0) model.AddEntry(serves[t][k], mix[t].speed[k]);
    }
    model.AddEntry(rate, -mix[t].share * mix[t].gang);
    model.EndRow(0.0, kLpInfinity);
  }
  const auto add_devices = [&](std::size_t k, double sign) {
    for (std::size_t p = 0; p < products.size(); ++p) {
      for (std::size_t l = 0; l < uses[p].size(); ++l) {
        if (const int n = products[p].devices[l][k]; n > 0) model.AddEntry(uses[p][l], sign * n);
      }
    }
  };
  for (std::size_t k = 0; k < types; ++k) {
    for (std::size_t t = 0; t < mix.size(); ++t) {
      if (serves[t][k] >= 0) model.AddEntry(serves[t][k], 1.0);
    }
    add_devices(k, -1.0);
    model.EndRow(-kLpInfinity, fixed[k]);
  }
  // A gang that no type has enough devices for whatever the layouts needs those of one that can have them.
  for (const JobMix& kind : mix) {
    if (kind.gang == 1) continue;
    std::size_t best = types;
    for (std::size_t k = 0; k < types; ++k) {
      if (kind.speed[k] <= 0.0) continue;
      if (fixed[k] >= kind.gang) {
        best = types;
        break;
      }
      int most = fixed[k];
      for (const LayoutChoice& product : products) {
        int of_one = 0;
        for (const std::vector<int>& layout : product.devices) of_one = std::max(of_one, layout[k]);
        most += product.gpus * of_one;
      }
      if (most >= kind.gang && (best == types || kind.speed[k] > kind.speed[best])) best = k;
    }
    if (best == types) continue;
    add_devices(best, 1.0);
    model.EndRow(kind.gang - fixed[best], kLpInfinity);
  }
  StaticLayouts chosen;
  const MipAnswer answer = SolveMip(model, {.gap = 1e-6, .nodes = kNodes});
  if (!answer.found) return chosen;
  chosen.found = true;
  chosen.rate = answer.objective;
  chosen.bound = answer.bound;
  for (const std::vector<int>& columns : uses) {
    chosen.count.emplace_back();
    for (const int column : columns)
      chosen.count.back().push_back(static_cast<int>(std::lround(answer.x[U(column)])));
  }
  return chosen;
}

}  // namespace berth
