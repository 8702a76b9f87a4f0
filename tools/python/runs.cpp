#include "tools/python/runs.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iostream>
#include <limits>

#include "data/tables/write_tables.hpp"
#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/evaluation_plan.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/python/keywords.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python/python_workload.hpp"
#include "tools/report/run_record.hpp"
#include "tools/scheduler_checks.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

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

// A generator of Python's as the workload.
std::shared_ptr<const ScenarioSource> OwnWorkload(const nb::object& jobs, Options& options,
                                                  const std::shared_ptr<PythonCalls>& calls) {
  const nb::gil_scoped_acquire gil;
  return MakePythonWorkload(jobs, options, calls);
}

// `factories`: of a scheduler's name in `schedulers` what makes the Python object.
Records EvaluateRows(const std::vector<std::string>& schedulers, Factories factories,
                     const Keywords& keywords, nb::object jobs) {
  const SharedObject shared = Share(std::move(jobs));
  const auto calls = std::make_shared<PythonCalls>();
  const MakeSchedulerOf make = MakerOf(factories, calls);
  const std::vector<std::string> specs = SpecsOfSemantics(schedulers, factories);
  EvaluationPlan plan;
  std::vector<ResultRow> rows;
  RunInterruptibly(*calls, [&] {
    Options options("evaluate", "", "", OptionNames::kKeywords);
    AddEvaluationPlan(options);
    Give(options, schedulers, keywords);
    const WorkloadChoice workload =
        shared->is_none() ? ResolveWorkload(options) : WorkloadChoice{OwnWorkload(*shared, options, calls)};
    plan = MakeEvaluationPlan(options, workload, make);
    plan.check = [&] { CheckNotStopped(*calls); };
    (void)CommonSemantics(specs);
    rows = Evaluate(plan);
  });
  Records list;
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
  T read;
  if (!nb::try_cast(value, read))
    throw Error(Join("summary: expected rows of berth.evaluate, found ", key, " ", TextOf(nb::repr(value))));
  return read;
}

// Rows of EvaluateRows, or what is left of them, as `schedulers` of the JSON of `berth evaluate`. What is
// made from what no row has means nothing: berth/results.py leaves it out.
std::string Summarize(Records list) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
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
    for (const MetricField& field : MetricFields()) field.Set(run.metrics, Get(one, field.key, kNone));
    run.decisions = Get<std::int64_t>(one, "decisions", 0);
    run.decision_us_mean = Get(one, "decision_us_mean", 0.0);
    run.decision_us_p99 = Get(one, "decision_us_p99", 0.0), run.wall_s = Get(one, "wall_s", 0.0);
    run.signature = std::stoull(Get<std::string>(one, "signature", "0"), nullptr, 16);
    rows[i].runs.push_back(std::move(run));
    seeds[i].push_back(Get<std::int64_t>(one, "seed", 0));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::int64_t> sorted = seeds[i];
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
      throw Error(
          Join("summary: expected each seed of ", rows[i].scheduler, " once, found ", *twice, " again"));
    if (seeds[i] != seeds[0])
      throw Error(Join("summary: expected the seeds of ", rows[0].scheduler,
                       " of every scheduler, in one order, ", "found others of ", rows[i].scheduler));
  }
  return rows.empty() ? "[]" : EvaluationJson(seeds[0], rows).dump();
}

// What was checked; throws at the first that does not hold.
nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::str>> Check(const std::string& name,
                                                                  Factories factories, bool rejects) {
  const auto calls = std::make_shared<PythonCalls>();
  const MakeSchedulerOf make = MakerOf(factories, calls);
  const CheckedScheduler scheduler{[&] { return make(name); }, rejects};
  nb::list found;
  for (const SchedulerCheck& check : SchedulerChecks()) {
    RunInterruptibly(*calls, [&] {
      try {
        check.run(scheduler);
      } catch (const Error& error) {
        std::throw_with_nested(Error(Join(name, ": ", check.name, ": ", error.what())));
      }
    });
    found.append(nb::make_tuple(check.name, check.what));
  }
  return found;
}

// Columns of one table, each a list; names in their order.
template <class List, class Of>
nb::list Column(const List& rows, const Of& of) {
  nb::list column;
  for (const auto& row : rows) column.append(of(row));
  return column;
}

// The name of a type, None where there is none.
nb::object TypeName(const Scenario& scenario, int type) {
  if (type < 0) return nb::none();
  return nb::cast(scenario.data().cluster.types[U(type)].name);
}

