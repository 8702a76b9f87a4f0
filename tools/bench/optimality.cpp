#include "tools/bench/optimality.hpp"

#include <algorithm>
#include <numeric>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/sim/metrics.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

constexpr std::uint64_t kSeed = 2026;
constexpr double kStepsOfJob = 1000.0;  // of every job
constexpr double kSame = 1e-9;          // relative

struct Instance {
  Scenario scenario;
  double sum_jct, makespan;  // the least
};

std::vector<Instance> MakeInstances(int count) {
  std::vector<Instance> instances;
  Progress progress("optimality");
  for (int i = 0; i < count; ++i) {
    progress.Update(0.5 * i / count, "exact optima");
    const ExactProblem problem = RandomInstance(i);
    const double arrivals = std::accumulate(problem.arrival.begin(), problem.arrival.end(), 0.0);
    instances.push_back({ToScenario(problem), SolveExactly(problem, Aim::kSumCompletion).value - arrivals,
                         SolveExactly(problem, Aim::kMakespan).value});
  }
  return instances;
}

Gaps GapsOf(std::vector<double> values) {
  Gaps gaps;
  if (values.empty()) return gaps;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  gaps.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  gaps.median = Quantile(values, 0.5);
  gaps.p95 = Quantile(values, 0.95);
  gaps.max = values.back();
  const auto reached = std::upper_bound(values.begin(), values.end(), kSame) - values.begin();
  gaps.optimal = static_cast<double>(reached) / n;
  return gaps;
}

bool Preemptive(const std::string& spec) {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    if (ParseSpec(spec).name == info.name) return info.preemptive;
  }
  return true;  // not said
}

OptimalityRow MeasureSpec(const std::string& spec, const std::vector<Instance>& instances) {
  OptimalityRow row;
  row.scheduler = spec;
  row.preemptive = Preemptive(spec);
  std::vector<double> jct, makespan;
  for (const Instance& instance : instances) {
    const auto scheduler = MakeScheduler(spec, AllSchedulers());
    row.knowledge = ToString(UsedKnowledge(*scheduler, instance.scenario.data()));
    try {
      const Metrics metrics = Run(instance.scenario, *scheduler, spec, {}).metrics;
      if (metrics.unfinished > 0) throw Error(Join(metrics.unfinished, " jobs were left out"));
      jct.push_back(metrics.mean_jct_s * metrics.jobs / instance.sum_jct - 1.0);
      makespan.push_back(metrics.makespan_s / instance.makespan - 1.0);
    } catch (const Error& error) {
      if (row.failed++ == 0) row.why = error.what();
    }
  }
  row.instances = static_cast<int>(jct.size());
  row.jct = GapsOf(jct);
  row.makespan = GapsOf(makespan);
  return row;
}

}  // namespace

ExactProblem RandomInstance(int index) {
  Stream stream(kSeed, Purpose::kTest, Split::kEvaluate, static_cast<std::uint32_t>(index));
  ExactProblem problem;
  const int types = 2 + static_cast<int>(stream.Below(2));
  for (int g = 0; g < types; ++g) problem.gpus.push_back(1 + static_cast<int>(stream.Below(3)));
  const bool gangs = *std::max_element(problem.gpus.begin(), problem.gpus.end()) > 1;
  const int jobs = 4 + static_cast<int>(stream.Below(kOptimalityJobs - 3));
  for (int j = 0; j < jobs; ++j) {
    problem.arrival.push_back(index % 2 == 0 ? 0.0 : stream.Uniform(0.0, 60.0));
    problem.gang.push_back(gangs && stream.Below(4) == 0 ? 2 : 1);
    const double size = stream.Uniform(10.0, 100.0);
    std::vector<double> seconds;
    for (int g = 0; g < types; ++g) seconds.push_back(size * stream.Uniform(0.5, 2.5));
    problem.seconds.push_back(seconds);
  }
  std::sort(problem.arrival.begin(), problem.arrival.end());
  return problem;
}

