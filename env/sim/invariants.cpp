#include "env/sim/invariants.hpp"

#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/core.hpp"
#include "env/sim/effective_rate.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// No device gives more than it has, and none is lost.
std::string Capacity(const InvariantInput& in) {
  for (int d = 0; d < in.scenario.num_gpus(); ++d) {
    int free = in.state.device_job[U(d)] < 0 ? 1000 : 0;
    if (!in.state.parts.empty() && !in.state.parts[U(d)].empty()) {
      free = 1000;
      for (int job : in.state.parts[U(d)]) free -= in.scenario.data().jobs.gpu_milli[U(job)];
    }
    if (in.state.device_milli[U(d)] != free || free < 0) {
      return Join("device ", d, ": capacity and holder disagree");
    }
  }
  return "";
}

std::string FreeCounts(const InvariantInput& in) {
  int leaving = 0;
  for (int type = 0; type < in.scenario.num_types(); ++type) {
    const int first = in.scenario.first_device(type);
    int idle = 0, in_service = 0;
    for (int d = first; d < first + in.scenario.data().cluster.types[U(type)].count; ++d) {
      const bool out = !in.state.InService(d);
      idle += in.state.device_job[U(d)] < 0 && !out;
      in_service += !out;
      const bool leaves = out && (in.state.out_of_service[U(d)] & kLeaving) != 0;
      leaving += leaves;
      if (out && !leaves && in.state.device_job[U(d)] >= 0)
        return Join("device ", d, ": out of service, and a job is on it");
    }
    if (!in.state.types.empty() && in.state.types[U(type)].count != in_service) {
      return Join("type ", type, ": ", in_service, " in service, ", in.state.types[U(type)].count,
                  " counted");
    }
    if (idle != in.state.free_gpus[U(type)]) {
      return Join("type ", type, ": ", idle, " idle, ", in.state.free_gpus[U(type)], " counted");
    }
  }
  if (leaving != in.state.num_leaving)
    return Join(leaving, " devices leave service, ", in.state.num_leaving, " counted");
  return "";
}

std::string DeviceTypes(const InvariantInput& in) {
  for (int type = 0; type < in.scenario.num_types(); ++type) {
    const int first = in.scenario.first_device(type);
    for (int d = first; d < first + in.scenario.data().cluster.types[U(type)].count; ++d) {
      for (int job : in.state.HoldersOf(d)) {
        if (in.state.on_type[U(job)] != type)
          return Join("job ", job, " holds device ", d, " of another type");
      }
    }
  }
  return "";
}

std::string WholeGangs(const InvariantInput& in) {
  std::vector<int> held(U(in.scenario.num_jobs()), 0);
  for (int d = 0; d < in.scenario.num_gpus(); ++d) {
    for (int job : in.state.HoldersOf(d)) ++held[U(job)];
  }
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const bool runs = in.state.phase[U(job)] == JobPhase::kRunning;
    const int expected = runs ? in.scenario.data().jobs.gang[U(job)] : 0;
    const bool elastic = runs && in.scenario.RateAt(job, in.state.on_type[U(job)], held[U(job)]) > 0.0;
    if (held[U(job)] != expected && !elastic)
      return Join("job ", job, " holds ", held[U(job)], " GPUs, gang ", expected);
  }
  return "";
}

std::string DeviceLists(const InvariantInput& in) {
  std::size_t listed = 0;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    for (int d : in.state.Devices(job)) {
      const std::vector<int> holders = in.state.HoldersOf(d);
      if (std::find(holders.begin(), holders.end(), job) == holders.end())
        return Join("job ", job, " lists device ", d, ", which it does not hold");
      ++listed;
    }
  }
  std::size_t held = 0;
  for (int d = 0; d < in.scenario.num_gpus(); ++d) held += in.state.HoldersOf(d).size();
  return listed == held ? "" : Join(listed, " devices are listed, ", held, " are held");
}

std::string Placement(const InvariantInput& in) {
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    if ((in.state.phase[U(job)] == JobPhase::kRunning) != (in.state.on_type[U(job)] >= 0)) {
      return Join("job ", job, ": running and having a GPU type disagree");
    }
  }
  return "";
}

std::string Arrivals(const InvariantInput& in) {
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    if (in.state.phase[U(job)] != JobPhase::kFuture &&
        in.scenario.data().jobs.arrival[U(job)] > in.state.now) {
      return Join("job ", job, " is here before it arrives");
    }
  }
  return "";
}

std::string Steps(const InvariantInput& in) {
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const double done = in.state.steps_done[U(job)], total = in.scenario.data().jobs.total_steps[U(job)];
    const bool complete = in.state.phase[U(job)] == JobPhase::kDone;
    if (done < 0.0 || done > total * (1.0 + 1e-12) || (complete && done != total)) {
      return Join("job ", job, " has done ", done, " of ", total, " steps");
    }
  }
  return "";
}

std::string FirstStarts(const InvariantInput& in) {
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const JobPhase phase = in.state.phase[U(job)];
    const double start = in.state.first_start[U(job)];
    if (start < in.scenario.data().jobs.arrival[U(job)])
      return Join("job ", job, " started before it arrived");
    if ((phase == JobPhase::kRunning || phase == JobPhase::kDone) && start > in.state.now) {
      return Join("job ", job, " runs or ran, and its first start is to come");
    }
  }
  return "";
}

