#include "tools/tune/tuning.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <thread>
#include <tuple>

#include "agents/search/cma_es.hpp"
#include "agents/search/mirrored_noise.hpp"
#include "env/base/counted.hpp"
#include "env/gym/rewards.hpp"
#include "tools/environment_options.hpp"
#include "tools/interrupt.hpp"
#include "tools/results.hpp"
#include "tools/tune/batch_trials.hpp"
#include "tools/tune/hinge_scorer.hpp"
#include "tools/tune/policy_weights.hpp"
#include "tools/tune/scheduler_numbers.hpp"

namespace berth {
namespace {

// What is searched, by the option that asks for it.
enum Kind : unsigned { kScheduler = 1, kPolicy = 2, kHinges = 4 };
struct Only {
  const char* option;
  unsigned kinds;
};
// Options that not all kinds read.
constexpr Only kOnly[] = {
    {"scheduler", kScheduler}, {"parameters", kScheduler},   {"window", kScheduler | kPolicy},
    {"layers", kPolicy},       {"start", kPolicy | kHinges}, {"reserve", kHinges},
    {"load", kHinges},         {"run-time", kHinges},        {"gang", kHinges},
    {"penalty", kHinges},      {"margin", kHinges},          {"visible", kHinges},
    {"order", kHinges},        {"encoder", kHinges},         {"tau", kHinges},
    {"semantics", kHinges},    {"commit-backfill", kHinges}, {"preemptive", kHinges},
    {"on-change", kHinges},    {"work-conserving", kHinges},
};

Kind ResolveKind(Options& options) {
  const Kind kind = options.Given("policy") ? kPolicy : options.Given("hinges") ? kHinges : kScheduler;
  if (kind == kPolicy && options.Given("hinges")) {
    throw Error(Join("expected ", options.Where("policy"), " or ", options.Where("hinges"), ", found both"));
  }
  for (const auto& [option, kinds] : kOnly) {
    if ((kinds & kind) != 0) continue;
    if (!options.Given(option)) {
      options.Assign(option, "");  // so that the resolved configuration can be read again
      continue;
    }
    const char* const with = kind == kHinges             ? "no --hinges with it, found them"
                             : (kinds & kScheduler) != 0 ? "no --policy with it, found one"
                             : (kinds & kPolicy) != 0    ? "--policy with it, found none"
                                                         : "--hinges with it, found none";
    throw Error(Join(options.Where(option), ": expected ", with));
  }
  return kind;
}

// What an option is by the kind that is searched, where it was not given.
void Otherwise(Options& options, const char* name, const std::string& value) {
  if (options.Text(name).empty()) options.Assign(name, value);
}

int Count(const Options& options, const char* name, int low, int high = 1'000'000'000) {
  return static_cast<int>(options.Integer(name, low, high));
}

// A:B of a log's jobs, all where it is not given; at least `jobs` of them.
Window JobsOf(const Options& options, const char* name, const ScenarioSource& source, int jobs) {
  const std::string& text = options.Text(name);
  if (!source.fixed()) {
    if (text.empty()) return {0, -1};
    throw Error(Join(options.Where(name), ": expected with it a fixed scenario (--scenario), found ",
                     source.Describe()));
  }
  Window window{0, source.Make(0, Split::kTrain, 0, 0).num_jobs()};
  if (!text.empty()) {
    const auto [begin, end] = options.Range(name);
    if (end > window.end) {
      throw Error(Join(options.Where(name), ": expected a range within the ", Counted(window.end, "job"),
                       " of ", source.Describe(), ", found '", text, "'"));
    }
    window = {static_cast<int>(begin), static_cast<int>(end)};
  }
  if (window.end - window.begin < jobs) {
    throw Error(Join("--jobs: expected at most the ", window.end - window.begin,
                     " jobs that pieces are of, found ", jobs));
  }
  return window;
}

// How long a workload is and which of its jobs are measured, where it is not said: shorter where the log, or
// the part of it that pieces are of, has fewer jobs.
void ResolveLength(Options& options, bool hinges, const ScenarioSource& source) {
  int jobs = hinges ? 1024 : 400;
  if (source.fixed()) {
    jobs = std::min(jobs, source.Make(0, Split::kTrain, 0, 0).num_jobs());
    for (const char* name : {"pieces", "held-out"}) {
      if (options.Text(name).empty()) continue;
      const auto [begin, end] = options.Range(name);
      jobs = static_cast<int>(std::min<std::int64_t>(jobs, end - begin));
    }
  }
  Otherwise(options, "jobs", std::to_string(jobs));
  if (hinges) return;
  const int all = Count(options, "jobs", 1);
  Otherwise(options, "window", all >= 400 ? "100:300" : Join(all / 4, ":", std::max(1, all * 3 / 4)));
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

// SAF under the rules that the policy is under, so that the two can be compared.
std::string SafUnder(const MdpSpec& mdp, Reserve reserve) {
  const bool commit = mdp.semantics == Semantics::kCommit;
  const bool easy = commit ? mdp.commit_backfill : reserve == Reserve::kEasy;
  return Join("saf(semantics=", ToString(mdp.semantics), ",backfill=", easy ? "easy" : "none", ")");
}

void ResolveHinges(Options& options, TrialSettings on, Tuning& tuning) {
  if (!on.source->fixed())
    throw Error(Join(options.Where("scenario"), ": expected a log, found ", on.source->Describe()));
  BatchTerms terms;
  std::tie(terms.low.load, terms.high.load) = ParseFactors(options, "load");
  std::tie(terms.low.run, terms.high.run) = ParseFactors(options, "run-time");
  std::tie(terms.low.gang, terms.high.gang) = ParseFactors(options, "gang");
  terms.penalty = options.Number("penalty", 0.0, 1e9);
  terms.margin = options.Number("margin", 0.0, 1e9);
  if (on.choices > 0 && !on.held_out)
    throw Error(Join(options.Where("choose"), ": expected --held-out with it, found none"));
  const Scenario log = on.source->Make(0, Split::kTrain, 0, 0);
  if (options.Text("work-conserving") == "auto") options.Assign("work-conserving", "true");
  ResolveDefaults(options, NumbersOf(*on.source), {"tau"});
  const MdpSpec mdp = ResolveProcess(options, log.data().knowledge);
  if (mdp.semantics == Semantics::kRedecide && !mdp.work_conserving) {
    throw Error(Join(options.Where("work-conserving"),
                     ": expected true with semantics redecide, for what is searched does not score `done`"));
  }
  if (mdp.actions != kStartAlone) {
    throw Error(Join(options.Where("actions"), ": expected ", kStartAlone,
                     ", for what is searched scores jobs on GPU types, found ", mdp.actions));
  }
  const Reserve reserve = InOption(options, "reserve", [&] { return ParseReserve(options.Text("reserve")); });
  if (reserve != Reserve::kNone && mdp.semantics == Semantics::kCommit) {
    throw Error(Join(options.Where("reserve"), ": expected none with semantics commit, found ",
                     options.Text("reserve")));
  }
  if (on.reference == "auto") on.reference = SafUnder(mdp, reserve);
  options.Assign("reference", on.reference);
  std::vector<std::string> types;
  for (const GpuType& type : log.data().cluster.types) types.push_back(type.name);
  const HingeScorer scorer(mdp, reserve, Count(options, "hinges", 0, 1000), types);
  const Scenario example = Piece(log, on.pieces.begin, on.jobs, {});
  tuning.candidates = InOption(options, "start", [&] {
    return std::make_unique<HingePolicy>(scorer, options.Text("start"), on.seed, example);
  });
  tuning.trials = std::make_unique<BatchTrials>(std::move(on), terms);
  tuning.cost = "bounded slowdown";
}

void ResolveReward(Options& options, Kind kind, bool dry, TrialSettings on, Tuning& tuning) {
  const std::string reward = options.Text("reward");
  InOption(options, "reward", [&] { return Reward(reward).AJob({}); });  // less must be better
  if (on.reference == "auto") on.reference = "srpt";
  options.Assign("reference", on.reference);
  on.window = ResolveWindow(options, on.jobs);
  if (kind == kScheduler) {
    const std::string text = options.Text("scheduler");
    InOption(options, "scheduler", [&] { return MakeScheduler(text, AllSchedulers()); });
    tuning.candidates = InOption(options, "parameters", [&] {
      return std::make_unique<SchedulerNumbers>(
          ParseSpec(text), SplitOutsideParentheses(options.Text("parameters"), ','), on.reference);
    });
  } else if (!dry) {
    PolicyBundle bundle = LoadBundle(options.Text("policy"));
    if (const std::string rule = options.Text("start"); !rule.empty())
      bundle = InOption(options, "start", [&] { return WithLinearStart(bundle, rule); });
    tuning.candidates = InOption(options, "layers", [&] {
      return std::make_unique<PolicyWeights>(bundle, SplitOutsideParentheses(options.Text("layers"), ','),
                                             reward);
    });
  }
  tuning.trials = std::make_unique<RewardTrials>(std::move(on), reward);
  tuning.hours = reward == "jct";
  tuning.cost = tuning.hours ? "mean JCT h" : Join(reward, " a job");
}

// `name`: cma_es or mirrored_noise.
std::unique_ptr<search::Optimiser> MakeOptimiser(const Options& options, const std::string& name,
                                                 search::Space space, std::uint64_t seed) {
  const double step = options.Number("step", 1e-9, 1e9);
  const int population = Count(options, "population", 0, 100000);
  if (name == "cma_es") {
    for (double& scale : space.scales) scale *= step;
    return std::make_unique<search::CmaEs>(space, seed, population);
  }
  search::MirroredNoiseSettings settings{step, options.Number("learning-rate", 1e-9, 1e9), population};
  return std::make_unique<search::MirroredNoise>(space, settings, seed);
}

// auto: of the thousands of weights of a policy no covariance can be learned.
std::string ResolveOptimiser(Options& options, Kind kind) {
  if (options.Text("optimiser") == "auto")
    options.Assign("optimiser", kind == kPolicy ? "mirrored_noise" : "cma_es");
  const std::string name = options.Text("optimiser");
  const std::vector<std::string> known{"cma_es", "mirrored_noise"};
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw Error(Join(options.Where("optimiser"), ": expected auto, cma_es or mirrored_noise, found '", name,
                     "'", DidYouMean(name, known)));
  }
  if (name == "cma_es") {
    const int population = Count(options, "population", 0, 100000);
    if (population == 0 || population >= search::CmaEs::kLeastPopulation) return name;
    throw Error(Join(options.Where("population"), ": expected 0 or at least ",
                     search::CmaEs::kLeastPopulation, " candidates of cma_es, found ", population));
  }
  if (Count(options, "population", 0, 100000) == 0) options.Assign("population", "32");
  const int population = Count(options, "population", 2, 100000);
  if (population % 2 != 0) {
    throw Error(Join(options.Where("population"),
                     ": expected an even number, pairs of mirrored points, found ", population));
  }
  return name;
}

// Options of a search's budget, outputs and measurement: a search may go on with others.
bool IsFree(const std::string& name) {
  constexpr std::array<const char*, 7> kFree{"generations", "seconds", "threads", "validate",
                                             "curve",       "out",     "dry-run"};
  return std::count(kFree.begin(), kFree.end(), name) > 0;
}

bool OfThisRun(const std::string& name) {
  return name == "state" || name == "resume";
}

// Of a new policy, before files of searches said what was not given.
constexpr struct {
  const char *name, *value;
} kFormerDefaults[] = {{"encoder", "ObservationV1"}, {"preemptive", "true"}};

}  // namespace

void AddTuneOptions(Options& options) {
  options.Group("What is searched");
  options.Value("scheduler", "tuned", "spec whose parameters are the start: see berth list schedulers");
  options.Value("parameters",
                "size,gang,slow,contrast,slow_single,contrast_single,slow_load,contrast_load,age,stay",
                "parameters to search, separated by commas; none of whole numbers");
  options.Input("policy", "search the weights of this policy (.h5) instead");
  options.Value("hinges", "",
                "search a new policy for a log of batch jobs instead: a linear score of --encoder's channels "
                "and so many hinges");
  options.Group("How it is searched");
  options.Value("optimiser", "auto",
                "cma_es | mirrored_noise; auto: mirrored noise of a policy's weights, else CMA-ES");
  options.Value("step", "",
                "first standard deviation: of a parameter in units of max(1, |start|) [0.3], of a policy's "
                "weights of their array's scale [0.1], of a new policy's numbers of 1 [0.3]");
  options.Value("learning-rate", "0.05", "mirrored noise: in the same units; falls linearly to a tenth");
  options.Value("population", "0",
                "candidates a generation, of CMA-ES at least 4; 0 = 4 + 3 ln(numbers), mirrored noise 32");
  options.Value("layers", "", "of a policy: search only the weights of these layers, by commas [all]");
  options.Value("start", "",
                "begin from this linear rule over the encoder's channels, the others 0: of a policy with a "
                "layer 'skip' weights such as job.size=-1,pair.regret=-4 [the file's]; of a new one costs "
                "[request=1,gang=1.1]");
  AddScenarioOptions(options);
  MdpSpec batch;  // of a new policy; for other kinds it is not asked
  batch.encoder = "Batch";
  batch.preemptive = false;
  AddProcessOptions(options, batch);
  options.Group("What the policy sees and may do");
  options.Value("reserve", "none",
                "of a new policy, redecide: whom the best-scored job that does not fit holds back: none | "
                "head (all others) | easy (who would delay it)");
  options.Group("Workloads of the search");
  options.Value("reference", "auto",
                "scheduler that costs are divided by; auto: srpt, of a new policy saf with its semantics and "
                "backfilling");
  options.Value(
      "pieces", "",
      "of a fixed scenario: workloads are pieces of its jobs A:B alone, so that the rest can test [all]");
  options.Value("held-out", "",
                "of a fixed scenario: choose and measure the answer on pieces of its jobs A:B [those of "
                "--pieces; of a new policy nothing]");
  options.Value("workloads", "8", "new training workloads a generation, the same for all candidates");
  options.Value("jobs", "", "arrivals of a workload [400, of a new policy 1024, or all of a shorter log]");
  options.Value("window", "",
                "measure only jobs A:B of a workload; later jobs compete meanwhile [100:300, of fewer than "
                "400 jobs their middle half, of a new policy all]");
  for (const char* name : {"load", "run-time", "gang"}) {
    options.Value(name, "1:1",
                  Join("of a new policy: LOW:HIGH, ", name, "s of a workload times the log's, log-uniform"));
  }
  options.Value("penalty", "0",
                "of a new policy: for p99 and maximum waits beyond --margin times the reference's");
  options.Value("margin", "1", "of the waits, times the reference's");
  options.Group("How it is searched");
  options.Value("seconds", "80", "stop after this long; 0 = no limit");
  options.Value("generations", "0", "stop after so many; 0 = no limit");
  options.Value(
      "choose", "0",
      "answer with the best of the start, the search half way and its end on so many workloads, drawn as "
      "those of --validate are; 0 = its end");
  options.Value(
      "validate", "",
      "workloads on which the answer is measured: drawn by no generation, of a fixed scenario pieces of "
      "--held-out [20, of a new policy 16]");
  options.Value("seed", "0", "of workloads and search");
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                "runs at once; with --generations and --seconds 0 the answer does not depend on it");
  options.Group("Files");
  options.Output("curve", "write how the search stood after each generation to this .csv file");
  options.Output("state", "keep the search in this file (.h5), so that --resume can go on");
  options.Switch("resume", "go on with the search in --state; options not given are the search's");
  options.Switch("dry-run", "resolve every option but the policy, and stop");
  options.Output("out",
                 "write the answer to this file: as `berth evaluate --config` reads it, or the policy (.h5)");
  options.Everyday({"scheduler", "parameters", "policy", "hinges", "scenario", "format", "workload",
                    "cluster", "knowledge", "reward", "reference", "pieces", "held-out", "seconds", "seed",
                    "threads", "state", "resume", "out"});
}

