#include "tools/reproduce/learned/gradient/seed_results.hpp"

namespace berth {

SeedResults::SeedResults(const LearnedSettings& settings, const ReproductionRuns& runs)
    : settings_(settings), runs_(runs), shelf_(settings.gradient) {
  for (const SeedRow& row : kSeedRows) {
    const TrainingSet& set = SetNamed(row.set);
    const GradientTask& task = Task(set.on);
    const auto best = task.BestRule(runs, row.knowledge);
    if (best) best_[row.set] = *best;
    std::string& baseline = baseline_[row.set];
    baseline = row.baseline[0] == '\0' && best ? best->spec : row.baseline;
    if (baseline.empty()) continue;
    const Grid other = task.MeanJcts(runs, baseline);
    for (const std::int64_t steps : set.steps) {
      std::vector<int> seeds;
      for (const TrainedPolicy& policy : shelf_.Find(set, steps)) seeds.push_back(policy.seed);
      std::vector<Grid>& grids = grids_[{row.set, steps}];
      grids = task.MeanJcts(runs, shelf_.Specs(set, steps));
      figures_[{row.set, steps}] = FiguresOf(
          std::move(seeds), grids, task.MeanJcts(runs, shelf_.Specs(set, steps, /*sample=*/true)), other);
    }
  }
}

const GradientTask& SeedResults::Task(MeasuredOn on) {
  auto found = tasks_.find(on);
  if (found == tasks_.end()) found = tasks_.emplace(on, GradientTask(on, settings_)).first;
  return found->second;
}

const std::string& SeedResults::Baseline(const std::string& set) const {
  return baseline_.at(set);
}

std::optional<GradientTask::Rule> SeedResults::Best(const std::string& set) const {
  const auto found = best_.find(set);
  return found == best_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SeedFigures> SeedResults::Figures(const std::string& set, std::int64_t steps) const {
  const auto found = figures_.find({set, steps});
  return found == figures_.end() ? std::nullopt : found->second;
}

std::vector<Grid> SeedResults::Policies(const std::string& set, std::int64_t steps) const {
  const auto found = grids_.find({set, steps});
  return found == grids_.end() ? std::vector<Grid>() : found->second;
}

std::string SeedResults::WhyNone(const std::string& set, std::int64_t steps) const {
  const std::string missing = shelf_.Missing(SetNamed(set), steps);
  if (missing.empty()) return "no common runs";
  return settings_.no_learners.empty() ? missing : "not trained: this build has no learners";
}

}  // namespace berth
