#include "tools/python/studies.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <memory>
#include <optional>

#include "tools/evaluation_plan.hpp"
#include "tools/file_hash.hpp"
#include "tools/output_file.hpp"
#include "tools/policy_semantics.hpp"
#include "tools/python/keywords.hpp"
#include "tools/python/python_scheduler.hpp"
#include "tools/python/runs.hpp"
#include "tools/size/size.hpp"
#include "tools/sweep/sweep.hpp"

namespace nb = nanobind;

namespace berth {
namespace {

using Axes = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Policies are not told by their names, as specs are.
void CheckSemantics(const std::vector<std::string>& schedulers, const Factories& factories) {
  if (factories.size() == 0) return;
  std::vector<std::string> specs = SpecsOfSemantics(schedulers, factories);
  std::erase_if(specs,
                [](const std::string& spec) { return spec.find('{') != std::string::npos; });  // an axis
  (void)CommonSemantics(specs);
}

SweepRequest RequestOf(const Axes& asked, const std::vector<std::string>& schedulers, Factories factories,
                       const Keywords& keywords, const std::shared_ptr<PythonCalls>& calls) {
  Options options("sweep", "", "", OptionNames::kKeywords);
  AddEvaluationPlan(options);
  Give(options, schedulers, keywords);
  std::vector<Axis> axes;
  for (const auto& [name, values] : asked) axes.push_back({name, values});
  SweepRequest request{std::move(axes), std::move(options), "", "out"};
  if (factories.size() > 0) request.make = MakerOf(factories, calls);
  return request;
}

Axes AxesOf(const std::string& text) {
  Axes axes;
  try {
    for (Axis& axis : ParseAxes(text)) axes.emplace_back(std::move(axis.name), std::move(axis.values));
  } catch (const Error& error) {
    throw Error(Join("over: ", error.what()));
  }
  return axes;
}

// A dict a cell, scheduler and seed.
Records RowsOf(const SweepRequest& request) {
  const Grid grid(request.axes);
  nb::list list;
  for (const SweptCell& cell : ReadSweep(request)) {
    const std::vector<std::string> values = grid.Values(cell.cell);
    for (const ResultRow& result : cell.rows) {
      for (std::size_t i = 0; i < result.runs.size(); ++i) {
        const RunResult& run = result.runs[i];
        nb::dict row;
        row["cell"] = cell.cell;
        for (std::size_t axis = 0; axis < values.size(); ++axis)
          row[grid.axes()[axis].name.c_str()] = values[axis];
        row["scheduler"] = result.scheduler, row["seed"] = cell.seeds[i];
        row["jobs"] = run.metrics.jobs, row["unfinished"] = run.metrics.unfinished;
        for (const auto& [key, value] : Figures(run.metrics)) row[key] = value;
        row["decisions"] = run.decisions, row["signature"] = HexSignature(run.signature);
        list.append(row);
      }
    }
  }
  return list;
}

// `run`: None, or what has the cells of a list run elsewhere, run(todo, write) with write(cell, text).
// `ended`: None, or ended(made, todo).
Records Sweep(const Axes& axes, const std::vector<std::string>& schedulers, Factories factories,
              const Keywords& keywords, const std::string& folder, const std::string& library,
              const std::vector<std::pair<std::string, std::string>>& own, nb::object run,
              nb::object ended) {
  const auto calls = std::make_shared<PythonCalls>();
  CheckSemantics(schedulers, factories);
  SweepRequest request = RequestOf(axes, schedulers, factories, keywords, calls);
  request.folder = folder;
  request.source = Join("Python package ", BERTH_VERSION, "+", FileHash(library));
  request.own = own;
  request.stop = &calls->stopped;
  if (!ended.is_none()) {
    request.ended = [shared = Share(std::move(ended))](std::int64_t made, std::int64_t todo) {
      const nb::gil_scoped_acquire gil;
      (void)(*shared)(made, todo);
    };
  }
  if (run.is_none()) {
    RunInterruptibly(*calls, [&] {
      if (RunSweep(request).stopped) throw Error("interrupted");
    });
    return RowsOf(request);
  }
  request.run = [shared = Share(std::move(run)), folder](const std::vector<std::int64_t>& todo) {
    const nb::gil_scoped_acquire gil;
    const std::function<void(std::int64_t, std::string)> write =
        [folder](std::int64_t cell, const std::string& text) { WriteTextFile(CellPath(folder, cell), text); };
    (void)(*shared)(todo, write);
  };
  {  // on this thread, which is the one that Python interrupts
    const nb::gil_scoped_release release;
    if (RunSweep(request).stopped) throw Error("executor: expected every cell, found some left out");
  }
  return RowsOf(request);
}

std::string SweepCell(const Axes& axes, const std::vector<std::string>& schedulers, Factories factories,
                      const Keywords& keywords, std::int64_t cell) {
  const auto calls = std::make_shared<PythonCalls>();
  const SweepRequest request = RequestOf(axes, schedulers, factories, keywords, calls);
  std::string text;
  RunInterruptibly(*calls, [&] {
    const SweepPlan plan(request.axes, request.settings, SweepColumns(), request.make);
    text = RunCell(plan, cell, Threads(request.settings));
  });
  return text;
}

Record Sized(const std::vector<std::string>& schedulers, Factories factories, const Keywords& keywords) {
  const auto calls = std::make_shared<PythonCalls>();
  CheckSemantics(schedulers, factories);
  const MakeSchedulerOf make = MakerOf(factories, calls);
  std::optional<SizeRequest> request;
  SizeResult result;
  RunInterruptibly(*calls, [&] {
    Options options("size", "", "", OptionNames::kKeywords);
    AddSizePlan(options);
    Give(options, schedulers, keywords);
    request = ResolveSize(options);
    request->make = make;
    request->check = [&] { CheckNotStopped(*calls); };
    result = SizeCluster(*request);
  });
  const auto cluster = [&](const std::optional<std::size_t>& at) {
    return at ? nb::cast(result.tried[*at].cluster) : nb::object(nb::none());
  };
  nb::list rows, refused;
  for (const SizedMix& sized : result.tried) {
    if (!sized.refused.empty()) refused.append(nb::make_tuple(sized.cluster, sized.refused));
    for (const SizedRow& one : sized.rows) {
      nb::dict row;
      row["cluster"] = sized.cluster, row["gpus"] = sized.mix.gpus, row["price_per_h"] = sized.mix.price;
      row["scheduler"] = one.scheduler, row["unfinished"] = one.unfinished;
      row["unstable"] = one.unstable, row["meets"] = one.meets;
      for (std::size_t i = 0; i < one.figures.size(); ++i) {
        const std::string key = request->levels[i].metric.field->key;
        row[key.c_str()] = one.figures[i].mean;
        row[(key + "_low").c_str()] = one.figures[i].low, row[(key + "_high").c_str()] = one.figures[i].high;
      }
      rows.append(row);
    }
  }
  nb::dict said;
  said["best"] = cluster(result.best), said["runner_up"] = cluster(result.runner_up);
  said["mixes"] = result.mixes, said["monotone"] = result.monotone, said["seeds"] = result.seeds;
  said["rows"] = rows, said["refused"] = refused;
  return said;
}

}  // namespace

void AddStudies(nb::module_& module) {
  module.def("axes", AxesOf, nb::arg("text"), "The axes of `berth sweep --over`: names and values.");
  module.def("sweep", Sweep, nb::arg("axes"), nb::arg("schedulers"), nb::arg("factories"),
             nb::arg("keywords"), nb::arg("folder"), nb::arg("library"), nb::arg("own"),
             nb::arg("run").none(), nb::arg("ended").none(),
             "A dict a cell, scheduler and seed; see berth.sweep.");
  module.def("sweep_cell", SweepCell, nb::arg("axes"), nb::arg("schedulers"), nb::arg("factories"),
             nb::arg("keywords"), nb::arg("cell"), "The text of one cell's file.");
  module.def("size", Sized, nb::arg("schedulers"), nb::arg("factories"), nb::arg("keywords"),
             "best, runner_up, mixes, monotone, seeds, rows, refused; see berth.size.");
}

}  // namespace berth
