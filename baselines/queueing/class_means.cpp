#include "baselines/queueing/class_means.hpp"

#include "baselines/preemptive/service_distribution.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
ClassMeans::ClassMeans(Params& params, const std::string& component) : component_(component) {
  const std::string means = params.Text(kMeansParam.name);
  if (means != "learned")
    given_ = ParsePositiveList(means, component_ + ": parameter 'means' (learned, or steps)");
}

void ClassMeans::Reset(const ClusterView& view) {
  const std::size_t types = view.throughputs().job_types.size();
  if (!given_.empty() && given_.size() != types) {
    throw Error(Join(component_, ": parameter 'means': expected one for each of the ", types,
                     " job types, found ", given_.size()));
  }
  sum_.assign(types, 0.0);
  count_.assign(types, 0.0);
  all_sum_ = all_count_ = 0.0;
}

void ClassMeans::Learn(const ClusterView& view) {
  if (!given_.empty()) return;
  for (int job : view.completed()) {
    const double steps = view.AttainedSteps(job);
    sum_[U(view.JobType(job))] += steps;
    count_[U(view.JobType(job))] += 1.0;
    all_sum_ += steps;
    all_count_ += 1.0;
  }
}

double ClassMeans::Mean(int job_type) const {
  if (!given_.empty()) return given_[U(job_type)];
  if (count_[U(job_type)] > 0.0) return sum_[U(job_type)] / count_[U(job_type)];
  return all_count_ > 0.0 ? all_sum_ / all_count_ : 1.0;
}

}  // namespace berth
