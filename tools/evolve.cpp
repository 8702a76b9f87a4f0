// berth evolve: a pair-scoring policy for a log of rigid jobs, its numbers searched by CMA-ES.
#include <iostream>
#include <thread>
#include <tuple>

#include "env/sim/statistics.hpp"
#include "policies/schedulers.hpp"
#include "tools/environment_options.hpp"
#include "tools/evolve/evolution.hpp"
#include "tools/interrupt.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr int kValidation = 16;  // pieces

void AddEvolveOptions(Options& options) {
  AddScenarioOptions(options);
  AddProcessOptions(options);
  options.Value("jobs", "", "train on pieces of jobs A:B alone, so that the rest can test [all]");
  options.Value("validate", "", "measure the answer on 16 pieces of jobs A:B, evenly spread [no]");
  options.Value("choose", "0",
                "answer with the best of the start, the search half way and its end on so many pieces of "
                "--validate; 0 = its end");
  options.Value("piece", "1024", "jobs of a piece");
  options.Value("pieces", "8", "new pieces a generation, the same for all candidates");
  options.Value("load", "1:1", "LOW:HIGH: load of a piece, times the log's, log-uniform");
  options.Value("run-time", "1:1", "LOW:HIGH: run times of a piece, likewise");
  options.Value("gang", "1:1", "LOW:HIGH: gangs of a piece, likewise");
  options.Value("reserve", "none",
                "redecide: whom the best-scored job that does not fit holds back: none | head (all others) | "
                "easy (who would delay it)");
  options.Value("hinges", "0", "units beside the linear part of the score");
  options.Value("start", "request=1,gang=1.1", "cost of channels of jobs and pairs to start from; others 0");
  options.Value("step", "0.3", "first standard deviation of every number");
  options.Value(
      "reference", "auto",
      "scheduler that slowdowns and waits are divided by; auto: saf with this semantics and backfilling");
  options.Value("penalty", "0", "for p99 and maximum waits beyond --margin times the reference's");
  options.Value("margin", "1", "of the waits, times the reference's");
  options.Value("population", "0", "candidates a generation; 0 = 4 + 3 ln(numbers)");
  options.Value("generations", "60", "of the search");
  options.Value("seed", "0", "of pieces and search");
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                "runs at once; the answer does not depend on it");
  options.Switch("dry-run", "resolve every option, and stop");
  options.Output("out", "write the policy to this file (.h5)");
}

// SAF under the rules that the policy is under, so that the two can be compared.
std::string SafUnder(const MdpSpec& mdp, Reserve reserve) {
  const bool commit = mdp.semantics == Semantics::kCommit;
  const bool easy = commit ? mdp.commit_backfill : reserve == Reserve::kEasy;
  return Join("saf(semantics=", ToString(mdp.semantics), ",backfill=", easy ? "easy" : "none", ")");
}

// "LOW:HIGH", both above 0.
std::pair<double, double> ParseFactors(const Options& options, const std::string& name) {
  const std::string& text = options.Text(name);
  const std::string where = options.Where(name);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw Error(Join(where, ": expected LOW:HIGH, found '", text, "'"));
  const double low = ParseNumber(text.substr(0, colon), where),
               high = ParseNumber(text.substr(colon + 1), where);
  if (!(low >= 1e-6 && low <= high && high <= 1e6)) {
    throw Error(
        Join(where, ": expected LOW:HIGH with 0.000001 <= LOW <= HIGH <= 1000000, found '", text, "'"));
  }
  return {low, high};
}

Window JobsOf(const Options& options, const std::string& name, const Scenario& log) {
  if (options.Text(name).empty()) return {0, log.num_jobs()};
  const auto [begin, end] = options.Range(name);
  if (end > log.num_jobs()) {
    throw Error(
        Join(options.Where(name), ": expected jobs of ", log.num_jobs(), ", found ", begin, ":", end));
  }
  return {static_cast<int>(begin), static_cast<int>(end)};
}

// The found policy, the start and the reference on pieces of the validation jobs.
Json Validate(const Evolution& evolution, const PolicyBundle& found, const Window& window) {
  Evolution start = evolution;
  start.generations = start.choose = 0;
  const PolicyBundle before = Evolve(start).bundle;
  Table table({"scheduler", "bounded slowdown [95%]", "p99 wait h", "max wait h"});
  Json rows = Json::array();
  for (const char* role : {"reference", "start", "found"}) {
    ResultRow row{role, evolution.mdp.knowledge, {}};
    std::vector<double> slowdowns;
    for (int i = 0; i < kValidation; ++i) {
      const int begin = window.begin + (window.end - window.begin - evolution.jobs) * i / (kValidation - 1);
      const auto scheduler =
          row.scheduler == "reference"
              ? MakeScheduler(evolution.reference, AllSchedulers())
              : MakePolicyScheduler(row.scheduler == "start" ? before : found, "evolve", false);
      row.runs.push_back(Run(Piece(*evolution.log, begin, evolution.jobs, {}), *scheduler, role, {}));
      slowdowns.push_back(row.runs.back().metrics.hpc_bounded_slowdown);
    }
    const Interval mean = BootstrapMean(slowdowns, 0);
    const Metrics m = row.Combined();
    table.AddRow({row.scheduler == "reference" ? evolution.reference : role,
                  Join(Fixed(mean.mean, 2), " [", Fixed(mean.low, 2), ", ", Fixed(mean.high, 2), "]"),
                  Hours(m.p99_wait_s), Hours(m.max_wait_s)});
    rows.push_back(RowJson(row));
  }
  std::cout << table.ToString();
  return rows;
}

}  // namespace