Tuning ResolveTuning(Options& options, bool dry) {
  const Kind kind = ResolveKind(options);
  if (kind != kScheduler) options.Required("out");
  const bool hinges = kind == kHinges;
  Otherwise(options, "step", kind == kPolicy ? "0.1" : "0.3");
  if (hinges) Otherwise(options, "start", "request=1,gang=1.1");
  Otherwise(options, "validate", !hinges ? "20" : options.Text("held-out").empty() ? "0" : "16");
  TrialSettings on;
  on.reference = options.Text("reference");
  if (on.reference != "auto")
    InOption(options, "reference", [&] { return MakeScheduler(on.reference, AllSchedulers()); });
  on.source = ResolveWorkload(options).source;
  ResolveLength(options, hinges, *on.source);
  on.workloads = Count(options, "workloads", 1, 100000);
  on.choices = Count(options, "choose", 0, 100000);
  on.jobs = Count(options, "jobs", 1);
  on.pieces = JobsOf(options, "pieces", *on.source, on.jobs);
  if (!options.Text("held-out").empty()) on.held_out = JobsOf(options, "held-out", *on.source, on.jobs);
  on.seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  on.threads = Count(options, "threads", 1, 4096);
  if (!dry) on.interrupted = &WatchInterrupts();

  Tuning tuning;
  tuning.optimiser_name = ResolveOptimiser(options, kind);
  tuning.validate = Count(options, "validate", 0, 100000);
  tuning.budget = {Count(options, "generations", 0), options.Number("seconds", 0.0, 1e9), on.interrupted};
  if (tuning.budget.seconds == 0.0 && tuning.budget.generations == 0)
    throw Error("--seconds, --generations: expected at least one limit above 0");
  if (hinges) {
    ResolveHinges(options, on, tuning);
  } else {
    ResolveReward(options, kind, dry, on, tuning);
  }
  if (dry) return tuning;
  const search::Space space = tuning.candidates->Space();
  tuning.optimiser = MakeOptimiser(options, tuning.optimiser_name, space, on.seed);
  const Scenario sample = on.source->Make(on.seed, Split::kTrain, 0, 0, /*jobs=*/1);
  const std::string& reference = tuning.trials->settings().reference;
  CheckRunnable(sample, *MakeScheduler(reference, AllSchedulers()), reference);
  CheckRunnable(sample, *tuning.candidates->Make(space.start), "the start");
  return tuning;
}

