// berth sweep: schedulers compared over a grid of loads, clusters, features, settings.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <tuple>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/file_hash.hpp"
#include "tools/interrupt.hpp"
#include "tools/json.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/plot_script.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/studies/studies.hpp"
#include "tools/sweep/pareto.hpp"
#include "tools/sweep/slurm_array.hpp"
#include "tools/sweep/sweep.hpp"
#include "tools/sweep/sweep_files.hpp"

namespace berth {
namespace {

void AddSweepOptions(Options& options) {
  options.Group("Grid");
  options.Value(
      "over", "",
      "axes, as 'NAME=VALUE,VALUE,...': several words, flags or parts between ';'. {NAME} in another "
      "option stands for the value; an axis named like an option sets it. 4..16..4 is 4,8,12,16; "
      "where values have commas, '|' separates them");
  options.Value("cells", "",
                "run only the cells A:B and make no table: parts of a sweep by several processes");
  options.Switch("print-array",
                 "print a script for sbatch or ranks (torchrun) that runs the cells, and stop");
  AddEvaluationPlan(options);
  options.Value("metrics", "",
                Join("columns of the printed table and figures of the page beside the mean JCT, separated by "
                     "commas: ",
                     MetricNames(), ", or the key that a figure has in --json [as evaluate]"));
  options.Group("Results");
  options.Value(
      "out", "",
      "folder of the cells that have run and of table.csv, table.h5, summary.csv; the same command goes on "
      "there");
  options.Value(
      "pareto", "",
      "A,B: print the rows that no other beats in both figures, by the names of --metrics or keys of "
      "--json; mean_jct_h is mean_jct_s in hours");
  options.Value("report", "", "write a page to this folder (index.html) and its figures");
  options.Note(
      "A cell is a choice of one value an axis; cells are numbered from 0, the last axis changing fastest. "
      "Rows "
      "are a cell under a scheduler, columns those of evaluate; ratios are to the first scheduler of the "
      "same "
      "cell. A seed is the same workload wherever the workload's own settings are the same.");
  options.Everyday({"over", "schedulers", "scenario", "workload", "cluster", "knowledge", "features", "seeds",
                    "window", "threads", "out", "pareto", "report", "print-array"});
}

// Where the table is not made, nothing can be made of it.
void CheckNoTable(const Options& options, const char* because) {
  for (const char* of_table : {"json", "report", "pareto"}) {
    if (options.Given(of_table))
      throw Error(
          Join(options.Where(of_table), ": expected nothing with ", because, ", which makes no table"));
  }
}

// Whatever is written under DIR/cells replaces a cell, or is taken for one.
void CheckOutsideCells(const Options& options, const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path cells = fs::weakly_canonical(fs::absolute(folder + "/cells", ignored), ignored);
  for (const char* name : {"json", "report"}) {
    if (options.Text(name).empty()) continue;
    const fs::path path = fs::weakly_canonical(fs::absolute(options.Text(name), ignored), ignored);
    if (!cells.empty() &&
        std::mismatch(cells.begin(), cells.end(), path.begin(), path.end()).first == cells.end())
      throw Error(Join(options.Where(name), ": expected a place outside of ", folder, "/cells, found ",
                       options.Text(name)));
  }
}

void CheckOutputs(Options& options, const std::string& folder) {
  // Read, or written once: --config may name sweep.ini.
  for (const char* file : {"sweep.ini", "lock"}) options.AddRead("out", folder + "/" + file);
  CheckOutsideCells(options, folder);
  for (const char* file : {"table.csv", "summary.csv", "table.h5"})
    options.AddWritten("out", folder + "/" + file);
  CheckJsonWritable(options);
  const std::string& report = options.Text("report");
  if (report.empty()) return;
  options.AddWritten("report", report + "/index.html");
  MakeFolder(report, options.Where("report"));
}

void WriteReport(const Options& options, const std::string& table) {
  const std::string& folder = options.Text("report");
  const std::string why = RunPlotScript("sweep/page.py", {table, "--out", folder});
  if (!why.empty()) throw Error(why);
  std::cout << "report: " << folder << "/index.html\n";
}

int MakeSweepTable(const Options& options, const SweepRequest& request,
                   const std::vector<std::string>& arguments) {
  const std::string& folder = request.folder;
  const SweepTable table =
      MakeTable(Grid(request.axes), ReadSweep(request), options.Text("metrics"), Threads(options));
  std::optional<ParetoFront> front;
  if (options.Given("pareto")) front = FrontOf(table, options.Text("pareto"));
  const ParetoFront* const asked = front ? &*front : nullptr;
  const std::string file = folder + "/table.h5";
  WriteTextFile(folder + "/table.csv", TableCsv(table));
  WriteTextFile(folder + "/summary.csv", SummaryCsv(table));
  WriteSweepFile(table, asked, ReadText(folder + "/sweep.ini"), file);
  PrintSweep(table, folder + "/summary.csv");
  if (front) PrintFront(table, *front);
  Json json = SweepJson(table, asked);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  std::cout << "tables: " << folder << "/table.csv (a row a seed), " << folder << "/summary.csv, " << file
            << "\n";
  if (options.Given("report")) {
    WriteReport(options, file);
    std::cout << NextStep("what the file of the tables holds", Join("inspect ", ForShell(file)));
  } else {
    std::cout << NextStep("pictures of it", SameCommand("sweep", arguments) + " --report page");
  }
  return 0;
}

}  // namespace

int Sweep(const std::vector<std::string>& given) {
  const std::vector<std::string> arguments = JoinLists(given, {"schedulers", "over"});
  Options options(
      "sweep",
      "--over 'NAME=VALUE,VALUE,...' --out DIR [--over ...] [--schedulers 'SPEC;SPEC;...'] "
      "[--scenario FILE | --workload SPEC --cluster CLUSTER] [--seeds A:B] [--pareto A,B] [--report "
      "DIR]",
      "compares schedulers on the same workloads, over a grid of loads, clusters, features, settings");
  AddSweepOptions(options);
  if (!options.Parse(arguments)) return 0;
  const std::string folder = options.Required("out");
  SweepRequest request{InOption(options, "over", [&] { return ParseAxes(options.Required("over")); }),
                       options,
                       folder,
                       options.Where("out"),
                       0,
                       -1,
                       nullptr,
                       RunSource()};
  // What is wrong with the grid is wrong with --over, or says which option it is wrong with.
  const std::int64_t cells =
      InOption(options, "over", [&] { return Grid(request.axes, SweepColumns()).size(); });
  if (options.Given("pareto"))
    InOption(options, "pareto", [&] { return ParsePareto(options.Text("pareto")); });
  if (options.Given("metrics"))
    InOption(options, "metrics", [&] { return MetricColumns(options.Text("metrics"), {}); });
  if (options.Bool("print-array")) {
    CheckNoTable(options, "--print-array and --cells");
    SweepPlan(request.axes, options).Check(0);
    std::cout << SlurmArray(arguments, cells);
    return 0;
  }
  if (options.Given("cells")) {
    CheckNoTable(options, "--cells");
    std::tie(request.begin, request.end) = options.Range("cells");
    if (request.end > cells)
      throw Error(Join(options.Where("cells"), ": expected a range within the ", Counted(cells, "cell"),
                       ", found ", options.Text("cells")));
  }
  CheckOutputs(options, folder);
  request.stop = &WatchInterrupts();
  const SweepState state = RunSweep(request);
  if (state.stopped) {
    std::cerr << "interrupted: " << state.there << " of " << Counted(state.cells, "cell is", "cells are")
              << " kept, the same command goes on\n";
    return kExitInterrupted;
  }
  if (!options.Given("cells")) {
    std::cout << Counted(state.cells, "cell") << ", " << state.kept << " of them were there\n\n";
    return MakeSweepTable(options, request, arguments);
  }
  std::cout << "cells " << options.Text("cells") << ": " << state.made << " made, " << state.kept
            << " were there; " << state.there << " of " << state.cells << " in " << folder << "\n";
  return 0;
}

}  // namespace berth
