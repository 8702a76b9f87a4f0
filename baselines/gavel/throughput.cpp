// Most steps per second, or per unit of money (OSDI 2020 §4.3), of jobs alone and of jobs that may share a
// GPU.
#include <algorithm>
#include <cmath>
#include <utility>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/objectives.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "env/base/check.hpp"

namespace berth::gavel {

namespace {

// Of more shares than this columns are generated first (wide_shares.hpp).
constexpr std::size_t kWide = 20'000;
constexpr double kGap = 1e-7;  // of the sum

// Of values that solvers take for nearly 0, or that dwarf their tolerances, which are absolute: the unit in
// which the largest is from 1 to 2. 1 for speeds of ordinary jobs in steps/s. A power of two changes no
// digit.
double Unit(std::span<const double> values) {
  constexpr double kLeast = 0x1p-10, kMost = 0x1p20;
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, value);
  if (largest <= 0.0 || (largest >= kLeast && largest <= kMost)) return 1.0;
  return std::ldexp(1.0, std::ilogb(largest));
}

LpStatus SolveWide(const Problem& problem, std::span<const double> value, ShareMemory* memory,
                   double time_limit_s, Allocation& x, std::vector<double>* type_price) {
  ShareProgram program;
  JobClasses classes;
  StateShares(problem, value, {}, /*rise=*/0.0, program, classes);
  ShareAnswer solved;
  if (memory != nullptr) memory->Name(problem.key, classes.of_job, classes.size());
  const LpStatus status = SolveWideShares(program, ShareAim::kSum, solved, time_limit_s, /*gap=*/0.0, memory);
  if (status != LpStatus::kOptimal) return status;
  Allocation found;
  SpreadShares(classes, solved, problem.types(), found);
  solved.price.assign(solved.price.size(), 1.0);  // of the worth itself
  const ShareProof proof = Prove(program, solved);
  if (!(proof.bound - proof.reached <= kGap * proof.bound && proof.infeasibility <= kGap))
    return LpStatus::kError;
  x = std::move(found);
  if (type_price != nullptr) *type_price = solved.type_price;
  return LpStatus::kOptimal;
}

// Steps/s that keep a job's deadline, 0 where none is ahead.
double LeastRate(const Problem& problem, std::size_t job) {
  const double left = problem.left[job];
  return std::isfinite(left) && left > 0.0 ? problem.remaining[job] / left : 0.0;
}

}  // namespace

LpStatus ThroughputSum::SolveWith(const Problem& problem, std::span<const double> value,
                                  bool with_deadlines) {
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, value, model);
  AddBaseRows(problem, model);
  for (int i = 0; with_deadlines && i < problem.jobs(); ++i) {
    const double least = LeastRate(problem, static_cast<std::size_t>(i));
    if (least <= 0.0) continue;
    const std::span<const double> speeds(&problem.throughput[problem.at(i, 0)],
                                         static_cast<std::size_t>(problem.types()));
    const double unit = Unit(speeds);
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), problem.throughput[problem.at(i, j)] / unit);
    }
    model.EndRow(least / unit, kLpInfinity);
  }
  return lp_.Solve();
}

bool ThroughputSum::Solve(const Problem& problem, std::span<const double> price, bool with_deadlines,
                          Allocation& x, bool* feasible, std::vector<double>* type_price) {
  std::vector<double> value = problem.throughput;
  for (std::size_t k = 0; k < value.size(); ++k) value[k] /= price[k % price.size()];
  const double unit = Unit(value);
  for (double& its : value) its /= unit;
  const auto in_full = [&](std::vector<double>* prices) {
    if (prices == nullptr) return;
    for (double& its : *prices) its *= unit;
  };
  ShareMemory* memory = memory_ ? &*memory_ : nullptr;
  wide_timed_out_ = false;
  if (!with_deadlines && (memory_ || value.size() > kWide)) {
    const LpStatus wide = SolveWide(problem, value, memory, time_limit_s_, x, type_price);
    wide_timed_out_ = wide == LpStatus::kTimeLimit;
    if (feasible != nullptr) *feasible = wide == LpStatus::kOptimal;
    if (wide_timed_out_) return false;
    if (wide == LpStatus::kOptimal) {
      in_full(type_price);
      return true;
    }
  }
  LpStatus status = SolveWith(problem, value, with_deadlines);
  if (feasible != nullptr) *feasible = status == LpStatus::kOptimal;
  if (status == LpStatus::kInfeasible && with_deadlines) status = SolveWith(problem, value, false);
  if (status != LpStatus::kOptimal) return false;
  TakeShares(problem, lp_.solution(), x);
  if (type_price != nullptr) {
    const auto duals = lp_.solution().row_dual.begin();
    type_price->assign(duals, duals + problem.types());
  }
  in_full(type_price);
  return true;
}

bool PackedThroughputPerCost(const PackedProblem& problem, PackedLp& lp, std::span<const double> price,
                             bool with_deadlines, PackedAllocation& x, bool* feasible) {
  const Problem& base = problem.base;
  const std::vector<Combo> combos = UsefulCombos(problem);
  std::vector<double> value, least;
  for (const Combo& combo : combos) {
    value.push_back((combo.rate_first + combo.rate_second) / price[static_cast<std::size_t>(combo.type)]);
  }
  const double unit = Unit(value);
  for (double& its : value) its /= unit;
  for (std::size_t i = 0; with_deadlines && i < base.key.size(); ++i) least.push_back(LeastRate(base, i));
  LpStatus status = lp.MaximizeSum(problem, combos, value, least, x);
  if (feasible != nullptr) *feasible = status == LpStatus::kOptimal;
  if (status == LpStatus::kInfeasible && with_deadlines)
    status = lp.MaximizeSum(problem, combos, value, {}, x);
  return status == LpStatus::kOptimal;
}

