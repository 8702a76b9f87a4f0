#include <algorithm>
#include <numeric>
#include <optional>

#include "baselines/cheapest_assignment.hpp"
#include "baselines/optimisation/programs.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {

LoadModel MakespanModel(const Instance& instance, double longest) {
  LoadModel model;
  LpModel& lp = model.lp;
  const int makespan = lp.AddColumn(1.0, 0.0, kLpInfinity);
  model.column.assign(instance.job.size(), std::vector<int>(instance.free_at.size(), -1));
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int type = 0; type < instance.types(); ++type) {
      if (instance.at(i, type) <= longest && instance.at(i, type) < kNever)
        model.column[U(i)][U(type)] = lp.AddColumn(0.0, 0.0, 1.0);
    }
  }
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int column : model.column[U(i)]) {
      if (column >= 0) lp.AddEntry(column, 1.0);
    }
    lp.EndRow(1.0, 1.0);
  }
  for (int type = 0; type < instance.types(); ++type) {
    const auto& free_at = instance.free_at[U(type)];
    if (free_at.empty()) continue;
    const auto gpus = static_cast<double>(free_at.size());
    lp.AddEntry(makespan, -1.0);
    for (int i = 0; i < instance.jobs(); ++i) {
      const int column = model.column[U(i)][U(type)];
      if (column >= 0) lp.AddEntry(column, instance.gang[U(i)] * instance.at(i, type) / gpus);
    }
    lp.EndRow(-kLpInfinity, -std::accumulate(free_at.begin(), free_at.end(), 0.0) / gpus);
  }
  return model;
}

namespace {

constexpr double kRounding = 1e-7;  // of a share; the LP's tolerance is 1e-9

struct Relaxed {
  std::vector<std::vector<int>> column;  // [n][G] of "job i on type j", -1 = not allowed
  std::vector<double> x;
  double makespan = kNever;  // kNever = infeasible
  double Share(int i, int type) const {
    const int its = column[U(i)][U(type)];
    return its < 0 ? 0.0 : x[U(its)];
  }
};

// The LP over pairs that take at most `longest`; nothing where its answer does not stand the check. Only a
// job without a pair makes it infeasible, as the makespan is free.
std::optional<Relaxed> Relax(const Instance& instance, double longest, CheckedLp& lp) {
  LoadModel model = MakespanModel(instance, longest);
  Relaxed relaxed{std::move(model.column), {}, kNever};
  for (const std::vector<int>& columns : relaxed.column) {
    if (*std::max_element(columns.begin(), columns.end()) < 0) return relaxed;
  }
  lp.model() = std::move(model.lp);
  // No other method: the rounding is of a vertex.
  if (lp.SolveOnly(LpMethod::kSimplex) != LpStatus::kOptimal) return std::nullopt;
  relaxed.x = lp.solution().x;
  relaxed.makespan = relaxed.x[0];
  return relaxed;
}

// Whether the LP's answer uses only pairs that take at most its makespan: then pruning changes nothing.
bool UsesShortPairs(const Instance& instance, const Relaxed& relaxed) {
  for (int i = 0; i < instance.jobs(); ++i) {
    for (int type = 0; type < instance.types(); ++type) {
      if (relaxed.Share(i, type) > kRounding && instance.at(i, type) > relaxed.makespan * (1.0 + 1e-9))
        return false;
    }
  }
  return true;
}

// The LP at the least T, which becomes its makespan; nothing where one on the way there failed.
std::optional<Relaxed> LeastT(const Instance& instance, CheckedLp& lp) {
  std::optional<Relaxed> best = Relax(instance, kNever, lp);
  if (!best || UsesShortPairs(instance, *best)) return best;
  // T in [v_k, v_{k+1}) allows the same pairs; more pairs never make the LP's makespan longer.
  std::vector<double> values;
  for (double seconds : instance.seconds) {
    if (seconds < kNever) values.push_back(seconds);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  values.push_back(kNever);
  std::size_t low = 0, high = values.size() - 2;  // the last value allows all pairs
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    std::optional<Relaxed> relaxed = Relax(instance, values[middle], lp);
    if (!relaxed) return std::nullopt;
    if (relaxed->makespan < values[middle + 1]) {
      high = middle;
      best = std::move(relaxed);
    } else {
      low = middle + 1;
    }
  }
  best->makespan = std::max(best->makespan, values[high]);
  return best;
}

class AssignmentLp final : public Solver {
 public:
  Target target() const override { return Target::kMakespan; }
  Solution Solve(const Instance& instance, bool) override {
    RoundedAssignment rounded = RoundAssignmentLp(instance, lp_);
    const double value = ListSchedule().Value(instance, rounded.assignment, Target::kMakespan);
    return {std::move(rounded.assignment), value, rounded.bound};
  }

 private:
  CheckedLp lp_{LpMethod::kSimplex};
};

constexpr ParamInfo kAssignmentLpParams[] = {kHorizonParam, kReportParam};

}  // namespace

RoundedAssignment RoundAssignmentLp(const Instance& instance, CheckedLp& lp) {
  RoundedAssignment result;
  std::vector<int> order(instance.job.size());
  std::iota(order.begin(), order.end(), 0);
  const std::optional<Relaxed> found = LeastT(instance, lp);
  if (!found) {
    result.assignment = EarliestFinish(instance, order);
    return result;
  }
  const Relaxed& relaxed = *found;
  result.bound = std::max(relaxed.makespan, instance.last_free());
  result.assignment = {order, std::vector<int>(instance.job.size(), -1)};
  std::vector<int> split;
  for (int i : order) {
    int most = -1;
    for (int type = 0; type < instance.types(); ++type) {
      if (relaxed.column[U(i)][U(type)] < 0) continue;
      if (most < 0 || relaxed.Share(i, type) > relaxed.Share(i, most)) most = type;
    }
    result.assignment.type[U(i)] = most;  // stays where rounding errors split more than there are types
    if (relaxed.Share(i, most) < 1.0 - kRounding) split.push_back(i);
  }
  const int rows = static_cast<int>(split.size());
  if (rows == 0 || rows > instance.types()) return result;
  std::vector<double> cost;
  for (int i : split) {
    for (int type = 0; type < instance.types(); ++type)
      cost.push_back(relaxed.Share(i, type) > kRounding ? 0.0 : 1.0);
  }
  const std::vector<int> own = CheapestAssignment(cost, rows, instance.types());
  for (int r = 0; r < rows; ++r) {
    if (cost[U(r) * instance.free_at.size() + U(own[U(r)])] == 0.0)
      result.assignment.type[U(split[U(r)])] = own[U(r)];
  }
  return result;
}

SchedulerInfo AssignmentLpInfo() {
  return {
      "assignment_lp",
      "plans by the assignment LP of R||Cmax, rounded; arrival order on each type; an LP or a few an arrival",
      "Lenstra, Shmoys & Tardos, Mathematical Programming 46, 1990",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/false,
      kAssignmentLpParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        return MakePlanned("assignment_lp", std::make_unique<AssignmentLp>(), params);
      }};
}

}  // namespace berth
