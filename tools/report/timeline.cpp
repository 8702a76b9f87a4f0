#include "tools/report/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/report/lanes.hpp"

namespace berth {
namespace {

constexpr int kLanes = 1024;  // thread ids of a device; jobs hold a thousandth of a GPU at least

std::int64_t Microseconds(double seconds) {
  return std::llround(seconds * 1e6);
}

class Timeline {
 public:
  explicit Timeline(const Scenario& scenario) : scenario_(scenario) {}

  // `prefix` stands before the names of its processes.
  void Add(const RunRecord& record, const std::string& prefix) {
    const int base = next_pid_;
    next_pid_ += 1 + scenario_.num_types();
    Meta(base, "process_name", {{"name", prefix + "jobs"}});
    Meta(base, "process_sort_index", {{"sort_index", base}});
    for (int type = 0; type < scenario_.num_types(); ++type) {
      const std::string& name = scenario_.data().cluster.types[U(type)].name;
      Meta(base + 1 + type, "process_name", {{"name", prefix + name}});
      Meta(base + 1 + type, "process_sort_index", {{"sort_index", base + 1 + type}});
    }
    Slices(record, base);
    Jobs(record, base);
    FeatureRows(record, prefix);
  }

  std::string Text() const {
    std::string text = "{\"displayTimeUnit\": \"ms\",\n\"otherData\": ";
    text += Json{{"scenario", scenario_.data().name},
                 {"clock", scenario_.data().clock.ToString()},
                 {"time", "simulated: 1 s of the trace is 1 s in the cluster"}}
                .dump();
    text += ",\n\"traceEvents\": [\n";
    for (std::size_t i = 0; i < events_.size(); ++i)
      text += events_[i] + (i + 1 < events_.size() ? ",\n" : "\n");
    return text + "]}\n";
  }

 private:
  struct Slice {
    int device;
    double begin, end;
    int span;                                   // index, -1 = no job
    const RunRecord::Outage* outage = nullptr;  // then
  };

  void Emit(const Json& event) { events_.push_back(event.dump()); }
  void Meta(int pid, const char* name, const Json& args) {
    Emit({{"ph", "M"}, {"pid", pid}, {"tid", 0}, {"name", name}, {"args", args}});
  }

