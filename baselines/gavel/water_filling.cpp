#include "baselines/gavel/water_filling.hpp"

#include <algorithm>
#include <cmath>

#include "baselines/gavel/base_constraints.hpp"
#include "baselines/gavel/objective_list.hpp"
#include "env/check.hpp"

namespace berth::gavel {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

// Floors are lowered by this part, so that what one LP found the next one can hold: ten times the solver's
// feasibility tolerance.
constexpr double kSlack = 1e-8;
// A price beyond this proves a bottleneck; a rise beyond kRise, relative to the level, proves none.
constexpr double kPrice = 1e-6, kRise = 1e-6;

}  // namespace

struct WaterFilling::State {
  const Problem& problem;
  bool by_tenant;
  std::vector<double> worth;      // [m, G] T_ij / prop_i
  std::vector<double> weight;     // [m] of this round; 0 = does not rise
  std::vector<double> so_far;     // [m] net
  std::vector<char> saturated;    // [m]
  std::vector<double> price;      // [m] of the level rows
  std::vector<double> last;       // [m, G] shares of the last level LP

  explicit State(const Problem& its_problem, bool tenants) : problem(its_problem), by_tenant(tenants) {
    worth = problem.throughput;
    const std::vector<double> proportional = ProportionalThroughput(problem);
    for (int i = 0; i < problem.jobs(); ++i) {
      for (int j = 0; j < problem.types(); ++j) worth[problem.at(i, j)] /= proportional[U(i)];
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
    if (!by_tenant) return;
    std::vector<double> sum(problem.tenants.size(), 0.0);
    std::vector<char> served(problem.tenants.size(), 0);
    for (int i = 0; i < problem.jobs(); ++i) {
      if (saturated[U(i)] == 0) sum[U(problem.tenant[U(i)])] += problem.weight[U(i)];
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

// Rows net_i >= so_far_i for all but `rising` jobs, whose own rows say more.
void WaterFilling::AddFloors(const State& state) {
  const Problem& problem = state.problem;
  for (int i = 0; i < problem.jobs(); ++i) {
    if (state.rises(i) || state.so_far[U(i)] <= 0.0) continue;
    for (int j = 0; j < problem.types(); ++j) {
      lp_.model().AddEntry(static_cast<int>(problem.at(i, j)), state.worth[problem.at(i, j)]);
    }
    lp_.model().EndRow(state.so_far[U(i)] * (1.0 - kSlack), kLpInfinity);
  }
}

// max c: (net_i - so_far_i) gang_i / weight_i >= c for the rising jobs, the others keep what they have.
bool WaterFilling::Raise(State& state) {
  const Problem& problem = state.problem;
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model);
  const int level = model.AddColumn(1.0, 0.0, kLpInfinity);
  AddBaseRows(problem, model);
  const int first = model.rows();
  for (int i = 0; i < problem.jobs(); ++i) {
    if (!state.rises(i)) continue;
    const double scale = problem.gang[U(i)] / state.weight[U(i)];
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), state.worth[problem.at(i, j)] * scale);
    }
    model.AddEntry(level, -1.0);
    model.EndRow(state.so_far[U(i)] * scale * (1.0 - kSlack), kLpInfinity);
  }
  AddFloors(state);
  if (lp_.Solve(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
  const LpSolution& solution = lp_.solution();
  const double c = solution.x[U(level)];
  state.last.assign(solution.x.begin(), solution.x.begin() + static_cast<std::ptrdiff_t>(state.worth.size()));
  state.price.assign(U(problem.jobs()), 0.0);
  int row = first;
  for (int i = 0; i < problem.jobs(); ++i) {
    if (!state.rises(i)) continue;
    state.price[U(i)] = std::max(0.0, -solution.row_dual[U(row++)]);
    state.so_far[U(i)] += c * state.weight[U(i)] / problem.gang[U(i)];
  }
  return true;
}

// Saturates every rising job that can rise no further.
bool WaterFilling::FindBottlenecks(State& state) {
  const Problem& problem = state.problem;
  std::vector<int> open;
  std::vector<char> bottleneck(U(problem.jobs()), 0);
  for (int i = 0; i < problem.jobs(); ++i) {
    if (!state.rises(i)) continue;
    bottleneck[U(i)] = 1;
    if (state.price[U(i)] <= kPrice) open.push_back(i);
  }
  while (!open.empty()) {
    LpModel& model = lp_.model();
    model.Clear();
    model.maximize = true;
    AddShares(problem, {}, model);
    std::vector<int> rise(U(problem.jobs()), -1);
    for (int i : open) rise[U(i)] = model.AddColumn(1.0, 0.0, 1.0);
    AddBaseRows(problem, model);
    for (int i = 0; i < problem.jobs(); ++i) {
      if (!state.rises(i)) continue;
      const double unit = state.so_far[U(i)];
      for (int j = 0; j < problem.types(); ++j) {
        model.AddEntry(static_cast<int>(problem.at(i, j)), state.worth[problem.at(i, j)] / unit);
      }
      if (rise[U(i)] >= 0) model.AddEntry(rise[U(i)], -1.0);
      model.EndRow(1.0 - kSlack, kLpInfinity);
    }
    AddFloors(state);
    if (lp_.Solve(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
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

// A point with these levels by the method asked for, which decides where in the set it lies.
bool WaterFilling::Reach(const State& state, Allocation& x) {
  const Problem& problem = state.problem;
  LpModel& model = lp_.model();
  model.Clear();
  model.maximize = true;
  AddShares(problem, {}, model);
  AddBaseRows(problem, model);
  for (int i = 0; i < problem.jobs(); ++i) {
    if (state.so_far[U(i)] <= 0.0) continue;
    for (int j = 0; j < problem.types(); ++j) {
      model.AddEntry(static_cast<int>(problem.at(i, j)), state.worth[problem.at(i, j)]);
    }
    model.EndRow(state.so_far[U(i)] * (1.0 - kSlack), kLpInfinity);
  }
  if (lp_.Solve() != LpStatus::kOptimal) return false;
  TakeShares(problem, lp_.solution(), x);
  return true;
}

bool WaterFilling::Solve(const Problem& problem, bool by_tenant, WaterLevels& levels) {
  State state(problem, by_tenant);
  bool reached = false;
  while (!state.done()) {
    state.ShareWeights();
    if (!Raise(state)) break;
    reached = true;
    const auto before = std::count(state.saturated.begin(), state.saturated.end(), 1);
    if (!FindBottlenecks(state)) break;
    if (std::count(state.saturated.begin(), state.saturated.end(), 1) == before) break;
  }
  if (!reached) return false;
  levels.x.assign(state.last.begin(), state.last.end());
  for (double& share : levels.x) share = std::clamp(share, 0.0, 1.0);
  if (lp_.method() != LpMethod::kSimplex) {
    Allocation inside;
    if (Reach(state, inside)) levels.x = std::move(inside);
  }
  levels.net.assign(U(problem.jobs()), 0.0);
  for (std::size_t k = 0; k < levels.x.size(); ++k) {
    levels.net[k / problem.workers.size()] += state.worth[k] * levels.x[k];
  }
  return true;
}

namespace {

class WaterFillingPolicy final : public Objective {
 public:
  WaterFillingPolicy(const ObjectiveOptions& options, bool by_tenant)
      : aware_(options.aware), by_tenant_(by_tenant), filling_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const Problem& problem, Allocation& x) override {
    WaterLevels levels;
    if (!filling_.Solve(aware_ ? problem : WithUnitThroughput(problem), by_tenant_, levels)) return false;
    x = std::move(levels.x);
    return true;
  }
  const char* failure() const override { return filling_.failure(); }

 private:
  bool aware_, by_tenant_;
  WaterFilling filling_;
};

}  // namespace

ObjectiveInfo WaterFillingObjective() {
  return {.summary = "max-min fairness, then the least of the rest, and so on (lexicographic)",
          .source = "OSDI 2020 §4.3",
          .aware_name = "max_min_fairness_water_filling_perf",
          .agnostic_name = "max_min_fairness_water_filling",
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<WaterFillingPolicy>(options, false);
          }};
}

ObjectiveInfo HierarchicalObjective() {
  return {.summary = "water filling over tenants by weight, within each by weight or in order (inner_policy)",
          .source = "OSDI 2020 §4.3",
          .aware_name = "hierarchical.ipynb: max_min_fairness_water_filling_perf with entities",
          .agnostic_name = "",
          .make = [](const ObjectiveOptions& options, Params&) -> std::unique_ptr<Objective> {
            return std::make_unique<WaterFillingPolicy>(options, true);
          }};
}

}  // namespace berth::gavel