std::vector<double> Prices(const Problem& problem) {
  const auto stated =
      std::count_if(problem.price.begin(), problem.price.end(), [](double p) { return p > 0.0; });
  if (stated == 0) return std::vector<double>(problem.workers.size(), 1.0);
  for (std::size_t j = 0; j < problem.price.size(); ++j) {
    if (problem.price[j] > 0.0) continue;
    throw Error(
        Join("gavel(objective=max_throughput_per_cost): expected a price_per_hour for every GPU type or for "
             "none, found none for ",
             problem.type_names[j]));
  }
  return problem.price;
}

namespace {

void PromiseSum(const Problem& problem, const std::vector<double>& price, const Allocation& x,
                Promise& promise) {
  promise.value = problem.throughput;
  for (std::size_t k = 0; k < x.size(); ++k) {
    promise.value[k] /= price[k % price.size()];
    promise.sum += promise.value[k] * x[k];
  }
}

class MaxSumThroughput final : public Objective {
 public:
  explicit MaxSumThroughput(const ObjectiveOptions& options)
      : sum_(options.method, options.lp_time_limit_s, options.warm) {}
  void Reset(std::uint64_t) override { sum_.Reset(); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    return sum_.Solve(problem, std::vector<double>(problem.workers.size(), 1.0), false, x);
  }
  void Promised(const Problem& problem, const Allocation& x, Promise& promise) const override {
    PromiseSum(problem, std::vector<double>(problem.workers.size(), 1.0), x, promise);
  }
  const char* failure() const override { return sum_.failure(); }

 private:
  ThroughputSum sum_;
};

class MaxThroughputPerCost final : public Objective {
 public:
  MaxThroughputPerCost(const ObjectiveOptions& options, bool with_deadlines)
      : sum_(options.method, options.lp_time_limit_s, options.warm), with_deadlines_(with_deadlines) {}
  void Reset(std::uint64_t) override { sum_.Reset(); }
  bool reads_future() const override { return with_deadlines_; }
  bool Allocate(const Problem& problem, Allocation& x) override {
    return sum_.Solve(problem, Prices(problem), with_deadlines_, x, &keeps_);
  }
  void Promised(const Problem& problem, const Allocation& x, Promise& promise) const override {
    PromiseSum(problem, Prices(problem), x, promise);
    if (!with_deadlines_ || !keeps_) return;
    promise.worth = problem.throughput;
    for (std::size_t i = 0; i < problem.key.size(); ++i) promise.least.push_back(LeastRate(problem, i));
  }
  const char* failure() const override { return sum_.failure(); }

 private:
  ThroughputSum sum_;
  bool with_deadlines_;
  bool keeps_ = false;  // all deadlines
};

class PackedThroughputObjective final : public PackedObjective {
 public:
  PackedThroughputObjective(const ObjectiveOptions& options, bool with_deadlines)
      : with_deadlines_(with_deadlines), lp_(options.method, options.lp_time_limit_s) {}
  bool reads_future() const override { return with_deadlines_; }
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    return PackedThroughputPerCost(problem, lp_, Prices(problem.base), with_deadlines_, x);
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  bool with_deadlines_;
  PackedLp lp_;
};

bool ReadKeepsDeadlines(Params& params) {
  return params.Choice("slo", {"ignore", "keep"}) == 1;
}

constexpr ParamInfo kPerCostParams[] = {
    {"slo", "ignore",
     "max_throughput_per_cost: ignore | keep: the deadlines bind too, or none does where not all can be "
     "kept"},
};

}  // namespace

ObjectiveInfo MaxSumThroughputObjective() {
  return {.summary = "most steps per second, whoever makes them",
          .source = "OSDI 2020 §4.3",
          .aware_name = "max_sum_throughput_perf",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .ties = true,
          .warm = true,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<MaxSumThroughput>(options);
          }};
}

ObjectiveInfo MaxThroughputPerCostObjective() {
  return {
      .summary = "most steps per unit of money, by the types' price_per_hour; slo=keep: with deadlines",
      .source = "OSDI 2020 §4.3",
      .aware_name = "max_sum_throughput_normalized_by_cost_perf[_SLOs: slo=keep]",
      .agnostic_name = "",
      .awareness = Awareness::kAwareOnly,
      .ties = true,
      .warm = true,
      .params = kPerCostParams,
      .make = [](const ObjectiveOptions& options, Params& params) -> std::unique_ptr<Objective> {
        return std::make_unique<MaxThroughputPerCost>(options, ReadKeepsDeadlines(params));
      },
      .packed_name = "max_sum_throughput_normalized_by_cost_packed[_SLOs: slo=keep]",
      .make_packed = [](const ObjectiveOptions& options, Params& params) -> std::unique_ptr<PackedObjective> {
        return std::make_unique<PackedThroughputObjective>(options, ReadKeepsDeadlines(params));
      }};
}

}  // namespace berth::gavel
