#include "baselines/queue/availability_profile.hpp"

#include <algorithm>
#include <limits>

#include "env/base/check.hpp"

namespace berth {

void AvailabilityProfile::Reset(double now, int free) {
  steps_.clear();
  steps_.push_back({now, free});
  first_.clear();
}

std::size_t AvailabilityProfile::Cut(double time) {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                      [](double t, const Step& step) { return t < step.time; });
  BERTH_CHECK(after != steps_.begin(), "time ", time, " is before the profile's start");
  const auto at = static_cast<std::size_t>(after - steps_.begin()) - 1;
  if (steps_[at].time == time) return at;
  const int free = steps_[at].free;  // read before the insertion moves it
  steps_.insert(after, Step{time, free});
  return at + 1;
}

void AvailabilityProfile::Release(double time, int gang) {
  if (time == std::numeric_limits<double>::infinity()) return;
  for (std::size_t i = Cut(time); i < steps_.size(); ++i) steps_[i].free += gang;
  first_.clear();
}

std::size_t AvailabilityProfile::FirstWith(int gang) {
  const auto g = static_cast<std::size_t>(gang);
  if (first_.size() <= g) first_.resize(g + 1, steps_.front().time);
  const auto from = std::lower_bound(steps_.begin(), steps_.end(), first_[g],
                                     [](const Step& step, double t) { return step.time < t; });
  const auto found = std::find_if(from, steps_.end(), [&](const Step& step) { return step.free >= gang; });
  first_[g] = found == steps_.end() ? std::numeric_limits<double>::infinity() : found->time;
  return static_cast<std::size_t>(found - steps_.begin());
}

double AvailabilityProfile::EarliestStart(int gang, double seconds) {
  for (std::size_t i = FirstWith(gang); i < steps_.size(); ++i) {
    if (steps_[i].free < gang) continue;
    const double start = steps_[i].time;
    std::size_t next = i + 1;
    while (next < steps_.size() && steps_[next].time < start + seconds && steps_[next].free >= gang) ++next;
    if (next == steps_.size() || steps_[next].time >= start + seconds) return start;
    i = next;  // too few there: no start up to that step can work
  }
  return std::numeric_limits<double>::infinity();
}

void AvailabilityProfile::Reserve(double start, double end, int gang) {
  const std::size_t first = Cut(start);
  const std::size_t last = end == std::numeric_limits<double>::infinity() ? steps_.size() : Cut(end);
  for (std::size_t i = first; i < last; ++i) {
    steps_[i].free -= gang;
    BERTH_CHECK(steps_[i].free >= 0, "reserved ", -steps_[i].free, " GPUs too many at ", steps_[i].time);
  }
}

}  // namespace berth
