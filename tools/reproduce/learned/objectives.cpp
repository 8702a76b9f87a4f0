// Row 5 of the page's targets: other objectives by changing only the reward, each beside the baseline made
// for it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/least_makespan.hpp"
#include "tools/reproduce/learned/two_ways.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kCluster = "v100=12,p100=12,k80=12";
constexpr double kCost = 0.05;
constexpr double kPricePerHour = 3600.0;  // s of completion time that a unit of cost weighs, as in the recipe

double Makespan(const PlannedOutcome& run) {
  return run.makespan_s / 3600.0;
}
double LeastMakespanHours(const Scenario& scenario) {
  return LeastMakespan(scenario) / 3600.0;
}
// Each job alone where that is least: its seconds of completion time, and the price of the GPU-hours held. No
// schedule is below, since what a job does on several types is a mean of what it does on each.
double LeastSum(const Scenario& scenario, double seconds_weight, double price_weight) {
  const JobTable& jobs = scenario.data().jobs;
  double sum = 0.0;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    double least = std::numeric_limits<double>::infinity();
    for (int type = 0; type < scenario.num_types(); ++type) {
      const double rate = scenario.Rate(job, type);
      if (rate <= 0.0) continue;
      const double price = scenario.data().cluster.types[U(type)].price_per_hour * jobs.gang[U(job)] / 3600.0;
      least = std::min(least, jobs.total_steps[U(job)] / rate * (seconds_weight + price_weight * price));
    }
    sum += least;
  }
  return sum;
}
double LeastCost(const Scenario& scenario) {
  return LeastSum(scenario, 0.0, 1.0);
}
double LeastWeighted(const Scenario& scenario) {
  return LeastSum(scenario, 1.0, kPricePerHour) / 3600.0;
}
double LargestRho(const PlannedOutcome& run) {
  return run.max_ftf;
}
double Cost(const PlannedOutcome& run) {
  return run.cost;
}
// What the reward jct+3600*cost sums, in hours: of all jobs, which the window holds.
double Weighted(const PlannedOutcome& run) {
  return (run.mean_jct_s * run.jobs + kPricePerHour * run.cost) / 3600.0;
}

struct Objective {
  const char* name;
  const char* policy;
  const char* workload;
  Window window;
  double (*measure)(const PlannedOutcome& run);
  const char* unit;
  const char* made_for_it;  // scheduler; "" = none
  std::vector<const char*> others;
  // What no scheduler is below, as `measure`; null = not known.
  double (*least)(const Scenario& scenario) = nullptr;
};

const std::vector<Objective>& Objectives() {
  constexpr const char* kStatic = "synthetic(rate=0,jobs=300,gangs=multi)";
  constexpr const char* kSteady = "synthetic(rate=1.8,jobs=1000)";
  constexpr const char* kLight = "synthetic(rate=1.2,jobs=300)";
  static const std::vector<Objective> objectives = {
      {"makespan",
       "objective_makespan",
       kStatic,
       {0, 300},
       Makespan,
       "makespan, h",
       "gavel(objective=makespan)",
       {"gavel(objective=makespan,compat=false)", "gavel", "srpt", "matching", "fcfs"},
       LeastMakespanHours},
      {"finish-time fairness",
       "objective_ftf",
       kSteady,
       {300, 700},
       LargestRho,
       "largest rho",
       "gavel(objective=finish_time_fairness)",
       {"gavel", "proportional_fairness", "nash_welfare", "las", "srpt", "fcfs"}},
      {"cost",
       "objective_cost",
       kLight,
       {0, 300},
       Cost,
       "price of the busy GPU-hours",
       "gavel(objective=max_throughput_per_cost,idle=given,solver=simplex)",
       {"gavel(objective=max_throughput_per_cost)", "energy_efficient", "gavel", "nash_welfare", "srpt",
        "fcfs"},
       LeastCost},
      {"weighted sum: completion times and 1 h for a unit of cost",
       "objective_weighted",
       kLight,
       {0, 300},
       Weighted,
       "hours",
       "",
       {"gavel(objective=max_throughput_per_cost)", "energy_efficient", "gavel", "nash_welfare", "matching",
        "srpt", "las", "fcfs"},
       LeastWeighted},
  };
  return objectives;
}

PlannedWorkload Workload(const Objective& objective, std::uint64_t seed) {
  return {Join(objective.workload, " on ", kCluster, " seed ", seed), objective.window,
          [spec = std::string(objective.workload), seed] {
            ScenarioSettings settings;
            settings.cluster = ParseCluster(kCluster);
            settings.clock = {ClockKind::kRounds, 360.0};
            return EvaluationScenario(*MakeWorkload(spec, settings), seed);
          },
          /*keep_jct=*/false};
}

