// max_min_fairness_water_filling_packed (OSDI 2020 §4.3 with §4.4; the reference's loop,
// _run_get_allocation_iterations, ends by the number of combos, this one by that of jobs). Without tenants
// all jobs that still rise stand at one level, so levels are absolute here.
#include <algorithm>

#include "baselines/gavel/packed_objectives.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

// As water_filling.cpp: floors give way by the first of these parts with which the LP is feasible; a price
// beyond kPrice proves a bottleneck, a rise beyond kRise of the level proves none.
constexpr double kPackedFloorSlacks[] = {1e-10, 1e-9, 1e-8};
constexpr double kPrice = 1e-6, kRise = 1e-6;

class Filling {
 public:
  Filling(const PackedProblem& problem, PackedLp& lp)
      : problem_(problem), lp_(lp), combos_(UsefulCombos(problem)), scale_(WorthScale(problem.base)) {
    level_.assign(scale_.size(), 0.0);
    saturated_.assign(scale_.size(), 0);
  }

  bool Run() {
    bool any = false;
    while (std::count(saturated_.begin(), saturated_.end(), 0) > 0) {
      if (!Raise()) return any;
      any = true;
      if (!Saturate()) return any;
    }
    return true;
  }
  const std::vector<double>& level() const { return level_; }
  const PackedAllocation& x() const { return risen_.x; }
  // Speeds that the levels ask for, less the slack.
  std::vector<double> Least(double slack) const {
    std::vector<double> least;
    for (std::size_t i = 0; i < scale_.size(); ++i) least.push_back(level_[i] / scale_[i] * (1.0 - slack));
    return least;
  }

 private:
  // All that rise to the highest level, the others held at theirs.
  bool Raise() {
    const double top[] = {kLpInfinity};
    for (const double slack : kPackedFloorSlacks) {
      std::vector<SpeedRow> rows;
      for (std::size_t i = 0; i < scale_.size(); ++i) {
        rows.push_back(saturated_[i] == 0 ? SpeedRow{scale_[i], 0, 0.0} : Held(i, slack));
      }
      if (lp_.MaximizeRise(problem_, combos_, rows, top, LpMethod::kSimplex, risen_) == LpStatus::kOptimal) {
        for (std::size_t i = 0; i < scale_.size(); ++i) {
          if (saturated_[i] == 0) level_[i] = risen_.rise[0];
        }
        return true;
      }
    }
    return false;
  }

  // Holds those that cannot go on: the rows with a price, and of the others all that rise in no program that
  // maximises the sum of what is open. At least one: else the level could have been higher.
  bool Saturate() {
    std::vector<int> open;
    std::vector<char> stuck(scale_.size(), 0);
    for (int i = 0; i < problem_.base.jobs(); ++i) {
      if (saturated_[U(i)] != 0) continue;
      stuck[U(i)] = 1;
      if (risen_.price[U(i)] <= kPrice) open.push_back(i);
    }
    while (!open.empty()) {
      PackedRise more;
      if (!Rise(open, more)) return false;
      const std::size_t before = open.size();
      std::size_t at = 0;
      std::erase_if(open, [&](int i) {
        const bool rises = more.rise[at++] > kRise;
        if (rises) stuck[U(i)] = 0;
        return rises;
      });
      if (open.size() == before) break;
    }
    for (std::size_t i = 0; i < stuck.size(); ++i) saturated_[i] |= stuck[i];
    return std::count(stuck.begin(), stuck.end(), 1) > 0;
  }

  bool Rise(const std::vector<int>& open, PackedRise& more) {
    const std::vector<double> top(open.size(), 1.0);
    for (const double slack : kPackedFloorSlacks) {
      std::vector<SpeedRow> rows;
      for (std::size_t i = 0; i < scale_.size(); ++i) rows.push_back(Held(i, slack));
      for (std::size_t k = 0; k < open.size(); ++k) rows[U(open[k])].rise = static_cast<int>(k);
      if (lp_.MaximizeRise(problem_, combos_, rows, top, LpMethod::kSimplex, more) == LpStatus::kOptimal)
        return true;
    }
    return false;
  }

  SpeedRow Held(std::size_t i, double slack) const { return {scale_[i] / level_[i], -1, 1.0 - slack}; }

  const PackedProblem& problem_;
  PackedLp& lp_;
  std::vector<Combo> combos_;
  std::vector<double> scale_, level_;  // [m]
  std::vector<char> saturated_;        // [m]
  PackedRise risen_;                   // of the last Raise
};

class Policy final : public PackedObjective {
 public:
  explicit Policy(const ObjectiveOptions& options) : lp_(options.method, options.lp_time_limit_s) {}
  bool Allocate(const PackedProblem& problem, PackedAllocation& x) override {
    PackedWaterLevels levels;
    if (!PackedWaterFilling(problem, lp_, levels)) return false;
    x = std::move(levels.x);
    return true;
  }
  const char* failure() const override { return lp_.failure(); }

 private:
  PackedLp lp_;
};

}  // namespace

bool PackedWaterFilling(const PackedProblem& problem, PackedLp& lp, PackedWaterLevels& levels) {
  Filling filling(problem, lp);
  if (!filling.Run()) return false;
  levels.level = filling.level();
  levels.x = filling.x();
  if (lp.method() == LpMethod::kSimplex) return true;
  PackedAllocation inside;  // a point with these levels inside the set, where the method asks for one
  if (lp.Reach(problem, UsefulCombos(problem), filling.Least(kPackedFloorSlacks[2]), inside))
    levels.x = std::move(inside);
  return true;
}

std::unique_ptr<PackedObjective> MakePackedWaterFilling(const ObjectiveOptions& options, Params&) {
  return std::make_unique<Policy>(options);
}

}  // namespace berth::gavel
