// Who held which GPUs when (tools/report/run_record.hpp): by hand, and against the simulator's own accounts
// for every scheduler.
#include "tools/report/run_record.hpp"

#include <algorithm>
#include <functional>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "tests/a100s.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"
#include "tests/toy_scenarios.hpp"
#include "tools/report/decision_times.hpp"
#include "tools/report/gantt_data.hpp"
#include "tools/report/lanes.hpp"

namespace berth {
namespace {

using test::Tiny;

struct Recorded {
  RunResult result;
  RunRecord record;
};

Recorded Record(const std::string& spec, const Scenario& scenario) {
  RunRecorder recorder(scenario);
  RunOptions options;
  options.keep_events = true;
  options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
  Recorded recorded{Run(scenario, *test::Make(spec), spec, options), {}};
  recorded.record = recorder.Finish(recorded.result);
  return recorded;
}

// "0: 0-150 on 0,1 completed", a line a span.
std::vector<std::string> Lines(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const RunRecord::Span& span : record.spans) {
    std::string devices;
    for (const std::int32_t device : record.Devices(span))
      devices += Join(devices.empty() ? "" : ",", device);
    lines.push_back(
        Join(span.job, ": ", span.begin_s, "-", span.end_s, " on ", devices, " ", ToString(span.end)));
  }
  return lines;
}

// "1: 0-1020 replica of a service scaled down", a line an outage; how it ended of replicas alone.
std::vector<std::string> Outages(const RunRecord& record) {
  std::vector<std::string> lines;
  for (const RunRecord::Outage& outage : record.outages) {
    lines.push_back(Join(outage.device, ": ", outage.begin_s, "-", outage.end_s, " ", ToString(outage.why)));
    if (outage.why == Absence::kReplica) lines.back() += Join(" ", ToString(outage.end));
  }
  return lines;
}

// GPU-seconds held, what several jobs hold at once counted once.
double HeldSeconds(const Scenario& scenario, const RunRecord& record) {
  std::vector<std::vector<std::pair<double, double>>> held(U(scenario.num_gpus()));
  for (const RunRecord::Span& span : record.spans) {
    for (const std::int32_t device : record.Devices(span))
      held[U(device)].push_back({span.begin_s, span.end_s});
  }
  double sum = 0.0;
  for (auto& spans : held) {
    std::sort(spans.begin(), spans.end());
    double covered = 0.0;
    for (const auto& [begin, end] : spans) {
      sum += std::max(0.0, end - std::max(begin, covered));
      covered = std::max(covered, end);
    }
  }
  return sum;
}

// At the nth decision point does the nth of what is told, and then nothing.
class Told final : public Scheduler {
 public:
  using Step = std::function<void(Decision&)>;
  explicit Told(std::vector<Step> steps) : steps_(std::move(steps)) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Decide(const ClusterView& /*view*/, Decision& decision) override {
    if (at_ < steps_.size()) steps_[at_++](decision);
  }

 private:
  std::vector<Step> steps_;
  std::size_t at_ = 0;
};

// "0 on 0,1: resized, moved", a line a span.
std::vector<std::string> Marks(const Scenario& scenario, std::vector<Told::Step> steps) {
  RunRecorder recorder(scenario);
  RunOptions options;
  options.keep_events = true;
  options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
  Told told(std::move(steps));
  const RunRecord record = recorder.Finish(Run(scenario, told, "told", options));
  std::vector<std::string> lines;
  for (const RunRecord::Span& span : record.spans) {
    std::string devices;
    for (const std::int32_t device : record.Devices(span)) devices += Join(devices.empty() ? "" : ",", device);
    lines.push_back(Join(span.job, " on ", devices, ": ", MarkNames(span.marks)));
  }
  return lines;
}

}  // namespace

