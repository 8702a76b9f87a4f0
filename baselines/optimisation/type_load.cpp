#include "baselines/optimisation/type_load.hpp"

#include <numeric>

#include "env/base/index.hpp"

namespace berth {
LoadModel MakespanModel(const Instance& instance, double longest) {
  LoadModel model;
  LpModel& lp = model.lp;
  const int makespan = lp.AddColumn(1.0, 0.0, kLpInfinity);
  model.column.assign(instance.job.size(), std::vector<int>(instance.free_at.size(), -1));
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int type = 0; type < instance.types(); ++type) {
      if (instance.at(i, type) <= longest && instance.at(i, type) < kNever)
        model.column[U(i)][U(type)] = lp.AddColumn(0.0, 0.0, 1.0);
    }
  }
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int column : model.column[U(i)]) {
      if (column >= 0) lp.AddEntry(column, 1.0);
    }
    lp.EndRow(1.0, 1.0);
  }
  for (int type = 0; type < instance.types(); ++type) {
    const auto& free_at = instance.free_at[U(type)];
    if (free_at.empty()) continue;
    const auto gpus = static_cast<double>(free_at.size());
    lp.AddEntry(makespan, -1.0);
    for (int i = 0; i < instance.jobs(); ++i) {
      const int column = model.column[U(i)][U(type)];
      if (column >= 0) lp.AddEntry(column, instance.gang[U(i)] * instance.at(i, type) / gpus);
    }
    lp.EndRow(-kLpInfinity, -std::accumulate(free_at.begin(), free_at.end(), 0.0) / gpus);
  }
  return model;
}

}  // namespace berth
