// --timeline: the fields that the Trace Event Format documents, slices that do not overlap on a track, and
// what they say. https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include "tools/report/timeline.hpp"

#include <map>
#include <set>

#include "env/features/table.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::TemporaryFolder;

// Required fields and their kinds of every phase that is used, as the format's document has them.
void CheckFields(const Json& trace) {
  static const std::set<std::string> kMetadata = {"process_name", "process_labels", "process_sort_index",
                                                  "thread_name", "thread_sort_index"};
  REQUIRE(trace["traceEvents"].is_array());
  REQUIRE((trace["displayTimeUnit"] == "ms" || trace["displayTimeUnit"] == "ns"));
  for (const Json& event : trace["traceEvents"]) {
    CAPTURE(event.dump());
    REQUIRE(event["pid"].is_number_integer());
    REQUIRE(event["tid"].is_number_integer());
    REQUIRE(event["name"].is_string());
    const std::string phase = event["ph"];
    if (phase != "M") REQUIRE((event["ts"].is_number() && event["ts"].get<double>() >= 0.0));
    if (phase == "X") {  // a complete event
      REQUIRE((event["dur"].is_number() && event["dur"].get<double>() >= 0.0));
      REQUIRE(event["cat"].is_string());
    } else if (phase == "i") {  // an instant, of scope global, process or thread
      REQUIRE((event["s"] == "g" || event["s"] == "p" || event["s"] == "t"));
    } else if (phase == "C") {  // a counter: its arguments are the series
      REQUIRE_FALSE(event["args"].empty());
      for (const auto& [series, value] : event["args"].items()) REQUIRE(value.is_number());
    } else {
      REQUIRE(phase == "M");  // metadata
      REQUIRE(kMetadata.count(event["name"].get<std::string>()) == 1);
      const bool named = event["name"].get<std::string>().find("_name") != std::string::npos;
      REQUIRE((named ? event["args"]["name"].is_string() : event["args"]["sort_index"].is_number_integer()));
    }
  }
}

// Slices of one thread must nest; here they may not overlap at all. Every process and thread is named.
void CheckTracks(const Json& trace) {
  std::map<std::pair<int, int>, double> until;
  std::set<int> processes;
  std::set<std::pair<int, int>> threads;
  for (const Json& event : trace["traceEvents"]) {
    const std::pair<int, int> track{event["pid"], event["tid"]};
    if (event["name"] == "process_name") processes.insert(track.first);
    if (event["name"] == "thread_name") threads.insert(track);
    if (event["ph"] != "X") continue;
    CAPTURE(event.dump());
    REQUIRE(event["ts"].get<double>() >= until[track]);
    until[track] = event["ts"].get<double>() + event["dur"].get<double>();
  }
  for (const auto& [track, end] : until) {
    CHECK(processes.count(track.first) == 1);
    CHECK(threads.count(track) == 1);
  }
}

std::vector<Json> Of(const Json& trace, const std::string& phase) {
  std::vector<Json> events;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] == phase) events.push_back(event);
  }
  return events;
}

RunRecord RecordOf(const std::string& spec, const Scenario& scenario) {
  RunRecorder recorder(scenario);
  RunOptions options;
  options.keep_events = true;
  options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
  const RunResult result = Run(scenario, *test::Make(spec), spec, options);
  return recorder.Finish(result);
}

}  // namespace

TEST_CASE("timeline: slices, instants and counters by hand") {
  // As in run_record_test: job 0 on a/0 and a/1 until 150 s, job 1 on b/0 from 40 s to 110 s, job 2 (from 60
  // s) on a/0 and a/1 from 150 s to 250 s.
  const Scenario scenario = test::Tiny({{"a", 2}, {"b", 1}}, {{1.0, 0.0}, {0.0, 1.0}},
                                       {{0, 150, 0, 2}, {40, 70, 1, 1}, {60, 100, 0, 2}});
  const RunRecord record = RecordOf("fcfs(overtake=true)", scenario);
  const TemporaryFolder folder;
  WriteTimeline(folder / "t.json", scenario, {{"fcfs", &record}});
  const Json trace = ReadJson(folder / "t.json");
  CheckFields(trace);
  CheckTracks(trace);
  std::multiset<std::string> slices;
  for (const Json& event : Of(trace, "X")) {
    slices.insert(Join(event["name"].get<std::string>(), " ", event["ts"].get<std::int64_t>(), "+",
                       event["dur"].get<std::int64_t>(), " ", event["args"]["ended"].get<std::string>()));
  }
  CHECK(slices == std::multiset<std::string>{"job 0 0+150000000 completed", "job 0 0+150000000 completed",
                                             "job 1 40000000+70000000 completed",
                                             "job 2 150000000+100000000 completed",
                                             "job 2 150000000+100000000 completed"});
  CHECK(Of(trace, "i").size() == 3);  // arrivals
  std::vector<std::string> counts;
  for (const Json& event : Of(trace, "C")) {
    counts.push_back(Join(event["ts"].get<std::int64_t>() / 1'000'000, " ",
                          event["args"]["waiting"].get<int>(), " ", event["args"]["running"].get<int>()));
  }
  CHECK(counts == std::vector<std::string>{"0 0 1", "40 0 2", "60 1 2", "110 1 1", "150 0 1", "250 0 0"});
}

