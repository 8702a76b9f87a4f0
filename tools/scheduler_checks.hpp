// What every scheduler must hold, whoever wrote it: the conformance tests check it of those that ship, and
// berth.check_scheduler of one's own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/metrics.hpp"

namespace berth {

struct CheckedRun {
  std::uint64_t signature = 0;
  std::vector<Event> events;
  std::vector<Decision> decisions;
};
// One run to its end with every rule of the simulator checked after every decision. Throws Error where one is
// broken, or a job is not done; `rejects`: jobs may be turned away.
CheckedRun RunChecked(const Scenario& scenario, Scheduler& scheduler, bool rejects = false);

// Every clock, with rounds of 60 s.
std::vector<Clock> AllClocks();
// Named extremes: no job, one job, all at once, one GPU type, one GPU.
std::vector<std::pair<std::string, Scenario>> ExtremeScenarios(const Clock& clock);

struct CheckedScheduler {
  std::function<std::unique_ptr<Scheduler>()> make;  // a new one each time
  bool rejects = false;                              // it may turn jobs away
};
struct SchedulerCheck {
  const char* name;
  const char* what;  // in a sentence
  // Throws Error with the scenario and what it did there.
  void (*run)(const CheckedScheduler& scheduler);
};
// All of them, on random scenarios of 40 jobs: a second or so of a scheduler that decides in microseconds.
std::span<const SchedulerCheck> SchedulerChecks();

}  // namespace berth
