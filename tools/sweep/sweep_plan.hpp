// A sweep before anything has run: which evaluation each cell is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/evaluation_plan.hpp"
#include "tools/options.hpp"
#include "tools/sweep/grid.hpp"
#include "tools/sweep/sweep_folder.hpp"

namespace berth {

// Thread rule: const calls are safe from any thread.
class SweepPlan {
 public:
  // `settings` has the options of AddEvaluationPlan. An axis stands as {axis} in their texts, or
  // has the name of one of them, which it then sets. Throws Error: of an axis that is used nowhere, of
  // {names} that are no axis, with the nearest right one.
  // Schedulers come from `make`, where it is given.
  SweepPlan(std::vector<Axis> axes, const Options& settings, const std::vector<std::string>& taken = {},
            MakeSchedulerOf make = {});

  const Grid& grid() const { return grid_; }
  const Options& settings() const { return settings_; }
  // The evaluation that the cell is, on so many threads. Throws Error that says which cell.
  EvaluationPlan Cell(std::int64_t cell, int threads) const;
  // Throws the same Errors as Cell and those of schedulers that cannot run, after one workload.
  void Check(std::int64_t cell) const;
  // Of what decides the results, with the build; reads every file that a cell reads, for its hash.
  SweepRecord Record(const std::string& source) const;

 private:
  std::string Called(std::int64_t cell) const;  // "cell 3 (rate=0.2)"
  Options CellSettings(std::int64_t cell) const;
  EvaluationPlan MakeCell(std::int64_t cell, int threads, bool one_workload) const;

  Grid grid_;
  Options settings_;
  MakeSchedulerOf make_;
};

}  // namespace berth
