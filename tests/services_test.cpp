// Inference services: request queues against theory and against a plain replay, replicas against training.
#include "env/features/services/services.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "baselines/schedulers.hpp"
#include "env/features/table.hpp"
#include "env/gym/rewards.hpp"
#include "env/sim/metrics.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

RequestStream Poisson(double rate, std::uint64_t seed) {
  RequestStream::Settings settings;
  settings.rate = rate;
  return {settings, Stream(seed, Purpose::kTest, Split::kTrain, 1)};
}

RequestQueue Queue(const RequestQueue::Settings& settings, double rate, std::uint64_t seed) {
  return {settings, Poisson(rate, seed), Stream(seed, Purpose::kTest, Split::kTrain, 2)};
}

double MeanLatency(RequestQueue queue, int replicas, double seconds) {
  std::vector<int> ids;
  for (int i = 0; i < replicas; ++i) ids.push_back(i);
  queue.SetReplicas(0.0, ids, std::vector<double>(ids.size(), 1.0));
  queue.PlayUntil(seconds);
  return queue.latency_sum() / static_cast<double>(queue.answered());
}

TEST_CASE("one replica without batches is M/D/1") {
  // Pollaczek-Khinchine: wait = rho s / (2 (1 - rho)), s = 0.1 s, rho = 0.7.
  const double theory = 0.1 + 0.7 * 0.1 / (2.0 * 0.3);
  const RequestQueue::Settings settings = {0.0, 0.1, 1.0, 1};
  CHECK(MeanLatency(Queue(settings, 7.0, 5), 1, 60000.0) == Approx(theory).epsilon(0.02));
}

TEST_CASE("several replicas with exponential times are M/M/c") {
  // Erlang C with c = 3, a = 2.1 (rho = 0.7): P(wait) = 0.5 .. by the sum below; W = C / (c mu - lambda) + 1
  // / mu.
  const double a = 2.1, mu = 10.0, lambda = 21.0;
  double sum = 0.0, term = 1.0;
  for (int k = 0; k < 3; ++k) sum += term, term *= a / (k + 1);
  const double tail = term / (1.0 - a / 3.0);
  const double theory = tail / (sum + tail) / (3.0 * mu - lambda) + 1.0 / mu;
  RequestQueue::Settings settings = {0.0, 0.1, 1.0, 1};
  settings.exponential = true;
  CHECK(MeanLatency(Queue(settings, lambda, 6), 3, 40000.0) == Approx(theory).epsilon(0.02));
}

// The same requests, replayed without any of the queue's bookkeeping: each batch leaves when the replica that
// is free first is free, with whoever has come by then.
TEST_CASE("batches are those of a plain replay") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RequestQueue::Settings settings = {0.02, 0.01, 0.1, 4};
    RequestQueue queue = Queue(settings, 60.0, seed);
    queue.SetReplicas(0.0, {0, 1}, {1.0, 0.5});
    queue.PlayUntil(200.0);

    RequestStream stream = Poisson(60.0, seed);
    std::vector<double> arrivals;
    for (double at = stream.Next(); at <= 200.0; at = stream.Next()) arrivals.push_back(at);
    double free_at[2] = {0.0, 0.0};
    const double speed[2] = {1.0, 0.5};
    double sum = 0.0;
    std::int64_t answered = 0, in_time = 0;
    for (std::size_t next = 0; next < arrivals.size();) {
      const int r = free_at[0] <= free_at[1] ? 0 : 1;
      // Both idle before the request comes: the one idle longest, as above.
      const double begin = std::max(free_at[r], arrivals[next]);
      std::size_t end = next;
      while (end < arrivals.size() && arrivals[end] <= begin && end - next < 4) ++end;
      free_at[r] = begin + (0.02 + 0.01 * static_cast<double>(end - next)) / speed[r];
      for (; next < end; ++next) {
        if (free_at[r] > 200.0) continue;
        sum += free_at[r] - arrivals[next];
        in_time += free_at[r] - arrivals[next] <= 0.1;
        ++answered;
      }
    }
    CHECK(queue.arrived() == static_cast<std::int64_t>(arrivals.size()));
    CHECK(queue.answered() == answered);
    CHECK(queue.within_slo() == in_time);
    CHECK(queue.latency_sum() == Approx(sum));
  }
}

// M/D/1: whoever finds the replica idle is answered exactly at the SLO, and that is a share of 1 - rho at any time of the run.
TEST_CASE("an answer exactly at its SLO is in time, however late it is in the run") {
  RequestQueue queue = Queue({0.02, 0.01, 0.03, 1}, 20.0, /*seed=*/1);
  queue.SetReplicas(0.0, {0}, {1.0});
  std::int64_t answered = 0, in_time = 0;
  for (double until : {20000.0, 200000.0, 220000.0}) {
    queue.PlayUntil(until);
    const double share = static_cast<double>(queue.within_slo() - in_time) / static_cast<double>(queue.answered() - answered);
    CHECK(share == Approx(0.4).margin(0.01));
    answered = queue.answered(), in_time = queue.within_slo();
  }
}