std::vector<std::string> Rules(const Objective& objective) {
  std::vector<std::string> specs;
  if (*objective.made_for_it != '\0') specs.emplace_back(objective.made_for_it);
  specs.insert(specs.end(), objective.others.begin(), objective.others.end());
  return specs;
}

Grid ObjectiveValues(const Objective& objective, const LearnedSettings& settings,
                     const ReproductionRuns& runs, const std::string& spec) {
  std::vector<double> values;
  for (const std::uint64_t seed : settings.workloads) {
    const PlannedOutcome* run = runs.FindWhole(Workload(objective, seed), spec);
    values.push_back(run != nullptr ? objective.measure(*run) : std::nan(""));
  }
  return {values};
}

std::vector<Grid> ValuesOf(const Objective& objective, const LearnedSettings& settings,
                           const ReproductionRuns& runs, const std::string& policy) {
  std::vector<Grid> grids;
  for (const std::string& spec : settings.policies.Specs(policy))
    grids.push_back(ObjectiveValues(objective, settings, runs, spec));
  return grids;
}

}  // namespace

void PlanObjectives(const LearnedSettings& settings, ReproductionRuns& runs) {
  for (const Objective& objective : Objectives()) {
    for (const std::uint64_t seed : settings.workloads) {
      const PlannedWorkload workload = Workload(objective, seed);
      for (const std::string& spec : Rules(objective)) runs.Plan(workload, spec, kCost);
      for (const std::string& spec : settings.policies.SpecsBothWays(objective.policy))
        runs.Plan(workload, spec, kCost);
    }
  }
}

void ReportObjectives(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  page.Heading("Other objectives, by the reward alone");
  page.Paragraph(
      Join("`", kCluster, "`, clock `rounds(360)`, ", settings.workloads.size(),
           " workloads; less is better everywhere; 95% intervals over workloads, of learned policies over "
           "training seeds too. The scheduler made for the objective stands first."));
  for (const Objective& objective : Objectives()) {
    const std::vector<Grid> learned = ValuesOf(objective, settings, runs, objective.policy);
    page.Paragraph(Join("**", objective.name, "**: `", objective.workload, "`, jobs ", objective.window.begin,
                        " to ", objective.window.end, "; policies `", objective.policy, "`"));
    if (const std::string missing = settings.policies.Missing(objective.policy); !missing.empty())
      page.Paragraph(Join("Not available: ", missing, "."));
    std::vector<Cells> rows;
    const auto mean = [&](const std::vector<Grid>& grids) {
      std::vector<std::vector<double>> values;
      for (const Grid& grid : grids) values.push_back(grid[0]);
      return WithInterval(HierarchicalMean(values, kBootstrapSeed), 2);
    };
    if (!learned.empty()) rows.push_back({Join("**learned**, mean of ", learned.size()), mean(learned), ""});
    const std::vector<TrainedPolicy> seeds = settings.policies.Find(objective.policy);
    for (std::size_t i = 0; i < learned.size(); ++i)
      rows.push_back({Join("seed ", seeds[i].seed), mean({learned[i]}), ""});
    // Where none is made for it, the nearest of all decides.
    Comparison decides;
    std::string decided_by;
    for (const std::string& spec : Rules(objective)) {
      const Grid other = ObjectiveValues(objective, settings, runs, spec);
      Cells row = {Join("`", spec, "`"), mean({other}), "-"};
      if (!learned.empty()) {
        const Comparison all = Compare(learned, other, kBootstrapSeed);
        row[2] = WithInterval(all.overall, 3);
        const bool nearer = *objective.made_for_it == '\0' && all.overall.mean > decides.overall.mean;
        if (decided_by.empty() || nearer) decides = all, decided_by = spec;
      }
      rows.push_back(std::move(row));
    }
    page.Rows({"scheduler", Join(objective.unit, " [95%]"), "learned / it [95%]"}, rows);
    const std::string row = Join("5, ", objective.policy + 10);
    if (learned.empty()) {
      out.targets.push_back(NotMeasured(row, "ahead of the baseline made for it", "no policies"));
    } else {
      Target target = RatioTarget(row, Join("ahead of `", decided_by, "`"), decides.overall, 1.0, true);
      if (objective.least != nullptr) {
        std::vector<double> least;
        for (const std::uint64_t seed : settings.workloads)
          least.push_back(objective.least(Workload(objective, seed).make()));
        Bound(target, Mean(least) / Mean(ObjectiveValues(objective, settings, runs, decided_by)[0]), 1.0);
      }
      out.targets.push_back(std::move(target));
    }
    AddTwoWays({row, learned, ValuesOf(objective, settings, runs, ByGradient(objective.policy)), decided_by,
                ObjectiveValues(objective, settings, runs, decided_by)},
               out);
  }
}

}  // namespace berth
