// berth tune: numbers searched without gradients on training workloads: a scheduler's parameters, a policy's
// weights, or a new policy for batch logs. The engine is agents/search; what is searched and measured is
// tools/tune.
#include <cmath>
#include <iostream>

#include "data/hdf5_file.hpp"
#include "env/base/counted.hpp"
#include "env/sim/statistics.hpp"
#include "tools/interrupt.hpp"
#include "tools/json.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"
#include "tools/tune/tuning.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// How a search stands beside the reference: search::Values of one point.
std::string Beside(const Trials& trials, double value) {
  const std::string& reference = trials.settings().reference;
  if (trials.MayBeNone()) return Join(Fixed(value, 3), " more than ", reference);
  return Join(Fixed(std::exp(value), 3), " of ", reference);
}

search::Found Search(const Tuning& tuning, const Options& options, const std::string& definition,
                     const std::vector<double>& start) {
  const Trials& trials = *tuning.trials;
  search::Settings settings;
  settings.budget = tuning.budget;
  settings.choose = trials.settings().choices > 0;
  settings.file = options.Text("state");
  settings.definition = definition;
  settings.resume = options.Bool("resume");
  Progress progress("tune");
  const std::vector<double> began = tuning.optimiser->mean();
  settings.on_generation = [&](const search::Told& now) {
    if (now.generation == 1 && std::isnan(now.value) && tuning.optimiser->mean() == began)
      throw Error(
          "no candidate of the first generation could run and finish the window's jobs in each workload, so "
          "that there is nothing to search by; another start, a smaller --step or another workload may do");
    const search::Budget& budget = tuning.budget;
    double share = budget.generations > 0 ? static_cast<double>(now.generation) / budget.generations : 0.0;
    if (budget.seconds > 0.0) share = std::max(share, now.wall_s / budget.seconds);
    progress.Update(std::min(1.0, share), Join("generation ", now.generation, ", ", tuning.cost, " ",
                                               Beside(trials, now.value), ", step ", Fixed(now.step, 3)));
  };
  return Run(*tuning.optimiser, start, ObjectiveOf(trials, *tuning.candidates), settings);
}

void WriteCurve(const std::string& path, const std::vector<search::Told>& told, bool differences) {
  if (path.empty()) return;
  std::string curve = Join("generation,wall_s,", differences ? "difference" : "ratio", "\n");
  for (const search::Told& now : told) {
    const double value = differences ? now.value : std::exp(now.value);
    curve +=
        Join(now.generation, ",", Fixed(now.wall_s, 1), ",", std::isnan(value) ? "" : Fixed(value, 4), "\n");
  }
  WriteTextFile(path, curve);
}

// Prints and gives back how reference, start and answer do on the workloads of Trials::Validate.
Json Report(const Tuning& tuning, const std::vector<double>& start, const std::vector<double>& found,
            const std::string& found_name) {
  Json list = Json::array();
  if (tuning.validate == 0) return list;
  const Tunable& candidates = *tuning.candidates;
  const std::string& reference = tuning.trials->settings().reference;
  const auto runs = tuning.trials->Validate(
      {[&] { return MakeScheduler(reference, AllSchedulers()); }, [&] { return candidates.Make(start); },
       [&] { return candidates.Make(found); }},
      tuning.validate);
  const std::string start_name = candidates.SpecOf(start);
  const struct {
    const char* role;
    std::string name;
  } rows[] = {{"reference", reference}, {"start", start_name}, {"found", found_name}};
  const bool differences = tuning.trials->MayBeNone();
  const char* const beside = differences ? "difference" : tuning.hours ? "jct_ratio" : "ratio";
  Table table({"scheduler", Join(tuning.cost, " [95%]"), differences ? "difference [95%]" : "ratio [95%]",
               "p99 wait h", "max wait h"});
  std::vector<std::vector<double>> costs;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    costs.emplace_back();
    double p99_wait = 0.0, max_wait = 0.0;
    for (const Metrics& run : runs[k]) {
      costs[k].push_back(tuning.trials->Cost(run));
      p99_wait += run.p99_wait_s / static_cast<double>(runs[k].size());
      max_wait = std::max(max_wait, run.max_wait_s);
    }
    std::vector<double> more;
    for (std::size_t i = 0; i < costs[k].size(); ++i) more.push_back(costs[k][i] - costs[0][i]);
    const Interval mean = BootstrapMean(costs[k], 0),
                   ratio = differences ? BootstrapMean(more, 0) : BootstrapRatio(costs[k], costs[0], 0);
    const bool one = more.size() == 1;  // of which there is no interval
    const auto shown = [&](const Interval& of, const auto& text) {
      return one ? text(of.mean) : Join(text(of.mean), " [", text(of.low), ", ", text(of.high), "]");
    };
    table.AddRow({rows[k].role,
                  shown(mean, [&](double value) { return tuning.hours ? Hours(value) : Readable(value); }),
                  shown(ratio, [](double value) { return Fixed(value, 3); }), Hours(p99_wait),
                  Hours(max_wait)});
    const auto bound = [&](double value) { return one ? Json() : Json(value); };
    list.push_back({{"role", rows[k].role},
                    {"scheduler", rows[k].name},
                    {tuning.hours ? "mean_jct_s" : "value", mean.mean},
                    {beside, {{"mean", ratio.mean}, {"low", bound(ratio.low)}, {"high", bound(ratio.high)}}},
                    {"p99_wait_s", p99_wait},
                    {"max_wait_s", max_wait}});
  }
  std::cout << "\n" << table.ToString();
  return list;
}

}  // namespace

