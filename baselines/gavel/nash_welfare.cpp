#include "baselines/gavel/nash_welfare.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/share_program.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "baselines/time_left.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"

namespace berth::gavel {
namespace {

constexpr double kAim = 1e-10;  // of the gap, per job, where shares are few; kNashGap is what must be reached
constexpr std::size_t kFew = 3000;  // of classes and types
// Rounding may end a search early, above all where a job's time and its GPUs run out at once. It is then
// begun again with GPUs and worth less by up to this part, at random, until one reaches its end. So often at
// most, and for so many shares in all:
constexpr double kLessAtRandom = 4e-10;
constexpr std::size_t kLeastSearches = 4, kMostSearches = 100, kMostShares = 100'000;

// What any prices of GPUs prove (nash_welfare.hpp) with these of a class' time.
template <class Time>
double Bound(const ShareProgram& program, std::span<const double> type_price, const Time& time_of) {
  double bound = 0.0;
  for (int j = 0; j < program.types(); ++j) bound += program.workers[U(j)] * type_price[U(j)];
  for (int i = 0; i < program.classes(); ++i) {
    const double time = time_of(i);
    double most = 0.0;
    for (int j = 0; j < program.types(); ++j) {
      if (program.workers[U(j)] <= 0.0) continue;  // nobody has a share there
      most = std::max(most, program.worth[program.at(j, i)] / (program.gang[U(i)] * type_price[U(j)] + time));
    }
    bound += program.members[U(i)] * (time + Log(most) - 1.0);
  }
  return bound;
}

// With the least prices of time that fit those of utilities; where rounding makes these prove too little,
// with the best ones: those at which the type that is worth most for what it costs costs 1, or 0.
double Gap(const ShareProgram& program, const ShareAnswer& answer, double reached, double enough) {
  const auto gpu = [&](int i, int j) { return program.gang[U(i)] * answer.type_price[U(j)]; };
  const double gap =
      Bound(program, answer.type_price,
            [&](int i) {
              double time = 0.0;
              for (int j = 0; j < program.types(); ++j)
                time = std::max(time, answer.price[U(i)] * program.worth[program.at(j, i)] - gpu(i, j));
              return time;
            }) -
      reached;
  if (gap <= enough) return gap;
  return Bound(program, answer.type_price,
               [&](int i) {
                 double low = 0.0, high = 1.0;
                 for (int halving = 0; halving < 55; ++halving) {
                   const double middle = 0.5 * (low + high);
                   double most = 0.0, cost = 0.0;
                   for (int j = 0; j < program.types(); ++j) {
                     const double worth = program.worth[program.at(j, i)] / (gpu(i, j) + middle);
                     if (program.workers[U(j)] > 0.0 && worth > most) most = worth, cost = gpu(i, j) + middle;
                   }
                   (cost < 1.0 ? low : high) = middle;
                 }
                 return high;
               }) -
         reached;
}

// With all columns at once, where SolveWideShares generates them: another path to the same end.
bool SolveWhole(const ShareProgram& program, double gap, const TimeLeft& left, ShareAnswer& answer) {
  ShareColumns columns;
  for (int i = 0; i < program.classes(); ++i) {
    columns.begin.push_back(columns.type.size());
    for (int j = 0; j < program.types(); ++j) {
      const double worth = program.worth[program.at(j, i)];
      if (worth <= 0.0 || program.workers[U(j)] <= 0.0) continue;
      columns.type.push_back(j);
      columns.worth.push_back(worth);
    }
    if (columns.type.size() == columns.begin.back()) return false;  // can have nothing
  }
  columns.begin.push_back(columns.type.size());
  ColumnProgram whole(program, columns, ShareAim::kLogs);
  const auto beyond = [&left] { return -left.seconds(); };  // the limit: 0 or more when time is over
  if (whole.Solve(gap, 0.0, beyond) != LpStatus::kOptimal) return false;
  answer.x.assign(program.worth.size(), 0.0);
  for (int i = 0; i < program.classes(); ++i) {
    for (std::size_t k = columns.begin[U(i)]; k < columns.begin[U(i) + 1]; ++k)
      answer.x[program.at(columns.type[k], i)] = whole.slack().share[static_cast<Eigen::Index>(k)];
  }
  answer.type_price.assign(whole.price().type.begin(), whole.price().type.end());
  answer.price.assign(whole.price().worth.begin(), whole.price().worth.end());
  return true;
}

ShareProgram WithLess(const ShareProgram& program, std::size_t search) {
  ShareProgram less = program;
  Stream random(/*seed=*/0, Purpose::kScheduler, Split::kTrain, static_cast<std::uint32_t>(search));
  for (auto* values : {&less.workers, &less.worth}) {
    for (double& value : *values) value *= 1.0 - random.Uniform(0.0, kLessAtRandom);
  }
  return less;
}

Problem Without(const Problem& problem, int job) {
  Problem rest;
  rest.workers = problem.workers;
  for (int i = 0; i < problem.jobs(); ++i) {
    if (i == job) continue;
    rest.key.push_back(problem.key[U(i)]);
    rest.gang.push_back(problem.gang[U(i)]);
    rest.weight.push_back(problem.weight[U(i)]);
    for (int j = 0; j < problem.types(); ++j) rest.throughput.push_back(problem.throughput[problem.at(i, j)]);
  }
  return rest;
}

}  // namespace

bool NashWelfare(const Problem& problem, NashAnswer& answer, ShareMemory* memory, double time_limit_s) {
  const TimeLeft left(time_limit_s);
  const int m = problem.jobs(), types = problem.types();
  const std::vector<double> worth = NormalizedWorth(problem);
  ShareProgram program;
  JobClasses classes;
  StateShares(problem, worth, {}, /*rise=*/0.0, program, classes);
  const std::size_t shares = program.worth.size(), as_it_is = shares <= kFew ? 2 : 1;
  const std::size_t most = std::clamp(kMostShares / shares, kLeastSearches, kMostSearches);
  if (memory != nullptr) memory->Name(problem.key, classes.of_job, classes.size());
  for (std::size_t search = 0; search < most && !left.over(); ++search) {
    const ShareProgram its = search < as_it_is ? program : WithLess(program, search);
    ShareAnswer solved;
    if (auto* start = std::exchange(memory, nullptr); start != nullptr) {
      const LpStatus status = SolveWideShares(its, ShareAim::kLogs, solved, left.seconds(), 0.0, start);
      if (status != LpStatus::kOptimal) continue;
    } else if (as_it_is == 2 && search % 2 == 0) {
      if (!SolveWhole(its, search == 0 ? kAim : kNashGap, left, solved)) continue;
    } else if (SolveWideShares(its, ShareAim::kLogs, solved, left.seconds()) != LpStatus::kOptimal) {
      continue;
    }
    NashAnswer found;
    SpreadShares(classes, solved, types, found.x);
    double sum = 0.0;
    for (int i = 0; i < m; ++i) {
      double utility = 0.0;
      for (int j = 0; j < types; ++j) utility += worth[problem.at(i, j)] * found.x[problem.at(i, j)];
      found.utility.push_back(utility);
      sum += Log(utility);
    }
    found.gap = Gap(program, solved, sum, kNashGap * m);
    found.geometric_mean = Exp(sum / m);
    found.type_price = solved.type_price;
    if (!(found.gap <= kNashGap * m)) continue;
    answer = std::move(found);
    return true;
  }
  return false;
}

bool StrategyProofDiscounts(const Problem& problem, const NashAnswer& answer, std::vector<double>& discount,
                            double time_limit_s) {
  const TimeLeft left(time_limit_s);
  const int m = problem.jobs();
  discount.assign(U(m), 1.0);
  for (int i = 0; m > 1 && i < m; ++i) {
    NashAnswer without;
    if (!NashWelfare(Without(problem, i), without, /*memory=*/nullptr, left.seconds())) return false;
    double sum = 0.0;
    for (int k = 0; k < m; ++k) {
      if (k != i) sum += Log(answer.utility[U(k)] / without.utility[U(k < i ? k : k - 1)]);
    }
    discount[U(i)] = std::min(1.0, Exp(sum));
  }
  return true;
}

namespace {

class StrategyProof final : public Objective {
 public:
  explicit StrategyProof(double time_limit_s) : time_limit_s_(time_limit_s) {}
  bool Allocate(const Problem& problem, Allocation& x) override {
    NashAnswer answer;
    std::vector<double> discount;
    const TimeLeft left(time_limit_s_);
    if (!NashWelfare(problem, answer, /*memory=*/nullptr, left.seconds()) ||
        !StrategyProofDiscounts(problem, answer, discount, left.seconds())) {
      failure_ = left.over() ? Explain(LpStatus::kTimeLimit) : kGapStaysOpen;
      return false;
    }
    x = std::move(answer.x);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] *= discount[k / problem.workers.size()];
    return true;
  }
  const char* failure() const override { return failure_; }

 private:
  static constexpr const char* kGapStaysOpen = "the duality gap of the Nash welfare stays above 1e-9 a job";
  double time_limit_s_;
  const char* failure_ = kGapStaysOpen;
};

}  // namespace

ObjectiveInfo StrategyProofObjective() {
  return {.summary = "largest geometric mean of shares, each cut by what it costs the others",
          .source = "Cole et al., EC 2013; OSDI 2020 §4.4",
          .aware_name = "max_min_fairness_strategy_proof_perf (class only)",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<StrategyProof>(options.lp_time_limit_s);
          }};
}

}  // namespace berth::gavel
