#include "baselines/gavel/water_filling.hpp"

#include <algorithm>
#include <optional>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

// Floors are lowered by the first of these parts with which the LP is feasible, so that what one LP found to
// within the solver's tolerance the next one can hold.
constexpr double kSlacks[] = {1e-10, 1e-9, 1e-8};
// A price beyond this proves a bottleneck; a rise beyond kRise of the best that a job could have proves none.
constexpr double kPrice = 1e-6, kRise = 1e-6;

}  // namespace

// Over classes of jobs: each entry is that of every member.
struct WaterFilling::State {
  const Problem& problem;
  WaterOptions options;
  const std::vector<double>& members;
  double most = 0.0;            // M: no job's level can exceed it at weight 1
  std::vector<double> worth;    // [m, G] T_ij / prop_i
  std::vector<double> weight;   // [m] of this round; 0 = does not rise
  std::vector<double> so_far;   // [m] net
  std::vector<char> saturated;  // [m]
  std::vector<double> price;    // [m] of the level rows
  Allocation last;              // [m, G] of the last level LP

  State(const Problem& its_problem, const WaterOptions& its_options, const std::vector<double>& its_members)
      : problem(its_problem), options(its_options), members(its_members) {
    worth = problem.throughput;
    const std::vector<double> proportional = ProportionalThroughput(problem);
    for (int i = 0; i < problem.jobs(); ++i) {
      for (int j = 0; j < problem.types(); ++j) {
        worth[problem.at(i, j)] /= proportional[U(i)];
        most = std::max(most, problem.gang[U(i)] * worth[problem.at(i, j)]);
      }
    }
    so_far.assign(U(problem.jobs()), 0.0);
    saturated.assign(U(problem.jobs()), 0);
    weight = problem.weight;
  }
  bool rises(int i) const { return saturated[U(i)] == 0 && weight[U(i)] > 0.0; }
  bool done() const {
    return std::all_of(saturated.begin(), saturated.end(), [](char s) { return s != 0; });
  }

  // An entity's weight is shared by weight among its unsaturated jobs, or goes to the first of them.
  void ShareWeights() {
    if (!options.by_tenant) return;
    std::vector<double> sum(problem.tenants.size(), 0.0);
    std::vector<char> served(problem.tenants.size(), 0);
    for (int i = 0; i < problem.jobs(); ++i) {
      if (saturated[U(i)] == 0) sum[U(problem.tenant[U(i)])] += members[U(i)] * problem.weight[U(i)];
    }
    for (int i = 0; i < problem.jobs(); ++i) {
      const std::size_t tenant = U(problem.tenant[U(i)]);
      weight[U(i)] = 0.0;
      if (saturated[U(i)] != 0) continue;
      if (!problem.tenants[tenant].fifo) {
        weight[U(i)] = problem.tenants[tenant].weight * problem.weight[U(i)] / sum[tenant];
      } else if (served[tenant] == 0) {
        weight[U(i)] = problem.tenants[tenant].weight;
        served[tenant] = 1;
      }
    }
  }
};

// max c: (net_i - so_far_i) gang_i / weight_i >= c for the rising jobs, the others keep what they have.
// Stated as the reference does, since its solver's point depends on the rows; c <= M stands once for each
// other job.
void WaterFilling::StateLevel(const State& state, double slack) {
  const Problem& problem = state.problem;
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model, state.members);
  const int level = model.AddColumn(1.0, -kLpInfinity, kLpInfinity);
  AddBaseRows(problem, model, state.members);
  const auto add = [&](int i, double scale) {
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), state.worth[problem.at(i, j)] * scale);
    }
  };
  for (int i = 0; i < problem.jobs(); ++i) {
    if (state.rises(i)) {
      const double scale = problem.gang[U(i)] / state.weight[U(i)];
      add(i, scale);
      model.AddEntry(level, -1.0);
      model.EndRow(state.so_far[U(i)] * scale * (1.0 - slack), kLpInfinity, state.members[U(i)]);
    } else if (state.options.reference_cap) {
      model.AddEntry(level, -1.0);
      model.EndRow(-state.most, kLpInfinity, state.members[U(i)]);
    }
  }
  for (int i = 0; i < problem.jobs(); ++i) {
    add(i, 1.0);
    model.EndRow(state.so_far[U(i)] * (1.0 - slack), kLpInfinity, state.members[U(i)]);
  }
}

