// The last values of each kind of job, from the narrowest kind to all: job type, tenant and gang; tenant and
// job type; tenant; job type and gang; job type; all. A job is compared with the narrowest kind that has been
// seen often enough (Gibbons, JSSPP 1997; Smith, Foster & Taylor, JSSPP 1998).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "env/predict/prediction/size_predictor.hpp"

namespace berth {

class KindHistory {
 public:
  // Keeps the last `window` values of each kind; a kind answers once it has `least`.
  KindHistory(int window, int least)
      : window_(static_cast<std::size_t>(window)), least_(static_cast<std::size_t>(least)) {}
  void Forget() { seen_.clear(); }
  void Add(const JobKind& kind, double value) {
    for (const Key& key : Keys(kind)) {
      std::deque<double>& values = seen_[key];
      values.push_back(value);
      if (values.size() > window_) values.pop_front();
    }
  }
  // Of the narrowest kind that answers, oldest first; where none does, of all. nullptr = nothing seen.
  const std::deque<double>* Find(const JobKind& kind) const {
    const std::deque<double>* found = nullptr;
    for (const Key& key : Keys(kind)) {
      const auto values = seen_.find(key);
      if (values == seen_.end()) continue;
      found = &values->second;
      if (found->size() >= least_) break;
    }
    return found;
  }

 private:
  using Key = std::tuple<int, int, int, int>;  // which kind; job type, tenant, gang where it tells them apart
  static std::array<Key, 6> Keys(const JobKind& k) {
    return {Key{0, k.job_type, k.tenant, k.gang}, Key{1, k.job_type, k.tenant, 0}, Key{2, 0, k.tenant, 0},
            Key{3, k.job_type, 0, k.gang},        Key{4, k.job_type, 0, 0},        Key{5, 0, 0, 0}};
  }
  std::size_t window_, least_;
  std::map<Key, std::deque<double>> seen_;
};

// Statistic of recent values, by name in specs.
enum class RecentStatistic { kMean, kMedian, kQuantile, kGeometric };
// Linear interpolation for quantiles (type 7). Values > 0 for kGeometric.
double Statistic(std::vector<double> values, RecentStatistic statistic, double q);

}  // namespace berth
