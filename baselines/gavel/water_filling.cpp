#include "baselines/gavel/water_filling.hpp"

#include <algorithm>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/gavel/packed_objectives.hpp"
#include "baselines/gavel/type_bottleneck.hpp"
#include "baselines/gavel/water_path.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

// Floors are lowered by the first of these parts with which the LP is feasible, so that what one LP found to
// within the solver's tolerance the next one can hold.
constexpr double kFloorSlacks[] = {1e-10, 1e-9, 1e-8};
// Rises apart by less than this part of the time are one level.
constexpr double kApart = 1e-9;
// By which part of its level a point inside may miss it: its method ends at 1e-8 of the whole program. At
// thousandfold weights that is much of the least level, which is then no rounding. Of who has nothing, such
// as those who wait in order, the part of what the proportional split would give a thousandth of the time.
constexpr double kMissed = 1e-7;
constexpr double kNothing = 1e-8, kLittle = 1e-3;
constexpr std::size_t kMostInside = 20'000;  // shares of which a point inside is worth its time

// Takes from all who use a type what rounding gave them beyond its GPUs.
void KeepWithin(const Problem& problem, const std::vector<double>& members, Allocation& x) {
  for (int j = 0; j < problem.types(); ++j) {
    double used = 0.0;
    for (int i = 0; i < problem.jobs(); ++i) used += members[U(i)] * problem.gang[U(i)] * x[problem.at(i, j)];
    if (used <= problem.workers[U(j)]) continue;
    for (int i = 0; i < problem.jobs(); ++i) x[problem.at(i, j)] *= problem.workers[U(j)] / used;
  }
}

}  // namespace

// Over classes of jobs: each entry is that of every member.
struct WaterFilling::State {
  const Problem& problem;
  WaterOptions options;
  const std::vector<double>& members;
  double most = 0.0;            // M: no job's level can exceed it at weight 1
  std::vector<double> worth;    // [m, G] T_ij / prop_i
  std::vector<double> level;    // [m] net
  std::vector<char> saturated;  // [m]
  double time = 0.0;            // of the last level
  // Before the last rise: levels, and weights, 0 = does not rise.
  std::vector<double> so_far, weight;

  State(const Problem& its_problem, const WaterOptions& its_options, const std::vector<double>& its_members)
      : problem(its_problem), options(its_options), members(its_members) {
    worth = problem.throughput;
    const std::vector<double> proportional = ProportionalThroughput(problem);
    for (int i = 0; i < problem.jobs(); ++i) {
      for (int j = 0; j < problem.types(); ++j) {
        double& its = worth[problem.at(i, j)];
        its = its > 0.0 ? its / proportional[U(i)] : 0.0;
        most = std::max(most, problem.gang[U(i)] * its);
      }
    }
    level.assign(U(problem.jobs()), 0.0);
    saturated.assign(U(problem.jobs()), 0);
  }
  bool done() const {
    return std::all_of(saturated.begin(), saturated.end(), [](char s) { return s != 0; });
  }

  // Whether these shares give every job its level, and those who rise no more not more.
  bool Gives(const Allocation& x) const {
    for (int i = 0; i < problem.jobs(); ++i) {
      double net = 0.0;
      for (int j = 0; j < problem.types(); ++j) net += worth[problem.at(i, j)] * x[problem.at(i, j)];
      const double within = kMissed * (level[U(i)] > kNothing ? level[U(i)] : kLittle);
      if (net < level[U(i)] - within || (saturated[U(i)] != 0 && net > level[U(i)] + within)) return false;
    }
    return true;
  }

  // To `end` on this path, level by level. False where the reference stops before: nobody is saturated then.
  bool Rise(const WaterPath& path, double end) {
    std::vector<double> times = path.stop();
    std::erase_if(times, [&](double stop) { return stop <= path.begin() || stop >= end; });
    times.push_back(end);
    std::sort(times.begin(), times.end());
    double stops_at = kLpInfinity;
    double before = time;
    for (const double next : times) {
      if (next - time > kApart * next) {
        path.At(time, level, weight);
        const bool all = std::all_of(weight.begin(), weight.end(), [](double rate) { return rate > 0.0; });
        if (options.reference_cap && !all && next - time > most) stops_at = time + most;
        before = time;
      }
      if (stops_at < kLpInfinity) break;
      time = next;
    }
    if (before < time || stops_at < kLpInfinity) {
      path.At(before, so_far, weight);
      for (int i = 0; i < problem.jobs(); ++i) weight[U(i)] *= problem.gang[U(i)];
    }
    for (int i = 0; i < problem.jobs(); ++i) saturated[U(i)] |= path.stop()[U(i)] <= time ? 1 : 0;
    std::vector<double> rate;
    const bool stops = stops_at < kLpInfinity;
    path.At(stops ? stops_at : time, level, rate);
    return !stops;
  }
};