TEST_CASE("run record: gangs that wait for each other, by hand") {
  // Two GPUs of type a, one of type b. Job 0 (gang 2) takes 150 s on a; job 1 (from 40 s) 70 s on b; job 2
  // (gang 2, from 60 s) waits for a until 150 s, then takes 100 s.
  const Scenario scenario =
      Tiny({{"a", 2}, {"b", 1}}, {{1.0, 0.0}, {0.0, 1.0}}, {{0, 150, 0, 2}, {40, 70, 1, 1}, {60, 100, 0, 2}});
  const RunRecord record = Record("fcfs(overtake=true)", scenario).record;
  CHECK(Lines(record) == std::vector<std::string>{"0: 0-150 on 0,1 completed", "1: 40-110 on 2 completed",
                                                  "2: 150-250 on 0,1 completed"});
  CHECK(record.arrive_s == std::vector<double>{0, 40, 60});
  CHECK(record.left_s == std::vector<double>{150, 110, 250});
  CHECK(record.end_s == 250.0);
  CHECK(record.unseen_gangs == 0);
  CHECK(record.outages.empty());
  // A chart of four of the five bars lacks one that begins 100 s after 50 s: it shows the 100 s on either side.
  const Json cut = GanttData(scenario, "fcfs", record, 50.0, 4), whole = GanttData(scenario, "fcfs", record, 50.0, 5);
  CHECK(cut["runs"][0].size() == 4);
  CHECK(cut["part"] == Json({0.0, 150.0}));
  CHECK(cut["cut"] == true);
  CHECK(whole["cut"] == false);
  CHECK_FALSE(whole.contains("part"));
}

TEST_CASE("run record: a job that is stopped, by hand") {
  // One GPU. Job 0 has 100 s to do; job 1 comes at 20 s with 10 s and goes first by srpt.
  const Scenario scenario = Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {20, 10}});
  CHECK(Lines(Record("srpt", scenario).record) == std::vector<std::string>{"0: 0-20 on 0 stopped",
                                                                           "1: 20-30 on 0 completed",
                                                                           "0: 30-110 on 0 completed"});
}

TEST_CASE("run record: a window ends the run while jobs still run") {
  // Job 0 alone is measured and ends at 10 s; job 1 runs on its own GPU until then.
  const Scenario scenario = Tiny({{"a", 2}}, {{1.0}}, {{0, 10}, {0, 100}});
  RunRecorder recorder(scenario);
  RunOptions options;
  options.window = {0, 1}, options.keep_events = true;
  options.progress = [&](const Simulator& simulator) { return recorder.Observe(simulator), true; };
  const RunResult result = Run(scenario, *test::Make("fcfs"), "fcfs", options);
  CHECK(Lines(recorder.Finish(result)) ==
        std::vector<std::string>{"0: 0-10 on 0 completed", "1: 0-10 on 1 still running"});
}

TEST_CASE("run record: an outage interrupts, by hand") {
  // A node of two GPUs is away from 50 s to 75 s; job 0 (100 s) then starts anew, as nothing was saved.
  ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 100, 0, 2}});
  data.cluster.types[0].gpus_per_node = 2;
  data.features = ParseFeatures("failures(events=50:75:node:a/0)");
  const RunRecord record = Record("fcfs", Scenario(std::move(data))).record;
  CHECK(Lines(record) ==
        std::vector<std::string>{"0: 0-50 on 0,1 interrupted", "0: 75-175 on 0,1 completed"});
  CHECK(Outages(record) == std::vector<std::string>{"0: 50-75 out of service", "1: 50-75 out of service"});
}

// The service begins with two replicas and needs one. Nobody decides until the job's first round, at 1020 s,
// and that decision sends the second replica away: it came and went between two looks at the simulator.
TEST_CASE("run record: a replica that goes as its service scales down is no failure") {
  ScenarioData data = test::TinyData({{"a", 3}}, {{1.0}}, {{1000, 100}}, Clock{ClockKind::kRounds, 60.0});
  data.features = ParseFeatures("services(rate_per_s=0.5,replicas=2)");
  const Scenario scenario(std::move(data));
  const auto [result, record] = Record("autoscale(inner=fcfs,stable=1)", scenario);
  CHECK(Lines(record) == std::vector<std::string>{"0: 1020-1120 on 1 completed"});
  CHECK(Outages(record) ==
        std::vector<std::string>{"1: 0-1020 replica of a service scaled down",
                                 Join("0: 0-", record.end_s, " replica of a service still running")});
}

