#include "tools/evaluation_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <thread>

#include "env/base/spec.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

constexpr const char* kDefaultWindow = "300:700";  // of the default workload: steady state

// All workloads are in memory at once, 50 to 100 bytes a job.
constexpr std::int64_t kMostWorkloads = 10'000, kMostJobs = 100'000'000;

// As many workloads as seeds, each as long as the first.
void CheckJobs(const Options& options, const EvaluationPlan& plan) {
  const auto workloads = static_cast<std::int64_t>(plan.seeds.size());
  const std::int64_t jobs = plan.workloads[0].num_jobs();
  if (workloads * jobs <= kMostJobs) return;
  throw Error(Join(options.Where("seeds"), ": expected at most ", kMostJobs, " jobs in all, found ",
                   workloads, " workloads of ", jobs));
}

// `all` reads what schedulers read untold, of those too that are then left out.
void AddFilesOfAll(Options& options, const EvaluationPlan& plan) {
  if (std::find(plan.schedulers.begin(), plan.schedulers.end(), kAllSchedulers) == plan.schedulers.end())
    return;
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      for (const SpecFile& file : SpecFiles(info.name)) {
        if (std::filesystem::exists(file.path)) options.AddRead("schedulers", file.path);
      }
    }
  }
}

// Of the default ones those that need to know no more than is known.
std::string DefaultSchedulers(const Options& options, const ScenarioSource& source) {
  const Scenario sample = source.Make(0, Split::kEvaluate, /*env=*/0, /*episode=*/0, /*jobs=*/1);
  std::string text;
  for (const std::string& spec : SplitOutsideParentheses(options.Text("schedulers"), ';')) {
    if (MakeScheduler(spec, AllSchedulers())->knowledge() <= sample.data().knowledge)
      text += (text.empty() ? "" : ";") + spec;
  }
  return text;
}

}  // namespace

void AddEvaluationPlan(Options& options) {
  options.Group("Schedulers");
  options.Value(
      "schedulers", "fcfs;easy;sjf;srpt;las;gavel(objective=max_min)",
      "specs separated by ';' or as several words; ratios are to the first; all = every other one that can "
      "run, those that know less first");
  AddScenarioOptions(options);
  options.Group("What is measured");
  options.Value("seeds", "1000:1010", "workloads to draw, of a stream that training cannot draw");
  options.Value("window", "",
                Join("measure only jobs A:B; later jobs compete meanwhile [the default workload's ",
                     kDefaultWindow, "; all]"));
  AddMaxTime(options);
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                "runs at once; the results do not depend on it, decision times may");
}

std::vector<std::string> JoinLists(const std::vector<std::string>& arguments,
                                   const std::vector<std::string>& names) {
  const auto is_flag = [](const std::string& word) { return word.starts_with("--"); };
  std::vector<std::string> joined;
  for (std::size_t i = 0; i < arguments.size();) {
    const std::string flag = arguments[i++];
    const bool list = std::find(names.begin(), names.end(),
                                flag.substr(std::min<std::size_t>(2, flag.size()))) != names.end() &&
                      is_flag(flag) && i < arguments.size() && !is_flag(arguments[i]);
    if (!list) {
      joined.push_back(flag);
      continue;
    }
    const auto before = std::find(joined.begin(), joined.end(), flag);
    const bool again = before != joined.end();
    if (!again) joined.insert(joined.end(), {flag, arguments[i++]});
    std::string& text = again ? *std::next(before) : joined.back();
    for (; i < arguments.size() && !is_flag(arguments[i]); ++i) text += ";" + arguments[i];
  }
  return joined;
}

void FixDefaultJobs(Options& options) {
  if (options.Given("workload") || options.Given("scenario")) return;
  options.Give(options.Where("workload"), kDefaultWorkload);
  if (!options.Given("window")) options.Give(options.Where("window"), kDefaultWindow);
}

int Threads(const Options& options) {
  return static_cast<int>(options.Integer("threads", 1, 4096));
}

