// Makespan of static multi-GPU workloads (Narayanan et al., OSDI 2020, §7.3; values printed in the artefact's
// makespan.ipynb, seed 1).
#include <cmath>

#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_headline.hpp"
#include "tools/reproduce/gavel_workloads.hpp"
#include "tools/table.hpp"

namespace berth {

const std::vector<MakespanPolicy>& MakespanPolicies() {
  static const std::vector<MakespanPolicy> policies = {
      {"FIFO", "gavel(objective=fifo)", 0.1, {182.3, 229.4, 295.6, 350.5, 426.6, 506.2, 619.5}},
      {"FIFO, random type", "gavel(objective=fifo,aware=false)", 0.1, {}},
      {"Gandiva", "gandiva", 0.1, {166.6, 178.9, 199.9, 224.1, 263.9, 301.3, 347.3}},
      {"agnostic makespan", "gavel(objective=makespan,aware=false)", 2.0, {}},
      {"Gavel", "gavel(objective=makespan)", 2.0, {161.2, 161.2, 161.2, 161.3, 169.4, 195.0, 244.2}},
      {"Gavel w/ SS",
       "gavel(objective=makespan,packed=true)",
       kPackedCost,
       {163.6, 163.6, 161.2, 168.5, 168.1, 183.2, 226.2}},
  };
  return policies;
}

SeedValues MakespanHours(const GavelSettings& settings, const ReproductionRuns& runs, const std::string& spec,
                         int jobs) {
  std::vector<PlannedWorkload> workloads;
  for (const std::uint64_t seed : settings.seeds) workloads.push_back(StaticWorkload(jobs, seed));
  return OverSeeds(runs, workloads, spec, &PlannedOutcome::makespan_s, 3600.0);
}

void PlanMakespan(const GavelSettings& settings, ReproductionRuns& runs) {
  for (const int jobs : kMakespanJobs) {
    if (settings.quick && jobs % 300 != 100) continue;
    for (const std::uint64_t seed : settings.seeds) {
      for (const MakespanPolicy& policy : MakespanPolicies()) {
        if (policy.cost >= kPackedCost && !settings.packed) continue;
        runs.Plan(StaticWorkload(jobs, seed), policy.spec, policy.cost);
      }
    }
  }
}

bool ReportMakespan(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page) {
  page.Heading("Makespan");
  page.Paragraph(
      "Hours until the last of the jobs ends; all arrive at time 0, gangs of 1 to 8. Each cell: published "
      "(one "
      "seed) | measured, mean [lowest, highest] of our seeds. The jobs are other draws of the same "
      "distribution: "
      "single values differ, ratios compare. The published FIFO is the reference's of its time (its later "
      "base "
      "FIFO is broken); ours are FIFO on the fastest type with room, as its `fifo_perf`, and FIFO on a "
      "random type "
      "with room, which keeps a long job on a slow GPU to its end.");
  ReproductionPage::Cells header = {"jobs"};
  for (const MakespanPolicy& policy : MakespanPolicies()) header.emplace_back(policy.label);
  std::vector<ReproductionPage::Cells> rows, csv;
  for (std::size_t k = 0; k < kMakespanJobs.size(); ++k) {
    const int jobs = kMakespanJobs[k];
    ReproductionPage::Cells row = {std::to_string(jobs)};
    for (const MakespanPolicy& policy : MakespanPolicies()) {
      const SeedValues hours = MakespanHours(settings, runs, policy.spec, jobs);
      const double published = policy.published_h.empty() ? NAN : policy.published_h[k];
      row.push_back(Join(Fixed(published, 1), " \\| ", hours.ToString(1)));
      csv.push_back({policy.label, std::to_string(jobs), Exact(published), "published"});
      for (const double value : hours.values)
        csv.push_back({policy.label, std::to_string(jobs), Exact(value), "measured"});
    }
    rows.push_back(row);
  }
  page.Rows(header, rows);
  page.Csv("makespan.csv", {"policy", "jobs", "makespan_h", "source"}, csv);
  page.Picture("makespan.png", "makespan against the number of jobs, published and measured");
  return true;
}

}  // namespace berth
