#include "tools/size/size.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/progress.hpp"
#include "tools/size/prices.hpp"

namespace berth {
namespace {

// A figure that the workload does not have is kept by every cluster.
void CheckLevels(const std::vector<Level>& levels, const EvaluationPlan& plan, const std::string& where) {
  for (const Level& level : levels) {
    const std::vector<MetricColumn> column = MetricColumns(level.metric.field->key, plan.workloads);
    if (!column.empty() && column.front().off)
      throw Error(Join(where, ": ", level.text,
                       ": expected a figure that the workload has, found one of deadlines or "
                       "of a feature that are not there"));
  }
}

EvaluationPlan PlanOf(const SizeRequest& request, const std::string& cluster) {
  Options own = request.settings;
  FixDefaultJobs(own);
  own.Give(own.Where("cluster"), cluster);
  WorkloadChoice workload = ResolveWorkload(own);
  workload.source = WithPrices(std::move(workload.source), request.types);
  EvaluationPlan plan = MakeEvaluationPlan(own, workload, request.make);
  plan.part_of = cluster;
  plan.check = request.check;
  return plan;
}

SizedRow Judged(const ResultRow& row, const std::vector<Level>& levels) {
  SizedRow sized;
  sized.scheduler = row.scheduler;
  for (const RunResult& run : row.runs) sized.unfinished += run.metrics.unfinished;
  sized.unstable = row.Unstable();
  sized.meets = sized.unfinished == 0 && !sized.unstable;
  sized.too_few = !sized.meets;
  const Metrics metrics = row.Combined();
  for (const Level& level : levels) {
    const MetricField& field = *level.metric.field;
    const Interval figure = Widened(MetricInterval(row, field, field.Get(metrics)), row.runs.size());
    const double end = std::isnan(figure.low) ? figure.mean : level.at_most ? figure.high : figure.low;
    sized.figures.push_back(figure);
    sized.met.push_back(level.at_most ? end <= level.bound : end >= level.bound);  // false where it is NaN
    if (sized.met.back()) continue;
    sized.meets = false;
    const MoreGpus more = EffectOfMoreGpus(level);
    sized.too_few = sized.too_few || more == MoreGpus::kHelp;
    sized.too_many = sized.too_many || more == MoreGpus::kHarm;
  }
  return sized;
}

}  // namespace

Interval Widened(const Interval& drawn, std::size_t workloads) {
  if (workloads < 2) return drawn;
  constexpr double kNormal = 1.959964;  // 97.5% of the standard normal distribution
  const auto n = static_cast<double>(workloads);
  const double by = std::sqrt(n / (n - 1.0)) * StudentT(0.95, static_cast<int>(workloads) - 1) / kNormal;
  const auto widened = [&](double end) {  // one that is not there or infinite stays
    return std::isfinite(drawn.mean - end) ? drawn.mean + by * (end - drawn.mean) : end;
  };
  return {drawn.mean, widened(drawn.low), widened(drawn.high)};
}

bool SizedMix::meets() const {
  return std::any_of(rows.begin(), rows.end(), [](const SizedRow& row) { return row.meets; });
}

Fit SizedMix::fit() const {
  const auto all = [&](bool SizedRow::*mark) {
    return std::all_of(rows.begin(), rows.end(), [mark](const SizedRow& row) { return row.*mark; });
  };
  if (!refused.empty()) return {false, /*too_few=*/true, false};
  return {meets(), all(&SizedRow::too_few), all(&SizedRow::too_many)};
}

void AddSizePlan(Options& options) {
  options.Group("What is sought");
  options.Value(
      "types", "",
      "the clusters: TYPE=FIRST..LAST@PRICE,...; FIRST..LAST..STEP for fewer, /N for GPUs a node, PRICE of "
      "a GPU for an hour. A single type needs no price: then the fewest GPUs are sought");
  options.Value(
      "meet", "",
      Join("levels between ';', FIGURE<=NUMBER or >=, such as 'mean_jct_h<=12;deadline_misses<=1%'. "
           "Figures: keys of --json, those in _s also as _h in hours; ",
           MetricNames(), ", in the units of evaluate's table"));
  AddEvaluationPlan(options);
}

SizeRequest ResolveSize(const Options& options) {
  if (options.Given("cluster"))
    throw Error(Join(options.Where("cluster"), ": expected nothing, since ", options.Where("types"),
                     " says which clusters, found '", options.Text("cluster"), "'"));
  if (!options.Text("scenario").empty() && !options.Given("format"))
    throw Error(Join(options.Where("scenario"), ": expected a trace with ", options.Where("format"), ", or ",
                     options.Where("workload"),
                     ", since a scenario "
                     "file holds its own cluster, found ",
                     options.Text("scenario")));
  SizeRequest request{InOption(options, "types", [&] { return ParseTypes(options.Required("types")); }),
                      InOption(options, "meet", [&] { return ParseLevels(options.Required("meet")); }),
                      options, options.Where("meet")};
  InOption(options, "types", [&] { return AllMixes(request.types); });
  return request;
}

SizeResult SizeCluster(const SizeRequest& request) {
  const std::vector<Mix> mixes = AllMixes(request.types);
  SizeResult result;
  result.mixes = mixes.size();
  {  // what the largest cannot run is a mistake in the settings, and not a cluster that is too small
    const EvaluationPlan plan = PlanOf(request, MixText(request.types, mixes[Largest(mixes)]));
    EmptyRows(plan);
    CommonSemantics(plan.schedulers);
    CheckLevels(request.levels, plan, request.where);
    result.seeds = plan.seeds.size();
  }
  std::map<std::size_t, SizedMix> tried;
  Progress progress("size");
  const auto fit = [&](std::size_t i) {
    SizedMix sized{mixes[i], MixText(request.types, mixes[i]), {}, ""};
    progress.Update(static_cast<double>(tried.size()) / static_cast<double>(mixes.size()),
                    Join(Counted(tried.size(), "cluster"), " tried, now ", sized.cluster));
    EvaluationPlan plan;
    try {
      plan = PlanOf(request, sized.cluster);
      EmptyRows(plan);
    } catch (const Error& error) {
      sized.refused = error.what();
    }
    if (sized.refused.empty()) {
      for (const ResultRow& row : Evaluate(plan)) sized.rows.push_back(Judged(row, request.levels));
    }
    return tried.emplace(i, std::move(sized)).first->second.fit();
  };
  const Cheapest cheapest = FindCheapest(mixes, fit);
  result.monotone = cheapest.monotone;
  for (auto& [mix, sized] : tried) {
    if (cheapest.best == mix) result.best = result.tried.size();
    if (cheapest.runner_up == mix) result.runner_up = result.tried.size();
    result.tried.push_back(std::move(sized));
  }
  return result;
}

}  // namespace berth
