// Running classical schedulers in tests: what they decide, when jobs end, and means over replications.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "env/check.hpp"
#include "env/metrics.hpp"

namespace berth::test {

inline std::unique_ptr<Scheduler> MakeBaseline(const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  return MakeScheduler(spec, tables);
}

inline RunResult RunBaseline(const Scenario& scenario, const std::string& spec) {
  RunOptions options;
  options.keep_events = true;
  return Run(scenario, *MakeBaseline(spec), spec, options);
}

// What was decided: "10 start 2@0" is job 2 on type 0 at 10 s.
inline std::vector<std::string> DecisionLog(const std::string& spec, const Scenario& scenario) {
  std::vector<std::string> log;
  for (const Event& event : RunBaseline(scenario, spec).events) {
    if (event.kind == EventKind::kComplete || event.kind == EventKind::kArrive) continue;
    const bool placed = event.kind == EventKind::kStart || event.kind == EventKind::kMove;
    log.push_back(Join(event.time, " ", ToString(event.kind), " ", event.job,
                       placed ? Join("@", static_cast<int>(event.type)) : ""));
  }
  return log;
}

// [J] s, kNever where rejected.
inline std::vector<double> Ends(const std::string& spec, const Scenario& scenario) {
  std::vector<double> ends(static_cast<std::size_t>(scenario.num_jobs()), kNever);
  for (const Event& event : RunBaseline(scenario, spec).events) {
    if (event.kind == EventKind::kComplete) ends[static_cast<std::size_t>(event.job)] = event.time;
  }
  return ends;
}

// Mean of `one(seed)` over seeds 1..n, and half its 99% interval (Student's t for n = 20 and 30
// replications).
struct Interval {
  double mean = 0.0, half = 0.0;
};
inline Interval Replicate(int n, const std::function<double(std::uint64_t)>& one) {
  BERTH_CHECK(n == 20 || n == 30, n, " replications");
  std::vector<double> values;
  Interval result;
  for (int seed = 1; seed <= n; ++seed) {
    values.push_back(one(static_cast<std::uint64_t>(seed)));
    result.mean += values.back() / n;
  }
  double squares = 0.0;
  for (double value : values) squares += (value - result.mean) * (value - result.mean);
  result.half = (n == 20 ? 2.861 : 2.756) * std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace berth::test
