#include "tools/report/run_record.hpp"

#include <algorithm>
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

const char* MarkName(int bit) {
  constexpr const char* kNames[kNumSpanMarks] = {"resized", "packed", "part of a GPU", "moved"};
  return kNames[bit];
}

std::string MarkNames(unsigned marks) {
  std::string names;
  for (int bit = 0; bit < kNumSpanMarks; ++bit) {
    if ((marks >> bit & 1U) != 0) names += Join(names.empty() ? "" : ", ", MarkName(bit));
  }
  return names;
}

RunRecorder::RunRecorder(const Scenario& scenario)
    : scenario_(scenario),
      gang_(scenario.data().jobs.gang),
      open_(U(scenario.num_jobs()), -1),
      last_(U(scenario.num_jobs()), -1),
      first_device_(U(scenario.num_jobs()), -1),
      first_(U(scenario.num_gpus())),
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
  first_device_[U(event.job)] = event.device;
  first_[U(event.device)].push_back(event.job);
}

// Who else is on the device by then is the host, which has one GPU.
void RunRecorder::Pack(const Event& event) {
  Begin(event);
  for (const int job : first_[U(event.device)]) record_.spans[U(open_[U(job)])].marks |= kPacked;
}

void RunRecorder::End(int job, double time, SpanEnd end) {
  int& open = open_[U(job)];
  if (open < 0) return;
  RunRecord::Span& span = record_.spans[U(open)];
  span.end_s = time;
  span.end = end;
  open = -1;
  std::erase(first_[U(first_device_[U(job)])], job);
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
        Begin(event);
        break;
      case EventKind::kPack:
        Pack(event);
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

bool RunRecorder::Moved(const RunRecord::Span& before, const RunRecord::Span& span) const {
  const auto nodes_of = [this](std::span<const std::int32_t> devices) {
    std::vector<int> nodes;
    for (const int device : devices) nodes.push_back(scenario_.NodeOf(device));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  };
  const std::span<const std::int32_t> from = record_.Devices(before), to = record_.Devices(span);
  if (scenario_.TypeOfDevice(from.front()) != scenario_.TypeOfDevice(to.front())) return true;
  const std::vector<int> left = nodes_of(from), now = nodes_of(to);
  return !std::includes(left.begin(), left.end(), now.begin(), now.end()) &&
         !std::includes(now.begin(), now.end(), left.begin(), left.end());
}

void RunRecorder::Hold(int index, std::span<const int> devices, bool all) {
  RunRecord::Span& span = record_.spans[U(index)];
  span.devices_begin = static_cast<std::int32_t>(record_.devices.size());
  span.devices_count = static_cast<std::int32_t>(devices.size());
  record_.devices.insert(record_.devices.end(), devices.begin(), devices.end());
  const std::vector<int>& milli = scenario_.data().jobs.gpu_milli;
  const GpuType& type = scenario_.data().cluster.types[U(scenario_.TypeOfDevice(devices.front()))];
  if (type.part.whole >= 0 || (!milli.empty() && milli[U(span.job)] < 1000)) span.marks |= kPartOfGpu;
  if (!all) return;
  if (span.devices_count != gang_[U(span.job)]) span.marks |= kResized;
  const int before = std::exchange(last_[U(span.job)], index);
  if (before >= 0 && Moved(record_.spans[U(before)], span)) span.marks |= kMovedThere;
}

void RunRecorder::Observe(const Simulator& simulator) {
  Read(simulator.events());
  for (const Fresh& fresh : fresh_) {
    const int job = record_.spans[U(fresh.span)].job;
    const bool runs = open_[U(job)] == fresh.span;
    const bool all = runs || gang_[U(job)] == 1;
    Hold(fresh.span, runs ? simulator.state().Devices(job) : std::span(&fresh.first_device, 1), all);
    if (!all) ++record_.unseen_gangs;
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
    const bool all = gang_[U(record_.spans[U(fresh.span)].job)] == 1;
    Hold(fresh.span, std::span(&fresh.first_device, 1), all);
    if (!all) ++record_.unseen_gangs;
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
