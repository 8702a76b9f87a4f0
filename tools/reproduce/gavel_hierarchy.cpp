// Hierarchical fairness over time (Narayanan et al., OSDI 2020, Figure 11): a cluster of 3 V100, 3 P100 and 3
// K80; three entities of weights 1, 2 and 3; six jobs each, one after the other, that outlast the experiment.
#include <array>
#include <cmath>
#include <map>

#include "data/throughputs.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_workloads.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr const char* kCluster = "v100=3,p100=3,k80=3";
constexpr const char* kSpec = "gavel(objective=hierarchical)";
constexpr int kTenants = 3, kJobsEach = 6, kHierarchyJobs = kTenants * kJobsEach;
constexpr double kGap = 20 * 360.0;   // s between arrivals: far more than the least time between allocations
constexpr double kStep = 20 * 360.0;  // s of a point: enough rounds for the mechanism to settle
constexpr double kEnd = 30 * kStep;   // s
constexpr double kAloneSeconds = 3.6e6;  // of every job on its fastest type: none ends within kEnd

Scenario MakeScenario(const std::string& inner_policy, std::uint64_t seed) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kCluster);
  settings.clock = {ClockKind::kReferenceRounds, 360.0};
  ScenarioData data =
      BaseScenario(settings, "hierarchy", Join("three tenants, ", inner_policy, " inside, seed ", seed));
  data.seed = seed;
  data.throughputs = PublishedThroughputs(settings.cluster);
  for (int tenant = 0; tenant < kTenants; ++tenant) {
    data.tenants.push_back({Join("weight ", tenant + 1), static_cast<double>(tenant + 1), inner_policy});
  }
  Stream stream(seed, Purpose::kJobs, Split::kEvaluate);
  for (int job = 0; job < kHierarchyJobs; ++job) {
    const auto types = static_cast<std::uint32_t>(data.throughputs.job_types.size());
    const int job_type = static_cast<int>(stream.Below(types));
    double best = 0.0;
    for (int type = 0; type < 3; ++type)
      best = std::max(best, AloneRate(data.throughputs, job_type, 1, type, 3));
    data.jobs.id.push_back(job);
    data.jobs.arrival.push_back(job * kGap);
    data.jobs.job_type.push_back(job_type);
    data.jobs.gang.push_back(1);
    data.jobs.total_steps.push_back(std::ceil(kAloneSeconds * best));
    data.jobs.tenant.push_back(job / kJobsEach);
  }
  return Scenario(std::move(data));
}

// [step][job] progress in the step over what the job would make of a proportional share of the whole cluster:
// the normalised effective throughput of OSDI 2020 §4.1.
using ProgressOfJobs = std::vector<std::array<double, kHierarchyJobs>>;

ProgressOfJobs Follow(const Scenario& scenario) {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(kSpec, AllSchedulers());
  RunOptions options;
  options.window = {0, kHierarchyJobs};
  options.keep_events = true;
  options.progress = [](const Simulator& simulator) { return simulator.now() < kEnd; };
  const RunResult result = Run(scenario, *scheduler, kSpec, options);
  ProgressOfJobs progress(static_cast<std::size_t>(kEnd / kStep));
  for (auto& step : progress) step.fill(0.0);
  std::map<int, std::pair<double, int>> running;  // job -> since, type
  const auto leave = [&](int job, double now) {
    const auto it = running.find(job);
    if (it == running.end()) return;
    const auto [since, type] = it->second;
    double proportional = 0.0;
    for (int g = 0; g < scenario.num_types(); ++g)
      proportional += scenario.Rate(job, g) / scenario.num_types();
    for (std::size_t k = 0; k < progress.size(); ++k) {
      const double begin = static_cast<double>(k) * kStep;
      const double seconds = std::min(now, begin + kStep) - std::max(since, begin);
      if (seconds <= 0.0) continue;
      progress[k][static_cast<std::size_t>(job)] += seconds / kStep * scenario.Rate(job, type) / proportional;
    }
    running.erase(it);
  };
  for (const Event& event : result.events) {
    if (event.kind == EventKind::kStart || event.kind == EventKind::kMove) {
      leave(event.job, event.time);
      running[event.job] = {event.time, event.type};
    } else if (event.kind == EventKind::kStop || event.kind == EventKind::kComplete) {
      leave(event.job, event.time);
    }
  }
  while (!running.empty()) leave(running.begin()->first, kEnd);
  return progress;
}

double OfTenant(const std::array<double, kHierarchyJobs>& step, int tenant) {
  double sum = 0.0;
  for (int job = tenant * kJobsEach; job < (tenant + 1) * kJobsEach; ++job)
    sum += step[static_cast<std::size_t>(job)];
  return sum;
}

// Shares from the first whole step after the last arrival to the end.
std::array<double, kTenants> LastShares(const ProgressOfJobs& progress) {
  std::array<double, kTenants> sums{};
  double total = 0.0;
  for (auto k = static_cast<std::size_t>(std::ceil(kHierarchyJobs * kGap / kStep)); k < progress.size();
       ++k) {
    for (int tenant = 0; tenant < kTenants; ++tenant) {
      sums[static_cast<std::size_t>(tenant)] += OfTenant(progress[k], tenant);
      total += OfTenant(progress[k], tenant);
    }
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

}  // namespace

void PlanHierarchy(const GavelSettings&, ReproductionRuns&) {}  // seconds in all: run where it is reported

bool ReportHierarchy(const GavelSettings& settings, const ReproductionRuns&, ReproductionPage& page) {
  page.Heading("Hierarchical fairness");
  if (!WhyNotAvailable(kSpec).empty()) {
    page.Paragraph(Join("`", kSpec, "`: not available."));
    return true;
  }
  page.Paragraph(
      Join("`", kSpec, "` on ", kCluster,
           ": tenants of weight 1, 2 and 3, six single-GPU jobs each, one every ", Fixed(kGap / 3600.0, 0),
           " hours, first all of the first tenant. A job's normalised effective "
           "throughput is its progress over that of a proportional share of the cluster; shares are of the "
           "sum, after the last arrival. Published (Figure 11): shares follow the weights."));
  std::vector<ReproductionPage::Cells> rows, csv;
  for (const char* inner : {"fairness", "fifo"}) {
    for (const std::uint64_t seed : settings.seeds) {
      const ProgressOfJobs progress = Follow(MakeScenario(inner, seed));
      const auto shares = LastShares(progress);
      rows.push_back({inner, std::to_string(seed), "16.7 / 33.3 / 50.0",
                      Join(Fixed(100 * shares[0], 1), " / ", Fixed(100 * shares[1], 1), " / ",
                           Fixed(100 * shares[2], 1))});
      for (std::size_t k = 0; k < progress.size(); ++k) {
        for (int job = 0; job < kHierarchyJobs; ++job) {
          csv.push_back({inner, std::to_string(seed), Exact((static_cast<double>(k) + 0.5) * kStep / 3600.0),
                         std::to_string(job / kJobsEach + 1), std::to_string(job),
                         Exact(progress[k][static_cast<std::size_t>(job)])});
        }
      }
    }
  }
  page.Rows({"inside a tenant", "seed", "published shares, %", "measured shares, %"}, rows);
  page.Csv("hierarchy.csv", {"inner_policy", "seed", "time_h", "weight", "job", "normalised_throughput"},
           csv);
  page.Picture("hierarchy.png", "share of the normalised effective throughput of each tenant over time");
  return true;
}

}  // namespace berth
