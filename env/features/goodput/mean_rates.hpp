// What MeanGoodput said, so that of thousands of scenarios with the same settings, as in training, the first
// alone works it out.
#pragma once

#include <map>
#include <mutex>
#include <tuple>

#include "env/features/goodput/goodput.hpp"

namespace berth {

// Thread rule: safe from any thread. REQUIRES: the applications outlive it and stay as they are.
class MeanRates {
 public:
  double Of(const Application& application, const SpeedOnType& speed, int gpus, int gpus_per_node) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [entry, fresh] = known_.try_emplace({&application, &speed, gpus, gpus_per_node}, 0.0);
    if (fresh) entry->second = MeanGoodput(application, speed, gpus, gpus_per_node);
    return entry->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<const Application*, const SpeedOnType*, int, int>, double> known_;
};

}  // namespace berth
