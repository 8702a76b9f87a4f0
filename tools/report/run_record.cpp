#include "tools/report/run_record.hpp"

#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// What is gone or leaves is out of service whatever else holds; a replica has no device that is.
Absence Why(std::uint8_t reasons) {
  if ((reasons & (kFailed | kDraining | kClosed)) != 0) return Absence::kOutOfService;
  if ((reasons & kHeld) != 0) return Absence::kReplica;
  return (reasons & (kVacating | kAbsent)) != 0 ? Absence::kOtherLayout : Absence::kOutOfService;
}

}  // namespace

const char* ToString(SpanEnd end) {
  constexpr const char* kNames[kNumSpanEnds] = {"completed",   "stopped",       "moved",
                                                "interrupted", "still running", "scaled down"};
  return kNames[static_cast<int>(end)];
}

const char* ToString(Absence why) {
  constexpr const char* kNames[kNumAbsences] = {"out of service", "replica of a service", "other layout"};
  return kNames[static_cast<int>(why)];
}

RunRecorder::RunRecorder(const Scenario& scenario)
    : gang_(scenario.data().jobs.gang),
      open_(U(scenario.num_jobs()), -1),
      down_from_(U(scenario.num_gpus()), kNever),
      why_(U(scenario.num_gpus()), Absence::kOutOfService) {
  record_.arrive_s.assign(U(scenario.num_jobs()), kNever);
  record_.left_s.assign(U(scenario.num_jobs()), kNever);
}

void RunRecorder::Begin(const Event& event) {
  End(event.job, event.time, SpanEnd::kMoved);  // a move, or a pack of one that ran, logs no stop
  open_[U(event.job)] = static_cast<int>(record_.spans.size());
  fresh_.push_back({open_[U(event.job)], event.device});
  record_.spans.push_back({event.job, event.time, kNever, 0, 0, SpanEnd::kStillRunning});
}

void RunRecorder::End(int job, double time, SpanEnd end) {
  int& open = open_[U(job)];
  if (open < 0) return;
  RunRecord::Span& span = record_.spans[U(open)];
  span.end_s = time;
  span.end = end;
  open = -1;
}

void RunRecorder::Leave(int device, double time, std::uint8_t reasons) {
  down_from_[U(device)] = time;
  why_[U(device)] = Why(reasons);
  if (why_[U(device)] == Absence::kReplica) replicas_.push_back(device);
}

void RunRecorder::Return(int device, double time, SpanEnd end) {
  const bool replica = why_[U(device)] == Absence::kReplica;
  record_.outages.push_back({device, std::exchange(down_from_[U(device)], kNever), time, why_[U(device)],
                             replica ? end : SpanEnd::kStillRunning});
  if (replica) std::erase(replicas_, device);
}

void RunRecorder::Read(std::span<const Event> events) {
  for (; read_ < events.size(); ++read_) {
    const Event& event = events[read_];
    switch (event.kind) {
      case EventKind::kArrive:
        record_.arrive_s[U(event.job)] = event.time;
        break;
      case EventKind::kStart:
      case EventKind::kMove:
      case EventKind::kPack:
        Begin(event);
        break;
      case EventKind::kComplete:
        record_.left_s[U(event.job)] = event.time;
        End(event.job, event.time, SpanEnd::kCompleted);
        break;
      case EventKind::kReject:
        record_.left_s[U(event.job)] = event.time;
        End(event.job, event.time, SpanEnd::kStopped);
        break;
      case EventKind::kStop:
        End(event.job, event.time, SpanEnd::kStopped);
        break;
      case EventKind::kInterrupt:
        End(event.job, event.time, SpanEnd::kInterrupted);
        break;
      case EventKind::kDown:
        Leave(event.device, event.time, event.reasons);
        break;
      case EventKind::kUp:  // a replica's GPU that comes back from something else had lost it
        Return(event.device, event.time,
               event.reasons == kHeld ? SpanEnd::kScaledDown : SpanEnd::kInterrupted);
        break;
    }
  }
}

void RunRecorder::Hold(int span, std::span<const int> devices) {
  record_.spans[U(span)].devices_begin = static_cast<std::int32_t>(record_.devices.size());
  record_.spans[U(span)].devices_count = static_cast<std::int32_t>(devices.size());
  record_.devices.insert(record_.devices.end(), devices.begin(), devices.end());
}

void RunRecorder::Observe(const Simulator& simulator) {
  Read(simulator.events());
  for (const Fresh& fresh : fresh_) {
    const int job = record_.spans[U(fresh.span)].job;
    const bool runs = open_[U(job)] == fresh.span;
    Hold(fresh.span, runs ? simulator.state().Devices(job) : std::span(&fresh.first_device, 1));
    if (!runs && gang_[U(job)] > 1) ++record_.unseen_gangs;
  }
  fresh_.clear();
  // The log does not say that a device which is out loses its replica.
  for (const int device : std::vector<int>(replicas_)) {
    const std::uint8_t reasons = simulator.state().out_of_service[U(device)];
    if ((reasons & kHeld) != 0) continue;
    Return(device, simulator.now(),
           Why(reasons) == Absence::kOtherLayout ? SpanEnd::kMoved : SpanEnd::kInterrupted);
    Leave(device, simulator.now(), reasons);
  }
}

RunRecord RunRecorder::Finish(const RunResult& result) {
  Read(result.events);
  for (const Fresh& fresh : fresh_) {
    Hold(fresh.span, std::span(&fresh.first_device, 1));
    if (gang_[U(record_.spans[U(fresh.span)].job)] > 1) ++record_.unseen_gangs;
  }
  fresh_.clear();
  record_.end_s = result.metrics.end_s;
  record_.lanes = result.lanes;
  for (RunRecord::Span& span : record_.spans) {
    if (span.end_s == kNever) span.end_s = record_.end_s;
  }
  for (int device = 0; device < static_cast<int>(down_from_.size()); ++device) {
    if (down_from_[U(device)] != kNever) Return(device, record_.end_s, SpanEnd::kStillRunning);
  }
  return std::move(record_);
}

std::vector<double> FirstStarts(std::span<const Event> events, int jobs) {
  std::vector<double> first(U(jobs), kNever);
  for (const Event& event : events) {
    const bool starts = event.kind == EventKind::kStart || event.kind == EventKind::kPack;
    if (starts && first[U(event.job)] == kNever) first[U(event.job)] = event.time;
  }
  return first;
}

}  // namespace berth
