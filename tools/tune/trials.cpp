#include "tools/tune/trials.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "env/gym/episode_draw.hpp"
#include "env/gym/rewards.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

// Does it hold for the types of a cluster of the source's?
bool OfSome(const ScenarioSource& source, std::uint64_t seed, bool (*holds)(const std::vector<GpuType>&)) {
  for (int kind = 0; kind < source.kinds(); ++kind) {
    const Scenario sample = source.Make(seed, Split::kTrain, 0, static_cast<std::uint32_t>(kind), /*jobs=*/1);
    if (holds(sample.data().cluster.types)) return true;
  }
  return false;
}

bool SomeFree(const std::vector<GpuType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const GpuType& type) { return type.price_per_hour == 0.0; });
}

// Idle GPUs draw theirs whatever runs.
bool SomeDrawNothing(const std::vector<GpuType>& types) {
  return std::all_of(types.begin(), types.end(),
                     [](const GpuType& type) { return type.idle_power_w == 0.0; }) &&
         std::any_of(types.begin(), types.end(),
                     [](const GpuType& type) { return type.peak_power_w == 0.0; });
}

// A sum may be 0 where every term may.
bool MayCostNothing(const std::string& reward, const TrialSettings& on) {
  const std::vector<std::string> terms = Reward(reward).Names();
  return std::all_of(terms.begin(), terms.end(), [&](const std::string& term) {
    return term == "deadline" || (term == "cost" && OfSome(*on.source, on.seed, SomeFree)) ||
           (term == "energy" && OfSome(*on.source, on.seed, SomeDrawNothing));
  });
}

}  // namespace

Trials::Plays Trials::Play(const std::vector<MakeCandidate>& schedulers, int generation, int wanted,
                           const std::atomic<bool>* interrupted) const {
  const std::vector<Scenario> workloads = Draw(generation, wanted);
  const int count = static_cast<int>(workloads.size());
  Plays plays{std::vector(schedulers.size(), std::vector<Metrics>(U(count))), {}};
  std::vector<std::vector<std::int64_t>> decisions(schedulers.size(), std::vector<std::int64_t>(U(count)));
  RunOptions options;
  options.window = settings_.window;
  if (interrupted != nullptr) options.progress = [=](const Simulator&) { return !*interrupted; };
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
  Plays plays = Play(all, generation, count, settings_.interrupted);
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
  if (generation == 0) CheckFirst(costs);
  for (std::size_t k = 1; k < plays.decisions.size(); ++k) costs.decisions += plays.decisions[k];
  return costs;
}

std::vector<std::vector<Metrics>> Trials::Validate(const std::vector<MakeCandidate>& schedulers, int count,
                                                   const std::atomic<bool>* interrupted) const {
  Plays plays = Play(schedulers, kValidation, count, interrupted);
  if (interrupted != nullptr && *interrupted) return {};
  return std::move(plays.runs);
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

RewardTrials::RewardTrials(TrialSettings settings, std::string reward)
    : Trials(std::move(settings)),
      reward_(std::move(reward)),
      may_be_none_(MayCostNothing(reward_, this->settings())) {}

double RewardTrials::Cost(const Metrics& metrics) const {
  return metrics.unfinished > 0 ? std::nan("") : Reward(reward_).AJob(metrics);
}

// That nobody misses a deadline may be chance, that nothing has a price is not.
void RewardTrials::CheckFirst(const search::Costs& costs) const {
  const auto all_none = [](const std::vector<double>& row) {
    return std::all_of(row.begin(), row.end(), [](double cost) { return !(cost > 0.0); });
  };
  if (!may_be_none_ || Reward(reward_).WeightOf("deadline") > 0.0 || !all_none(costs.reference) ||
      !std::all_of(costs.of.begin(), costs.of.end(), all_none))
    return;
  throw Error(Join("--reward: expected one that costs more than 0, found ", reward_,
                   ", which costs 0 in every run of the first generation"));
}

std::vector<Scenario> RewardTrials::Draw(int generation, int count) const {
  const TrialSettings& on = settings();
  Window pieces = generation < 0 && on.held_out ? *on.held_out : on.pieces;
  // No search has as many generations as stand in for the validation and the choice.
  const std::uint32_t group = generation == kValidation       ? ~std::uint32_t{0}
                              : generation == search::kChoice ? ~std::uint32_t{0} - 1
                                                              : static_cast<std::uint32_t>(generation);
  // A piece once more would be the same run: intervals would be of copies.
  const bool once = generation < 0 && on.source->fixed();
  if (once) {
    if (pieces.end < 0) pieces.end = on.source->Make(0, Split::kTrain, 0, 0).num_jobs();
    count = std::min(count, std::max(1, pieces.end - pieces.begin - on.jobs + 1));
  }
  std::set<int> begins;
  std::vector<Scenario> workloads;
  for (std::uint32_t i = 0; std::ssize(workloads) < count; ++i) {
    if (once && !begins.insert(DrawBegin(pieces, on.seed, Split::kTrain, group, i, on.jobs)).second) continue;
    workloads.push_back(DrawEpisode(*on.source, pieces, on.seed, Split::kTrain, group, i, on.jobs).scenario);
  }
  return workloads;
}

}  // namespace berth
