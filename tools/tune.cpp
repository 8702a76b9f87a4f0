// berth tune: a scheduler's numeric parameters, by default the weights of the tuned rule, searched by CMA-ES
// on training workloads; or the weights of a frozen policy, by an evolution strategy.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <thread>

#include "env/gym/rewards.hpp"
#include "env/sim/statistics.hpp"
#include "tools/interrupt.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"
#include "tools/tune/policy_search.hpp"
#include "tools/tune/tuning.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

void AddTuneOptions(Options& options) {
  options.Value("scheduler", "tuned", "spec whose parameters are the start: see berth list schedulers");
  options.Value("parameters",
                "size,gang,slow,contrast,slow_single,contrast_single,slow_load,contrast_load,age,stay",
                "numeric parameters to search, separated by commas");
  options.Input(
      "policy",
      "search the weights of this policy (.h5) instead, by an evolution strategy; --out is the better one");
  options.Value(
      "step", "",
      "first standard deviation of a parameter: this times max(1, |start|) [0.3]; of a policy's weights: "
      "this times their array's scale [0.1]");
  options.Value("layers", "",
                "of a policy: search only the weights of these layers, separated by commas [all]");
  options.Value(
      "start", "",
      "of a policy with a layer 'skip': begin from this linear rule over the encoder's channels, such as "
      "job.size=-1,pair.regret=-4; the other weights of that layer are 0");
  options.Value("learning-rate", "0.05",
                "of a policy's weights, in the same units; falls linearly to a tenth");
  options.Value("reference", "srpt", "scheduler that mean JCTs, or the sums of --reward, are divided by");
  AddScenarioOptions(options);
  options.Value("reward", "jct", "what is minimised: the sum of these terms, see berth list rewards");
  options.Value(
      "pieces", "",
      "of a fixed scenario: workloads are pieces of its jobs A:B alone, so that the rest can test [all]");
  options.Value("workloads", "8", "new training workloads a generation, the same for all candidates");
  options.Value("jobs", "400", "arrivals of a workload");
  options.Value("window", "100:300", "measure only jobs A:B of a workload; later jobs compete meanwhile");
  options.Value("population", "0",
                "candidates a generation, of policies even; 0 = 4 + 3 ln(parameters), of policies 32");
  options.Value("seconds", "80", "stop after this long; 0 = no limit");
  options.Value("generations", "0", "stop after so many; 0 = no limit");
  options.Value("validate", "20",
                "training workloads, drawn by no generation, on which the answer is measured");
  options.Value("seed", "0", "of workloads and search");
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                "runs at once; with --generations instead of --seconds the answer does not depend on it");
  options.Output("curve", "of a policy: write what each generation gave to this .csv file");
  options.Switch("dry-run", "with --policy: resolve every option but the policy, and stop");
  options.Output("out",
                 "write the answer to this file: as `berth evaluate --config` reads it, or the policy (.h5)");
}

const SchedulerInfo& FindScheduler(const Spec& spec) {
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      if (spec.name == info.name) return info;
    }
  }
  BERTH_CHECK(false, "made before");
  std::abort();
}

// Where the search starts: what the spec says, else the parameter's default.
double Start(const Options& options, const Spec& spec, const std::string& name) {
  const SchedulerInfo& info = FindScheduler(spec);
  std::vector<std::string> names;
  for (const ParamInfo& param : info.params) names.push_back(param.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(Join(options.Where("parameters"), ": expected parameters of ", spec.name, ", found '", name,
                     "'", DidYouMean(name, names)));
  }
  std::string text = info.params[static_cast<std::size_t>(found - names.begin())].default_value;
  for (const auto& [key, value] : spec.params) {
    if (key == name) text = value;
  }
  return ParseNumber(text, Join(options.Where("parameters"), ": ", spec.name, "'s '", name, "'"));
}

double Step(const Options& options, double otherwise) {
  return options.Given("step") ? options.Number("step", 1e-9, 1e9) : otherwise;
}

// --pieces of a log that has enough jobs there for a workload of `jobs`.
Window ResolvePieces(const Options& options, const ScenarioSource& source, int jobs) {
  const std::string& text = options.Text("pieces");
  if (!source.fixed()) {
    if (text.empty()) return {0, -1};
    throw Error(Join(options.Where("pieces"), ": expected with it a fixed scenario (--scenario), found ",
                     source.Describe()));
  }
  Window pieces{0, source.Make(0, Split::kTrain, 0, 0).num_jobs()};
  if (!text.empty()) {
    const auto [begin, end] = options.Range("pieces");
    if (end > pieces.end) {
      throw Error(Join(options.Where("pieces"), ": expected a range within the ", pieces.end, " jobs of ",
                       source.Describe(), ", found '", text, "'"));
    }
    pieces = {static_cast<int>(begin), static_cast<int>(end)};
  }
  if (pieces.end - pieces.begin < jobs) {
    throw Error(Join("--jobs: expected at most the ", pieces.end - pieces.begin,
                     " jobs that pieces are of, found ", jobs));
  }
  return pieces;
}