std::string Completions(const InvariantInput& in) {
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const double done = in.state.completion[U(job)];
    if (in.state.phase[U(job)] == JobPhase::kDone) {
      if (done > in.state.now) return Join("job ", job, " is done in the future");
    } else if (done != kNever) {
      return Join("job ", job, " has a completion time and is not done");
    }
  }
  return "";
}

std::string Lists(const InvariantInput& in) {
  std::vector<int> waiting, running, active;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const JobPhase phase = in.state.phase[U(job)];
    if (phase == JobPhase::kWaiting) waiting.push_back(job);
    if (phase == JobPhase::kRunning) running.push_back(job);
    if (phase == JobPhase::kWaiting || phase == JobPhase::kRunning) active.push_back(job);
  }
  const auto same_jobs = [](const std::vector<int>& jobs, const JobList& list) {
    return std::equal(jobs.begin(), jobs.end(), list.begin(), list.end());
  };
  const bool same = same_jobs(waiting, in.state.waiting) && same_jobs(running, in.state.running) &&
                    same_jobs(active, in.state.active);
  return same ? "" : "lists and phases disagree";
}

// Everybody runs as fast as where and beside whom he stands says: no change was missed. What features make of
// a rate is asked of EffectiveRate itself; whether that is right is for their own rules and tests.
std::string Rates(const InvariantInput& in) {
  const SimState& s = in.state;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const int partner = s.partner[U(job)], type = s.on_type[U(job)];
    if (s.phase[U(job)] != JobPhase::kRunning || type < 0) continue;
    const double rate = !in.scenario.plain() ? EffectiveRate(in.scenario, s, job)
                        : partner < 0        ? in.scenario.Rate(job, type)
                                             : in.scenario.PairRate(job, partner, type);
    if (s.rate[U(job)] != rate)
      return Join("job ", job, " runs at ", s.rate[U(job)], " steps/s, not at ", rate);
  }
  return "";
}

// Who shares a GPU with whom.
std::string Pairs(const InvariantInput& in) {
  const SimState& s = in.state;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const int partner = s.partner[U(job)], type = s.on_type[U(job)];
    if (s.phase[U(job)] != JobPhase::kRunning || type < 0) {
      if (partner >= 0) return Join("job ", job, " shares a GPU and does not run");
      continue;
    }
    if (partner >= 0 && s.partner[U(partner)] != job)
      return Join("job ", job, " shares with job ", partner, ", not so the other");
    if (partner >= 0 && in.scenario.data().jobs.gang[U(job)] != 1)
      return Join("job ", job, " shares a GPU and is a gang");
  }
  return "";
}

// What the types were busy is what the jobs held, a second that two shared counted once.
std::string BusyAsHeld(const InvariantInput& in) {
  double busy = 0.0, attained = 0.0;
  for (double seconds : in.busy_seconds) busy += seconds;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const double held = in.scenario.plain()
                            ? in.scenario.data().jobs.gang[U(job)] * in.state.AttainedSeconds(job)
                            : in.state.AttainedGpuSeconds(job);
    attained += held - 0.5 * in.state.SharedSeconds(job);
  }
  for (const FeatureState& feature : in.state.features.Of(Hook::kSharedSeconds)) {
    for (int type = 0; type < in.scenario.num_types(); ++type)
      attained -= feature.SharedSeconds(in.state.now, type);
  }
  if (std::max(busy, attained) - std::min(busy, attained) > 1e-9 * std::max(1.0, busy)) {
    return Join("types were busy ", busy, " GPU-seconds, jobs held ", attained);
  }
  return "";
}

// What is saved was done, and what is lost is not negative.
std::string SavedSteps(const InvariantInput& in) {
  const SimState& s = in.state;
  for (std::size_t job = 0; job < s.safe_steps.size(); ++job) {
    if (s.safe_steps[job] > s.AttainedSteps(static_cast<int>(job)))
      return Join("job ", job, " has ", s.safe_steps[job], " steps safe of ",
                  s.AttainedSteps(static_cast<int>(job)));
    if (s.lost_steps[job] < 0.0 || (s.lost_steps[job] > 0.0 && s.interruptions[job] == 0))
      return Join("job ", job, " lost ", s.lost_steps[job], " steps in ", s.interruptions[job],
                  " interruptions");
  }
  return "";
}

constexpr Invariant kInvariants[] = {
    {"capacity", Capacity},
    {"free counts", FreeCounts},
    {"device types", DeviceTypes},
    {"whole gangs", WholeGangs},
    {"device lists", DeviceLists},
    {"placement", Placement},
    {"arrivals", Arrivals},
    {"steps", Steps},
    {"first starts", FirstStarts},
    {"completions", Completions},
    {"lists", Lists},
    {"pairs", Pairs},
    {"rates", Rates},
    {"GPU-seconds", BusyAsHeld},
    {"saved steps", SavedSteps},
};

}  // namespace

std::span<const Invariant> Invariants() {
  return kInvariants;
}

std::string CheckInvariants(const InvariantInput& input) {
  for (const Invariant& invariant : kInvariants) {
    const std::string violation = invariant.violation(input);
    if (!violation.empty()) return Join(invariant.name, ": ", violation);
  }
  for (const FeatureStates::Entry& feature : input.state.features.entries()) {
    const std::string violation = feature.state->Violation(input);
    if (!violation.empty()) return Join(feature.module->name, ": ", violation);
  }
  return "";
}

std::string CheckInvariants(const SimCore& core) {
  std::vector<double> busy;
  for (int type = 0; type < core.scenario().num_types(); ++type) busy.push_back(core.BusySeconds(type));
  return CheckInvariants({core.scenario(), core.state(), busy});
}

}  // namespace berth
