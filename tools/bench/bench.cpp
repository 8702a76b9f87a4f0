// berth bench: how fast this build is on this machine.
#include <filesystem>
#include <iostream>

#include "env/spec.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/golden_suite.hpp"
#include "tools/bench/machine.hpp"
#include "tools/bench/optimality.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/scaling.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kTraces = BERTH_SOURCE_DIR "/../shared/traces";
constexpr const char* kReference = BERTH_SOURCE_DIR "/../shared/gavel";

// The folder that was named, or the usual one; it need not be there: rows say what they lack.
std::string Folder(Options& options, const char* name, const std::string& usual) {
  if (options.Given(name) && !std::filesystem::is_directory(options.Text(name))) {
    throw Error(Join(options.Where(name), ": expected a folder, found '", options.Text(name), "'"));
  }
  if (!options.Given(name)) options.Assign(name, std::filesystem::path(usual).lexically_normal().string());
  return options.Text(name);
}

void PrintRows(const std::vector<bench::BenchRow>& rows) {
  Table table({"row", "unit", "what"});
  for (const bench::BenchRow& row : rows) table.AddRow({row.name, row.unit, row.what});
  std::cout << table.ToString();
}

// Each part prints its table and gives its JSON.

Json Signature() {
  const auto list = bench::GoldenSignatures();
  const std::string total = HexSignature(bench::SuiteSignature(list));
  Table table({"scheduler", "clock", "signature"});
  Json runs = Json::array();
  for (const bench::GoldenSignature& row : list) {
    table.AddRow({row.scheduler, row.clock, HexSignature(row.signature)});
    runs.push_back(
        {{"scheduler", row.scheduler}, {"clock", row.clock}, {"signature", HexSignature(row.signature)}});
  }
  std::cout << table.ToString() << "\nSignature: " << total << "\n";
  return {{"runs", runs}, {"signature", total}};
}

Json Scaling(double limit_s) {
  const auto reports = bench::MeasureScaling(limit_s);
  std::cout << bench::TableOf(reports);
  return bench::JsonOf(reports);
}

Json Optimality(const Options& options) {
  const std::string text = options.Text("schedulers");
  const auto specs = text == "all" ? std::vector<std::string>{} : SplitOutsideParentheses(text, ';');
  const auto instances = static_cast<int>(options.Integer("instances", 1, 1000000));
  const auto rows =
      InOption(options, "schedulers", [&] { return bench::MeasureOptimality(specs, instances); });
  std::cout << bench::TableOf(rows, instances);
  return bench::JsonOf(rows, instances);
}

// The rows; true when all that could be measured was (and, with --strict, met its target).
bool Rows(const Options& options, const std::vector<bench::BenchRow>& rows, const bench::BenchSetup& setup,
          Json& json) {
  const auto reports = bench::MeasureRows(rows, setup, options.Number("limit", 1e-3, 1e6));
  json["rows"] = Json::array();
  int failed = 0, missed = 0;
  for (const bench::RowReport& report : reports) {
    json["rows"].push_back(bench::JsonOf(report));
    failed += !report.failure.empty();
    missed += !report.measured.values.empty() && report.has_target() && !report.Met();
  }
  std::cout << bench::TableOf(reports);
  return failed == 0 && (missed == 0 || !options.Bool("strict"));
}

}  // namespace

int RunBench(const std::vector<std::string>& arguments) {
  Options options("bench", "[--only ROW,...] [--json FILE]",
                  "measures how fast this build is on this machine");
  options.Value("only", "", "rows or groups of rows, by commas: 'env/steps,start' [all]");
  options.Switch("list", "print the rows and stop");
  options.Value("seconds", "1", "CPU time of a repeat, of rows that may choose how long they work");
  options.Value("repeats", "5", "of rows that take seconds; those that take minutes are measured once");
  options.Value("limit", "900", "wall time, s, after which a row is given up");
  options.Value("traces", "", "folder of the public traces [../shared/traces beside the sources, if there]");
  options.Value("reference", "",
                "folder of the reference's records [../shared/gavel beside the sources, if there]");
  options.Switch("signature",
                 "signatures of the golden runs, as a list and one number; no rows unless --only");
  options.Switch("scaling", "time and memory against jobs, GPUs, types, environments and threads; likewise");
  options.Switch("optimality", "how far schedulers are from the best schedule of small instances; likewise");
  options.Value("schedulers", "all", "of --optimality, by ';': specs, or all that are registered");
  options.Value("instances", "200", "of --optimality");
  options.Switch("strict", "exit with 1 where a row misses its target too");
  if (!options.Parse(arguments)) return 0;

  CheckJsonWritable(options);
  const std::vector<bench::BenchRow> rows = bench::SelectRows(options.Text("only"));
  if (options.Bool("list")) {
    PrintRows(rows);
    return 0;
  }
  bench::BenchSetup setup;
  setup.seconds = options.Number("seconds", 1e-3, 1e4);
  setup.repeats = static_cast<int>(options.Integer("repeats", 1, 1000));
  setup.binary = std::filesystem::read_symlink("/proc/self/exe").string();
  setup.traces = Folder(options, "traces", kTraces);
  setup.reference = Folder(options, "reference", kReference);

  Json json = {{"config", ConfigJson(options)},
               {"version", Version()},
               {"commit", SourceCommit()},
               {"machine", bench::MachineJson()}};
  std::cout << "berth " << Version() << " (" << SourceCommit() << ") on "
            << json["machine"]["cpu"].get<std::string>() << ", " << json["machine"]["cores"]
            << " cores, load " << Fixed(json["machine"]["load_1min"], 2) << "\n\n";
  const bool part = options.Bool("signature") || options.Bool("scaling") || options.Bool("optimality");
  bool held = true;
  if (options.Bool("signature")) json["signature"] = Signature();
  if (options.Bool("optimality")) json["optimality"] = Optimality(options);
  if (options.Bool("scaling")) json["scaling"] = Scaling(options.Number("limit", 1e-3, 1e6));
  if (!part || options.Given("only")) held = Rows(options, rows, setup, json);
  WriteJson(options, json);
  return held ? 0 : 1;
}

}  // namespace berth