// What both kinds of search share.
template <typename Search>
void ReadSearch(Options& options, Search& search) {
  search.reference = options.Text("reference");
  search.source = ResolveWorkload(options).source;
  search.reward = options.Text("reward");
  InOption(options, "reward", [&] { return Reward(search.reward).AJob({}); });  // less must be better
  search.workloads = static_cast<int>(options.Integer("workloads", 1, 100000));
  search.jobs = static_cast<int>(options.Integer("jobs", 1, 100000000));
  search.pieces = ResolvePieces(options, *search.source, search.jobs);
  search.window = ResolveWindow(options, search.jobs);
  search.population = static_cast<int>(options.Integer("population", 0, 100000));
  search.seconds = options.Number("seconds", 0.0, 1e9);
  search.generations = static_cast<int>(options.Integer("generations", 0, 1000000000));
  if (search.seconds == 0.0 && search.generations == 0) {
    throw Error("--seconds, --generations: expected at least one limit above 0");
  }
  search.seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  search.threads = static_cast<int>(options.Integer("threads", 1, 4096));
}

void CheckRunnable(const ScenarioSource& source, std::uint64_t seed, const std::vector<std::string>& specs) {
  const Scenario sample = source.Make(seed, Split::kTrain, 0, 0, /*jobs=*/1);
  for (const std::string& spec : specs) {
    const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
    CheckRunnable(sample, *scheduler, spec);
  }
}

Tuning MakeTuning(Options& options) {
  Tuning tuning;
  const std::string text = options.Text("scheduler");
  InOption(options, "scheduler", [&] { return MakeScheduler(text, AllSchedulers()); });
  tuning.scheduler = ParseSpec(text);
  tuning.parameters = SplitOutsideParentheses(options.Text("parameters"), ',');
  if (tuning.parameters.empty())
    throw Error(Join(options.Where("parameters"), ": expected names, found none"));
  const double step = Step(options, 0.3);
  for (const std::string& name : tuning.parameters) {
    if (std::count(tuning.parameters.begin(), tuning.parameters.end(), name) > 1) {
      throw Error(Join(options.Where("parameters"), ": expected each name once, found '", name, "' again"));
    }
    tuning.start.push_back(Start(options, tuning.scheduler, name));
    tuning.scales.push_back(step * std::max(1.0, std::abs(tuning.start.back())));
  }
  ReadSearch(options, tuning);
  CheckRunnable(*tuning.source, tuning.seed, {text, tuning.reference});
  return tuning;
}

// Prints and gives back how reference, `second` (start) and answer do on workloads that no generation draws.
Json Report(const Tuning& tuning, int generations, const std::vector<std::string>& rows, int validate,
            const char* second = "start") {
  const auto values = Validate(tuning, rows, validate);
  const bool hours = tuning.reward == "jct";
  std::cout << generations << " generations on " << tuning.source->Describe() << "\n\n";
  Table table({"scheduler", hours ? "mean JCT h" : Join(tuning.reward, " a job"), "ratio [95%]"});
  Json list = Json::array();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Interval mean = BootstrapMean(values[k], 0), ratio = BootstrapRatio(values[k], values[0], 0);
    const char* role = k == 0 ? "reference" : k == 1 ? second : "found";
    table.AddRow({role, hours ? Hours(mean.mean) : Readable(mean.mean),
                  Join(Fixed(ratio.mean, 3), " [", Fixed(ratio.low, 3), ", ", Fixed(ratio.high, 3), "]")});
    list.push_back(
        {{"role", role},
         {"scheduler", rows[k]},
         {hours ? "mean_jct_s" : "value", mean.mean},
         {hours ? "jct_ratio" : "ratio", {{"mean", ratio.mean}, {"low", ratio.low}, {"high", ratio.high}}}});
  }
  std::cout << table.ToString();
  return list;
}

// Progress by generations or by the clock, whichever is nearer its limit.
class Shown {
 public:
  Shown(int generations, double seconds) : generations_(generations), seconds_(seconds) {}
  double elapsed_s() const { return std::chrono::duration<double>(Wall::now() - begin_).count(); }
  void operator()(int generation, const std::string& what) {
    const double elapsed = elapsed_s();
    double share = generations_ > 0 ? static_cast<double>(generation) / generations_ : 0.0;
    if (seconds_ > 0.0) share = std::max(share, elapsed / seconds_);
    progress_.Update(std::min(1.0, share), Join("generation ", generation, ", ", what));
  }

 private:
  using Wall = std::chrono::steady_clock;
  int generations_;
  double seconds_;
  Wall::time_point begin_ = Wall::now();
  Progress progress_{"tune"};
};

// Writes the JSON; the exit code.
int Finish(const Options& options, const ScenarioSource& source, int generations, const std::string& found,
           bool interrupted, const Json& list) {
  Json json;
  json["workload"] = source.Describe();
  json["generations"] = generations;
  json["found"] = found;
  json["interrupted"] = interrupted;
  json["schedulers"] = list;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  return interrupted ? kExitInterrupted : 0;
}

