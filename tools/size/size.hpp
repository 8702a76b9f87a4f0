// The cheapest cluster that keeps stated levels: what `berth size` does, for other callers too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/evaluation_plan.hpp"
#include "tools/size/levels.hpp"
#include "tools/size/mixes.hpp"

namespace berth {

struct SizeRequest {
  std::vector<TypeRange> types;
  std::vector<Level> levels;
  Options settings;                  // those of AddSizePlan
  std::string where = "--meet";      // how messages name the levels
  MakeSchedulerOf make = {};         // schedulers by their specs; none = Berth's
  std::function<void()> check = {};  // as EvaluationPlan::check
};

// --types, --meet, and those of AddEvaluationPlan.
void AddSizePlan(Options& options);
// What they ask for. Throws Error naming the option.
SizeRequest ResolveSize(const Options& options);

// The interval that decides: that of the percentile bootstrap over n workloads, sqrt(n / (n - 1))
// t(97.5%, n - 1) / 1.96 times as wide about its mean, by which it is too narrow of few (Hesterberg 2014,
// arXiv:1411.5279, the expanded percentile interval). Of normal values it covers 93 to 95% from n = 2 on.
Interval Widened(const Interval& drawn, std::size_t workloads);

// A cluster under one scheduler. A level is met where the upper end of the 95% interval (Widened) of its
// figure over the seeds is within the bound (the lower end, of a level that is to be reached); figures that
// are largest values (max_*), and those of a single workload, have no interval and count as they are.
// Besides, every measured job must finish and the cluster must keep up, since means say nothing otherwise.
struct SizedRow {
  std::string scheduler;
  std::vector<Interval>
      figures;            // [levels] in the units of their keys; NaN bounds where there is no interval
  std::vector<bool> met;  // [levels]
  int unfinished = 0;     // jobs
  bool unstable = false;
  bool meets = false;                      // all of it
  bool too_few = false, too_many = false;  // GPUs, for a level or for the jobs: EffectOfMoreGpus
};

struct SizedMix {
  Mix mix;
  std::string cluster;         // as --cluster takes it
  std::vector<SizedRow> rows;  // [schedulers]
  std::string refused;         // why it cannot run these jobs at all; "" = it can
  bool meets() const;          // under one of the schedulers
  Fit fit() const;             // too few or too many for each of them
};

struct SizeResult {
  std::size_t mixes = 0;                       // that there are
  std::vector<SizedMix> tried;                 // the cheapest first
  std::optional<std::size_t> best, runner_up;  // of `tried`
  bool monotone = true;                        // Cheapest::monotone
  std::size_t seeds = 0;
};

// The same workloads, by their seeds, on every cluster. Throws Error for bad settings.
SizeResult SizeCluster(const SizeRequest& request);

}  // namespace berth