TEST_CASE("streams have the rates that they state") {
  const auto count = [](RequestStream::Settings settings, double seconds) {
    RequestStream stream(settings, Stream(3, Purpose::kTest));
    int n = 0;
    while (stream.Next() < seconds) ++n;
    return n / seconds;
  };
  RequestStream::Settings diurnal;
  diurnal.pattern = RequestStream::Pattern::kDiurnal;
  diurnal.rate = 5.0, diurnal.amplitude = 0.8, diurnal.period_s = 1000.0;
  CHECK(count(diurnal, 40000.0) == Approx(5.0).epsilon(0.02));
  RequestStream::Settings bursty;  // 0.1 of the time at 20/s, the rest at 10/3 /s: 5 on average
  bursty.pattern = RequestStream::Pattern::kBursty;
  bursty.burst_rate = 20.0, bursty.calm_rate = 10.0 / 3.0, bursty.burst_s = 10.0, bursty.calm_s = 90.0;
  CHECK(count(bursty, 200000.0) == Approx(5.0).epsilon(0.03));
}

TEST_CASE("the latency histogram gives percentiles to one percent") {
  LatencyHistogram histogram;
  for (int i = 1; i <= 1000; ++i) histogram.Add(0.01 * i);
  CHECK(histogram.Quantile(0.5) == Approx(5.0).epsilon(0.011));
  CHECK(histogram.Quantile(0.99) == Approx(9.9).epsilon(0.011));
}

TEST_CASE("a replica that goes leaves its requests first in line") {
  // One request a time: at 0.25 s of a 1 s batch the replica goes; a new one begins it anew at 0.5.
  RequestQueue queue = Queue({0.0, 1.0, 10.0, 1}, 1e-6, 1);
  CHECK(queue.replicas() == 0);
  RequestQueue busy = Queue({0.0, 1.0, 100.0, 1}, 0.5, 2);
  busy.SetReplicas(0.0, {0}, {1.0});
  busy.PlayUntil(50.0);
  const std::int64_t before = busy.arrived();
  busy.SetReplicas(50.0, {}, {});
  busy.PlayUntil(60.0);
  CHECK(busy.answered() + busy.waiting() == busy.arrived());  // nobody is lost
  busy.SetReplicas(60.0, {0, 1, 2, 3}, {1.0, 1.0, 1.0, 1.0});
  busy.PlayUntil(1000.0);
  CHECK(busy.arrived() - busy.answered() <= 4);
  CHECK(busy.arrived() > before);
}

