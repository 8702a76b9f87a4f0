// Validation of a decision as a whole, and the words for what it breaks.
#include <algorithm>

#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// How many devices the job's leaving gives back.
int GivesBack(const SimState& s, int job) {
  if (s.out_of_service.empty()) return s.Width(job);
  int count = 0;
  for (int d : s.Devices(job)) count += s.out_of_service[U(d)] == 0;
  return count;
}

}  // namespace

ApplyResult SimCore::Validate(const Decision& decision) {
  const SimState& s = state_;
  const JobTable& jobs = scenario_.data().jobs;
  const int count = static_cast<int>(decision.commands.size());
  ++stamp_;
  bool packs = false;
  // First what each command frees, so that starts may use it whatever the order.
  std::copy(s.free_gpus.begin(), s.free_gpus.end(), spare_.begin());
  for (int i = 0; i < count; ++i) {
    const Command& c = decision.commands[U(i)];
    if (c.job < 0 || c.job >= scenario_.num_jobs()) return {Rule::kUnknownJob, i};
    const JobPhase phase = s.phase[U(c.job)];
    if (phase == JobPhase::kFuture) return {Rule::kNotArrived, i};
    if (job_stamp_[U(c.job)] == stamp_) return {Rule::kTwice, i};
    job_stamp_[U(c.job)] = stamp_;
    const bool pack = c.kind == CommandKind::kPack;
    packs = packs || pack;
    const bool of_running =
        c.kind == CommandKind::kStop || c.kind == CommandKind::kMove || (pack && phase == JobPhase::kRunning);
    if (of_running && phase != JobPhase::kRunning) return {Rule::kNotRunning, i};
    if (!of_running && phase != JobPhase::kWaiting) return {Rule::kNotWaiting, i};
    if (!of_running) continue;
    const int partner = s.partner[U(c.job)];  // a shared GPU is free once both leave it
    if (partner < 0 || job_stamp_[U(partner)] == stamp_)
      spare_[U(s.on_type[U(c.job)])] += GivesBack(s, c.job);
  }
  for (FeatureState& feature : state_.features.Of(Hook::kWithhold)) feature.Withhold(*this, decision);
  for (int i = 0; i < count; ++i) {
    const Command& c = decision.commands[U(i)];
    if (c.kind != CommandKind::kStart && c.kind != CommandKind::kMove) continue;
    if (c.type < 0 || c.type >= scenario_.num_types()) return {Rule::kUnknownType, i};
    const int width = Width(c);
    if (width == jobs.gang[U(c.job)]) {
      if (scenario_.Rate(c.job, c.type) <= 0.0) return {Rule::kCannotRun, i};
    } else if (scenario_.RateAt(c.job, c.type, width) <= 0.0) {
      return {Rule::kWidth, i};
    }
    if (scenario_.divides_gpus()) continue;  // ValidateRoom
    spare_[U(c.type)] -= width;
    if (spare_[U(c.type)] < 0) return {Rule::kNoRoom, i};
    if (c.devices_count == 0) continue;
    if (c.devices_count != width) return {Rule::kWrongDeviceCount, i};
    const int first = scenario_.first_device(c.type);
    const int last = first + scenario_.data().cluster.types[U(c.type)].count;
    for (int k = 0; k < c.devices_count; ++k) {
      const int d = decision.devices[U(c.devices_begin + k)];
      if (d < first || d >= last) return {Rule::kDeviceOfOtherType, i};
      if (!s.InService(d)) return {Rule::kOutOfService, i};
      const int holder = s.device_job[U(d)];
      // Held by a job that this decision stops or moves is as good as free.
      const int partner = holder < 0 ? -1 : s.partner[U(holder)];
      const bool freed =
          holder >= 0 && job_stamp_[U(holder)] == stamp_ && (partner < 0 || job_stamp_[U(partner)] == stamp_);
      if ((holder >= 0 && !freed) || device_stamp_[U(d)] == stamp_) return {Rule::kDeviceBusy, i};
      device_stamp_[U(d)] = stamp_;
    }
  }
  for (FeatureState& feature : state_.features.Of(Hook::kValidateRoom)) {
    if (const ApplyResult room = feature.ValidateRoom(*this, decision); !room.ok()) return room;
  }
  for (std::size_t i = 0; i < decision.controls.size(); ++i) {
    const Control& control = decision.controls[i];
    bool allowed = false;
    for (const FeatureState& feature : s.features.Of(Hook::kAllows))
      allowed = allowed || feature.Allows(*this, control);
    if (!allowed) return {Rule::kControl, static_cast<int>(i)};
  }
  for (const FeatureState& feature : s.features.Of(Hook::kValidate)) {
    if (const ApplyResult result = feature.Validate(*this, decision); !result.ok()) return result;
  }
  return packs ? ValidatePacks(decision) : ApplyResult{};
}

