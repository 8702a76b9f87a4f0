// berth bench: how fast this build is on this machine.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/golden_suite.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/optimality.hpp"
#include "tools/bench/peers.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/scaling.hpp"
#include "tools/home.hpp"
#include "tools/next_steps.hpp"
#include "tools/results.hpp"
#include "tools/side_library.hpp"
#include "tools/studies/studies.hpp"
#include "tools/table.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

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

Json Scaling(const Options& options) {
  const auto reports = bench::MeasureScaling(options.Text("sweeps"), options.Number("limit", 1e-3, 1e6));
  std::cout << bench::TableOf(reports);
  return bench::JsonOf(reports);
}

Json OptimalityOf(const Options& options) {
  const std::string text = options.Text("schedulers");
  const auto specs = text == "all" ? std::vector<std::string>{} : SplitOutsideParentheses(text, ';');
  const auto instances = static_cast<int>(options.Integer("instances", 1, 1000000));
  const auto rows =
      InOption(options, "schedulers", [&] { return bench::MeasureOptimality(specs, instances); });
  std::cout << bench::TableOf(rows, instances);
  return bench::JsonOf(rows, instances);
}

Json Peers(const Options& options, const bench::BenchSetup& setup) {
  bench::PeersSetup peers;
  peers.programs = options.Text("peers");
  peers.venv = options.Text("peers-venv");
  if (peers.venv.empty())
    peers.venv = std::filesystem::path(setup.binary).parent_path().parent_path() / "peers";
  peers.packages = HomeFile("tools/bench/peers.txt");
  peers.only = options.Text("peers-only");
  peers.repeats = setup.repeats;
  peers.share = options.Number("peers-share", 1e-4, 100.0);
  const auto reports = bench::MeasurePeers(peers);
  std::cout << bench::TableOf(reports);
  return bench::JsonOf(reports);
}

bool NoneFailed(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& row) { return row["failure"].is_null(); });
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
  std::cout << bench::TableOf(reports) << "\n"
            << Counted(reports.size(), "row") << ": " << failed << " could not be measured, " << missed
            << " missed their target; compare two builds or settings in turn on one quiet machine\n";
  return failed == 0 && (missed == 0 || !options.Bool("strict"));
}

}  // namespace

int Bench(const std::vector<std::string>& arguments) {
  Options options("bench", "[--only ROW,...] [--json FILE]",
                  "measures how fast this build is on this machine");
  options.Group("Rows");
  options.Value("only", "", "rows or groups of rows, by commas: 'env/steps,start' [all]");
  options.Switch("list", "print the rows and stop");
  options.Value("seconds", "1", "CPU time of a repeat, of rows that may choose how long they work");
  options.Value("repeats", "5", "of rows that take seconds; those that take minutes are measured once");
  options.Value("limit", "900", "wall time, s, after which a row is given up");
  options.Value("traces", "", "folder of the public traces, not shipped [one beside the sources, if there]");
  options.Value("reference", "",
                "folder of records of Gavel's code, not shipped [one beside the sources, if there]");
  options.Group("Other measurements, in place of the rows unless --only");
  options.Switch("signature", "signatures of the golden runs, as a list and one number");
  options.Switch("scaling", "time and memory against jobs, GPUs, types, environments and threads");
  options.Switch("optimality", "how far schedulers are from the best schedule of small instances");
  options.Value("sweeps", "", "of --scaling, sweeps or groups by commas: 'jobs/easy,queue' [all]");
  options.Value("peers", "", "folder of the peers' programs (bench_sb3.py, ...), run in turn with ours");
  options.Value("peers-venv", "",
                "their Python environment, made where it is not [peers, beside the binary]");
  options.Value(
      "peers-only", "",
      "of --peers, by commas: ppo_a, ppo_b, ppo_c, ppo_d, dqn_cartpole, dqn_synthetic, env_cartpole, "
      "env_scheduling [all]");
  options.Value("peers-share", "1", "of --peers: part of each training case's steps, of both sides");
  options.Value("schedulers", "all", "of --optimality, by ';': specs, or all that are registered");
  options.Value("instances", "200", "of --optimality");
  options.Group("Rows");
  options.Switch("strict", "exit with 1 where a row misses its target too");
  options.Audits();
  if (!options.Parse(arguments)) return 0;

  CheckJsonWritable(options);
  const std::vector<bench::BenchRow> rows = bench::SelectRows(options.Text("only"));
  if (options.Bool("list")) {
    PrintRows(rows);
    std::cout << NextStep("to measure one", Join("bench --only ", rows.front().name));
    return 0;
  }
  bench::BenchSetup setup;
  setup.seconds = options.Number("seconds", 1e-3, 1e4);
  setup.repeats = static_cast<int>(options.Integer("repeats", 1, 1000));
  setup.binary = (ProgramFolder() / "berth").string();
  setup.traces = Folder(options, "traces", HomeFile("../shared/traces"));
  setup.reference = Folder(options, "reference", HomeFile("../shared/gavel"));

  Json json = {{"config", ConfigJson(options)},
               {"version", Version()},
               {"commit", SourceCommit()},
               {"machine", bench::MachineJson()}};
  std::cout << "berth " << Version() << " (" << SourceCommit() << ") on "
            << json["machine"]["cpu"].get<std::string>() << ", "
            << Counted(json["machine"]["cores"].get<int>(), "core") << ", load "
            << Fixed(json["machine"]["load_1min"], 2) << "\n\n";
  const bool part = options.Bool("signature") || options.Bool("scaling") || options.Bool("optimality") ||
                    options.Given("peers");
  bool held = true;
  if (options.Bool("signature")) json["signature"] = Signature();
  if (options.Bool("optimality")) json["optimality"] = OptimalityOf(options);
  if (options.Bool("scaling")) json["scaling"] = Scaling(options);
  if (options.Given("peers")) json["peers"] = Peers(options, setup);
  for (const char* list : {"scaling", "peers"}) {
    if (json.contains(list)) held = held && NoneFailed(json[list]);
  }
  if (!part || options.Given("only")) held = Rows(options, rows, setup, json) && held;
  WriteJson(options, json);
  if (!part || options.Given("only"))
    std::cout << NextStep("one row for longer, against the noise of the machine",
                          Join("bench --only ", rows.front().name, " --seconds 5 --repeats 9"));
  else if (options.Text("json").empty())
    std::cout << NextStep("the same in a file, to compare with another build's",
                          SameCommand("bench", arguments) + " --json bench.json");
  else
    std::cout << NextStep("what else is measured", "bench --list");
  return held ? 0 : 1;
}

}  // namespace berth
