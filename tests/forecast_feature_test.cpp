// Feature forecast: what is expected of arrivals and run times, by hand; copies; who uses it.
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "env/features/forecast/forecast.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::With;

// Runs everybody in order of arrival on type 0 to the first decision point at or after `until`.
void RunTo(Simulator& sim, double until) {
  Decision decision;
  while (sim.AdvanceToDecision()) {
    if (sim.now() >= until) return;
    decision.Clear();
    int room = sim.state().free_gpus[0];
    for (int job : sim.state().waiting) {
      const int gang = sim.scenario().data().jobs.gang[U(job)];
      if (gang > room) break;
      room -= gang;
      decision.Start(job, 0);
    }
    REQUIRE(sim.Apply(decision).ok());
    const std::string violation = CheckInvariants(sim);
    REQUIRE(violation == "");
  }
}

int Channel(std::span<const ChannelInfo> channels, const std::string& name) {
  for (std::size_t c = 0; c < channels.size(); ++c) {
    if (name == channels[c].name) return static_cast<int>(c);
  }
  FAIL("no channel " << name);
  return -1;
}

// What ObservationV2 shows of a cluster with `n` GPU types, of `n` jobs.
struct Observed {
  Observed(const Simulator& sim, int n) : layout(info.Layout(n, n)), out(U(layout.size())) {
    MdpSpec mdp;
    mdp.encoder = "ObservationV2";
    mdp.visible = n;
    const auto encoder = MakeEncoder(mdp);
    std::vector<int> visible;
    const ClusterView view = sim.View(Knowledge::kOracle);
    encoder->Begin(view);
    encoder->Select(view, view.active(), n, visible);
    encoder->Encode({view, view.free_gpus(), view.active(), visible}, layout, out);
  }
  const EncoderInfo info = EncoderOf("ObservationV2");
  ObservationLayout layout;
  std::vector<float> out;
};

}  // namespace

// Bins of 10 s, the last value is expected of the next. Arrivals at 0 (1 GPU), 5 (2 GPUs), 12 (4 GPUs): at
// 12, of the bin [0, 10) 2 jobs and 3 GPUs are known. Expected in (12, 22]: 8/10 of 2 jobs in the rest of
// this bin and 2/10 of 2 in the next, 2 jobs and 3 GPUs; in (12, 17] half of that. Jobs 0 and 1 run 4 and 6
// s: when both have ended the mean of their kind is known, (4 + 6) / 2 = 5 steps, at 2 steps/s on the faster
// type 2.5 s.
TEST_CASE("forecast: what is expected of arrivals and run times, by hand") {
  const ScenarioData data = test::TinyData({{"v100", 8}, {"k80", 4}}, {{1.0, 2.0}},
                                           {{0, 4, 0, 1}, {5, 6, 0, 2}, {12, 50, 0, 4}, {100, 1, 0, 1}});
  Simulator sim(With(data, "forecast(model=last,bin_s=10,sizes=recent(statistic=mean,least=2))"));
  RunTo(sim, 12.0);
  REQUIRE(sim.now() == 12.0);
  const ClusterView view = sim.View(Knowledge::kNone);
  REQUIRE(view.Find<ForecastState>() != nullptr);
  CHECK(view.Find<ForecastState>()->ExpectedJobs(10.0) == Approx(2.0).epsilon(1e-14));
  CHECK(view.Find<ForecastState>()->ExpectedGpus(10.0) == Approx(3.0).epsilon(1e-14));
  CHECK(view.Find<ForecastState>()->ExpectedJobs(5.0) == Approx(1.0).epsilon(1e-14));
  CHECK(view.Find<ForecastState>()->BinEnd() == 20.0);
  CHECK(view.Find<ForecastState>()->counted() == 3);
  CHECK(view.Find<ForecastState>()->PredictedSteps(view, 2) == Approx(5.0).epsilon(1e-14));
  CHECK(view.Find<ForecastState>()->PredictedSeconds(view, 2) == Approx(2.5).epsilon(1e-14));

  // What ObservationV2 shows of it, horizon 3600 s: 2 jobs and 3 GPUs each 10 s are 720 and 1080.
  const Observed seen(sim, 2);
  const EncoderInfo& info = seen.info;
  const float* global = seen.out.data() + seen.layout.global_offset();
  CHECK(global[Channel(info.global, "jobs_ahead")] == Approx(Log(1.0 + 720.0) / 5.0));
  CHECK(global[Channel(info.global, "gpus_ahead")] == Approx(Log(1.0 + 1080.0 / 12.0)));
  CHECK(seen.out[U(Channel(info.job, "predicted"))] == Approx(Log(1.0 + 2.5 / 60.0) / 10.0));
}

TEST_CASE("forecast: what is predicted beyond a channel's range is its edge") {
  ScenarioData data = test::TinyData({{"v", 1}}, {{1.0}}, {{0, 10}});
  data.jobs.requested_s = {1e16};
  Simulator sim(With(data, "forecast(sizes=request(adjust=false))"));
  REQUIRE(sim.AdvanceToDecision());
  const Observed seen(sim, 1);
  CHECK(seen.out[U(Channel(seen.info.job, "predicted"))] == 3.0F);
}

