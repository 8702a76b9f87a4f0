// Prices that prove the levels of a water filling (certificate.hpp), found after the fact: at each level a
// linear program asks by how much the jobs there could rise together while they and those below keep what
// they have, and its duals are prices of at least 1 for each of them.
#include <algorithm>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/time_left.hpp"
#include "env/base/index.hpp"
#include "tools/solve/certified.hpp"

namespace berth::gavel {
namespace {

constexpr double kAllTime = 1e-9;  // of the best that a job could have
// Of what is kept, the first with which the program has room.
constexpr double kSlacks[] = {1e-9, 1e-8, 1e-7};

class Pricer {
 public:
  Pricer(const Problem& problem, const JobClasses& classes, std::span<const double> worth,
         std::span<const double> level, double time_s)
      : problem_(problem),
        classes_(classes),
        worth_(worth),
        level_(level),
        left_(time_s),
        lp_(LpMethod::kSimplex, time_s) {}

  // Of the jobs at `level`. False where the solver fails, or no time is left.
  bool Find(double level, WaterStage& stage) {
    for (const double slack : kSlacks) {
      if (left_.over()) return false;
      if (Find(level, slack, stage)) return true;
    }
    return false;
  }

 private:
  bool Find(double level, double slack, WaterStage& stage) {
    LpModel& model = lp_.model();
    model.Clear();
    model.maximize = true;
    AddShares(problem_, {}, model, classes_.members);
    std::vector<int> rise(level_.size(), -1);
    for (int i = 0; i < problem_.jobs(); ++i) {
      if (At(i, level)) rise[U(i)] = model.AddColumn(classes_.members[U(i)], 0.0, level);
    }
    AddBaseRows(problem_, model, classes_.members);
    std::vector<int> row(level_.size(), -1);
    for (int i = 0; i < problem_.jobs(); ++i) {
      if (level_[U(i)] > level * (1.0 + kSameLevel)) continue;
      row[U(i)] = model.rows();
      for (int j = 0; j < problem_.types(); ++j)
        model.AddEntry(static_cast<int>(problem_.at(i, j)), worth_[problem_.at(i, j)] / level);
      if (rise[U(i)] >= 0) model.AddEntry(rise[U(i)], -1.0 / level);
      model.EndRow(level_[U(i)] / level * (1.0 - slack), kLpInfinity);
    }
    if (lp_.Solve(LpMethod::kSimplex) != LpStatus::kOptimal) return false;
    stage.level = level;
    stage.job_price.assign(classes_.of_job.size(), 0.0);
    for (std::size_t job = 0; job < classes_.of_job.size(); ++job) {
      const std::size_t its = U(classes_.of_job[job]);
      if (row[its] < 0) continue;
      stage.job_price[job] = -lp_.solution().row_dual[U(row[its])] / level / classes_.members[its];
    }
    const auto duals = lp_.solution().row_dual.begin();
    stage.type_price.assign(duals, duals + problem_.types());
    return true;
  }
  bool At(int its, double level) const {
    return level_[U(its)] >= level && level_[U(its)] <= level * (1.0 + kSameLevel);
  }

  const Problem& problem_;  // of one job a class
  const JobClasses& classes_;
  std::span<const double> worth_, level_;
  TimeLeft left_;
  CheckedLp lp_;
};

}  // namespace

bool FindWaterPrices(const Problem& problem, std::span<const double> worth, std::span<const double> x,
                     double time_s, std::vector<WaterStage>& stages) {
  JobClasses classes;
  Classify(problem, problem.throughput, {problem.weight}, classes);
  const Problem one = OneOfEach(problem, classes);
  std::vector<double> its_worth, level, open;
  for (int i = 0; i < one.jobs(); ++i) {
    double reached = 0.0, best = 0.0;
    for (int j = 0; j < one.types(); ++j) {
      const std::size_t at = problem.at(classes.first[U(i)], j);
      its_worth.push_back(worth[at]);
      reached += worth[at] * x[at];
      if (one.workers[U(j)] > 0) best = std::max(best, worth[at]);
    }
    level.push_back(reached);
    if (reached < best * (1.0 - kAllTime)) open.push_back(reached);
  }
  std::sort(open.begin(), open.end());
  Pricer pricer(one, classes, its_worth, level, time_s);
  stages.clear();
  for (std::size_t k = 0; k < open.size(); ++k) {
    if (!stages.empty() && open[k] <= stages.back().level * (1.0 + kSameLevel)) continue;
    if (!pricer.Find(open[k], stages.emplace_back())) return false;
  }
  return true;
}

}  // namespace berth::gavel
