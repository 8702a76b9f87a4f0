// Every learner on row 1: PPO, DQN and REINFORCE, five training seeds each at equal environment steps.
#include <algorithm>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kLearners[][2] = {
    {"PPO", "learner_ppo"}, {"DQN", "learner_dqn"}, {"REINFORCE", "learner_reinforce"}};
constexpr const char* kLearnersOpponents[] = {"fcfs", "priority", "easy", "las", "srpt", "tuned", "gavel"};
constexpr std::size_t kLearnersWorkloads = 5;
constexpr const char* kDqnBeats[] = {"fcfs", "easy", "las"};  // our own target

LoadGrid LearnersGrid(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads.assign(std::begin(kLoads), std::end(kLoads));
  if (settings.quick) grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.seeds.resize(std::min(grid.seeds.size(), kLearnersWorkloads));
  grid.drawn = settings.drawn;
  return grid;
}

std::vector<std::size_t> AllLoads(const LoadGrid& grid) {
  std::vector<std::size_t> loads(grid.loads.size());
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = i;
  return loads;
}

}  // namespace

void PlanLearners(const LearnedSettings& settings, ReproductionRuns& runs) {
  const LoadGrid grid = LearnersGrid(settings);
  for (const char* spec : kLearnersOpponents) grid.Plan(runs, spec);
  for (const auto& learner : kLearners) {
    for (const std::string& spec : settings.policies.Specs(learner[1])) grid.Plan(runs, spec);
  }
}

void ReportLearners(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  const LoadGrid grid = LearnersGrid(settings);
  ReproductionPage& page = out.page;
  page.Heading("Every learner");
  page.Paragraph(Join(
      "Oracle knowledge, 500,000 environment steps each and no others (nothing is chosen by validation), the "
      "cluster and loads of row 1. Mean JCT in hours; of "
      "learners over training seeds and workloads. The last columns: learner over scheduler, mean over "
      "the loads that the cluster carries under both [95%]; the targets count all loads, carried or not. ",
      LoadMarks()));
  Cells header = {"scheduler"};
  for (const Load& load : grid.loads) header.push_back(load.Name());
  for (const auto& learner : kLearners) header.push_back(Join(learner[0], " / it"));
  std::vector<Cells> rows;
  std::vector<std::vector<Grid>> learned;
  for (const auto& learner : kLearners) {
    learned.push_back(Grids(grid, runs, settings.policies.Specs(learner[1])));
    const std::string missing = settings.policies.Missing(learner[1]);
    Cells row = {Join("**", learner[0], "**, ", learned.back().size(), " seeds",
                      missing.empty() ? "" : Join(" (not available: ", missing, ")"))};
    for (std::size_t load = 0; load < grid.loads.size(); ++load)
      row.push_back(learned.back().empty() ? "-"
                                           : WithInterval(LearnedMean(learned.back(), load), 2, 3600.0));
    row.insert(row.end(), std::size(kLearners), "");
    rows.push_back(std::move(row));
    for (const TrainedPolicy& policy : settings.policies.Find(learner[1])) {
      row = {Join(learner[0], ", seed ", policy.seed)};
      for (std::size_t load = 0; load < grid.loads.size(); ++load)
        row.push_back(ResultAt(grid, runs, load, policy.Spec()).Cell());
      row.insert(row.end(), std::size(kLearners), "");
      rows.push_back(std::move(row));
    }
  }
  for (const char* spec : kLearnersOpponents) {
    Cells row = {Join("`", spec, "`")};
    for (std::size_t load = 0; load < grid.loads.size(); ++load)
      row.push_back(ResultAt(grid, runs, load, spec).Cell());
    for (std::size_t i = 0; i < learned.size(); ++i) {
      std::vector<std::string> both = settings.policies.Specs(kLearners[i][1]);
      both.emplace_back(spec);
      const std::vector<std::size_t> loads = CarriedLoads(grid, runs, both, AllLoads(grid));
      row.push_back(learned[i].empty()
                        ? "-"
                        : WithInterval(CompareAt(learned[i], grid.MeanJcts(runs, spec), loads).overall, 3));
    }
    rows.push_back(std::move(row));
  }
  page.Rows(header, rows);
  const std::vector<Grid>& dqn = learned[1];
  for (const char* spec : kDqnBeats) {
    const std::string asked = Join("DQN below `", spec, "`");
    if (dqn.empty()) {
      out.targets.push_back(NotMeasured("learners", asked, "no policies"));
      continue;
    }
    const Comparison all = CompareAt(dqn, grid.MeanJcts(runs, spec), AllLoads(grid));
    out.targets.push_back(RatioTarget("learners", asked, all.overall, 1.0, /*surely=*/true));
  }
}

}  // namespace berth