// A job may be packed beside one that will run alone on one GPU once the rest of the decision is carried out.
ApplyResult SimCore::ValidatePacks(const Decision& decision) {
  const SimState& s = state_;
  const JobTable& jobs = scenario_.data().jobs;
  const int count = static_cast<int>(decision.commands.size());
  for (int i = 0; i < count; ++i) command_of_[U(decision.commands[U(i)].job)] = i;
  for (int i = 0; i < count; ++i) {
    const auto& [kind, job, its_type, begin, devices, host, width] = decision.commands[U(i)];
    if (kind != CommandKind::kPack) continue;
    if (host < 0 || host >= scenario_.num_jobs() || host == job) return {Rule::kPackHost, i};
    int type = s.on_type[U(host)], holds = s.Width(host);  // GPUs
    if (job_stamp_[U(host)] == stamp_) {                   // the decision says what becomes of it
      const Command& own = decision.commands[U(command_of_[U(host)])];
      if (own.kind == CommandKind::kPack) return {Rule::kPackShared, i};
      if (own.kind == CommandKind::kStop || own.kind == CommandKind::kReject) return {Rule::kPackHost, i};
      type = own.type, holds = Width(own);
    } else {
      if (s.phase[U(host)] != JobPhase::kRunning) return {Rule::kPackHost, i};
      const int partner = s.partner[U(host)];
      if (partner >= 0 && job_stamp_[U(partner)] != stamp_) return {Rule::kPackShared, i};
    }
    if (job_stamp_[U(host)] != stamp_ && !s.InService(s.Devices(host).front())) {
      return {Rule::kOutOfService, i};  // who is there may stay, nobody new comes
    }
    if (host_stamp_[U(host)] == stamp_) return {Rule::kPackShared, i};
    host_stamp_[U(host)] = stamp_;
    if (jobs.gang[U(job)] != 1 || jobs.gang[U(host)] != 1 || holds != 1) return {Rule::kPackGang, i};
    if (scenario_.HoldsPart(job) || scenario_.HoldsPart(host)) return {Rule::kPackShared, i};
    if (scenario_.PairRate(job, host, type) <= 0.0) return {Rule::kPackRate, i};
  }
  return {};
}

std::string Explain(const ApplyResult& result, const Decision& decision, const SimCore& core) {
  if (result.ok()) return "legal";
  if (result.rule == Rule::kControl) {
    const Control& control = decision.controls[U(result.command)];
    return Join("control ", result.command, " (kind ", static_cast<int>(control.kind), ") of ", control.index,
                " to ", control.value, ": the feature is off, or there is no such thing or setting");
  }
  const Command& c = decision.commands[U(result.command)];
  const Scenario& scenario = core.scenario();
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
      return Join(job, " needs ", Counted(c.width > 0 ? c.width : scenario.data().jobs.gang[U(c.job)], "GPU"),
                  " of type ", type_name(c.type),
                  ", but the decision as a whole asks for more than there are (idle before it: ",
                  core.state().free_gpus[U(c.type)], ")");
    case Rule::kDeviceBusy:
      return Join(job, ": a named device is held by another job");
    case Rule::kDeviceOfOtherType:
      return Join(job, ": a named device is not of type ", type_name(c.type));
    case Rule::kWrongDeviceCount:
      return Join(job, " needs ",
                  Counted(c.width > 0 ? c.width : scenario.data().jobs.gang[U(c.job)], "device"), ", ",
                  Counted(c.devices_count, "is", "are"), " named");
    case Rule::kTwice:
      return Join(job, " is named by two commands");
    case Rule::kPackHost:
      return Join(job, " cannot be packed beside job ", c.host, ": that one does not run after the decision");
    case Rule::kPackGang:
      return Join(job, " cannot be packed beside job ", c.host, ": only gangs of 1 share a GPU");
    case Rule::kPackShared:
      return Join(job, " cannot be packed beside job ", c.host, ": that one shares its GPU with another");
    case Rule::kPackRate:
      return Join(job, " cannot be packed beside job ", c.host,
                  ": on that GPU type one of them cannot run so");
    case Rule::kWidth:
      return Join(job, " cannot run on ", Counted(c.width, "GPU"), " of type ", type_name(c.type),
                  ", only on ", scenario.MinGang(c.job), " to ", scenario.MaxGang(c.job));
    case Rule::kControl:
      break;
    case Rule::kNodeResources:
      return Join(job, ": a named device's node has not the CPU cores, memory or further resource left");
    case Rule::kOutOfService:
      return Join(job, ": a device that it would take is out of service");
  }
  return "unknown rule";
}

}  // namespace berth
