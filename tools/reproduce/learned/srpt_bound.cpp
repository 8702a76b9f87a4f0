#include "tools/reproduce/learned/srpt_bound.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

double SrptBound(const Scenario& scenario, Window window) {
  BERTH_CHECK(scenario.num_types() == 1, scenario.num_types());
  const JobTable& jobs = scenario.data().jobs;
  const double gpus = scenario.num_gpus();
  double alone = 0.0, sum = 0.0, now = 0.0;
  std::priority_queue<double, std::vector<double>, std::greater<>> left;  // s of the whole machine
  // Least first until `until`; every completion's time goes into the sum.
  const auto run = [&](double until) {
    while (!left.empty() && now < until) {
      const double least = left.top(), took = std::min(least, until - now);
      left.pop();
      now += took;
      if (took < least) {
        left.push(least - took);
      } else {
        sum += now;
      }
    }
    now = std::max(now, until);
  };
  for (int job = window.begin; job < window.end; ++job) {
    run(jobs.arrival[U(job)]);
    const double run_s = jobs.total_steps[U(job)] / scenario.BestRate(job);
    left.push(run_s * jobs.gang[U(job)] / gpus);
    alone += run_s;
    sum -= jobs.arrival[U(job)];
  }
  while (!left.empty()) {
    now += left.top();
    left.pop();
    sum += now;
  }
  return std::max(alone, sum) / (window.end - window.begin);
}

}  // namespace berth