EvaluationPlan MakeEvaluationPlan(Options& options, const WorkloadChoice& workload,
                                  const MakeSchedulerOf& make) {
  EvaluationPlan plan;
  if (make) plan.make = make;
  plan.schedulers = SplitOutsideParentheses(
      options.Given("schedulers") ? options.Text("schedulers") : DefaultSchedulers(options, *workload.source),
      ';');
  if (plan.schedulers.empty()) throw Error(Join(options.Where("schedulers"), ": expected specs, found none"));
  for (const std::string& spec : plan.schedulers) {
    if (spec == kAllSchedulers) continue;
    InOption(options, "schedulers", [&] { return plan.make(spec); });
  }
  if (workload.source->fixed()) {
    if (options.Given("seeds")) {
      throw Error(Join(options.Where("seeds"), ": expected nothing, because ", workload.source->Describe(),
                       " is one fixed workload, found ", options.Text("seeds")));
    }
    options.Assign("seeds", "");
    plan.seeds = {0};
  } else {
    const auto [begin, end] = options.Range("seeds");
    if (end - begin > kMostWorkloads) {
      throw Error(Join(options.Where("seeds"), ": expected at most ", kMostWorkloads, " workloads, found ",
                       end - begin));
    }
    for (std::int64_t seed = begin; seed < end; ++seed) plan.seeds.push_back(seed);
  }
  for (std::int64_t seed : plan.seeds) {
    if (plan.workloads.size() == 1) CheckJobs(options, plan);
    plan.workloads.push_back(EvaluationScenario(*workload.source, static_cast<std::uint64_t>(seed)));
  }
  AddFilesOfAll(options, plan);
  ExpandAll(plan);
  std::string resolved;  // not `all`, which another build expands to others
  for (const std::string& spec : plan.schedulers) resolved += (resolved.empty() ? "" : ";") + spec;
  options.Assign("schedulers", resolved);
  if (plan.schedulers.empty()) throw Error(Join(options.Where("schedulers"), ": none can run here"));
  int fewest = plan.workloads[0].num_jobs();
  for (const Scenario& scenario : plan.workloads) fewest = std::min(fewest, scenario.num_jobs());
  if (workload.is_default && !options.Given("window")) options.Assign("window", kDefaultWindow);
  plan.window = ResolveWindow(options, fewest);
  plan.max_time_s = MaxTime(options);
  plan.threads = Threads(options);
  return plan;
}

Json EvaluationJson(std::span<const std::int64_t> seeds, const std::vector<ResultRow>& rows) {
  const bool one = seeds.size() < 2;
  Json list = Json::array();
  for (const ResultRow& row : rows) {
    Json json = RowJson(row);
    json["mean_jct_ci95_s"] = nullptr;
    json["jct_ratio"] = nullptr;
    if (!one) {
      const Interval mean = MeanJctInterval(row), ratio = JctRatio(row, rows[0]);
      json["mean_jct_ci95_s"] = {mean.low, mean.high};
      json["jct_ratio"] = {{"mean", ratio.mean}, {"low", ratio.low}, {"high", ratio.high}};
    }
    const std::vector<double> means = row.MeanJcts();
    Json workloads = Json::array();
    for (std::size_t i = 0; i < row.runs.size(); ++i) {
      workloads.push_back({{"seed", seeds[i]},
                           {"jobs", row.runs[i].metrics.jobs},
                           {"mean_jct_s", means[i]},
                           {"signature", HexSignature(row.runs[i].signature)}});
    }
    json["workloads"] = workloads;
    list.push_back(json);
  }
  return list;
}

void AddSimulationPlan(Options& options) {
  options.Group("Scheduler");
  options.Value("scheduler", "fcfs", "scheduler spec: see berth list schedulers");
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "1000", "of the generated workload, where no --scenario is given");
  options.Value("window", "", "measure only jobs A:B; later jobs compete meanwhile [all]");
  AddMaxTime(options);
}

SimulationPlan MakeSimulationPlan(Options& options, const MakeSchedulerOf& make,
                                  std::shared_ptr<const ScenarioSource> source) {
  SimulationPlan plan;
  plan.name = options.Text("scheduler");
  plan.scheduler = InOption(options, "scheduler", [&] {
    return make ? make(plan.name) : MakeScheduler(plan.name, AllSchedulers());
  });
  plan.seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  plan.source = source ? std::move(source) : ResolveWorkload(options).source;
  if (plan.source->fixed()) {
    if (options.Given("seed")) {
      throw Error(Join(options.Where("seed"), ": expected nothing, because ", plan.source->Describe(),
                       " is one fixed workload, found ", plan.seed));
    }
    options.Assign("seed", "");
  }
  plan.scenario = EvaluationScenario(*plan.source, plan.seed);
  plan.run.window = ResolveWindow(options, plan.scenario.num_jobs());
  plan.run.max_time_s = MaxTime(options);
  return plan;
}

}  // namespace berth
