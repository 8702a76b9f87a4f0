#include "env/sim/invariants.hpp"

#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/features/failures/failures.hpp"
#include "env/features/forecast/forecast.hpp"
#include "env/features/latency/latency.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/topology/placement_engine.hpp"
#include "env/sim/effective_rate.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// No device gives more than it has, and none is lost.
std::string Capacity(const InvariantInput& in) {
  for (int d = 0; d < in.scenario.num_gpus(); ++d) {
    int free = in.state.device_job[U(d)] < 0 ? 1000 : 0;
    if (in.state.sharing && !in.state.sharing->jobs[U(d)].empty()) {
      free = 1000;
      for (int job : in.state.sharing->jobs[U(d)]) free -= in.scenario.data().jobs.gpu_milli[U(job)];
    }
    if (in.state.device_milli[U(d)] != free || free < 0) {
      return Join("device ", d, ": capacity and holder disagree");
    }
  }
  return "";
}

std::string FreeCounts(const InvariantInput& in) {
  for (int type = 0; type < in.scenario.num_types(); ++type) {
    const int first = in.scenario.first_device(type);
    int idle = 0, in_service = 0;
    for (int d = first; d < first + in.scenario.data().cluster.types[U(type)].count; ++d) {
      const bool out = !in.state.out_of_service.empty() && in.state.out_of_service[U(d)] != 0;
      idle += in.state.device_job[U(d)] < 0 && !out;
      in_service += !out;
    }
    if (!in.state.types.empty() && in.state.types[U(type)].count != in_service) {
      return Join("type ", type, ": ", in_service, " in service, ", in.state.types[U(type)].count,
                  " counted");
    }
    if (idle != in.state.free_gpus[U(type)]) {
      return Join("type ", type, ": ", idle, " idle, ", in.state.free_gpus[U(type)], " counted");
    }
  }
  return "";
}

std::string DeviceTypes(const InvariantInput& in) {
  for (int type = 0; type < in.scenario.num_types(); ++type) {
    const int first = in.scenario.first_device(type);
    for (int d = first; d < first + in.scenario.data().cluster.types[U(type)].count; ++d) {
      for (int job : HoldersOf(in.state, d)) {
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
    for (int job : HoldersOf(in.state, d)) ++held[U(job)];
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
      const std::vector<int> holders = HoldersOf(in.state, d);
      if (std::find(holders.begin(), holders.end(), job) == holders.end())
        return Join("job ", job, " lists device ", d, ", which it does not hold");
      ++listed;
    }
  }
  std::size_t held = 0;
  for (int d = 0; d < in.scenario.num_gpus(); ++d) held += HoldersOf(in.state, d).size();
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

// Nobody who holds a part of a GPU is given less of it than he is promised, whatever else slows him; and what
// is promised, with a replica there, is not more than the GPU.
std::string Promises(const InvariantInput& in) {
  const SimState& s = in.state;
  if (!s.sharing) return "";
  const Features& f = in.scenario.data().features;
  const bool alone =
      !f.topology && !f.power && !f.stages && !f.services && !f.elasticity;  // nothing else slows
  for (int job : s.running) {
    if (s.Devices(job).empty() || s.phase[U(job)] != JobPhase::kRunning) continue;
    const int device = s.Devices(job).front();
    const double least = PromisedFraction(in.scenario, s, job);
    if (least == 0.0) continue;
    const double factor = SharingEngine::Factor(in.scenario, s, job);
    if (factor < least * (1.0 - 1e-12))
      return Join("job ", job, " is given ", factor, " of its rate alone and is promised ", least);
    const double rate = least * in.scenario.Rate(job, s.on_type[U(job)]);
    if (alone && s.rate[U(job)] < rate * (1.0 - 1e-12))
      return Join("job ", job, " runs at ", s.rate[U(job)], " steps/s and is promised ", rate);
    const double promised = PromisedOn(in.scenario, s, device);
    const double replica = s.services ? ReplicaShare(in.scenario, s, device) : 0.0;
    if (promised + replica > 1.0 + 1e-9)
      return Join("device ", device, ": ", promised, " of it is promised, and a replica has ", replica);
  }
  return "";
}

// Everybody runs as fast as where and beside whom he stands says: no change was missed. What features make of
// a rate is asked of EffectiveRate itself; whether that is right is for their tests, and for Promises.
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
std::string Sharing(const InvariantInput& in) {
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
  return Promises(in);
}

// What the types were busy is what the jobs held, a second that two shared counted once.
std::string GpuSeconds(const InvariantInput& in) {
  double busy = 0.0, attained = 0.0;
  for (double seconds : in.busy_seconds) busy += seconds;
  for (int job = 0; job < in.scenario.num_jobs(); ++job) {
    const double held = in.scenario.plain()
                            ? in.scenario.data().jobs.gang[U(job)] * in.state.AttainedSeconds(job)
                            : in.state.AttainedGpuSeconds(job);
    attained += held - 0.5 * in.state.SharedSeconds(job);
  }
  if (in.state.sharing) {
    for (const SharingState::Meter& m : in.state.sharing->meters)
      attained -= m.extra_s + static_cast<double>(m.extra) * (in.state.now - m.since);
  }
  if (std::max(busy, attained) - std::min(busy, attained) > 1e-9 * std::max(1.0, busy)) {
    return Join("types were busy ", busy, " GPU-seconds, jobs held ", attained);
  }
  return "";
}

std::string Power(const InvariantInput& in) {
  return in.state.power ? PowerViolation(in.scenario, in.state) : "";
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
    {"sharing", Sharing},
    {"rates", Rates},
    {"GPU-seconds", GpuSeconds},
    {"nodes", PlacementViolation},
    {"failures", FailureViolation},
    {"checkpoints", CheckpointViolation},
    {"elasticity", ElasticityViolation},
    {"latency", LatencyViolation},
    {"services", ServiceViolation},
    {"forecast", ForecastViolation},
    {"partitions", PartitionViolation},
    {"power", Power},
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
  return "";
}

std::string CheckInvariants(const Simulator& simulator) {
  std::vector<double> busy;
  for (int type = 0; type < simulator.scenario().num_types(); ++type)
    busy.push_back(simulator.BusySeconds(type));
  return CheckInvariants({simulator.scenario(), simulator.state(), busy});
}

}  // namespace berth
