// Bars of a timeline: for as long as a job trains with one batch size.
#pragma once

#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/feature.hpp"

namespace berth {

class BatchBars {
 public:
  explicit BatchBars(int jobs) : shown_(U(jobs)) {}

  // From now on (s) the job trains with so many samples a step; 0 = it does not train.
  void Show(double now, int job, int batch) {
    Shown& shown = shown_[U(job)];
    if (batch == shown.batch) return;
    if (shown.batch > 0 && now > shown.from_s) spans_.push_back({job, shown.batch, shown.from_s, now});
    shown = {batch, now};
  }
  void AddLanes(double now, std::vector<FeatureLane>& lanes) const {
    const auto add = [&lanes](int job, int batch, double begin, double end) {
      lanes.push_back({Join("batch of job ", job), Join(batch), begin, end});
    };
    for (const Span& span : spans_) add(span.job, span.batch, span.begin_s, span.end_s);
    for (std::size_t job = 0; job < shown_.size(); ++job) {
      if (shown_[job].batch > 0) add(static_cast<int>(job), shown_[job].batch, shown_[job].from_s, now);
    }
  }

 private:
  struct Span {
    int job, batch;
    double begin_s, end_s;
  };
  struct Shown {
    int batch = 0;
    double from_s = 0.0;
  };
  std::vector<Shown> shown_;  // [J] the bar that has no end yet
  std::vector<Span> spans_;
};

}  // namespace berth