bool WaterFilling::Raise(State& state) {
  const Problem& problem = state.problem;
  // The reference's point first, where it is asked for, with its own floors: held to the last digit they
  // leave no room, and its method may see none. Then a vertex, which proves its level.
  LpStatus status = LpStatus::kError;
  if (lp_.method() == LpMethod::kEmbedding) {
    StateLevel(state, 0.0);
    status = lp_.SolveOnly(LpMethod::kEmbedding);
  }
  for (const double slack : kSlacks) {
    if (status == LpStatus::kOptimal || status == LpStatus::kTimeLimit) break;
    StateLevel(state, slack);
    status = lp_.Solve(LpMethod::kSimplex);
  }
  if (status != LpStatus::kOptimal) return false;
  const LpSolution& solution = lp_.solution();
  const double c = solution.x[state.worth.size()];
  TakeShares(problem, solution, state.last);
  state.price.assign(U(problem.jobs()), 0.0);
  // Base rows first, then one for each rising job, with those of the cap between.
  int row = problem.types() + problem.jobs();
  for (int i = 0; i < problem.jobs(); ++i) {
    if (state.rises(i)) {
      state.price[U(i)] = std::max(0.0, -solution.row_dual[U(row++)]) / state.members[U(i)];
    } else if (state.options.reference_cap) {
      ++row;
    }
  }
  for (int i = 0; i < problem.jobs(); ++i) {
    if (state.rises(i)) state.so_far[U(i)] += c * state.weight[U(i)] / problem.gang[U(i)];
  }
  return true;
}

// max sum of the open jobs' rises above what they have, in units of the best that each could have; [m] their
// columns, -1 = none.
std::vector<int> WaterFilling::StateRises(const State& state, const std::vector<int>& open, double slack) {
  const Problem& problem = state.problem;
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model, state.members);
  std::vector<int> rise(U(problem.jobs()), -1);
  for (int i : open) rise[U(i)] = model.AddColumn(state.members[U(i)], 0.0, 1.0, state.members[U(i)]);
  AddBaseRows(problem, model, state.members);
  for (int i = 0; i < problem.jobs(); ++i) {
    const auto row = state.worth.begin() + static_cast<std::ptrdiff_t>(problem.at(i, 0));
    const double best = *std::max_element(row, row + problem.types());
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), row[j] / best);
    }
    if (rise[U(i)] >= 0) model.AddEntry(rise[U(i)], -1.0);
    model.EndRow(state.so_far[U(i)] / best * (1.0 - slack), kLpInfinity, state.members[U(i)]);
  }
  return rise;
}

// Saturates every rising job that can rise no further.
bool WaterFilling::FindBottlenecks(State& state) {
  const Problem& problem = state.problem;
  std::vector<int> open;
  std::vector<char> bottleneck(U(problem.jobs()), 0);
  for (int i = 0; i < problem.jobs(); ++i) {
    if (!state.rises(i)) continue;
    bottleneck[U(i)] = 1;
    if (state.price[U(i)] > kPrice) continue;
    // One that stands above its level in the allocation at hand can rise: from inside the face that is each
    // that can, and no LP is needed.
    const auto row = U(problem.types()) * U(i);
    double net = 0.0, best = 0.0;
    for (std::size_t k = row; k < row + U(problem.types()); ++k) {
      net += state.worth[k] * state.last[k];
      best = std::max(best, state.worth[k]);
    }
    if (net - state.so_far[U(i)] > kRise * best) {
      bottleneck[U(i)] = 0;
    } else {
      open.push_back(i);
    }
  }
  while (!open.empty()) {
    LpStatus status = LpStatus::kInfeasible;
    std::vector<int> rise;
    for (const double slack : kSlacks) {
      if (status == LpStatus::kOptimal || status == LpStatus::kTimeLimit) break;
      rise = StateRises(state, open, slack);
      status = lp_.Solve(LpMethod::kSimplex);
    }
    if (status != LpStatus::kOptimal) return false;
    const std::size_t before = open.size();
    std::erase_if(open, [&](int i) {
      if (lp_.solution().x[U(rise[U(i)])] <= kRise) return false;
      bottleneck[U(i)] = 0;
      return true;
    });
    if (open.size() == before) break;
  }
  for (int i = 0; i < problem.jobs(); ++i) state.saturated[U(i)] |= bottleneck[U(i)];
  return true;
}