nb::dict EventsOf(const RunResult& run, const Scenario& scenario) {
  nb::dict events;
  events["time_s"] = Column(run.events, [](const Event& e) { return e.time; });
  events["event"] = Column(run.events, [](const Event& e) { return ToString(e.kind); });
  events["job"] = Column(run.events, [](const Event& e) { return e.job; });
  events["gpu_type"] = Column(run.events, [&](const Event& e) { return TypeName(scenario, e.type); });
  events["device"] = Column(run.events, [](const Event& e) { return e.device; });
  return events;
}

nb::dict JobsOf(const RunResult& run, const Scenario& scenario) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  struct Job {
    int index, stops = 0, interruptions = 0, type = -1;
    bool runs = false;
    double end = kNone;
    const char* status = "not come";
  };
  std::vector<Job> list;
  for (int job = 0; job < scenario.num_jobs(); ++job) list.push_back({job});
  for (const Event& event : run.events) {
    if (event.job < 0) continue;
    Job& job = list[U(event.job)];
    switch (event.kind) {
      case EventKind::kComplete:
        job.status = "completed", job.end = event.time, job.runs = false;
        break;
      case EventKind::kReject:
        job.status = "rejected";
        break;
      case EventKind::kArrive:
        job.status = "unfinished";
        break;
      case EventKind::kStop:
        ++job.stops, job.runs = false;
        break;
      case EventKind::kInterrupt:
        ++job.interruptions, job.runs = false;
        break;
      case EventKind::kStart:
      case EventKind::kMove:
      case EventKind::kPack:
        job.stops += job.runs;  // left its GPUs for others without a stop between
        job.type = event.type, job.runs = true;
        break;
      case EventKind::kDown:
      case EventKind::kUp:
        break;
    }
  }
  const std::vector<double> first = FirstStarts(run.events, scenario.num_jobs());
  const JobTable& table = scenario.data().jobs;
  const auto start = [&](const Job& j) { return first[U(j.index)] == kNever ? kNone : first[U(j.index)]; };
  const auto arrival = [&](const Job& j) { return table.arrival[U(j.index)]; };
  nb::dict jobs;
  jobs["job"] = Column(list, [](const Job& j) { return j.index; });
  jobs["id"] = Column(list, [&](const Job& j) { return table.id[U(j.index)]; });
  jobs["job_type"] = Column(list, [&](const Job& j) {
    return nb::cast(scenario.data().throughputs.job_types[U(table.job_type[U(j.index)])]);
  });
  jobs["gpus"] = Column(list, [&](const Job& j) { return table.gang[U(j.index)]; });
  jobs["status"] = Column(list, [](const Job& j) { return j.status; });
  jobs["gpu_type"] = Column(list, [&](const Job& j) { return TypeName(scenario, j.type); });
  jobs["arrival_s"] = Column(list, arrival);
  jobs["start_s"] = Column(list, start);
  jobs["end_s"] = Column(list, [](const Job& j) { return j.end; });
  jobs["wait_s"] = Column(list, [&](const Job& j) { return start(j) - arrival(j); });
  jobs["jct_s"] = Column(list, [&](const Job& j) { return j.end - arrival(j); });
  jobs["preemptions"] = Column(list, [](const Job& j) { return j.stops; });
  jobs["interruptions"] = Column(list, [](const Job& j) { return j.interruptions; });
  return jobs;
}

// After each decision, which holds until the next.
struct Moment {
  double time_s;
  int waiting, running;
  std::vector<int> busy;  // [G]
};

nb::dict SeriesOf(const std::vector<Moment>& moments, const Scenario& scenario) {
  nb::dict series;
  series["time_s"] = Column(moments, [](const Moment& m) { return m.time_s; });
  series["waiting"] = Column(moments, [](const Moment& m) { return m.waiting; });
  series["running"] = Column(moments, [](const Moment& m) { return m.running; });
  for (int type = 0; type < scenario.num_types(); ++type) {
    const std::string name = "busy_" + scenario.data().cluster.types[U(type)].name;
    series[name.c_str()] = Column(moments, [type](const Moment& m) { return m.busy[U(type)]; });
  }
  return series;
}

