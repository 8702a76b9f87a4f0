#include "baselines/preemptive/pair_features.hpp"

#include <algorithm>

#include "env/base/portable_math.hpp"

namespace berth::tuned {
namespace {

constexpr double kHour = 3600.0;
constexpr double kMinute = 60.0;  // what a job has attained counts from here, so that its logarithm is finite

}  // namespace

void PairFeatures::Begin(const ClusterView& view) {
  if (known_.empty() || rates_version_ != view.rates_version()) {  // learned rates may be others now
    rates_version_ = view.rates_version();
    known_.assign(Index(view.num_jobs()), false);
    speeds_.resize(Index(view.num_jobs()) * Index(view.num_types()));
  }
  int asked = 0, gpus = 0;
  for (int job : view.active()) asked += view.Gang(job);
  for (const GpuType& type : view.types()) gpus += type.count;  // a part's, inside another scheduler
  load_ = Log(std::max(1, asked) / static_cast<double>(std::max(1, gpus)));
}

void PairFeatures::BeginJob(const ClusterView& view, int job) {
  if (!known_[Index(job)]) Learn(view, job);
  job_ = job;
  const double steps = blind_ ? view.AttainedSteps(job) : view.RemainingSteps(job);
  const double seconds = steps / view.BestRate(job);
  size_ = Log((blind_ ? seconds + kMinute : std::max(seconds, 1e-3)) / kHour);
  gang_ = Log(static_cast<double>(view.Gang(job)));
  age_ = Log(1.0 + (view.now() - view.Arrival(job)) / kHour);
}

PairValues PairFeatures::Pair(const ClusterView& view, int type) const {
  const Speeds& speeds = speeds_[Index(job_) * Index(view.num_types()) + Index(type)];
  const double single = view.Gang(job_) == 1 ? 1.0 : 0.0;
  PairValues features;
  features[kSize] = size_;
  features[kGang] = gang_;
  features[kSlow] = speeds.slow;
  features[kContrast] = speeds.contrast;
  features[kSlowSingle] = single * speeds.slow;
  features[kContrastSingle] = single * speeds.contrast;
  features[kSlowLoad] = load_ * speeds.slow;
  features[kContrastLoad] = load_ * speeds.contrast;
  features[kAge] = age_;
  features[kStay] = view.TypeOf(job_) == type ? 1.0 : 0.0;
  return features;
}

void PairFeatures::Learn(const ClusterView& view, int job) {
  double sum = 0.0;
  int types = 0;
  for (const double rate : view.Rates(job)) {
    sum += rate;
    types += rate > 0.0 ? 1 : 0;
  }
  const double best = view.BestRate(job), mean = sum / types;
  for (int type = 0; type < view.num_types(); ++type) {
    const double rate = view.Rate(job, type);
    if (rate <= 0.0) continue;
    speeds_[Index(job) * Index(view.num_types()) + Index(type)] = {Log(best / rate), Log(mean / rate)};
  }
  known_[Index(job)] = true;
}

}  // namespace berth::tuned
