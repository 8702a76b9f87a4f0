// What both searches measure a scheduler by.
#pragma once

#include <cmath>
#include <string>

#include "env/gym/rewards.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scheduler.hpp"
#include "tools/results.hpp"

namespace berth {

// What `search.reward` adds up to, a job of `search.window` (of jct: its mean JCT, s); NaN where some did not
// finish, or the search was interrupted before they could.
template <typename Search>
double WindowMean(const Scenario& scenario, Scheduler& scheduler, const std::string& name,
                  const Search& search) {
  RunOptions options;
  options.window = search.window;
  options.progress = [&](const Simulator&) { return !(search.interrupted && *search.interrupted); };
  const Metrics metrics = Run(scenario, scheduler, name, options).metrics;
  return metrics.unfinished > 0 ? std::nan("") : Reward(search.reward).AJob(metrics);
}

}  // namespace berth