TEST_CASE("forecast: a copy of a simulation expects the same and goes its own way") {
  const ScenarioData data =
      test::TinyData({{"v100", 8}}, {{1.0}}, {{0, 4}, {5, 6}, {12, 50}, {25, 1}, {31, 1}});
  for (const char* model :
       {"last", "mean", "seasonal_naive(season=2)", "exponential", "holt_winters(season=2)", "ar(order=1)"}) {
    for (const char* sizes : {"residual", "recent", "request"}) {
      Simulator sim(With(data, Join("forecast(bin_s=5,model=", model, ",sizes=", sizes, ")")));
      RunTo(sim, 12.0);
      Simulator copy = sim;
      const double before = copy.state().features.Find<ForecastState>()->ExpectedJobs(100.0);
      CHECK(before == sim.state().features.Find<ForecastState>()->ExpectedJobs(100.0));
      RunTo(sim, 31.0);
      CHECK(copy.state().features.Find<ForecastState>()->ExpectedJobs(100.0) == before);
      CHECK(copy.state().features.Find<ForecastState>()->counted() == 3);
      RunTo(copy, 31.0);
      CHECK(copy.state().features.Find<ForecastState>()->ExpectedJobs(100.0) ==
            sim.state().features.Find<ForecastState>()->ExpectedJobs(100.0));
      const ClusterView a = sim.View(Knowledge::kNone), b = copy.View(Knowledge::kNone);
      CHECK(a.Find<ForecastState>()->PredictedSteps(a, 2) == b.Find<ForecastState>()->PredictedSteps(b, 2));
    }
  }
}

// It changes no run: a scheduler that does not ask for it does what it did.
TEST_CASE("forecast: every job is counted once, whatever else happens, and nothing else changes") {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    Stream draw(seed, Purpose::kTest);
    std::vector<test::TinyJob> jobs;
    double now = 0.0;
    for (int i = 0; i < 20; ++i) {
      jobs.push_back({now, 600.0 + 3000.0 * draw.Uniform(), 0, 1 << static_cast<int>(draw.Below(3))});
      now += 900.0 * draw.Uniform();
    }
    ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, jobs);
    data.seed = seed;
    for (const char* clock : {"event", "rounds(360)"}) {
      const std::string others = "failures(mtbf_h=5,repair_h=0.3);latency(seconds=100)";
      Simulator with(With(data, others + ";forecast(bin_s=600)", clock)), without(With(data, others, clock));
      RunTo(with, kNever), RunTo(without, kNever);
      REQUIRE(with.finished());
      CHECK(with.signature() == without.signature());
      CHECK(with.state().features.Find<ForecastState>()->counted() == 20);
      SimState broken = with.state();
      broken.phase[3] = JobPhase::kFuture;  // one of those counted is not here
      CHECK_FALSE(broken.features.Find<ForecastState>()->Violation({with.scenario(), broken, {}}).empty());
    }
  }
}

TEST_CASE("forecast: bad settings are one clear line") {
  const ScenarioData data = test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 20}});
  CHECK_THROWS_WITH(With(data, "forecast(model=holt)"),
                    Catch::Contains("feature 'forecast': model: unknown forecaster 'holt'"));
  CHECK_THROWS_WITH(With(data, "forecast(model=exponential(alpha=2))"), Catch::Contains("alpha"));
  CHECK_THROWS_WITH(With(data, "forecast(sizes=recents)"), Catch::Contains("did you mean 'recent'"));
  CHECK_THROWS_WITH(With(data, "forecast(bin_s=0)"), Catch::Contains("bin_s: expected"));
}

// Favoured: jobs of at most 10 s. 4 GPUs. Three of them come in the first bin of 10 s: 3 jobs are expected in
// every further 10 s. At 11, when they are gone, two long jobs come: of 5 arrivals each brought 30 / 5 = 6
// favoured GPU-seconds, so the load expected is 3 x 6 / 10 = 1.8 and, with safety 0, 2 GPUs are kept: both
// start. At 12 comes a third: 3 x 30 / 6 / 10 = 1.5, 2 GPUs are kept, and those are the 2 that are idle: it
// waits.
TEST_CASE("forecast: reservation counts on the cluster's own, by hand") {
  const ScenarioData data = test::TinyData(
      {{"v100", 4}}, {{1.0}}, {{0, 10}, {0, 10}, {1, 10}, {11, 1000}, {11, 1000}, {12, 1000}, {5000, 10}});
  const SchedulerTable table = BaselineSchedulers();
  const auto scheduler = MakeScheduler("reservation(short=10,safety=0,most=1,horizon=10,patience=100000)",
                                       std::span<const SchedulerTable>(&table, 1));
  Simulator sim(With(data, "forecast(model=last,bin_s=10)"));
  scheduler->Reset(sim.View(Knowledge::kOracle));
  Decision decision;
  while (sim.AdvanceToDecision() && sim.now() <= 12.0) {
    decision.Clear();
    scheduler->Decide(sim.View(Knowledge::kOracle), decision);
    REQUIRE(sim.Apply(decision).ok());
  }
  CHECK(sim.state().phase[3] == JobPhase::kRunning);
  CHECK(sim.state().phase[4] == JobPhase::kRunning);
  CHECK(sim.state().phase[5] == JobPhase::kWaiting);
}

}  // namespace berth
