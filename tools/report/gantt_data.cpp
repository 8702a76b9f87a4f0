#include "tools/report/gantt_data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "env/base/index.hpp"
#include "tools/report/lanes.hpp"

namespace berth {
namespace {

// Of what is no job, in the order of Absence: its colour, and when that is. As ABSENCES of gantt.py.
struct Shade {
  const char *colour, *meaning;
};
constexpr std::array<Shade, kNumAbsences> kShades = {{
    {"#404040", "dark where a GPU is out of service"},
    {"#a9b8c6", "blue-grey where a service's replica has it"},
    {"#e2e2e2", "pale where its GPU has other slices"},
}};

struct Bar {
  int device;
  double begin_s, end_s;
  int job, how;  // job -1, -2, ...: an Absence; how: a SpanEnd
  int marks = 0;
  auto Key() const { return std::tie(device, begin_s, end_s, job, how); }
};

std::vector<Bar> Bars(const RunRecord& record) {
  std::vector<Bar> bars;
  for (const RunRecord::Span& span : record.spans) {
    for (const int device : record.Devices(span))
      bars.push_back({device, span.begin_s, span.end_s, span.job, static_cast<int>(span.end), span.marks});
  }
  for (const RunRecord::Outage& outage : record.outages) {
    bars.push_back({outage.device, outage.begin_s, outage.end_s, -1 - static_cast<int>(outage.why),
                    static_cast<int>(outage.end)});
  }
  return bars;
}

// Leaves the `most` nearest to the moment, and so all that are nearer to it than the seconds that it returns;
// below 0: none had to go.
double Thin(std::vector<Bar>& bars, double around_s, std::size_t most) {
  if (bars.size() <= most) return -1.0;
  const auto away = [&](const Bar& bar) {
    return std::max({bar.begin_s - around_s, around_s - bar.end_s, 0.0});
  };
  std::stable_sort(bars.begin(), bars.end(), [&](const Bar& a, const Bar& b) { return away(a) < away(b); });
  const double known_s = away(bars[most]);
  bars.resize(most);
  return known_s;
}

double Tenths(double seconds) {
  return std::round(seconds * 10.0) / 10.0;
}

}  // namespace

Json GanttData(const Scenario& scenario, const std::string& name, const RunRecord& record, double around_s,
               std::size_t most) {
  std::vector<Bar> bars = Bars(record);
  const double known_s = Thin(bars, around_s, most);
  std::sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.Key() < b.Key(); });
  std::vector<Lanes> lanes(U(scenario.num_gpus()));
  std::vector<int> lane;
  for (const Bar& bar : bars) lane.push_back(lanes[U(bar.device)].Take(bar.begin_s, bar.end_s));

  Json run = Json::array(), jobs = Json::object(), shades = Json::array();
  std::set<int> seen, absent;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    Json row = {bar.device, Tenths(bar.begin_s), Tenths(bar.end_s), bar.job, bar.how};
    // The lane, and how many there are, only where jobs share a GPU or there are marks.
    const int of = lanes[U(bar.device)].count();
    if (of > 1 || bar.marks != 0) row.push_back(lane[i]), row.push_back(of);
    if (bar.marks != 0) row.push_back(bar.marks);
    run.push_back(std::move(row));
    bar.job < 0 ? absent.insert(-1 - bar.job) : seen.insert(bar.job);
  }
  const ScenarioData& data = scenario.data();
  for (const int job : seen) {
    jobs[std::to_string(job)] = {data.jobs.id[U(job)],
                                 data.throughputs.job_types[U(data.jobs.job_type[U(job)])],
                                 Tenths(data.jobs.arrival[U(job)]), data.jobs.gang[U(job)]};
  }
  if (absent.empty()) absent.insert(0);
  std::string meaning;
  for (const int why : absent) meaning += Join(meaning.empty() ? "" : ", ", kShades[U(why)].meaning);
  Json types = Json::array(), counts = Json::array(), ends = Json::array(), absences = Json::array(),
       marks = Json::array();
  for (const GpuType& type : data.cluster.types) types.push_back(type.name), counts.push_back(type.count);
  for (int i = 0; i < kNumSpanEnds; ++i) ends.push_back(ToString(static_cast<SpanEnd>(i)));
  for (int i = 0; i < kNumAbsences; ++i) {
    absences.push_back(ToString(static_cast<Absence>(i)));
    shades.push_back(kShades[U(i)].colour);
  }
  for (int bit = 0; bit < kNumSpanMarks; ++bit) marks.push_back(MarkName(bit));
  Json gantt = {{"schedulers", {name}},  {"runs", Json::array({run})},
                {"jobs", jobs},          {"ends", ends},
                {"shades", meaning},     {"absences", absences},
                {"greys", shades},       {"marks", marks},
                {"types", types},        {"counts", counts},
                {"end", {record.end_s}}, {"unseen", {record.unseen_gangs}},
                {"cut", known_s >= 0.0}};
  // Outside of it bars are missing, which would look like idle GPUs. A second at least: something is to be
  // seen.
  if (known_s >= 0.0) {
    const double begin = std::max(around_s - known_s, 0.0);
    gantt["part"] = {begin, std::max(std::min(around_s + known_s, record.end_s), begin + 1.0)};
  }
  return gantt;
}

}  // namespace berth