  void Slices(const RunRecord& record, int base) {
    std::vector<Slice> slices;
    for (int i = 0; i < static_cast<int>(record.spans.size()); ++i) {
      const RunRecord::Span& span = record.spans[U(i)];
      for (const int device : record.Devices(span)) slices.push_back({device, span.begin_s, span.end_s, i});
    }
    for (const RunRecord::Outage& outage : record.outages)
      slices.push_back({outage.device, outage.begin_s, outage.end_s, -1, &outage});
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.device, a.begin, a.span) < std::tie(b.device, b.begin, b.span);
    });
    std::vector<Lanes> lanes(U(scenario_.num_gpus()));
    for (const Slice& slice : slices) {
      const int lane = lanes[U(slice.device)].Take(slice.begin, slice.end);
      const int pid = base + 1 + scenario_.TypeOfDevice(slice.device);
      const int tid = slice.device * kLanes + lane + 1;
      Json event = slice.span < 0 ? OutageSlice(*slice.outage) : JobSlice(record.spans[U(slice.span)]);
      const std::int64_t begin = Microseconds(slice.begin);
      event.update(
          {{"ph", "X"}, {"pid", pid}, {"tid", tid}, {"ts", begin}, {"dur", Microseconds(slice.end) - begin}});
      Emit(event);
      if (slice.span < 0 && slice.outage->why == Absence::kOutOfService)
        Instant(pid, tid, slice.begin, "failure", "leaves service", {{"device", slice.device}});
    }
    for (int device = 0; device < scenario_.num_gpus(); ++device)
      NameLanes(device, lanes[U(device)].count(), base);
  }

  void NameLanes(int device, int lanes, int base) {
    const int type = scenario_.TypeOfDevice(device);
    for (int lane = 0; lane < std::max(lanes, 1); ++lane) {
      std::string name =
          Join(scenario_.data().cluster.types[U(type)].name, " ", device - scenario_.first_device(type),
               " (node ", scenario_.NodeOf(device), ")");
      if (lane > 0) name += Join(", lane ", lane);
      for (const auto& [key, args] :
           {std::pair("thread_name", Json{{"name", name}}),
            std::pair("thread_sort_index", Json{{"sort_index", device * kLanes + lane}})}) {
        Emit({{"ph", "M"},
              {"pid", base + 1 + type},
              {"tid", device * kLanes + lane + 1},
              {"name", key},
              {"args", args}});
      }
    }
  }

  static Json OutageSlice(const RunRecord::Outage& outage) {
    Json slice{{"name", ToString(outage.why)}};
    if (outage.why == Absence::kReplica) {
      slice.update({{"cat", "service"}, {"args", {{"ended", ToString(outage.end)}}}});
    } else {
      slice["cat"] = outage.why == Absence::kOtherLayout ? "layout" : "failure";
    }
    return slice;
  }

  Json JobSlice(const RunRecord::Span& span) const {
    const JobTable& jobs = scenario_.data().jobs;
    const std::string& kind = scenario_.data().throughputs.job_types[U(jobs.job_type[U(span.job)])];
    Json args{{"job_type", kind},
              {"gpus", span.devices_count},
              {"arrived_s", jobs.arrival[U(span.job)]},
              {"ended", ToString(span.end)}};
    if (span.marks != 0) args["marks"] = MarkNames(span.marks);
    return {{"name", Join("job ", jobs.id[U(span.job)])}, {"cat", "job"}, {"args", args}};
  }

  void Instant(int pid, int tid, double time, const char* category, const std::string& name,
               const Json& args) {
    Emit({{"ph", "i"},
          {"s", "t"},
          {"pid", pid},
          {"tid", tid},
          {"ts", Microseconds(time)},
          {"cat", category},
          {"name", name},
          {"args", args}});
  }

  // Arrivals, and how many jobs wait and run.
  void Jobs(const RunRecord& record, int pid) {
    Meta(pid, "thread_name", {{"name", "arrivals"}});
    struct Change {
      double time;
      int here, running;  // added to the jobs in the system, and to those that run
    };
    std::vector<Change> changes;
    const std::vector<std::int64_t>& ids = scenario_.data().jobs.id;
    for (int job = 0; job < scenario_.num_jobs(); ++job) {
      const double arrived = record.arrive_s[U(job)];
      if (arrived == kNever) continue;
      changes.push_back({arrived, 1, 0});
      Instant(pid, 0, arrived, "arrival", Join("job ", ids[U(job)]),
              {{"gpus", scenario_.data().jobs.gang[U(job)]}});
      if (record.left_s[U(job)] != kNever) changes.push_back({record.left_s[U(job)], -1, 0});
    }
    for (const RunRecord::Span& span : record.spans) {
      changes.push_back({span.begin_s, 0, 1});
      if (span.end != SpanEnd::kStillRunning) changes.push_back({span.end_s, 0, -1});
    }
    std::sort(changes.begin(), changes.end(),
              [](const Change& a, const Change& b) { return a.time < b.time; });
    int here = 0, running = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      here += changes[i].here, running += changes[i].running;
      if (i + 1 < changes.size() && changes[i + 1].time == changes[i].time) continue;
      Emit({{"ph", "C"},
            {"pid", pid},
            {"tid", 0},
            {"ts", Microseconds(changes[i].time)},
            {"name", "queue"},
            {"args", {{"waiting", here - running}, {"running", running}}}});
    }
  }

  // What features have to show: a process for all, a thread a row.
  void FeatureRows(const RunRecord& record, const std::string& prefix) {
    if (record.lanes.empty()) return;
    const int pid = next_pid_++;
    Meta(pid, "process_name", {{"name", prefix + "features"}});
    Meta(pid, "process_sort_index", {{"sort_index", pid}});
    std::vector<std::string> rows;
    for (const FeatureLane& lane : record.lanes) {
      const int tid = static_cast<int>(std::find(rows.begin(), rows.end(), lane.row) - rows.begin()) + 1;
      if (tid > static_cast<int>(rows.size())) {
        rows.push_back(lane.row);
        Emit({{"ph", "M"},
              {"pid", pid},
              {"tid", tid},
              {"name", "thread_name"},
              {"args", {{"name", lane.row}}}});
      }
      const std::int64_t begin = Microseconds(lane.begin_s);
      Emit({{"name", lane.text},
            {"cat", "feature"},
            {"ph", "X"},
            {"pid", pid},
            {"tid", tid},
            {"ts", begin},
            {"dur", Microseconds(lane.end_s) - begin}});
    }
  }

  const Scenario& scenario_;
  int next_pid_ = 1;
  std::vector<std::string> events_;  // JSON objects
};

}  // namespace

void WriteTimeline(const std::string& path, const Scenario& scenario, const std::vector<TimelineRun>& runs) {
  Timeline timeline(scenario);
  for (const TimelineRun& run : runs) timeline.Add(*run.record, runs.size() > 1 ? run.scheduler + ": " : "");
  WriteTextFile(path, timeline.Text());
}

}  // namespace berth