int RunTune(const std::vector<std::string>& arguments) {
  Options options("tune",
                  "[--scheduler SPEC --parameters NAME,... | --policy FILE | --hinges N --scenario FILE] "
                  "[--seconds S | --generations N] [--state FILE --resume] [--out FILE]",
                  "searches a scheduler's numbers or a policy's weights on training workloads");
  AddTuneOptions(options);
  if (!options.Parse(arguments)) return 0;
  if (options.Bool("resume")) ResumeOptions(options);
  const std::string out = options.Text("out");
  CheckWritable(options.Text("curve"), options.Where("curve"));
  CheckWritable(options.Text("state"), options.Where("state"), search::kKind);
  CheckWritable(out, options.Where("out"),
                h5::IfKindOf(out).value_or(""));  // what it may replace is known later
  CheckJsonWritable(options);
  const bool dry = options.Bool("dry-run");
  const std::string definition = SearchDefinition(options, /*all=*/true);
  Tuning tuning = ResolveTuning(options, dry);
  const TrialSettings& on = tuning.trials->settings();
  if (dry) {
    std::cout << "tune by " << tuning.optimiser_name << " on " << on.source->Describe() << ", "
              << on.workloads << " workloads of " << on.jobs << " jobs a generation\n";
    return 0;
  }
  const std::vector<double> start = tuning.candidates->Space().start;
  CheckWritable(out, options.Where("out"), tuning.candidates->SpecOf(start).empty() ? "policy" : "");
  const search::Found found = Search(tuning, options, WithResolved(definition, options), start);
  const bool interrupted = tuning.budget.Interrupted();

  const std::string spec = tuning.candidates->SpecOf(found.point);
  const std::string name = spec.empty() ? Join("policy(file=", out, ")") : spec;
  try {
    tuning.candidates->Make(found.point);
  } catch (const Error& error) {
    throw Error(Join("the search ended at ", name, ", which is refused (", error.what(),
                     "), and nothing is written; another start or a smaller --step may do"));
  }
  if (!out.empty()) {
    const Provenance how{SearchText(options, tuning, found.generations),
                         options.ResolvedIni(),
                         on.source->Describe(),
                         SourceCommit(),
                         found.decisions,
                         on.seed};
    tuning.candidates->Save(found.point, how, out);
  }
  WriteCurve(options.Text("curve"), found.told, tuning.trials->MayBeNone());
  std::cout << Counted(found.generations, "generation") << ", " << found.decisions << " decisions on "
            << on.source->Describe() << "; answer of generation " << found.chosen << "\n";
  const std::size_t choices =
      found.choices.empty() ? 0 : tuning.trials->Draw(search::kChoice, on.choices).size();
  for (const auto& [generation, value] : found.choices) {
    std::cout << "to choose from: generation " << generation << ", " << Beside(*tuning.trials, value)
              << " on " << Counted(choices, "workload") << "\n";
  }
  Json json;
  json["workload"] = on.source->Describe();
  json["generations"] = found.generations;
  json["decisions"] = found.decisions;
  json["chosen"] = found.chosen;
  json["found"] = name;
  json["interrupted"] = interrupted;
  json["schedulers"] = Report(tuning, start, found.point, name);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  std::cout << "\nfound: " << name << "\n";
  if (interrupted && !options.Text("state").empty())
    std::cout << "go on with: " << CommandName() << " tune --resume --state " << options.Text("state")
              << "\n";
  if (!out.empty())
    std::cout << out << ": "
              << (spec.empty() ? "the policy found"
                               : "what was found and the reference, for evaluate --config")
              << "\n";
  const std::string compared = spec.empty() || out.empty()
                                   ? " --schedulers " + ForShell(Join(on.reference, ";", name))
                                   : " --config " + ForShell(out);
  if (!interrupted && (!spec.empty() || !out.empty()))
    std::cout << NextStep(on.source->fixed()
                              ? "what it is worth (--window for jobs that the search did not see)"
                              : "what it is worth on workloads that no search draws",
                          Join("evaluate", SameJobs(options), compared));
  return interrupted ? kExitInterrupted : 0;
}

}  // namespace berth
