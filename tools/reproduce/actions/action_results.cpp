#include "tools/reproduce/actions/action_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "tools/evaluation_file.hpp"
#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {
namespace {

constexpr std::uint64_t kActionBootstrapSeed = 25;

}  // namespace

ActionResults::ActionResults(const std::string& file) : file_(file) {
  const h5::Reader in(file, "evaluation", kEvaluationVersion);
  schedulers_ = in.Strings("schedulers");
  workloads_ = in.Array<std::int64_t>("seeds").size();
  for (const std::uint8_t it : in.Array<std::uint8_t>("unstable")) unstable_.push_back(it != 0);
}

std::size_t ActionResults::IndexOf(const std::string& scheduler) const {
  const auto at = std::find(schedulers_.begin(), schedulers_.end(), scheduler);
  BERTH_CHECK(at != schedulers_.end(), scheduler, " is not in ", file_);
  return static_cast<std::size_t>(at - schedulers_.begin());
}

bool ActionResults::keeps_up(const std::string& scheduler) const {
  return !unstable_[IndexOf(scheduler)];
}

bool ActionResults::keep_up(const std::vector<std::string>& schedulers) const {
  return std::all_of(schedulers.begin(), schedulers.end(),
                     [&](const std::string& it) { return keeps_up(it); });
}

std::vector<double> ActionResults::Values(const std::string& scheduler, const ActionMetric& metric) const {
  std::vector<double> values(workloads_, 0.0);
  const std::size_t row = IndexOf(scheduler) * workloads_;
  for (const std::string& key : SplitOutsideParentheses(metric.key, '+')) {
    std::vector<double>& all = read_[key];
    if (all.empty()) {
      all = h5::Reader(file_, "evaluation", kEvaluationVersion)
                .Array<double>(key == "mean_jct_s" ? key : "metrics/" + key,
                               static_cast<std::int64_t>(schedulers_.size() * workloads_));
    }
    for (std::size_t s = 0; s < workloads_; ++s) values[s] += all[row + s] * metric.scale;
  }
  return values;
}

double ActionResults::MeanOf(const std::string& scheduler, const ActionMetric& metric) const {
  return Mean(Values(scheduler, metric));
}

std::vector<double> ActionResults::MeanValues(const std::vector<std::string>& schedulers,
                                              const ActionMetric& metric) const {
  std::vector<double> mean(workloads_, 0.0);
  for (const std::string& scheduler : schedulers) {
    const std::vector<double> values = Values(scheduler, metric);
    for (std::size_t s = 0; s < workloads_; ++s)
      mean[s] += values[s] / static_cast<double>(schedulers.size());
  }
  return mean;
}

Interval ActionResults::Ratio(const std::vector<std::string>& schedulers, const std::vector<std::string>& to,
                              const ActionMetric& metric) const {
  std::vector<Grid> policies;
  for (const std::string& scheduler : schedulers) policies.push_back({Values(scheduler, metric)});
  const Comparison over = Compare(policies, {MeanValues(to, metric)}, kActionBootstrapSeed);
  // Workloads on which one has no value would be left out for all, which flatters who did nothing there.
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return over.workloads == static_cast<int>(workloads_) ? over.overall : Interval{kNone, kNone, kNone};
}

std::string ActionResults::RatioCell(const std::vector<std::string>& schedulers,
                                     const std::vector<std::string>& to, const ActionMetric& metric) const {
  return Join(WithInterval(Ratio(schedulers, to, metric), 3), keep_up(schedulers) && keep_up(to) ? "" : "†");
}

std::string ActionResults::Best(const std::vector<std::string>& among, const ActionMetric& metric) const {
  std::string best;
  double least = 0.0;
  for (const std::string& scheduler : among) {
    const double mean = MeanOf(scheduler, metric);
    if (!(mean == mean) || (!best.empty() && mean >= least)) continue;  // NaN: nothing was done
    best = scheduler, least = mean;
  }
  return best;
}

const char* ToString(RowVerdict verdict) {
  switch (verdict) {
    case RowVerdict::kWon:
      return "won";
    case RowVerdict::kLevel:
      return "level";
    case RowVerdict::kLost:
      return "lost";
    case RowVerdict::kNotCompared:
      break;
  }
  return "not compared";
}

RowVerdict JudgeRow(const Interval& ratio, bool holds, bool keep_up) {
  if (!keep_up) return RowVerdict::kNotCompared;
  if (!holds || ratio.low > 1.0 + kMostWorse) return RowVerdict::kLost;
  if (std::isnan(ratio.mean)) return RowVerdict::kNotCompared;
  return ratio.high < 1.0 ? RowVerdict::kWon : RowVerdict::kLevel;
}

}  // namespace berth
