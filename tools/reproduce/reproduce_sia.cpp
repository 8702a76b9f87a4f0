// berth reproduce sia: the integer programs and the simulator of the Sia artifact (Jayaram Subramanya et al.,
// SOSP 2023), recorded and measured side by side.
#include <cmath>
#include <iostream>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/sia/playback.hpp"
#include "tools/reproduce/sia/recorded.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr const char* kTrace = "helios-saturn";
constexpr double kProgramTolerance = 1e-4;  // of an optimum

struct Compared {
  const char* name;
  const char* scheduler;  // "" = what was recorded, played back
  const char* batch;
  const char* recorded;
  double round_s;
  double tolerance;  // of the mean JCT; 0: every job's times are the recorded ones
};
constexpr Compared kRuns[] = {
    {"Sia, its recorded choices", "", "best", "sia", 60.0, 0.0},
    {"Sia", "sia", "best", "sia", 60.0, 0.03},
    {"Gavel, tuned jobs", "gavel_tuned", "submitted", "gavel+tunedjobs", 360.0, 0.0},
};

double Mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

int ComparePrograms(const sia::Folder& folder, Json& json) {
  Table table({"integer program", "jobs", "GPUs", "optimum", "measured", "proven", "CPU ms"});
  int beyond = 0;
  for (const sia::RecordedProgram& of : folder.Programs()) {
    const double begin = ThreadCpuSeconds();
    const sia::Answer answer = sia::Solve(of.program);
    const double cpu = ThreadCpuSeconds() - begin;
    const int gpus = std::accumulate(of.program.capacity.begin(), of.program.capacity.end(), 0);
    beyond +=
        std::abs(answer.objective - of.objective) > kProgramTolerance * std::max(1.0, std::abs(of.objective));
    table.AddRow({of.id, Join(of.program.jobs), Join(gpus), Fixed(of.objective, 2),
                  Fixed(answer.objective, 2), answer.proven ? "yes" : "NO", Fixed(1e3 * cpu, 2)});
    json.push_back({{"id", of.id},
                    {"jobs", of.program.jobs},
                    {"gpus", gpus},
                    {"optimum", of.objective},
                    {"measured", answer.objective},
                    {"proven", answer.proven},
                    {"cpu_s", cpu}});
  }
  std::cout << table.ToString() << "\n";
  return beyond;
}

int CompareRuns(const sia::Folder& folder, Json& json) {
  Table table({"on the recorded workload", "jobs", "times that differ", "restarts that differ", "mean JCT, s",
               "recorded", "ratio", "held", "CPU s"});
  int beyond = 0;
  for (const Compared& of : kRuns) {
    const Scenario scenario = folder.Workload(kTrace, 1, of.round_s, of.batch);
    const std::unique_ptr<Scheduler> scheduler =
        of.scheduler[0] == 0 ? std::make_unique<sia::Playback>(folder.Choices(), folder.Names())
                             : MakeScheduler(of.scheduler, AllSchedulers());
    const double begin = ThreadCpuSeconds();
    const Simulator end = FinishedRun(scenario, *scheduler, {0, scenario.num_jobs()});
    const double cpu = ThreadCpuSeconds() - begin;
    const auto& goodput = *end.state().features.Find<GoodputState>();
    const sia::RecordedRun recorded = folder.Recorded(of.recorded);
    std::vector<double> seconds;
    int times = 0, restarts = 0;
    for (int job = 0; job < scenario.num_jobs(); ++job) {
      seconds.push_back(end.state().completion[U(job)] - scenario.data().jobs.arrival[U(job)]);
      times += std::abs(seconds.back() - recorded.seconds[U(job)]) > 1e-6;
      restarts += goodput.jobs[U(job)].starts - 1 != recorded.restarts[U(job)];
    }
    const double ratio = Mean(seconds) / Mean(recorded.seconds);
    const bool held = of.tolerance > 0.0 ? std::abs(ratio - 1.0) <= of.tolerance : times + restarts == 0;
    beyond += !held;
    table.AddRow({of.name, Join(seconds.size()), Join(times), Join(restarts), Fixed(Mean(seconds), 1),
                  Fixed(Mean(recorded.seconds), 1), Fixed(ratio, 4), held ? "yes" : "NO", Fixed(cpu, 2)});
    json.push_back({{"policy", of.name},
                    {"times_that_differ", times},
                    {"restarts_that_differ", restarts},
                    {"mean_jct_s", Mean(seconds)},
                    {"recorded_mean_jct_s", Mean(recorded.seconds)},
                    {"held", held},
                    {"cpu_s", cpu}});
  }
  std::cout << table.ToString();
  return beyond;
}

}  // namespace

int ReproduceSia(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce sia", "--folder DIR --curves DIR [options]",
      "the integer programs and the simulator of the Sia artifact (SOSP 2023), recorded and measured; "
      "exit code 1 where one is beyond its tolerance");
  options.Value("folder", "",
                "profiles, workloads and records, not shipped [one beside the sources, if there]");
  options.Value("curves", "",
                "profiles of the Pollux artifact, not shipped [those beside the sources, if there]");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const auto or_beside = [&](const char* option, const char* beside) {
    return options.Text(option).empty() ? Join(BERTH_SOURCE_DIR, "/../shared/anchors/", beside)
                                        : options.Text(option);
  };
  const sia::Folder folder(or_beside("folder", "sia"), or_beside("curves", "pollux/profiles"));
  Json programs = Json::array(), runs = Json::array();
  const int beyond = ComparePrograms(folder, programs) + CompareRuns(folder, runs);
  WriteJson(options, {{"config", ConfigJson(options)}, {"programs", programs}, {"runs", runs}});
  return beyond > 0 ? 1 : 0;
}

}  // namespace berth
