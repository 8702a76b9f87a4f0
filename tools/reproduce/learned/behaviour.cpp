// What the policy learned to do: curves of searches, who gets which GPUs, and a strip of the Gantt chart,
// beside the best baseline on the same workload.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/report/run_record.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/reproduce/learned/shares.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kPolicy = "hetero_oracle";
constexpr const char* kBaselines[] = {"srpt", "tuned", "matching", "nash_welfare"};
constexpr std::size_t kBehaviourWorkloads = 10;  // that decide which of them is best
constexpr const char* kCurves[] = {"hetero_oracle", "hetero_blind"};
constexpr double kStripHours = 48.0;
constexpr int kStripGpus = 12;  // of each type

LoadGrid BehaviourGrid(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads = {kLoads[1]};
  grid.seeds = settings.workloads;
  grid.seeds.resize(std::min(grid.seeds.size(), kBehaviourWorkloads));
  grid.drawn = settings.drawn;
  grid.keep_jct_at = kLoads[1].rate;  // as the experiment cluster keeps them
  return grid;
}

// The baseline with the lowest mean; "" where none ran.
std::string BestBaseline(const LoadGrid& grid, const ReproductionRuns& runs) {
  std::string best;
  double least = 0.0;
  for (const char* spec : kBaselines) {
    const LoadResult result = ResultAt(grid, runs, 0, spec);
    if (!result.why.empty() || (!best.empty() && result.jct_s.mean >= least)) continue;
    best = spec, least = result.jct_s.mean;
  }
  return best;
}

RunRecord Record(const PlannedWorkload& workload, const Scenario& scenario, const std::string& spec) {
  RunRecorder recorder(scenario);
  RunOptions options;
  options.window = workload.window;
  options.keep_events = true;
  options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec, AllSchedulers());
  return recorder.Finish(Run(scenario, *scheduler, spec, options));
}

void AddStrip(const std::string& name, const RunRecord& record, const Scenario& scenario,
              const JobClasses& classes, int first_job, std::vector<Cells>& csv) {
  const double begin = scenario.data().jobs.arrival[U(first_job)], end = begin + 3600.0 * kStripHours;
  for (const RunRecord::Span& span : record.spans) {
    const double from = std::max(span.begin_s, begin), to = std::min(std::min(span.end_s, record.end_s), end);
    if (from >= to) continue;
    for (const std::int32_t device : record.Devices(span)) {
      const int type = scenario.TypeOfDevice(device);
      const int within = device - scenario.first_device(type);
      if (within >= kStripGpus) continue;
      csv.push_back({name, scenario.data().cluster.types[U(type)].name, std::to_string(within),
                     Exact((from - begin) / 3600.0), Exact((to - begin) / 3600.0), std::to_string(span.job),
                     Exact(classes.advantage_rank[U(span.job)]), Exact(classes.size_rank[U(span.job)])});
    }
  }
}

void WriteShares(const std::string& name, const std::array<GpuHours, 2>& hours, const Scenario& scenario,
                 std::vector<Cells>& rows, std::vector<Cells>& csv) {
  constexpr const char* kBy[] = {"speed-up", "size"};
  constexpr const char* kNames[2][kJobClasses] = {{"little", "middle", "much"}, {"short", "middle", "long"}};
  for (std::size_t by = 0; by < hours.size(); ++by) {
    for (std::size_t c = 0; c < kJobClasses; ++c) {
      Cells row = {name, kBy[by], kNames[by][c]};
      for (int type = 0; type < scenario.num_types(); ++type) {
        double all = 0.0;
        for (const double h : hours[by][U(type)]) all += h;
        const double share = all > 0.0 ? hours[by][U(type)][c] / all : std::nan("");
        row.push_back(std::isnan(share) ? "-" : Join(Fixed(100.0 * share, 1), "%"));
        csv.push_back(
            {name, kBy[by], kNames[by][c], scenario.data().cluster.types[U(type)].name, Exact(share)});
      }
      rows.push_back(std::move(row));
    }
  }
}