// The replica is on a/0, the job on a/1; a/0 is away from 50 s to 75 s, and the replica has nowhere to go.
TEST_CASE(
    "run record: a replica whose GPU fails is interrupted, and the GPU is out of service from then on") {
  ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 200}});
  data.features = ParseFeatures("failures(events=50:75:gpu:a/0);services(rate_per_s=0.5)");
  const RunRecord record = Record("fcfs", Scenario(std::move(data))).record;
  CHECK(Outages(record) == std::vector<std::string>{"0: 0-50 replica of a service interrupted",
                                                    "0: 50-75 out of service",
                                                    "0: 75-200 replica of a service still running"});
}

TEST_CASE("run record: slices that a GPU does not have are no failures") {
  const RunRecord record = Record("fcfs", Scenario(test::A100s(1, {{0, 100}}, {0.5}, "partitions"))).record;
  REQUIRE_FALSE(record.outages.empty());
  for (const RunRecord::Outage& outage : record.outages) CHECK(outage.why == Absence::kOtherLayout);
}

TEST_CASE("run record: the GPU-seconds are the simulator's, for every scheduler") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 60.0}}) {
      CAPTURE(info.name, clock.ToString());
      const Scenario scenario = test::RandomScenario(/*seed=*/11, /*jobs=*/14, clock);
      Recorded recorded;
      try {
        recorded = Record(info.name, scenario);
      } catch (const Error&) {
        continue;  // it needs a feature that this scenario lacks; what may be refused is tested elsewhere
      }
      const Metrics& metrics = recorded.result.metrics;
      const double busy = metrics.utilization * scenario.num_gpus() * metrics.end_s;
      CHECK(HeldSeconds(scenario, recorded.record) == Approx(busy).epsilon(1e-9));
      CHECK(recorded.record.unseen_gangs == 0);
      for (const RunRecord::Span& span : recorded.record.spans) {
        REQUIRE(span.begin_s <= span.end_s);
        REQUIRE(span.devices_count >= 1);
      }
      const std::vector<double> first = FirstStarts(recorded.result.events, scenario.num_jobs());
      double waits = 0.0;
      for (int job = 0; job < scenario.num_jobs(); ++job) {
        if (recorded.result.jct_s[U(job)] == recorded.result.jct_s[U(job)])
          waits += first[U(job)] - scenario.data().jobs.arrival[U(job)];
      }
      CHECK(waits == Approx(metrics.mean_wait_s * metrics.jobs).margin(1e-9));
    }
  }
}

// Nodes a/0 (GPUs 0 and 1), a/1 (2 and 3), b/0 (4) and b/1 (5). A job arrives every 10 s, so that somebody
// decides then; job 0 (gang 2) alone runs, until it makes room for them at 50 s, which they need for 1 s.
TEST_CASE("run record: who is resized and who has moved is marked, by hand") {
  ScenarioData data = test::TinyData({{"a", 4}, {"b", 2}}, {{1.0, 1.0}},
                                     {{0, 10000, 0, 2}, {10, 1}, {20, 1}, {30, 1}, {40, 1}, {50, 1}});
  data.cluster.types[0].gpus_per_node = 2;
  data.features = ParseFeatures("elasticity");
  const std::vector<int> second = {2, 3};
  const std::vector<std::string> lines =
      Marks(Scenario(std::move(data)), {[](Decision& d) { d.StartAt(0, 0, 4); },  // twice its gang
                                        [](Decision& d) { d.Resize(0, 0, 2); },   // on one of its two nodes
                                        [](Decision& d) { d.Resize(0, 0, 1); },   // still there
                                        [&](Decision& d) { d.Move(0, 0, second); },
                                        [](Decision& d) { d.Resize(0, 1, 1); },
                                        [](Decision& d) {
                                          d.Stop(0);
                                          for (int job = 1; job < 6; ++job) d.Start(job, job < 5 ? 0 : 1);
                                        },
                                        [](Decision& d) { d.Start(0, 0); }});
  CHECK(lines == std::vector<std::string>{"0 on 0,1,2,3: resized", "0 on 0,1: ", "0 on 0: resized",
                                          "0 on 2,3: moved", "0 on 4: resized, moved", "1 on 0: ", "2 on 1: ",
                                          "3 on 2: ", "4 on 3: ", "5 on 4: ", "0 on 0,1: moved"});
}