Scenario Served(const std::string& features, const char* clock) {
  ScenarioData data = test::TinyData({{"a", 4}}, {{1.0}}, {{0, 5000}, {10, 5000}, {20, 5000}, {30, 4000}});
  data.clock = Clock::Parse(clock);
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

TEST_CASE("replicas hold GPUs that training does not get") {
  // Four jobs, four GPUs, two replicas: two jobs at a time.
  const auto fcfs = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
  const RunResult run = Run(Served("services(rate_per_s=1,replicas=2)", "event"), *fcfs, "fcfs", {});
  CHECK(run.jct_s[0] == 5000.0);
  CHECK(run.jct_s[1] == 5000.0);
  CHECK(run.jct_s[2] == 9980.0);  // starts at 5000
  CHECK(run.jct_s[3] == 5010.0 + 4000.0 - 30.0);
  CHECK(run.metrics.Of("service_gpu_hours") == Approx(2.0 * run.metrics.end_s / 3600.0));
  CHECK(run.metrics.Of("service_attainment") > 0.99);
}

TEST_CASE("the reward late is the requests that were not answered in time, or wait for longer") {
  // One replica for twice what it can answer, and none for what nobody answers.
  for (const char* features : {"services(rate_per_s=200,replicas=1)", "services(rate_per_s=3,replicas=0)"}) {
    Simulator simulator(Served(features, "event"));
    Reward reward("late");
    const auto fcfs = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
    REQUIRE(simulator.AdvanceToDecision());
    reward.Begin(simulator);
    Decision decision;
    fcfs->Reset(simulator.View(Knowledge::kNone));
    do {
      decision.Clear();
      fcfs->Decide(simulator.View(Knowledge::kNone), decision);
      REQUIRE(simulator.Apply(decision).ok());
    } while (simulator.AdvanceToDecision());
    const RequestQueue& queue = simulator.state().features.Find<ServiceState>()->services[0].queue;
    const auto missed = static_cast<double>(queue.arrived() - queue.within_slo());
    REQUIRE(missed > 1000.0);
    // Those that are being answered are neither, a batch at most, nor those who came in the last 0.2 s: 40 in the
    // mean, and not 80.
    CHECK(reward.Running(simulator) <= missed);
    CHECK(reward.Running(simulator) >= missed - 8.0 - 80.0);
  }
  // Nobody answers, and 10 s are allowed: late at 100 s is who came by 90 s.
  RequestQueue early = Queue({0.0, 1.0, 10.0, 1}, 1.0, 4), late = early;
  early.PlayUntil(90.0);
  late.PlayUntil(100.0);
  CHECK(late.overdue() == early.waiting());
  CHECK(late.overdue() < late.waiting());
}

TEST_CASE("training beside replicas has the rest of each GPU") {
  // Four replicas of half a GPU, one on each: every job takes twice as long.
  const auto fcfs = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
  const RunResult run =
      Run(Served("services(rate_per_s=1,replicas=4,share=0.5)", "event"), *fcfs, "fcfs", {});
  CHECK(run.jct_s[0] == Approx(10000.0));
  CHECK(run.jct_s[3] == Approx(8000.0));
}

TEST_CASE("autoscaled replicas follow the load and training gives way") {
  const auto tables = std::vector<SchedulerTable>{BaselineSchedulers()};
  const std::string features =
      "services(rate_per_s=20,item_s=0.1,base_s=0,max_batch=1,slo_s=1,replicas=1,interval_s=60)";
  for (const char* clock : {"event", "rounds(60)"}) {
    // 20/s of 0.1 s: 2 replicas' work; at target 0.6 it takes 4 GPUs, all there are.
    Simulator sim(Served(features, clock));
    const auto scheduler = MakeScheduler("autoscale(inner=srpt)", tables);
    scheduler->Reset(sim.View(Knowledge::kOracle));
    Decision decision;
    int most = 0;
    while (sim.AdvanceToDecision() && sim.now() < 3000.0) {
      decision.Clear();
      scheduler->Decide(sim.View(Knowledge::kOracle), decision);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
      most = std::max(
          most, static_cast<int>(sim.state().features.Find<ServiceState>()->services[0].devices.size()));
    }
    CHECK(most >= 3);
  }
}

TEST_CASE("without services autoscale is its inner scheduler") {
  const auto tables = std::vector<SchedulerTable>{BaselineSchedulers()};
  const Scenario plain = Served("", "event");
  const RunResult inner = Run(plain, *MakeScheduler("srpt", tables), "srpt", {});
  CHECK(Run(plain, *MakeScheduler("autoscale", tables), "autoscale", {}).signature == inner.signature);
}

TEST_CASE("replicas survive failures of their GPUs") {
  const auto srpt = MakeScheduler("srpt", std::vector<SchedulerTable>{BaselineSchedulers()});
  for (const char* clock : {"event", "rounds(60)"}) {
    Simulator sim(Served("services(rate_per_s=5,replicas=2);failures(mtbf_h=1,repair_h=0.2)", clock));
    srpt->Reset(sim.View(Knowledge::kOracle));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      srpt->Decide(sim.View(Knowledge::kOracle), decision);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
      const ServiceState& state = *sim.state().features.Find<ServiceState>();
      for (int d : state.services[0].devices) {
        REQUIRE(state.replica_of[static_cast<std::size_t>(d)] == 0);
        REQUIRE(sim.state().out_of_service[static_cast<std::size_t>(d)] == kHeld);
      }
    }
    CHECK(sim.finished());
    CHECK(sim.state().completion[3] != kNever);
  }
}

TEST_CASE("a job that outlives the replica beside it has its whole GPU again") {
  // Half the GPU until the drain begins at 400 s: 200 of 1000 steps; then all of it: done at 1200 s.
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 1000}});
  data.features = ParseFeatures(
      "services(rate_per_s=1,replicas=1,share=0.5,interval_s=100000);"
      "failures(mtbf_h=0,events=5000:6000:gpu:a/0:4600)");
  const auto fcfs = MakeScheduler("fcfs", std::vector<SchedulerTable>{BaselineSchedulers()});
  CHECK(Run(Scenario(std::move(data)), *fcfs, "fcfs", {}).jct_s[0] == Approx(1200.0));
}

TEST_CASE("nobody is packed beside a job on a GPU that drains") {
  ScenarioData data = test::TinyData({{"a", 1}}, {{1.0}}, {{0, 1000}, {200, 1000}});
  data.throughputs.pairs = {0.6, 0.6};
  data.features = ParseFeatures("failures(mtbf_h=0,events=700:800:gpu:a/0:600)");
  Simulator sim(Scenario(std::move(data)));
  Decision decision;
  REQUIRE(sim.AdvanceToDecision());
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  while (sim.now() < 200.0) REQUIRE(sim.AdvanceToDecision());
  decision.Clear();
  decision.Pack(1, 0);
  CHECK(sim.Apply(decision).rule == Rule::kOutOfService);
}

TEST_CASE("wrong services are one line") {
  const auto message = [](const std::string& features) -> std::string {
    try {
      Served(features, "event");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(message("services(pattern=diurnl)").find("did you mean 'diurnal'") != std::string::npos);
  CHECK(message("services(rate_per_s=1:2,slo_s=1:2:3)").find("slo_s") != std::string::npos);
  CHECK(message("services(pattern=bursty,burst=20)").find("below 1") != std::string::npos);
  CHECK(message("services(speed=1:1)").find("one a GPU type") != std::string::npos);
  CHECK(message("services(replicas=0.5)").find("whole numbers") != std::string::npos);
}

}  // namespace
}  // namespace berth
