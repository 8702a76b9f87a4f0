#include "tools/python/runs.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "tools/evaluation_plan.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/python/python_scheduler.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

using Keywords = std::map<std::string, std::string>;

void Give(Options& options, const Keywords& keywords) {
  for (const auto& [keyword, value] : keywords) options.Give(keyword, value);
}

// One run as a dict: keys and figures as in the JSON of `berth evaluate` (tools/FORMATS.md).
nb::dict RowOf(const std::string& scheduler, Knowledge knowledge, std::int64_t seed, const RunResult& run) {
  nb::dict row;
  row["scheduler"] = scheduler, row["seed"] = seed, row["knowledge"] = ToString(knowledge);
  row["jobs"] = run.metrics.jobs, row["unfinished"] = run.metrics.unfinished;
  for (const auto& [key, value] : Figures(run.metrics)) row[key] = value;
  row["decisions"] = run.decisions;
  row["decision_us_mean"] = run.decision_us_mean, row["decision_us_p99"] = run.decision_us_p99;
  row["wall_s"] = run.wall_s, row["signature"] = HexSignature(run.signature);
  return row;
}

// `factories`: of a scheduler's name in `schedulers` what makes the Python object.
nb::list EvaluateRows(const std::vector<std::string>& schedulers, nb::dict factories,
                      const Keywords& keywords) {
  const auto calls = std::make_shared<PythonCalls>();
  const MakeSchedulerOf make = MakerOf(factories, calls);
  std::vector<std::string> specs;
  for (const std::string& spec : schedulers) {
    if (!factories.contains(spec.c_str())) specs.push_back(spec);
  }
  EvaluationPlan plan;
  std::vector<ResultRow> rows;
  RunInterruptibly(*calls, [&] {
    Options options("evaluate", "", "", OptionNames::kKeywords);
    AddEvaluationPlan(options);
    std::string all;
    for (const std::string& spec : schedulers) all += (all.empty() ? "" : ";") + spec;
    if (!all.empty()) options.Give("schedulers", all);
    Give(options, keywords);
    const WorkloadChoice workload = ResolveWorkload(options);
    plan = MakeEvaluationPlan(options, workload, make);
    plan.check = [&] { CheckNotStopped(*calls); };
    (void)CommonSemantics(specs);
    rows = Evaluate(plan);
  });
  nb::list list;
  for (const ResultRow& row : rows) {
    for (std::size_t i = 0; i < row.runs.size(); ++i)
      list.append(RowOf(row.scheduler, row.knowledge, plan.seeds[i], row.runs[i]));
  }
  return list;
}

template <class T>
T Get(nb::handle row, const char* key, T otherwise) {
  const nb::object value = nb::borrow<nb::dict>(row).get(key, nb::none());
  if (value.is_none()) return otherwise;
  return nb::cast<T>(value);
}

// Rows of EvaluateRows, or what is left of them, as `schedulers` of the JSON of `berth evaluate`.
std::string Summarize(nb::list list) {
  std::vector<ResultRow> rows;
  std::vector<std::vector<std::int64_t>> seeds;
  for (const nb::handle one : list) {
    const auto name = Get<std::string>(one, "scheduler", "");
    std::size_t i = 0;
    while (i < rows.size() && rows[i].scheduler != name) ++i;
    if (i == rows.size()) {
      rows.push_back({name, ParseKnowledge(Get<std::string>(one, "knowledge", "none")), {}});
      seeds.emplace_back();
    }
    RunResult run;
    run.metrics.jobs = Get(one, "jobs", 0), run.metrics.unfinished = Get(one, "unfinished", 0);
    for (const MetricField& field : MetricFields()) field.Set(run.metrics, Get(one, field.key, 0.0));
    run.decisions = Get<std::int64_t>(one, "decisions", 0);
    run.decision_us_mean = Get(one, "decision_us_mean", 0.0);
    run.decision_us_p99 = Get(one, "decision_us_p99", 0.0), run.wall_s = Get(one, "wall_s", 0.0);
    run.signature = std::stoull(Get<std::string>(one, "signature", "0"), nullptr, 16);
    rows[i].runs.push_back(std::move(run));
    seeds[i].push_back(Get<std::int64_t>(one, "seed", 0));
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (seeds[i] != seeds[0])
      throw Error(Join("summary: expected the seeds of ", rows[0].scheduler,
                       " of every scheduler, in one order, ", "found others of ", rows[i].scheduler));
  }
  return rows.empty() ? "[]" : EvaluationJson(seeds[0], rows).dump();
}

nb::tuple MeanOf(const std::vector<double>& values) {
  if (values.empty()) throw Error("values: expected one at least, found none");
  const Interval interval = BootstrapMean(values, /*seed=*/0);
  return nb::make_tuple(interval.mean, interval.low, interval.high);
}

}  // namespace

void AddRuns(nb::module_& module) {
  module.def("evaluate", EvaluateRows, nb::arg("schedulers"), nb::arg("factories"), nb::arg("keywords"),
             "A dict a scheduler and seed; see berth.evaluate.");
  module.def("summarize", Summarize, nb::arg("rows"),
             "Rows of evaluate as `schedulers` of the JSON of `berth evaluate`.");
  module.def("bootstrap_mean", MeanOf, nb::arg("values"), "Mean, and the bounds of its 95% interval.");
}

}  // namespace berth