// max c: (net_i - so_far_i) gang_i / weight_i >= c for the rising jobs, the others keep what they have: the
// last level's program. Stated as the reference does, since its solver's point depends on the rows; c <= M
// stands once for each other job.
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
    if (state.weight[U(i)] > 0.0) {
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

// The point of the last level where the method ends: an allocation with the same levels from the inside.
void WaterFilling::FromInside(const State& state, Allocation& x) {
  if (lp_.method() == LpMethod::kSimplex || x.size() > kMostInside) return;
  for (const double slack : {0.0, kFloorSlacks[0], kFloorSlacks[1], kFloorSlacks[2]}) {
    if (slack == 0.0 && lp_.method() == LpMethod::kInteriorPoint) continue;
    StateLevel(state, slack);
    if (lp_.SolveOnly(lp_.method()) != LpStatus::kOptimal) continue;
    Allocation inside;
    TakeShares(state.problem, lp_.solution(), inside);
    if (state.Gives(inside)) x = std::move(inside);
    return;
  }
}

bool WaterFilling::Solve(const Problem& problem, const WaterOptions& options, WaterLevels& levels) {
  const JobClasses classes = ClassesOf(problem, options);
  const Problem one = OneOfEach(problem, classes);
  State state(one, options, classes.members);
  WaterPath path(one, classes.members, options.by_tenant);
  TypeBottleneck bottleneck(one, classes.members, state.worth, lp_, time_limit_s_, warm_ ? &last_ : nullptr);
  std::vector<double> most = bottleneck.Settle(state.level, state.saturated);
  bool reached = false;
  levels.first_price.clear();
  while (!state.done()) {
    path.Start(state.time, state.level, state.saturated, most);
    const TypeBottleneck::Found found = bottleneck.Next(path);
    if (found == TypeBottleneck::Found::kFailed) break;
    reached = true;
    if (found == TypeBottleneck::Found::kTypes && levels.first_price.empty()) {
      levels.first_price = bottleneck.price();
      levels.first_level = bottleneck.time();
    }
    if (!state.Rise(path, bottleneck.time())) break;
    if (found == TypeBottleneck::Found::kTypes) most = bottleneck.Settle(state.level, state.saturated);
  }
  if (!reached) return false;
  Allocation x = bottleneck.x();
  KeepWithin(one, classes.members, x);
  FromInside(state, x);
  levels.x.resize(problem.throughput.size());
  levels.promised.resize(problem.key.size());
  levels.saturated.resize(problem.key.size());
  levels.net.assign(problem.key.size(), 0.0);
  for (int i = 0; i < problem.jobs(); ++i) {
    const int its = classes.of_job[U(i)];
    levels.promised[U(i)] = state.level[U(its)];
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
      : aware_(options.aware),
        water_(water),
        filling_(options.method, options.lp_time_limit_s, options.warm) {}
  void Reset(std::uint64_t) override { filling_.Reset(); }
  bool Allocate(const Problem& problem, Allocation& x) override {
    WaterLevels levels;
    if (!filling_.Solve(aware_ ? problem : WithUnitThroughput(problem), water_, levels)) return false;
    x = std::move(levels.x);
    return true;
  }
  void Promised(const Problem& problem, const Allocation& x, Promise& promise) const override {
    promise.worth = (aware_ ? problem : WithUnitThroughput(problem)).throughput;
    for (int i = 0; i < problem.jobs(); ++i) {
      double& least = promise.least.emplace_back(0.0);
      for (int j = 0; j < problem.types(); ++j)
        least += promise.worth[problem.at(i, j)] * x[problem.at(i, j)];
    }
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
          .ties = true,
          .warm = true,
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
          .ties = true,
          .warm = true,
          .params = kHierarchicalParams,
          .make = [](const ObjectiveOptions& options, Params& params) -> std::unique_ptr<Objective> {
            const WaterOptions water{.by_tenant = true,
                                     .reference_cap = params.Choice("cap", {"none", "reference"}) == 1};
            return std::make_unique<WaterFillingPolicy>(options, water);
          }};
}

}  // namespace berth::gavel