std::string SearchText(const Options& options, const Tuning& tuning, int generations) {
  std::string text = Join(tuning.optimiser_name, "(generations=", generations);
  for (const char* name : {"step", "learning-rate", "population", "seed", "layers", "start", "workloads",
                           "jobs", "window", "reward", "pieces", "reference"}) {
    std::string value = options.Text(name);
    std::replace(value.begin(), value.end(), ',', '+');  // which separates parameters
    if (!value.empty()) text += Join(",", name, "=", value);
  }
  return Join(text, ",of=", tuning.trials->settings().source->Describe(), ")");
}

std::string SearchDefinition(const Options& options, bool all) {
  std::string text;
  for (const auto& [name, value] : options.Resolved()) {
    if (options.Given(name) && !OfThisRun(name) && (all || !IsFree(name)))
      text += Join(name, "=", value, "\n");
  }
  return text;
}

std::string WithResolved(std::string definition, const Options& options) {
  for (const auto& [name, value] : options.Resolved()) {
    if (!options.Given(name) && !OfThisRun(name) && !IsFree(name)) definition += Join(name, "=", value, "\n");
  }
  return definition;
}

void ResumeOptions(Options& options) {
  const std::string file = options.Required("state");
  std::string before = "\n" + search::ReadDefinition(file);
  const auto has = [&](const std::string& text) { return before.find("\n" + text) != std::string::npos; };
  if (has("hinges=")) {
    for (const auto& [name, value] : kFormerDefaults) {
      if (!has(Join(name, "="))) before += Join(name, "=", value, "\n");
    }
  }
  options.ReadConfigText(before.substr(1), file);
  std::istringstream lines(SearchDefinition(options, /*all=*/false));
  for (std::string line; std::getline(lines, line);) {
    if (has(line + "\n")) continue;
    const std::string name = line.substr(0, line.find('='));
    throw Error(Join(options.Where(name), ": expected as the search in ", file, " has it, found '",
                     line.substr(name.size() + 1), "'"));
  }
  const std::string& optimiser = options.Text("optimiser");
  const int population = Count(options, "population", 0, 100000);
  if (optimiser == "cma_es" || (optimiser == "auto" && !options.Given("policy"))) {
    if (population > 0 && population < search::CmaEs::kLeastPopulation)  // it ran as the least that there is
      options.Assign("population", std::to_string(search::CmaEs::kLeastPopulation));
  }
}

}  // namespace berth
