// Moments of a scenario: as it is simulated, or as a site's accounting tells. Nothing of what comes later is
// in them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "env/sim/simulator.hpp"
#include "tools/forecast/start_forecast.hpp"

namespace berth {

// What happened: to compare forecasts with, and nothing else.
struct KnownStarts {
  std::map<int, std::vector<double>> of_job;  // s, ascending; jobs are indices in the scenario
  // The first after `time`; kNever = none.
  double Next(int job, double time) const;
};

struct PastMoment {
  StartMoment moment;
  std::vector<int> job;  // [jobs of the moment] index in the scenario
};

// A moment of which only is said who has come: those that are `here` (job index) and the last few thousand
// others, all of them waiting. No run times of others than those that will be said to have ended are read
// from it.
PastMoment EmptyMoment(const Scenario& scenario, double now, const std::function<bool(int)>& here);

// Simulated under a scheduler, given as for MakeScheduler.
class SimulatedPast {
 public:
  // Runs to the end. Throws Error where the scenario has features that moments cannot show.
  SimulatedPast(Scenario scenario, std::string spec);
  const KnownStarts& starts() const { return starts_; }
  // The time at which most jobs wait; kNever where none ever does.
  double LongestQueue() const;
  // `count` times, evenly over the decisions behind which at least one job waits, up to the last arrival:
  // that nobody comes any more, nobody can know.
  std::vector<double> Times(int count) const;
  // What is known right after what was decided at or before each of the times, which ascend.
  std::vector<PastMoment> At(const std::vector<double>& times) const;

 private:
  struct Point {
    double time;  // s
    int waiting;  // behind the decision
  };
  template <class See>
  std::vector<Event> Replay(const See& see) const;  // see(simulator) behind each decision; false ends it

  Scenario scenario_;
  std::string spec_;
  std::vector<Point> points_;
  KnownStarts starts_;
};

// As the accounting tells that `scenario` was converted from, with slurm.conf beside it: who started when on
// which nodes. Times are whole seconds there.
class RecordedPast {
 public:
  // Throws Error where a job of the scenario is not in the accounting, or its nodes are not in slurm.conf.
  RecordedPast(Scenario scenario, const std::string& accounting);
  const KnownStarts& starts() const { return starts_; }
  double LongestQueue() const;
  std::vector<double> Times(int count) const;
  std::vector<PastMoment> At(const std::vector<double>& times) const;

 private:
  struct Run {
    double start = 0.0, end = 0.0;  // s of the scenario
    std::vector<int> nodes;         // into devices_
  };
  int WaitingAt(double time) const;

  Scenario scenario_;
  std::vector<Run> runs_;                  // [J]
  std::vector<std::vector<int>> devices_;  // of each node
  KnownStarts starts_;
};

}  // namespace berth