int TunePolicy(Options& options, const std::string& out) {
  for (const char* name : {"scheduler", "parameters"}) {
    if (options.Given(name)) {
      throw Error(Join("expected ", options.Where("policy"), " or ", options.Where(name), ", found both"));
    }
  }
  const std::string file = options.Text("policy");
  options.Required("out");
  PolicySearch search;
  ReadSearch(options, search);
  search.layers = SplitOutsideParentheses(options.Text("layers"), ',');
  search.step = Step(options, 0.1);
  search.learning_rate = options.Number("learning-rate", 1e-9, 1e9);
  if (search.population == 0) search.population = 32;
  if (search.population % 2 != 0) {
    throw Error(Join(options.Where("population"),
                     ": expected an even number, pairs of mirrored policies, found ", search.population));
  }
  if (options.Bool("dry-run")) {
    std::cout << "tune on " << search.source->Describe() << ", " << search.workloads << " workloads of "
              << search.jobs << " jobs, population " << search.population << "\n";
    return 0;
  }
  search.start = LoadBundle(file);
  const std::string rule = options.Text("start");
  if (!rule.empty()) search.start = WithLinearStart(search.start, rule);
  const std::string start = Join("policy(file=", file, ")"), found = Join("policy(file=", out, ")");
  CheckRunnable(*search.source, search.seed, {start, search.reference});
  search.interrupted = &WatchInterrupts();
  SearchedPolicy searched;
  std::string curve = "generation,wall_s,ratio\n";
  {
    Shown shown(search.generations, search.seconds);
    search.on_generation = [&](int generation, double ratio) {
      curve += Join(generation, ",", Fixed(shown.elapsed_s(), 1), ",", Fixed(ratio, 4), "\n");
      shown(generation, Join(search.reward == "jct" ? "mean JCT" : search.reward, " ", Fixed(ratio, 3),
                             " of ", search.reference));
    };
    searched = SearchPolicy(search);
  }
  const bool interrupted = *search.interrupted;
  SaveBundle(searched.bundle, out);
  if (const std::string file_of_curve = options.Text("curve"); !file_of_curve.empty())
    WriteTextFile(file_of_curve, curve);

  Tuning measured;  // for its workloads
  measured.source = search.source;
  measured.jobs = search.jobs;
  measured.window = search.window;
  measured.pieces = search.pieces;
  measured.reward = search.reward;
  measured.seed = search.seed;
  measured.threads = search.threads;
  const Json list = Report(measured, searched.generations, {search.reference, start, found},
                           static_cast<int>(options.Integer("validate", 1, 100000)),
                           rule.empty() ? "start" : "file");  // the search started from its rule
  std::cout << "\nfound: " << found << "\n";
  return Finish(options, *search.source, searched.generations, found, interrupted, list);
}

}  // namespace

int RunTune(const std::vector<std::string>& arguments) {
  Options options(
      "tune", "[--scheduler SPEC] [--parameters NAME,...] [--workload SPEC --cluster CLUSTER] [--seconds S]",
      "searches a scheduler's numeric parameters on training workloads");
  AddTuneOptions(options);
  if (!options.Parse(arguments)) return 0;
  const std::string out = options.Text("out");
  CheckWritable(out, options.Where("out"));
  CheckJsonWritable(options);
  CheckWritable(options.Text("curve"), options.Where("curve"));
  if (options.Given("policy")) return TunePolicy(options, out);
  if (options.Given("curve"))
    throw Error(Join(options.Where("curve"), ": expected --policy with it, found none"));
  Tuning tuning = MakeTuning(options);
  const int validate = static_cast<int>(options.Integer("validate", 1, 100000));
  tuning.interrupted = &WatchInterrupts();

  Tuned tuned;
  {
    Shown shown(tuning.generations, tuning.seconds);
    tuning.on_generation = [&](int generation, double best, double step) {
      shown(generation, Join("best ", Fixed(best, 3), " of ", tuning.reference, ", step ", Fixed(step, 3)));
    };
    tuned = Tune(tuning);
  }
  const bool interrupted = *tuning.interrupted;
  tuning.interrupted = nullptr;  // what was found is still measured

  const std::string start = options.Text("scheduler"), found = tuned.scheduler.ToString();
  const std::vector<std::string> rows{tuning.reference, start, found};
  const Json list = Report(tuning, tuned.generations, rows, validate);
  std::cout << "\nfound: " << found << "\n";
  if (!out.empty()) {
    WriteTextFile(out, Join("# found by berth tune in ", tuned.generations, " generations on ",
                            tuning.source->Describe(), "\nschedulers=", tuning.reference, ";", found, "\n"));
  }
  return Finish(options, *tuning.source, tuned.generations, found, interrupted, list);
}

}  // namespace berth
