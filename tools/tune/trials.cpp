#include "tools/tune/trials.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "env/gym/episode_draw.hpp"
#include "env/gym/rewards.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// A cost of 0, such as the price of a type that has none, has no ratio to another.
void CheckCosts(const search::Costs& costs) {
  const auto none = [](const std::vector<double>& row) {
    return std::count(row.begin(), row.end(), 0.0) > 0;
  };
  if (!costs.may_be_none && (none(costs.reference) || std::any_of(costs.of.begin(), costs.of.end(), none)))
    throw Error("--reward: expected one that costs more than 0 in every run, found a run that costs 0");
}

}  // namespace

Trials::Plays Trials::Play(const std::vector<MakeCandidate>& schedulers, int generation, int wanted) const {
  const std::vector<Scenario> workloads = Draw(generation, wanted);
  const int count = static_cast<int>(workloads.size());
  Plays plays{std::vector(schedulers.size(), std::vector<Metrics>(U(count))), {}};
  std::vector<std::vector<std::int64_t>> decisions(schedulers.size(), std::vector<std::int64_t>(U(count)));
  RunOptions options;
  options.window = settings_.window;
  if (settings_.interrupted != nullptr && generation != kValidation)
    options.progress = [this](const Simulator&) { return !*settings_.interrupted; };
  ThreadTeam team(settings_.threads);
  team.Run(static_cast<int>(schedulers.size()) * count, [&](int part) {
    const std::size_t k = U(part / count), i = U(part % count);
    std::unique_ptr<Scheduler> scheduler;
    try {
      scheduler = schedulers[k]();
    } catch (const Error&) {
      if (generation == kValidation)
        throw;  // a search's candidate may be none, what was chosen or trained may not
      plays.runs[k][i].unfinished = 1;
      plays.runs[k][i].hpc_bounded_slowdown = std::nan("");
      return;
    }
    const RunResult run = Run(workloads[i], *scheduler, "candidate", options);
    plays.runs[k][i] = run.metrics;
    decisions[k][i] = run.decisions;
  });
  for (const std::vector<std::int64_t>& of : decisions) {
    plays.decisions.push_back(0);
    for (const std::int64_t one : of) plays.decisions.back() += one;
  }
  return plays;
}

search::Costs Trials::Costs(const std::vector<MakeCandidate>& candidates, int generation) const {
  const std::string& reference = settings_.reference;
  const auto make_reference = [&] { return MakeScheduler(reference, AllSchedulers()); };
  make_reference();  // one out of its parameters' bounds is an error
  std::vector<MakeCandidate> all{make_reference};
  all.insert(all.end(), candidates.begin(), candidates.end());
  const int count = generation == search::kChoice ? settings_.choices : settings_.workloads;
  Plays plays = Play(all, generation, count);
  if (settings_.interrupted != nullptr && *settings_.interrupted) return {};
  const std::vector<Metrics> beside = std::move(plays.runs.front());
  plays.runs.erase(plays.runs.begin());
  // A reference that does not finish its jobs would leave every candidate without a value.
  const auto without = std::count_if(beside.begin(), beside.end(),
                                     [](const Metrics& metrics) { return metrics.unfinished > 0; });
  if (without > 0) {
    throw Error(Join("--reference: expected a scheduler that finishes the window's jobs, found ", reference,
                     ", which left jobs of the window unfinished in ", without, " of ", beside.size(),
                     " workloads; another --reference, workload or --window may do"));
  }
  search::Costs costs = Weigh(plays.runs, beside);
  costs.may_be_none = MayBeNone();
  CheckCosts(costs);
  for (std::size_t k = 1; k < plays.decisions.size(); ++k) costs.decisions += plays.decisions[k];
  return costs;
}

std::vector<std::vector<Metrics>> Trials::Validate(const std::vector<MakeCandidate>& schedulers,
                                                   int count) const {
  return Play(schedulers, kValidation, count).runs;
}

search::Costs Trials::Weigh(const std::vector<std::vector<Metrics>>& runs,
                            const std::vector<Metrics>& reference) const {
  search::Costs costs;
  for (const Metrics& run : reference) costs.reference.push_back(Cost(run));
  for (const std::vector<Metrics>& row : runs) {
    costs.of.emplace_back();
    for (const Metrics& run : row) costs.of.back().push_back(Cost(run));
  }
  return costs;
}

search::Objective ObjectiveOf(const Trials& trials, const Tunable& candidates) {
  return [&](const std::vector<std::vector<double>>& points, int generation) {
    std::vector<MakeCandidate> makers;
    for (const std::vector<double>& point : points)
      makers.emplace_back([&candidates, &point] { return candidates.Make(point); });
    return trials.Costs(makers, generation);
  };
}

double RewardTrials::Cost(const Metrics& metrics) const {
  return metrics.unfinished > 0 ? std::nan("") : Reward(reward_).AJob(metrics);
}

bool RewardTrials::MayBeNone() const {
  return Reward(reward_).WeightOf("deadline") > 0.0;
}

std::vector<Scenario> RewardTrials::Draw(int generation, int count) const {
  const TrialSettings& on = settings();
  const Window& pieces = generation < 0 && on.held_out ? *on.held_out : on.pieces;
  // No search has as many generations as stand in for the validation and the choice.
  const std::uint32_t group = generation == kValidation       ? ~std::uint32_t{0}
                              : generation == search::kChoice ? ~std::uint32_t{0} - 1
                                                              : static_cast<std::uint32_t>(generation);
  // One piece is all that there is: once more it would be the same run.
  const bool one = on.source->fixed() && pieces.end >= 0 && pieces.end - pieces.begin <= on.jobs;
  if (generation < 0 && one) count = std::min(count, 1);
  std::vector<Scenario> workloads;
  for (int i = 0; i < count; ++i) {
    workloads.push_back(
        DrawEpisode(*on.source, pieces, on.seed, Split::kTrain, group, static_cast<std::uint32_t>(i), on.jobs)
            .scenario);
  }
  return workloads;
}

}  // namespace berth
