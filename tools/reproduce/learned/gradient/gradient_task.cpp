#include "tools/reproduce/learned/gradient/gradient_task.hpp"

#include <algorithm>
#include <cmath>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace berth {
namespace {

constexpr const char* kSingles = "synthetic(rate=1.8,jobs=1000)";
constexpr Window kWindow = {300, 700};
constexpr std::size_t kLoadWorkloads = 10, kLoadSampled = 3;  // of row 1, whose runs take a second each
constexpr const char* kLoadRules[] = {"nash_welfare(weight=gpu)", "nash_welfare", "srpt", "las",
                                      "proportional_fairness",    "tuned_blind",  "gavel"};
constexpr double kSecondsAsOne = 6.5;  // of a run of 8,000 jobs under what Plan counts as 1 a job
constexpr double kSmall = 0.15;        // a job on 36 GPUs beside one on 108
constexpr double kPolicySeconds[] = {0.1, 0.08, 1.0};  // of a run, by MeasuredOn

// A default's workload of one evaluation seed, as tools/quickstart measures it.
PlannedWorkload Default(const std::string& spec, std::uint64_t seed) {
  const auto make = [spec, seed] {
    ScenarioSettings settings;
    settings.cluster = ParseCluster(kDefaultCluster);
    settings.clock = {ClockKind::kRounds, 360.0};
    return EvaluationScenario(*MakeWorkload(spec, settings), seed);
  };
  return {Join(spec, " on ", kDefaultCluster, " seed ", seed), kWindow, make, /*keep_jct=*/false};
}

LoadGrid LoadsOf(const LearnedSettings& settings) {
  LoadGrid grid;
  grid.loads.assign(std::begin(kLoads), std::end(kLoads));
  if (settings.quick) grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.seeds.resize(std::min(grid.seeds.size(), kLoadWorkloads));
  grid.drawn = settings.drawn;
  return grid;
}

}  // namespace

GradientTask::GradientTask(MeasuredOn on, const LearnedSettings& settings)
    : on_(on), loads_(LoadsOf(settings)) {
  if (on == MeasuredOn::kSixLoads) {
    for (const Load& load : loads_.loads) {
      cells_.emplace_back();
      for (const std::uint64_t seed : loads_.seeds) cells_.back().push_back(loads_.Workload(load, seed));
    }
    sampled_ = std::min(kLoadSampled, loads_.seeds.size());
    return;
  }
  cells_.emplace_back();
  for (const std::uint64_t seed : settings.workloads)
    cells_[0].push_back(Default(on == MeasuredOn::kSingles ? kSingles : kDefaultWorkload, seed));
  sampled_ = cells_[0].size();
}

Scenario GradientTask::Sample() const {
  return cells_[0][0].make();
}

double GradientTask::RunCost(const std::string& spec) const {
  return RunSeconds(spec) / kSecondsAsOne * (on_ == MeasuredOn::kSixLoads ? 1.0 : kSmall);
}

void GradientTask::Plan(ReproductionRuns& runs, const std::string& spec, std::size_t most) const {
  for (const auto& row : cells_) {
    for (std::size_t w = 0; w < std::min(most, row.size()); ++w) runs.Plan(row[w], spec, RunCost(spec));
  }
}

Grid GradientTask::MeanJcts(const ReproductionRuns& runs, const std::string& spec) const {
  Grid grid;
  for (const auto& row : cells_) {
    grid.emplace_back();
    for (const PlannedWorkload& workload : row) grid.back().push_back(WholeMeanJct(runs, workload, spec));
  }
  return grid;
}

std::vector<Grid> GradientTask::MeanJcts(const ReproductionRuns& runs,
                                         const std::vector<std::string>& specs) const {
  std::vector<Grid> grids;
  for (const std::string& spec : specs) grids.push_back(MeanJcts(runs, spec));
  return grids;
}

void GradientTask::PlanRules(ReproductionRuns& runs) const {
  if (on_ == MeasuredOn::kSixLoads) {
    for (const char* spec : kLoadRules) Plan(runs, spec);
    return;
  }
  for (const Opponent& opponent : RegisteredOpponents(Sample()).run)
    Plan(runs, opponent.spec, AffordableWorkloads(opponent.spec, cells_[0].size()));
}

std::optional<GradientTask::Rule> GradientTask::BestRule(const ReproductionRuns& runs,
                                                         Knowledge knowledge) const {
  const Grid reference = MeanJcts(runs, "las");
  std::optional<Rule> best;
  double least = 0.0;
  int compared = 0;
  for (const Opponent& opponent : RegisteredOpponents(Sample()).run) {
    if (opponent.knowledge > knowledge) continue;
    Grid jcts = MeanJcts(runs, opponent.spec);
    const Comparison over = Compare({&jcts, 1}, reference, kBootstrapSeed);
    if (over.conditions < static_cast<int>(cells_.size())) continue;  // not run, or jobs left undone
    ++compared;
    if (best && over.overall.mean >= least) continue;
    least = over.overall.mean;
    best = Rule{opponent.spec, std::move(jcts)};
  }
  if (best) best->compared = compared;
  return best;
}

std::string GradientTask::NotCarried(const ReproductionRuns& runs,
                                     const std::vector<std::string>& specs) const {
  std::string text;
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    int count = 0;
    for (const std::string& spec : specs) {
      std::vector<double> growth;
      for (const PlannedWorkload& workload : cells_[c]) {
        const PlannedOutcome* run = runs.FindWhole(workload, spec);
        if (run != nullptr) growth.push_back(run->backlog_growth);
      }
      count += !growth.empty() && !KeepsUp(growth);
    }
    if (count == 0) continue;
    if (on_ != MeasuredOn::kSixLoads) return std::to_string(count);
    text += Join(text.empty() ? "" : ", ", loads_.loads[c].Name(), " (", count, ")");
  }
  return text.empty() ? "0" : text;
}

std::size_t GradientTask::runs_of_a_policy(bool drawing) const {
  return cells_.size() * (cells_[0].size() + (drawing ? sampled_ : 0));
}

double GradientTask::seconds_of_a_policy(bool drawing) const {
  return static_cast<double>(runs_of_a_policy(drawing)) * kPolicySeconds[static_cast<std::size_t>(on_)];
}

}  // namespace berth