// Job 1 comes at 10 s and goes beside job 0; at 20 s job 2 takes the other GPU, where nobody joins it.
TEST_CASE("run record: two on one GPU are both marked, and nobody else, by hand") {
  ScenarioData data = test::TinyData({{"a", 2}}, {{1.0}}, {{0, 100}, {10, 20}, {20, 100}});
  data.throughputs.pairs = {0.8, 0.8};
  CHECK(Marks(Scenario(std::move(data)), {[](Decision& d) { d.Start(0, 0); }, [](Decision& d) { d.Pack(1, 0); },
                                          [](Decision& d) { d.Start(2, 0); }}) ==
        std::vector<std::string>{"0 on 0: packed", "1 on 0: packed", "2 on 1: "});
}

TEST_CASE("run record: slices and shares of a GPU are marked") {
  const Scenario sliced(test::A100s(1, {{0, 100}}, {0.5}, "partitions(layout=1g.10gb+1g.10gb)"));
  const RunRecord record = Record("fcfs", sliced).record;
  REQUIRE(record.spans.size() == 1);
  CHECK(MarkNames(record.spans[0].marks) == "part of a GPU");
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 100}, {0, 100}, {500, 100}});
  data.jobs.gpu_milli = {500, 500, 1000};
  data.features = ParseFeatures("sharing");
  CHECK(Marks(Scenario(std::move(data)), {[](Decision& d) { d.Start(0, 0), d.Start(1, 0); },
                                          [](Decision&) {}, [](Decision& d) { d.Start(2, 0); }}) ==
        std::vector<std::string>{"0 on 0: part of a GPU", "1 on 0: part of a GPU", "2 on 0: "});
}

TEST_CASE("lanes: what overlaps stands apart, what does not shares") {
  Lanes lanes;
  CHECK(lanes.Take(0, 10) == 0);
  CHECK(lanes.Take(5, 8) == 1);
  CHECK(lanes.Take(8, 12) == 1);
  CHECK(lanes.Take(10, 11) == 0);
  CHECK(lanes.Take(10.5, 13) == 2);
  CHECK(lanes.count() == 3);
}

TEST_CASE("decision times: every value falls between its edges") {
  const std::vector<double> edges = DecisionTimes::EdgesUs();
  CHECK(edges.front() == 0.01);
  CHECK(edges.back() == Approx(1e8).epsilon(1e-9));  // 100 s
  for (const double us : {0.0123, 0.5, 3.3, 1234.5, 9.9e7}) {
    DecisionTimes times, sum;
    times.Add(us);
    sum.Add(times);
    const auto bin = static_cast<std::size_t>(std::find(sum.counts().begin(), sum.counts().end(), 1) -
                                              sum.counts().begin());
    CAPTURE(us, bin);
    REQUIRE(bin < sum.counts().size());
    CHECK(edges[bin] <= us);
    CHECK(us < edges[bin + 1]);
  }
  DecisionTimes times;  // beyond both ends: the first and the last
  times.Add(0.0), times.Add(1e12);
  CHECK(times.counts().front() == 1);
  CHECK(times.counts().back() == 1);
}

}  // namespace berth
