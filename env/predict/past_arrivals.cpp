#include "env/predict/past_arrivals.hpp"

#include <algorithm>

namespace berth {

// Jobs are numbered in order of arrival. Where some wait for others to end (feature stages), those behind the
// first that is held back are not counted yet.
void PastArrivals::Update(const ClusterView& view, int most) {
  const auto came = [&](int job) { return view.IsWaiting(job) || view.IsRunning(job) || view.IsDone(job); };
  while (seen_ > 0 && !came(seen_ - 1)) --seen_;  // an earlier state of the simulation
  while (seen_ < view.num_jobs() && came(seen_)) ++seen_;
  first_ = std::max(0, seen_ - most);
}

double PastArrivals::Gap(const ClusterView& view, Stream& stream) const {
  const int job = first_ + 1 + static_cast<int>(stream.Below(static_cast<std::uint32_t>(size() - 1)));
  return view.Arrival(job) - view.Arrival(job - 1);
}

int PastArrivals::Job(Stream& stream) const {
  return first_ + static_cast<int>(stream.Below(static_cast<std::uint32_t>(size())));
}

}  // namespace berth
