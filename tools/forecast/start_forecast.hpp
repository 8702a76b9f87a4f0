// When waiting jobs will start, with an interval: the moment is played forward many times, each time with
// other run times and other arrivals, drawn from what is known at that moment, under a scheduler.
//
//   StartMoment moment;               // who waits and runs, on what, and who came before
//   const auto scheduler = MakeScheduler(spec, AllSchedulers());
//   for (const StartForecast& job : ForecastStarts(moment, *scheduler, spec)) ... job.low, job.median,
//   job.high
//
// It is a model: rigid gangs on whole GPUs, told speeds and costs of stops, no features but outages that are
// under way or announced; nothing fails that has not failed yet, and nobody is cancelled. A scheduler
// that reads true run times is told the drawn ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"
#include "env/sim/scheduler.hpp"
#include "tools/forecast/run_sample.hpp"

namespace berth {

struct StartMoment {
  // Cluster, speeds, tenants, costs, clock, seed; as jobs all that have come, by arrival. Of those that have
  // ended, and of a long past all but the last few thousand, may be left out. `total_steps` is read of jobs
  // that have ended, and is then what they ran; of others it is not, and may be anything.
  ScenarioData data;
  double now = 0.0;  // s
  enum class Phase : std::uint8_t { kWaiting, kRunning, kEnded, kAway };
  struct Job {
    Phase phase = Phase::kWaiting;  // kAway: it neither waits nor runs, and comes back nowhere
    double done = 0.0;              // steps
    int type = -1;                  // kRunning: where; kWaiting: where it ran last, -1 = it never ran
    double since = 0.0;             // kRunning: s; kEnded: when it ended
    double gpu_seconds = 0.0;       // that it has used
    std::vector<int> devices;       // kRunning; its gang
  };
  std::vector<Job> jobs;  // [J]
  struct Closed {
    int device;
    double until;  // s; kNever = nobody knows: it is not forecast to come back
  };
  std::vector<Closed> closed;  // take no job now
};

struct StartForecast {
  int job = -1;                                // index in the moment
  double low = 0.0, median = 0.0, high = 0.0;  // s from now; kNever = later than what was played
  std::vector<double> starts;                  // s from now, ascending: one of each play
};

struct ForecastOptions {
  int members = 99;       // plays
  double cpu_s = kNever;  // no further play begins after so many seconds of this thread, but for the first 9
  double interval = 0.8;  // the share of starts that are to lie between low and high
  std::uint64_t seed = 1;
};

// One for each job that waits, in the order of the moment. None where the moment cannot be played: no run has
// ended and there are no limits, or devices are said to be held twice. Throws Error where the scheduler
// decides what is not possible, which names it by `name`. Thread rule: calls are independent, each with a
// scheduler of its own.
std::vector<StartForecast> ForecastStarts(const StartMoment& moment, Scheduler& scheduler,
                                          const std::string& name, const ForecastOptions& options = {});

// Why there is none of a moment at which jobs wait.
std::string WhyNoForecast(const StartMoment& moment);

// Low, median and high of starts that are sorted.
void SetQuantiles(double interval, StartForecast& forecast);

}  // namespace berth
