#include "tools/solve/certified.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "baselines/gavel/level_lp.hpp"
#include "baselines/gavel/nash_welfare.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_kinds.hpp"
#include "baselines/gavel/priced_shares.hpp"
#include "baselines/gavel/water_filling.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

bool MaxMin(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  const std::vector<double> worth = NormalizedWorth(problem);
  LevelLp lp(method);
  LevelAnswer found;
  if (!lp.Maximize(problem, worth, found)) {
    why = lp.failure();
    return false;
  }
  answer.certificate = CertifyLevel(problem, worth, found.x, found.price, found.type_price);
  answer.x = std::move(found.x);
  return true;
}

bool PairedMaxMin(const PackedProblem& problem, CertifiedPairs& answer, const char*& why) {
  const std::vector<double> scale = WorthScale(problem.base);
  KindsAnswer found;
  const LpStatus status = MaxMinByKinds(problem, scale, kLpInfinity, found);
  if (status != LpStatus::kOptimal) {
    why = Explain(status);
    return false;
  }
  answer.certificate = CertifyPackedLevel(problem, scale, found.x, found.price, found.time_price);
  answer.x = std::move(found.x);
  return true;
}

// The prices are those of the level at the ratio that was reached, which is 1 there, by steps/s.
bool PriceRatio(const Problem& problem, std::span<const double> alone, std::span<const double> since,
                LevelLp& lp, CertifiedAnswer& answer) {
  const std::vector<double> speed = EffectiveThroughput(problem, answer.x);
  double ratio = 0.0;
  for (int i = 0; i < problem.jobs(); ++i)
    ratio = std::max(ratio, (since[U(i)] + problem.remaining[U(i)] / speed[U(i)]) / alone[U(i)]);
  std::vector<double> worth = problem.throughput, scale(problem.key.size());
  for (int i = 0; i < problem.jobs(); ++i) {
    scale[U(i)] = (ratio * alone[U(i)] - since[U(i)]) / problem.remaining[U(i)];
    for (int j = 0; j < problem.types(); ++j) worth[problem.at(i, j)] *= scale[U(i)];
  }
  LevelAnswer priced;
  if (!lp.Level(problem, worth, priced)) return false;
  for (std::size_t i = 0; i < scale.size(); ++i) priced.price[i] *= scale[i];
  answer.certificate = CertifyRatio(problem, alone, since, answer.x, priced.price, priced.type_price);
  return true;
}

bool Makespan(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  LevelLp lp(method);
  MakespanAnswer found;
  const bool solved = ExactMakespan(problem, lp, found);
  answer.x = std::move(found.x);
  const std::vector<double> one(problem.key.size(), 1.0), zero(problem.key.size(), 0.0);
  if (solved && PriceRatio(problem, one, zero, lp, answer)) return true;
  why = lp.failure();
  return false;
}

bool FairFinish(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  LevelLp lp(method);
  const bool solved = FinishTimeFairness().Solve(problem, lp, answer.x);
  const std::vector<double> alone = IsolatedProgress().Advance(problem);
  if (solved && PriceRatio(problem, alone, problem.since, lp, answer)) return true;
  why = lp.failure();
  return false;
}

// The prices of a level of more shares take minutes, and so do those of hundreds of levels.
constexpr std::size_t kMostWaterShares = 30'000;
constexpr double kMostWaterProof = 30.0;  // s
constexpr double kProven = 1e-6;          // gap of all levels

// Of the level at which types first hold up somebody: what a unit more costs each job there.
WaterStage FirstStage(const Problem& problem, const std::vector<double>& worth, const WaterLevels& levels) {
  const PricedShares shares(problem, worth);
  WaterStage stage{.level = levels.first_level, .job_price = {}, .type_price = levels.first_price};
  for (int i = 0; i < problem.jobs(); ++i)
    stage.job_price.push_back(shares.Cheapest(i, levels.first_level, levels.first_price).slope);
  return stage;
}

bool Water(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  WaterFilling filling(method);
  WaterLevels levels;
  if (!filling.Solve(problem, {}, levels)) {
    why = filling.failure();
    return false;
  }
  if (!ProveLevels(problem, levels, method, kMostWaterProof, answer.certificate, why)) return false;
  answer.x = std::move(levels.x);
  return true;
}

bool Sum(const Problem& problem, const std::vector<double>& price, LpMethod method, CertifiedAnswer& answer,
         const char*& why) {
  ThroughputSum sum(method);
  std::vector<double> type_price;
  if (!sum.Solve(problem, price, false, answer.x, nullptr, &type_price)) {
    why = sum.failure();
    return false;
  }
  std::vector<double> value = problem.throughput;
  for (std::size_t k = 0; k < value.size(); ++k) value[k] /= price[k % price.size()];
  answer.certificate = CertifySum(problem, value, answer.x, type_price);
  return true;
}

bool SumOfThroughput(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  return Sum(problem, std::vector<double>(problem.workers.size(), 1.0), method, answer, why);
}
bool SumPerCost(const Problem& problem, LpMethod method, CertifiedAnswer& answer, const char*& why) {
  return Sum(problem, Prices(problem), method, answer, why);
}

bool Logs(const Problem& problem, LpMethod, CertifiedAnswer& answer, const char*& why) {
  NashAnswer found;
  if (!NashWelfare(problem, found)) {
    why = "the duality gap stays above 1e-9 a job";
    return false;
  }
  answer.certificate = CertifyLogs(problem, NormalizedWorth(problem), found.x, found.type_price);
  answer.x = std::move(found.x);
  return true;
}

constexpr CertifiedObjective kObjectives[] = {
    {"max_min", "largest least level, gang speed / (weight speed under the proportional split)", false, false,
     false, MaxMin, PairedMaxMin},
    {"water_filling", "the same, then the least of the rest, and so on; the value is the lowest level", false,
     false, false, Water, nullptr},
    {"proportional_fairness", "largest sum of the levels' logarithms", false, false, false, Logs, nullptr},
    {"max_sum_throughput", "most steps/s of all jobs", false, false, false, SumOfThroughput, nullptr},
    {"max_throughput_per_cost", "most steps/s over the price of the type", false, false, true, SumPerCost,
     nullptr},
    {"makespan", "shortest time to the last end, s", true, false, false, Makespan, nullptr},
    {"finish_time_fairness", "least largest ratio of finish times, shared over alone on an equal part", true,
     true, false, FairFinish, nullptr},
};

}  // namespace

std::span<const CertifiedObjective> CertifiedObjectives() {
  return kObjectives;
}

bool ProveLevels(const Problem& problem, const WaterLevels& levels, LpMethod method, double time_s,
                 Certificate& certificate, const char*& why) {
  const std::vector<double> worth = NormalizedWorth(problem);
  std::vector<WaterStage> stages;
  if (worth.size() > kMostWaterShares || !FindWaterPrices(problem, worth, levels.x, time_s, stages)) {
    stages.clear();
    if (!levels.first_price.empty()) stages.push_back(FirstStage(problem, worth, levels));
  }
  certificate = CertifyWater(problem, worth, levels.x, stages);
  // Where a level's prices hang on many others' their roundings grow from one to the next.
  if (certificate.gap <= kProven) return true;
  CertifiedAnswer lowest;  // that of max-min
  if (!MaxMin(problem, method, lowest, why)) return false;
  certificate.all_levels = false;
  certificate.bound = lowest.certificate.bound;
  certificate.gap = certificate.bound / certificate.value - 1.0;
  return true;
}

}  // namespace berth::gavel
