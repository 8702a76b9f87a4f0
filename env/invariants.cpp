// The checker that recounts everything from the device map and the phases.
#include <algorithm>

#include "env/simulator.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

// Who shares a GPU with whom, and how fast everybody runs.
std::string CheckSharing(const Scenario& scenario, const SimState& s, int job) {
  const int partner = s.partner[U(job)], type = s.on_type[U(job)];
  if (s.phase[U(job)] != JobPhase::kRunning) {
    return partner < 0 ? "" : Join("job ", job, " shares a GPU and does not run");
  }
  if (partner < 0) {
    if (s.rate[U(job)] == scenario.Rate(job, type)) return "";
    return Join("job ", job, " runs at ", s.rate[U(job)], " steps/s, alone ", scenario.Rate(job, type));
  }
  if (s.partner[U(partner)] != job)
    return Join("job ", job, " shares with job ", partner, ", not so the other");
  if (scenario.data().jobs.gang[U(job)] != 1) return Join("job ", job, " shares a GPU and is a gang");
  const double rate = scenario.PairRate(job, partner, type);
  if (rate > 0.0 && s.rate[U(job)] == rate) return "";
  return Join("job ", job, " runs at ", s.rate[U(job)], " steps/s, beside job ", partner, " ", rate);
}

}  // namespace

std::string CheckInvariants(const Simulator& simulator) {
  const Scenario& scenario = simulator.scenario();
  const SimState& s = simulator.state();
  const JobTable& jobs = scenario.data().jobs;

  std::vector<int> held(U(scenario.num_jobs()), 0);
  for (int type = 0; type < scenario.num_types(); ++type) {
    int idle = 0;
    const int first = scenario.first_device(type);
    for (int d = first; d < first + scenario.data().cluster.types[U(type)].count; ++d) {
      const int job = s.device_job[U(d)];
      if (s.device_milli[U(d)] != (job < 0 ? 1000 : 0))
        return Join("device ", d, ": capacity and holder disagree");
      if (job < 0) {
        ++idle;
        continue;
      }
      for (int holder = job; holder >= 0; holder = holder == job ? s.partner[U(job)] : -1) {
        ++held[U(holder)];
        if (s.on_type[U(holder)] != type)
          return Join("job ", holder, " holds device ", d, " of another type");
        const auto its = s.Devices(holder);
        if (std::find(its.begin(), its.end(), d) == its.end())
          return Join("job ", holder, " does not know of its device ", d);
      }
    }
    if (idle != s.free_gpus[U(type)])
      return Join("type ", type, ": ", idle, " idle, ", s.free_gpus[U(type)], " counted");
  }
  std::vector<int> waiting, running, active;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const JobPhase phase = s.phase[U(job)];
    const int expected = phase == JobPhase::kRunning ? jobs.gang[U(job)] : 0;
    if (held[U(job)] != expected) return Join("job ", job, " holds ", held[U(job)], " GPUs, gang ", expected);
    if (static_cast<int>(s.Devices(job).size()) != expected)
      return Join("job ", job, ": device list is not its gang");
    if (std::string problem = CheckSharing(scenario, s, job); !problem.empty()) return problem;
    if (phase == JobPhase::kWaiting) waiting.push_back(job);
    if (phase == JobPhase::kRunning) running.push_back(job);
    if (phase == JobPhase::kWaiting || phase == JobPhase::kRunning) active.push_back(job);
    if (phase != JobPhase::kFuture && jobs.arrival[U(job)] > s.now)
      return Join("job ", job, " is here before it arrives");
    if (s.steps_done[U(job)] < 0.0 || s.steps_done[U(job)] > jobs.total_steps[U(job)] * (1.0 + 1e-12)) {
      return Join("job ", job, " has done ", s.steps_done[U(job)], " of ", jobs.total_steps[U(job)],
                  " steps");
    }
    if (s.first_start[U(job)] < jobs.arrival[U(job)]) return Join("job ", job, " started before it arrived");
    if (phase == JobPhase::kDone && s.completion[U(job)] > s.now)
      return Join("job ", job, " is done in the future");
  }
  if (waiting != s.waiting || running != s.running || active != s.active) return "lists and phases disagree";
  // GPU-seconds: what the types were busy is what the jobs held, a second that two shared counted once.
  double busy = 0.0, attained = 0.0;
  for (int type = 0; type < scenario.num_types(); ++type) busy += simulator.BusySeconds(type);
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    attained += jobs.gang[U(job)] * s.AttainedSeconds(job) - 0.5 * s.SharedSeconds(job);
  }
  if (std::max(busy, attained) - std::min(busy, attained) > 1e-9 * std::max(1.0, busy)) {
    return Join("types were busy ", busy, " GPU-seconds, jobs held ", attained);
  }
  return "";
}

}  // namespace berth
