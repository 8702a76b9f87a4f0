#include "baselines/gavel/nash_welfare.hpp"

#include <algorithm>
#include <utility>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/share_program.hpp"
#include "baselines/gavel/wide_shares.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth::gavel {
namespace {

constexpr double kAim = 1e-10;  // of the gap, per job, where shares are few; kNashGap is what must be reached
constexpr std::size_t kFew = 3000;  // of classes and types
// Rounding may end a search early. Others, with GPUs fewer by this part each, end elsewhere.
constexpr double kFewer = 1e-11;
constexpr int kMostSearches = 4;

// What any prices of GPUs and of utilities prove (nash_welfare.hpp), with the least price of time that fits
// both.
double Bound(const ShareProgram& program, const ShareAnswer& answer) {
  double bound = 0.0;
  for (int j = 0; j < program.types(); ++j) bound += program.workers[U(j)] * answer.type_price[U(j)];
  for (int i = 0; i < program.classes(); ++i) {
    double time = 0.0, most = 0.0;
    const auto gpu = [&](int j) { return program.gang[U(i)] * answer.type_price[U(j)]; };
    for (int j = 0; j < program.types(); ++j)
      time = std::max(time, answer.price[U(i)] * program.worth[program.at(j, i)] - gpu(j));
    for (int j = 0; j < program.types(); ++j) {
      const double worth = program.worth[program.at(j, i)];
      if (worth > 0.0) most = std::max(most, worth / (gpu(j) + time));
    }
    bound += program.members[U(i)] * (time + Log(most) - 1.0);
  }
  return bound;
}

// Within `gap` a job, 0: what the digits surely reach.
bool FindShares(const ShareProgram& program, double gap, ShareAnswer& answer) {
  ShareProgram fewer = program;
  for (int search = 0; search < kMostSearches; ++search) {
    if (SolveWideShares(fewer, ShareAim::kLogs, answer, kLpInfinity, gap) == LpStatus::kOptimal) return true;
    for (double& workers : fewer.workers) workers *= 1.0 - kFewer;
  }
  return false;
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

bool NashWelfare(const Problem& problem, NashAnswer& answer, ShareMemory* memory) {
  const int m = problem.jobs(), types = problem.types();
  const std::vector<double> worth = NormalizedWorth(problem);
  ShareProgram program;
  JobClasses classes;
  StateShares(problem, worth, {}, /*rise=*/0.0, program, classes);
  ShareAnswer solved;
  if (memory != nullptr) memory->Name(problem, classes);
  const bool warm = memory != nullptr && SolveWideShares(program, ShareAim::kLogs, solved, kLpInfinity, 0.0,
                                                         memory) == LpStatus::kOptimal;
  if (!warm && !(program.worth.size() <= kFew && FindShares(program, kAim, solved)) &&
      !FindShares(program, 0.0, solved))
    return false;
  NashAnswer found;
  SpreadShares(classes, solved, types, found.x);
  double sum = 0.0;
  for (int i = 0; i < m; ++i) {
    double utility = 0.0;
    for (int j = 0; j < types; ++j) utility += worth[problem.at(i, j)] * found.x[problem.at(i, j)];
    found.utility.push_back(utility);
    sum += Log(utility);
  }
  found.gap = Bound(program, solved) - sum;
  found.geometric_mean = Exp(sum / m);
  found.type_price = solved.type_price;
  if (!(found.gap <= kNashGap * m)) return false;
  answer = std::move(found);
  return true;
}

bool StrategyProofDiscounts(const Problem& problem, const NashAnswer& answer, std::vector<double>& discount) {
  const int m = problem.jobs();
  discount.assign(U(m), 1.0);
  for (int i = 0; m > 1 && i < m; ++i) {
    NashAnswer without;
    if (!NashWelfare(Without(problem, i), without)) return false;
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
  bool Allocate(const Problem& problem, Allocation& x) override {
    NashAnswer answer;
    std::vector<double> discount;
    if (!NashWelfare(problem, answer) || !StrategyProofDiscounts(problem, answer, discount)) return false;
    x = std::move(answer.x);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] *= discount[k / problem.workers.size()];
    return true;
  }
  const char* failure() const override {
    return "the duality gap of the Nash welfare stays above 1e-9 a job";
  }
};

}  // namespace

ObjectiveInfo StrategyProofObjective() {
  return {.summary = "largest geometric mean of shares, each cut by what it costs the others",
          .source = "Cole et al., EC 2013; OSDI 2020 §4.4",
          .aware_name = "max_min_fairness_strategy_proof_perf (class only)",
          .agnostic_name = "",
          .awareness = Awareness::kAwareOnly,
          .make = [](const ObjectiveOptions&, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<StrategyProof>();
          }};
}

}  // namespace berth::gavel