int RunEvolve(const std::vector<std::string>& arguments) {
  Options options("evolve", "--scenario FILE [--semantics commit] [--reserve easy] --out FILE",
                  "searches the numbers of a pair-scoring policy on pieces of a log");
  AddEvolveOptions(options);
  if (!options.Parse(arguments)) return 0;
  const std::string out = options.Required("out");
  CheckWritable(out, options.Where("out"));
  CheckJsonWritable(options);

  Evolution evolution;
  const WorkloadChoice workload = ResolveWorkload(options);
  if (!workload.source->fixed()) {
    throw Error(Join(options.Where("scenario"), ": expected a log, found ", workload.source->Describe()));
  }
  const Scenario log = workload.source->Make(0, Split::kTrain, 0, 0);
  evolution.log = &log;
  evolution.mdp = ResolveProcess(options, log.data().knowledge);
  if (options.Text("work-conserving") == "auto") evolution.mdp.work_conserving = true;
  if (evolution.mdp.semantics == Semantics::kRedecide && !evolution.mdp.work_conserving) {
    throw Error(Join(options.Where("work-conserving"),
                     ": expected true with semantics redecide, for what is searched does not score `done`"));
  }
  evolution.reserve = InOption(options, "reserve", [&] { return ParseReserve(options.Text("reserve")); });
  if (evolution.reserve != Reserve::kNone && evolution.mdp.semantics == Semantics::kCommit) {
    throw Error(Join(options.Where("reserve"), ": expected none with semantics commit, found ",
                     options.Text("reserve")));
  }
  evolution.hinges = static_cast<int>(options.Integer("hinges", 0, 1000));
  evolution.start = options.Text("start");
  evolution.step = options.Number("step", 1e-9, 1e9);
  evolution.reference = options.Text("reference");
  if (evolution.reference == "auto") evolution.reference = SafUnder(evolution.mdp, evolution.reserve);
  InOption(options, "reference", [&] { return MakeScheduler(evolution.reference, AllSchedulers()); });
  evolution.window = JobsOf(options, "jobs", log);
  evolution.jobs = static_cast<int>(options.Integer("piece", 1, 1'000'000'000));
  evolution.pieces = static_cast<int>(options.Integer("pieces", 1, 100000));
  std::tie(evolution.low.load, evolution.high.load) = ParseFactors(options, "load");
  std::tie(evolution.low.run, evolution.high.run) = ParseFactors(options, "run-time");
  std::tie(evolution.low.gang, evolution.high.gang) = ParseFactors(options, "gang");
  evolution.penalty = options.Number("penalty", 0.0, 1e9);
  evolution.margin = options.Number("margin", 0.0, 1e9);
  evolution.choose = static_cast<int>(options.Integer("choose", 0, 100000));
  if (!options.Text("validate").empty()) {
    evolution.choose_window = JobsOf(options, "validate", log);
    const int found = evolution.choose_window.end - evolution.choose_window.begin;
    if (found < evolution.jobs) {
      throw Error(
          Join(options.Where("validate"), ": expected at least ", evolution.jobs, " jobs, found ", found));
    }
  } else if (evolution.choose > 0) {
    throw Error(Join(options.Where("choose"), ": expected --validate with it, found none"));
  }
  evolution.population = static_cast<int>(options.Integer("population", 0, 100000));
  evolution.generations = static_cast<int>(options.Integer("generations", 1, 1'000'000'000));
  evolution.seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  evolution.threads = static_cast<int>(options.Integer("threads", 1, 4096));
  if (options.Bool("dry-run")) {
    std::cout << "evolve on " << workload.source->Describe() << ", " << evolution.generations
              << " generations of " << evolution.pieces << " pieces\n";
    return 0;
  }
  evolution.interrupted = &WatchInterrupts();

  Evolved found;
  {
    Progress progress("evolve");
    evolution.on_generation = [&](int generation, double best, double step) {
      progress.Update(static_cast<double>(generation) / evolution.generations,
                      Join("generation ", generation, ", best ", Fixed(best, 3), ", step ", Fixed(step, 3)));
    };
    found = Evolve(evolution);
  }
  const bool interrupted = *evolution.interrupted;
  evolution.interrupted = nullptr;
  found.bundle.provenance = {"cma_es",       options.ResolvedIni(), workload.source->Describe(),
                             SourceCommit(), found.decisions,       evolution.seed};
  SaveBundle(found.bundle, out);
  std::cout << found.generations << " generations, " << found.decisions << " decisions, answer of generation "
            << found.chosen << "; wrote " << out << "\n";
  for (const auto& [generation, value] : found.choices) {
    std::cout << "to choose from: generation " << generation << ", " << Fixed(value, 3) << " of "
              << evolution.reference << " with its penalty, on " << evolution.choose << " pieces\n";
  }
  Json json;
  json["generations"] = found.generations;
  json["decisions"] = found.decisions;
  json["chosen"] = found.chosen;
  json["interrupted"] = interrupted;
  if (!options.Text("validate").empty()) {
    json["validation"] = Validate(evolution, found.bundle, evolution.choose_window);
  }
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  return interrupted ? kExitInterrupted : 0;
}

}  // namespace berth