// Jobs of a tenant that serves them in order are each a class of their own.
JobClasses WaterFilling::ClassesOf(const Problem& problem, const WaterOptions& options) {
  std::vector<double> owner(U(problem.jobs()), 0.0);
  for (int i = 0; options.by_tenant && i < problem.jobs(); ++i) {
    const int tenant = problem.tenant[U(i)];
    owner[U(i)] = problem.tenants[U(tenant)].fifo ? -1.0 - i : tenant;
  }
  JobClasses classes;
  Classify(problem, problem.throughput, {problem.weight, owner}, classes);
  return classes;
}

bool WaterFilling::Solve(const Problem& problem, const WaterOptions& options, WaterLevels& levels) {
  const JobClasses classes = ClassesOf(problem, options);
  const Problem one = OneOfEach(problem, classes);
  State state(one, options, classes.members);
  std::optional<State> last;  // before the last rise
  bool reached = false;
  while (!state.done()) {
    state.ShareWeights();
    last.emplace(state);
    if (!Raise(state)) break;
    reached = true;
    const auto before = std::count(state.saturated.begin(), state.saturated.end(), 1);
    if (!FindBottlenecks(state)) break;
    if (std::count(state.saturated.begin(), state.saturated.end(), 1) == before) break;
  }
  if (!reached) return false;
  Allocation x = std::move(state.last);
  if (lp_.method() == LpMethod::kInteriorPoint) {  // the last level once more, from the inside
    StateLevel(*last, kSlacks[1]);
    if (lp_.SolveOnly(LpMethod::kInteriorPoint) == LpStatus::kOptimal) TakeShares(one, lp_.solution(), x);
  }
  levels.x.resize(problem.throughput.size());
  levels.promised.resize(problem.key.size());
  levels.saturated.resize(problem.key.size());
  levels.net.assign(problem.key.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    const int its = classes.of_job[U(i)];
    levels.promised[U(i)] = state.so_far[U(its)];
    levels.saturated[U(i)] = state.saturated[U(its)] != 0;
    for (int j = 0; j < problem.types(); ++j) {
      const double share = levels.x[problem.at(i, j)] = x[problem.at(its, j)];
      levels.net[U(i)] += state.worth[problem.at(its, j)] * share;
    }
  }
  return true;
}

namespace {

class WaterFillingPolicy final : public Objective {
 public:
  WaterFillingPolicy(const ObjectiveOptions& options, const WaterOptions& water)
      : aware_(options.aware), water_(water), filling_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const Problem& problem, Allocation& x) override {
    WaterLevels levels;
    if (!filling_.Solve(aware_ ? problem : WithUnitThroughput(problem), water_, levels)) return false;
    x = std::move(levels.x);
    return true;
  }
  const char* failure() const override { return filling_.failure(); }

 private:
  bool aware_;
  WaterOptions water_;
  WaterFilling filling_;
};

constexpr ParamInfo kHierarchicalParams[] = {
    {"cap", "none", "hierarchical: none | reference: stop short where the reference does (a bug there)"},
};

}  // namespace

ObjectiveInfo WaterFillingObjective() {
  return {.summary = "max-min fairness, then the least of the rest, and so on (lexicographic)",
          .source = "OSDI 2020 §4.3",
          .aware_name = "max_min_fairness_water_filling_perf",
          .agnostic_name = "max_min_fairness_water_filling",
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<WaterFillingPolicy>(options, WaterOptions{});
          },
          .packed_name = "max_min_fairness_water_filling_packed",
          .make_packed = MakePackedWaterFilling};
}

ObjectiveInfo HierarchicalObjective() {
  return {.summary = "water filling over tenants by weight, within each by weight or in order (inner_policy)",
          .source = "OSDI 2020 §4.3",
          .aware_name = "hierarchical.ipynb: max_min_fairness_water_filling_perf with entities",
          .agnostic_name = "",
          .params = kHierarchicalParams,
          .make = [](const ObjectiveOptions& options, Params& params) -> std::unique_ptr<Objective> {
            const WaterOptions water{.by_tenant = true,
                                     .reference_cap = params.Choice("cap", {"none", "reference"}) == 1};
            return std::make_unique<WaterFillingPolicy>(options, water);
          }};
}

}  // namespace berth::gavel
