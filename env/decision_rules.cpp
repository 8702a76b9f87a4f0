// Validation of a decision as a whole, and the words for what it breaks.
#include <algorithm>

#include "env/simulator.hpp"

namespace berth {
namespace {

std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

ApplyResult Simulator::Validate(const Decision& decision) {
  const SimState& s = state_;
  const JobTable& jobs = scenario_.data().jobs;
  const int count = static_cast<int>(decision.commands.size());
  ++stamp_;
  // First what each command frees, so that starts may use it whatever the order.
  std::copy(s.free_gpus.begin(), s.free_gpus.end(), spare_.begin());
  for (int i = 0; i < count; ++i) {
    const Command& c = decision.commands[U(i)];
    if (c.job < 0 || c.job >= scenario_.num_jobs()) return {Rule::kUnknownJob, i};
    const JobPhase phase = s.phase[U(c.job)];
    if (phase == JobPhase::kFuture) return {Rule::kNotArrived, i};
    if (job_stamp_[U(c.job)] == stamp_) return {Rule::kTwice, i};
    job_stamp_[U(c.job)] = stamp_;
    const bool of_running = c.kind == CommandKind::kStop || c.kind == CommandKind::kMove;
    if (of_running && phase != JobPhase::kRunning) return {Rule::kNotRunning, i};
    if (!of_running && phase != JobPhase::kWaiting) return {Rule::kNotWaiting, i};
    if (of_running) spare_[U(s.on_type[U(c.job)])] += jobs.gang[U(c.job)];
  }
  for (int i = 0; i < count; ++i) {
    const Command& c = decision.commands[U(i)];
    if (c.kind != CommandKind::kStart && c.kind != CommandKind::kMove) continue;
    if (c.type < 0 || c.type >= scenario_.num_types()) return {Rule::kUnknownType, i};
    if (scenario_.Rate(c.job, c.type) <= 0.0) return {Rule::kCannotRun, i};
    spare_[U(c.type)] -= jobs.gang[U(c.job)];
    if (spare_[U(c.type)] < 0) return {Rule::kNoRoom, i};
    if (c.devices_count == 0) continue;
    if (c.devices_count != jobs.gang[U(c.job)]) return {Rule::kWrongDeviceCount, i};
    const int first = scenario_.first_device(c.type);
    const int last = first + scenario_.data().cluster.types[U(c.type)].count;
    for (int k = 0; k < c.devices_count; ++k) {
      const int d = decision.devices[U(c.devices_begin + k)];
      if (d < first || d >= last) return {Rule::kDeviceOfOtherType, i};
      const int holder = s.device_job[U(d)];
      // Held by a job that this decision stops or moves is as good as free.
      const bool freed = holder >= 0 && job_stamp_[U(holder)] == stamp_;
      if ((holder >= 0 && !freed) || device_stamp_[U(d)] == stamp_) return {Rule::kDeviceBusy, i};
      device_stamp_[U(d)] = stamp_;
    }
  }
  return {};
}

std::string Explain(const ApplyResult& result, const Decision& decision, const Simulator& simulator) {
  if (result.ok()) return "legal";
  const Command& c = decision.commands[U(result.command)];
  const Scenario& scenario = simulator.scenario();
  const auto type_name = [&](int type) {
    return type >= 0 && type < scenario.num_types() ? scenario.data().cluster.types[U(type)].name
                                                    : Join("#", type);
  };
  const std::string job = Join("job ", c.job);
  switch (result.rule) {
    case Rule::kNone:
      break;
    case Rule::kUnknownJob:
      return Join(job, " does not exist: the scenario has ", scenario.num_jobs());
    case Rule::kNotArrived:
      return Join(job, " has not arrived");
    case Rule::kNotWaiting:
      return Join(job, " is not waiting, so it cannot be started or rejected");
    case Rule::kNotRunning:
      return Join(job, " is not running, so it cannot be stopped or moved");
    case Rule::kUnknownType:
      return Join(job, ": GPU type ", c.type, " does not exist");
    case Rule::kCannotRun:
      return Join(job, " cannot run on ", type_name(c.type));
    case Rule::kNoRoom:
      return Join(job, " needs ", scenario.data().jobs.gang[U(c.job)], " GPUs of type ", type_name(c.type),
                  ", but the decision as a whole asks for more than there are (idle before it: ",
                  simulator.state().free_gpus[U(c.type)], ")");
    case Rule::kDeviceBusy:
      return Join(job, ": a named device is held by another job");
    case Rule::kDeviceOfOtherType:
      return Join(job, ": a named device is not of type ", type_name(c.type));
    case Rule::kWrongDeviceCount:
      return Join(job, " needs ", scenario.data().jobs.gang[U(c.job)], " devices, ", c.devices_count,
                  " are named");
    case Rule::kTwice:
      return Join(job, " is named by two commands");
  }
  return "unknown rule";
}

}  // namespace berth