TEST_CASE("timeline: jobs that share a GPU have lanes, outages are slices and instants") {
  // Two jobs on one GPU from 0 to the end (packed); the GPU is away from 30 s to 40 s in the second scenario.
  ScenarioData shared = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 50}, {0, 50}});
  shared.throughputs.pairs = {0.8, 0.8};
  const Scenario packing(std::move(shared));
  const RunRecord packed = RecordOf("gavel(packed=true)", packing);
  ScenarioData failing = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 50}});
  failing.features = ParseFeatures("failures(events=30:40:gpu:a/0)");
  const Scenario broken(std::move(failing));
  const RunRecord record = RecordOf("fcfs", broken);
  const TemporaryFolder folder;
  WriteTimeline(folder / "p.json", packing, {{"gavel", &packed}});
  WriteTimeline(folder / "f.json", broken, {{"fcfs", &record}, {"again", &record}});
  const Json lanes = ReadJson(folder / "p.json"), outage = ReadJson(folder / "f.json");
  for (const Json* trace : {&lanes, &outage}) CheckFields(*trace), CheckTracks(*trace);
  std::set<int> threads;
  for (const Json& event : Of(lanes, "X")) threads.insert(event["tid"].get<int>());
  CHECK(threads.size() == 2);
  // Each of two runs: job 0 until 30 s, the outage, job 0 again; an arrival and a failure.
  CHECK(Of(outage, "X").size() == 6);
  CHECK(Of(outage, "i").size() == 4);
  std::set<std::string> processes;
  for (const Json& event : Of(outage, "M")) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"].get<std::string>());
  }
  CHECK(processes == std::set<std::string>{"fcfs: jobs", "fcfs: a", "again: jobs", "again: a"});
}

TEST_CASE("timeline: a replica holds its GPU, and leaves it without a failure") {
  // The service begins on two GPUs, and needs one: half a request a second, 0.03 s each.
  ScenarioData data = test::TinyData({{"a", 3}}, {{1.0}}, {{0, 5000}, {1000, 5000}});
  data.features = ParseFeatures("services(rate_per_s=0.5,replicas=2)");
  const Scenario scenario(std::move(data));
  const RunRecord record = RecordOf("autoscale(inner=fcfs)", scenario);
  const TemporaryFolder folder;
  WriteTimeline(folder / "s.json", scenario, {{"autoscale", &record}});
  const Json trace = ReadJson(folder / "s.json");
  CheckFields(trace), CheckTracks(trace);
  std::map<std::string, int> count;
  for (const char* kind : {"X", "i"}) {
    for (const Json& event : Of(trace, kind)) ++count[event["cat"].get<std::string>()];
  }
  CHECK(count["service"] >= 2);
  CHECK(count["failure"] == 0);
  // How each ended is said: one replica left as the service shrank, the other is there to the end.
  std::multiset<std::string> ends;
  for (const Json& event : Of(trace, "X")) {
    if (event["cat"] == "service") ends.insert(event["args"]["ended"].get<std::string>());
  }
  CHECK(ends == std::multiset<std::string>{"scaled down", "still running"});
}

TEST_CASE("timeline: simulate and evaluate write it, bad input is one line") {
  const TemporaryFolder folder;
  const std::string what = "--workload 'synthetic(rate=4,jobs=30,gangs=multi)' --cluster v100=8,k80=8 ";
  const test::Outcome ran = Berth(folder, "simulate " + what + "--scheduler srpt --timeline t.json");
  CAPTURE(ran.error);
  REQUIRE(ran.code == 0);
  const Json one = ReadJson(folder / "t.json");
  CheckFields(one);
  CheckTracks(one);
  CHECK(Of(one, "i").size() == 30);
  REQUIRE(Berth(folder, "evaluate " + what + "--schedulers 'fcfs;srpt' --seeds 0:1 --timeline e.json").code ==
          0);
  const Json both = ReadJson(folder / "e.json");
  CheckFields(both);
  CheckTracks(both);
  CHECK(Of(both, "i").size() == 60);
  CheckOneLine(Berth(folder, "simulate --timeline no/such/t.json"),
               "--timeline: no/such/t.json: cannot be written");
  CheckOneLine(Berth(folder, "evaluate --timeline ''"), "--timeline: expected a file's name, found nothing");
}

}  // namespace berth