// Trainings by gradient take seconds, and their episodes say little of the greedy policy: theirs are not
// drawn.
void ReportCurves(const LearnedSettings& settings, ReproductionPage& page) {
  std::vector<Cells> searched;
  std::string missing;
  for (const char* name : kCurves) {
    bool found = false;
    for (const TrainedPolicy& policy : settings.policies.Find(name)) {
      std::ifstream in(std::filesystem::path(policy.file).replace_extension(".csv"));
      std::string line;
      std::getline(in, line);
      for (; std::getline(in, line); found = true) {
        std::istringstream cells(line);
        std::string at, wall, value;
        std::getline(cells, at, ','), std::getline(cells, wall, ','), std::getline(cells, value, ',');
        searched.push_back({name, std::to_string(policy.seed), at, wall, value});
      }
    }
    if (!found) missing += Join(missing.empty() ? "" : ", ", name);
  }
  page.Heading("How searches went");
  page.Paragraph(
      Join("The mean JCT of the policy at each generation's centre over that of the reference (`srpt`, blind "
           "`las`) on the generation's training workloads. Bands over training seeds.",
           missing.empty() ? "" : Join(" Not available: ", missing, ".")));
  page.Csv("search_curves.csv", {"policy", "seed", "generation", "wall_s", "ratio"}, searched);
  if (!searched.empty()) page.Picture("search_curves.png", "search curves, bands over training seeds");
}

}  // namespace

void PlanBehaviour(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = BehaviourGrid(settings);
  for (const char* spec : kBaselines) grid.Plan(runs, spec);
}

void ReportBehaviour(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  ReportCurves(settings, page);
  page.Heading("Who gets which GPUs");
  const LoadGrid grid = BehaviourGrid(settings);
  const std::vector<TrainedPolicy> policies = settings.policies.Find(kPolicy);
  const std::string best = BestBaseline(grid, runs);
  if (policies.empty() || best.empty()) {
    page.Paragraph(Join("Not available: ", policies.empty() ? kPolicy : "the baselines", "."));
    return;
  }
  const PlannedWorkload workload = grid.Workload(grid.loads[0], grid.seeds[0]);
  const Scenario scenario = workload.make();
  const JobClasses classes = ClassifyJobs(scenario);
  std::vector<Cells> rows, shares, strip;
  for (const auto& [name, spec] :
       {std::pair<std::string, std::string>{"learned", policies[0].Spec()}, {best, best}}) {
    const RunRecord record = Record(workload, scenario, spec);
    WriteShares(
        name,
        {HoursByClass(record, scenario, classes.advantage), HoursByClass(record, scenario, classes.size)},
        scenario, rows, shares);
    AddStrip(name, record, scenario, classes, workload.window.begin, strip);
  }
  std::string baselines;
  for (const char* spec : kBaselines) baselines += Join(baselines.empty() ? " `" : ", `", spec, "`");
  page.Paragraph(
      Join("One workload at ", grid.loads[0].Name(), ", seed ", grid.seeds[0],
           ": share of each type's busy "
           "GPU-hours that goes to the thirds of the jobs by speed-up (rate on their fastest type over "
           "that on their slowest) and by size (run time alone on the fastest type); `",
           best, "` is the best of", baselines, " over ", grid.seeds.size(), " workloads."));
  Cells header = {"scheduler", "jobs by", "third"};
  for (const GpuType& type : scenario.data().cluster.types) header.push_back(type.name);
  page.Rows(header, rows);
  page.Csv("behaviour.csv", {"scheduler", "by", "class", "type", "share"}, shares);
  page.Picture("behaviour.png", "share of each GPU type's hours by the jobs' speed-up and size");
  page.Csv("gantt.csv",
           {"scheduler", "type", "gpu", "begin_h", "end_h", "job", "advantage_rank", "size_rank"}, strip);
  page.Picture("gantt.png",
               "two days of twelve GPUs of each type, learned and the best baseline, by speed-up");
}

}  // namespace berth