Scenario ToScenario(const ExactProblem& problem) {
  ScenarioData data;
  data.name = "optimality";
  for (int g = 0; g < problem.types(); ++g) {
    GpuType type;
    type.name = Join("type", g);
    type.count = problem.gpus[static_cast<std::size_t>(g)];
    data.cluster.types.push_back(type);
  }
  data.throughputs.gang_sizes = {1, 2};
  for (int j = 0; j < problem.jobs(); ++j) {  // a job type for every job
    const auto u = static_cast<std::size_t>(j);
    data.throughputs.job_types.push_back(Join("job", j));
    for (int size = 0; size < 2; ++size) {
      for (const double seconds : problem.seconds[u]) data.throughputs.alone.push_back(kStepsOfJob / seconds);
    }
    data.jobs.id.push_back(j);
    data.jobs.arrival.push_back(problem.arrival[u]);
    data.jobs.job_type.push_back(j);
    data.jobs.gang.push_back(problem.gang[u]);
    data.jobs.total_steps.push_back(kStepsOfJob);
  }
  return Scenario(std::move(data));
}

std::vector<OptimalityRow> MeasureOptimality(const std::vector<std::string>& schedulers, int instances) {
  std::vector<std::string> specs = schedulers;
  if (specs.empty()) {
    for (const SchedulerInfo& info : BaselineSchedulers()) specs.emplace_back(info.name);
  }
  for (const std::string& spec : specs) MakeScheduler(spec, AllSchedulers());  // wrong names before the work
  const std::vector<Instance> known = MakeInstances(instances);
  std::vector<OptimalityRow> rows;
  Progress progress("optimality");
  for (const std::string& spec : specs) {
    progress.Update(0.5 + 0.5 * static_cast<double>(rows.size()) / static_cast<double>(specs.size()), spec);
    rows.push_back(MeasureSpec(spec, known));
  }
  return rows;
}

std::string TableOf(const std::vector<OptimalityRow>& rows, int instances) {
  Table table({"scheduler", "knowledge", "stops jobs", "mean JCT: mean gap", "median", "p95", "max",
               "optimal", "makespan: mean gap", "median", "p95", "max", "optimal"});
  const auto percent = [](double share) { return Fixed(100.0 * share, 1) + "%"; };
  std::string below;
  for (const OptimalityRow& row : rows) {
    std::vector<std::string> cells = {row.scheduler, row.knowledge, row.preemptive ? "yes" : "no"};
    for (const Gaps* gaps : {&row.jct, &row.makespan}) {
      for (const double share : {gaps->mean, gaps->median, gaps->p95, gaps->max, gaps->optimal})
        cells.push_back(row.instances > 0 ? percent(share) : "-");
    }
    table.AddRow(cells);
    if (row.failed > 0)
      below += Join(row.scheduler, ": ", row.failed, " instances do not count: ", row.why, "\n");
  }
  return Join(instances, " instances of at most ", kOptimalityJobs,
              " jobs, clock event; gap to the best schedule that stops no job (exact)\n\n", table.ToString(),
              below.empty() ? "" : "\n", below);
}

Json JsonOf(const std::vector<OptimalityRow>& rows, int instances) {
  const auto gaps = [](const Gaps& g) {
    return Json{
        {"mean", g.mean}, {"median", g.median}, {"p95", g.p95}, {"max", g.max}, {"optimal", g.optimal}};
  };
  Json list = Json::array();
  for (const OptimalityRow& row : rows) {
    list.push_back({{"scheduler", row.scheduler},
                    {"knowledge", row.knowledge},
                    {"preemptive", row.preemptive},
                    {"instances", row.instances},
                    {"failed", row.failed},
                    {"why", row.why},
                    {"mean_jct_gap", gaps(row.jct)},
                    {"makespan_gap", gaps(row.makespan)}});
  }
  return {{"instances", instances}, {"rows", list}};
}

}  // namespace berth::bench