nb::typed<nb::dict, nb::str, Record> Simulate(const std::string& scheduler, Factories factories,
                                              const Keywords& keywords, nb::object jobs) {
  const SharedObject shared = Share(std::move(jobs));
  const auto calls = std::make_shared<PythonCalls>();
  const MakeSchedulerOf make = MakerOf(factories, calls);
  SimulationPlan plan;
  RunResult run;
  std::vector<Moment> moments;
  RunInterruptibly(*calls, [&] {
    Options options("simulate", "", "", OptionNames::kKeywords);
    AddSimulationPlan(options);
    options.Give("scheduler", scheduler);
    Give(options, keywords);
    plan =
        MakeSimulationPlan(options, make, shared->is_none() ? nullptr : OwnWorkload(*shared, options, calls));
    plan.run.keep_events = true;
    plan.run.notice = [](const std::string& words) { std::cerr << "simulate: " << words << "\n"; };
    plan.run.progress = [&](const Simulator& simulator) {
      CheckNotStopped(*calls);
      const SimState& state = simulator.state();
      Moment moment{simulator.now(), state.waiting.size(), state.running.size(), {}};
      const ClusterView view = simulator.View(Knowledge::kNone);
      for (int type = 0; type < view.num_types(); ++type)
        moment.busy.push_back(view.types()[U(type)].count - view.free_gpus()[U(type)]);
      moments.push_back(std::move(moment));
      return true;
    };
    run = Run(plan.scenario, *plan.scheduler, plan.name, plan.run);
  });
  const Knowledge knowledge = UsedKnowledge(*plan.scheduler, plan.scenario.data());
  nb::dict said;
  said["run"] = RowOf(plan.name, knowledge, static_cast<std::int64_t>(plan.seed), run);
  said["jobs"] = JobsOf(run, plan.scenario);
  said["events"] = EventsOf(run, plan.scenario);
  said["series"] = SeriesOf(moments, plan.scenario);
  return said;
}

nb::typed<nb::tuple, nb::str, nb::str, nb::str> TablesOfFile(const std::string& path) {
  const ScenarioTables tables = [&] {
    const nb::gil_scoped_release release;
    return TablesOf(ReadScenario(path));
  }();
  return nb::make_tuple(tables.jobs, tables.speeds, tables.cluster);
}

nb::typed<nb::tuple, nb::float_, nb::float_, nb::float_> MeanOf(const std::vector<double>& values) {
  if (values.empty()) throw Error("values: expected one at least, found none");
  const Interval interval = BootstrapMean(values, /*seed=*/0);
  return nb::make_tuple(interval.mean, interval.low, interval.high);
}

}  // namespace

std::vector<std::string> SpecsOfSemantics(const std::vector<std::string>& schedulers, nb::dict factories) {
  std::vector<std::string> specs;
  for (const std::string& spec : schedulers) {
    if (!factories.contains(spec.c_str())) {
      specs.push_back(spec);
      continue;
    }
    const nb::object semantics = nb::getattr(factories[spec.c_str()], "semantics", nb::none());
    if (!semantics.is_none())
      specs.push_back(Join("policy(semantics=", nb::cast<std::string>(semantics), ")"));
  }
  return specs;
}

void AddRuns(nb::module_& module) {
  module.def("evaluate", EvaluateRows, nb::arg("schedulers"), nb::arg("factories"), nb::arg("keywords"),
             nb::arg("jobs") = nb::none(), "A dict a scheduler and seed; see berth.evaluate.");
  module.def("summarize", Summarize, nb::arg("rows"),
             "Rows of evaluate as `schedulers` of the JSON of `berth evaluate`.");
  module.def("simulate", Simulate, nb::arg("scheduler"), nb::arg("factories"), nb::arg("keywords"),
             nb::arg("jobs") = nb::none(),
             "run, and the columns of jobs, events and series; see berth.simulate.");
  module.def("tables_of", TablesOfFile, nb::arg("path"),
             "A scenario file as the texts of jobs.csv, speeds.csv and cluster.toml.");
  module.def(
      "split_specs", [](const std::string& text) { return SplitOutsideParentheses(text, ';'); },
      nb::arg("text"), "The specs between ';' of a text.");
  module.def("check", Check, nb::arg("name"), nb::arg("factories"), nb::arg("rejects"),
             "Name and sentence of each check; berth.Error at the first that does not hold.");
  module.def("bootstrap_mean", MeanOf, nb::arg("values"), "Mean, and the bounds of its 95% interval.");
}

}  // namespace berth
