// Who held which GPUs when, in one run: what the Gantt chart, the timeline and the series over time are drawn
// from. The event log names a gang's first GPU alone, so the recorder also looks at the simulator, after
// every decision.
//
//   RunRecorder recorder(scenario);
//   options.keep_events = true;
//   options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
//   RunResult result = Run(scenario, scheduler, name, options);
//   RunRecord record = recorder.Finish(result);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/metrics.hpp"

namespace berth {

// How a job, or a service's replica, came to leave its GPUs. Persistent (evaluation files): grows at the end.
enum class SpanEnd : std::uint8_t { kCompleted, kStopped, kMoved, kInterrupted, kStillRunning, kScaledDown };
const char* ToString(SpanEnd end);  // "completed", "stopped", ...
inline constexpr int kNumSpanEnds = 6;

// Why a device takes no job: it failed, drains or is closed; a replica of a service has all of it and works;
// its GPU has other slices (MIG), or is about to. Persistent (evaluation files): grows at the end.
enum class Absence : std::uint8_t { kOutOfService, kReplica, kOtherLayout };
const char* ToString(Absence why);  // "out of service", ...
inline constexpr int kNumAbsences = 3;

// What is not as usual in a job's time on its GPUs: bits. Persistent (evaluation files): grows at the end.
enum SpanMark : std::uint8_t {
  kResized = 1,     // on fewer or more GPUs than its gang
  kPacked = 2,      // for some of the time beside another job, whole on the same GPU
  kPartOfGpu = 4,   // on a slice of a GPU, or a share
  kMovedThere = 8,  // it ran before on another type or other nodes; of who grows or shrinks some are the same
};
inline constexpr int kNumSpanMarks = 4;
const char* MarkName(int bit);          // "resized", "packed", "part of a GPU", "moved"
std::string MarkNames(unsigned marks);  // "resized, moved"; "" = none

struct RunRecord {
  // A job on its GPUs, unchanged from begin to end.
  struct Span {
    int job;
    double begin_s, end_s;  // from the scenario's origin
    std::int32_t devices_begin, devices_count;
    SpanEnd end;
    std::uint8_t marks = 0;  // SpanMark
  };
  struct Outage {  // a device that takes no job
    int device;
    double begin_s, end_s;
    Absence why;
    SpanEnd end = SpanEnd::kStillRunning;  // of a replica
  };
  std::vector<Span> spans;               // by begin, as logged
  std::vector<std::int32_t> devices;     // of the spans
  std::vector<Outage> outages;           // by end
  std::vector<double> arrive_s, left_s;  // [J] s; left: completed or rejected; kNever = not by the end
  double end_s = 0.0;                    // of the run
  std::vector<FeatureLane> lanes;        // what features have to be drawn
  // Gangs that ran between two decisions and are gone by the second (where decisions take effect late): the
  // record has their first GPU only.
  int unseen_gangs = 0;

  std::span<const std::int32_t> Devices(const Span& span) const {
    return std::span(devices).subspan(static_cast<std::size_t>(span.devices_begin),
                                      static_cast<std::size_t>(span.devices_count));
  }
};

// Thread rule: one recorder a run.
class RunRecorder {
 public:
  explicit RunRecorder(const Scenario& scenario);  // which outlives it
  void Observe(const Simulator& simulator);        // after every decision
  RunRecord Finish(const RunResult& result);       // of the same run, its events kept

 private:
  void Read(std::span<const Event> events);  // those that were not read yet
  void Begin(const Event& event);
  void End(int job, double time, SpanEnd end);
  void Pack(const Event& event);
  // `all`: these are all of its devices, not the first of a gang's alone.
  void Hold(int span, std::span<const int> devices, bool all);
  bool Moved(const RunRecord::Span& before, const RunRecord::Span& span) const;
  void Leave(int device, double time, std::uint8_t reasons);  // OutOfService
  void Return(int device, double time, SpanEnd end);

  struct Fresh {
    int span, first_device;
  };
  Scenario scenario_;  // shares its body
  std::vector<int> gang_;                // [J]
  std::vector<int> open_;                // [J] index of the span that runs, -1 = none
  std::vector<Fresh> fresh_;             // spans begun since the last look
  std::vector<int> last_;                // [J] index of the last span that has all its devices, -1 = none
  std::vector<int> first_device_;        // [J] of the span that runs
  std::vector<std::vector<int>> first_;  // [D] jobs of which it is that, as they came
  std::vector<double> down_from_;        // [D] kNever = in service
  std::vector<Absence> why_;             // [D] of those that are not
  std::vector<int> replicas_;            // devices, in the order in which they came
  std::size_t read_ = 0;
  RunRecord record_;
};

// [J] s, when each job first had GPUs; kNever = not by the end. From the log alone.
std::vector<double> FirstStarts(std::span<const Event> events, int jobs);

}  // namespace berth
