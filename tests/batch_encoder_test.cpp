// The encoder `Batch` against the same channels written out plainly, and by hand; the times at which gangs
// fit.
#include <cmath>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/sched_env.hpp"
#include "env/predict/releases.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

SchedEnvOptions Options(Semantics semantics, int queue, int jobs) {
  SchedEnvOptions options;
  options.mdp.encoder = "Batch";
  options.mdp.semantics = semantics;
  options.mdp.preemptive = false;
  options.mdp.visible = queue;
  options.episode_jobs = jobs;
  options.warmup_jobs = 0;
  return options;
}

// Requests that are too long by up to 3 times, bursts, gangs of 1, 2 and 4 on two types.
Scenario Varied(std::uint64_t seed, int jobs, Clock clock) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  for (int i = 0; i < jobs; ++i) {
    now += stream.Below(2) == 0 ? 0.0 : stream.Exponential(40.0);
    list.push_back({now, 1.0 + stream.Uniform(0.0, 300.0), static_cast<int>(stream.Below(2)),
                    1 << static_cast<int>(stream.Below(3))});
  }
  ScenarioData data = test::TinyData({{"a", 4}, {"b", 6}}, {{1.0, 2.0}, {2.0, 0.0}}, list, clock);
  for (const test::TinyJob& job : list) data.jobs.requested_s.push_back(job.steps * stream.Uniform(1.0, 3.0));
  return Scenario(std::move(data));
}

// Seconds until `gang` GPUs of `type` are free: at each release in turn, count who is gone by then.
double PlainDelay(const ClusterView& view, int gang, int type) {
  const auto free_at = [&](double time) {
    int free = view.free_gpus()[U(type)];
    for (int job : view.running()) {
      if (view.TypeOf(job) == type && view.RunStart(job) + view.Requested(job) <= time)
        free += view.Gang(job);
    }
    return free;
  };
  if (free_at(view.now() - 1.0) >= gang || view.free_gpus()[U(type)] >= gang) return 0.0;
  double best = kNever;
  for (int job : view.running()) {
    if (view.TypeOf(job) != type) continue;
    const double end = view.RunStart(job) + view.Requested(job);
    if (free_at(end) >= gang) best = std::min(best, end - view.now());
  }
  return best;
}

std::vector<double> PlainBatch(const ClusterView& view, const std::vector<int>& candidates,
                               const std::vector<int>& visible, const ObservationLayout& layout) {
  std::vector<double> out(U(layout.size()), 0.0);
  double backlog = 0.0;
  for (int job : candidates) backlog += view.Requested(job) * view.Gang(job);
  for (std::size_t row = 0; row < visible.size(); ++row) {
    const int job = visible[row];
    const double r = std::max(view.Requested(job), 10.0), w = view.now() - view.Arrival(job);
    double* f = out.data() + row * 6;
    f[0] = 1.0;
    f[1] = std::log(r / 10.0) / 5.0;
    f[2] = std::log(view.Gang(job)) / std::log(view.num_gpus());
    f[3] = std::log(1.0 + w / 10.0) / 5.0;
    f[4] = std::log(1.0 + w / r) / 5.0;
    f[5] = std::log(1.0 + w / (r * view.Gang(job))) / 5.0;
    for (int type = 0; type < layout.g; ++type) {
      double* p = out.data() + layout.pairs_offset() + (row * U(layout.g) + U(type)) * 4;
      if (view.Rate(job, type) <= 0.0) continue;
      const double d = PlainDelay(view, view.Gang(job), type);
      p[0] = d == 0.0 ? 1.0 : 0.0;
      p[1] = std::log(1.0 + d / 10.0) / 5.0;
      p[2] = std::log(1.0 + d / r) / 5.0;
      p[3] = std::log(1.0 + d * view.free_gpus()[U(type)] / view.types()[U(type)].count / 10.0) / 5.0;
    }
  }
  for (int type = 0; type < layout.g; ++type) {
    out[U(layout.types_offset() + 2 * type)] =
        static_cast<double>(view.free_gpus()[U(type)]) / view.types()[U(type)].count;
    out[U(layout.types_offset() + 2 * type + 1)] =
        static_cast<double>(view.types()[U(type)].count) / view.num_gpus();
  }
  out[U(layout.global_offset())] = std::log(1.0 + static_cast<double>(candidates.size())) / 5.0;
  out[U(layout.global_offset() + 1)] = std::log(1.0 + backlog / view.num_gpus() / 10.0) / 5.0;
  return out;
}

int RandomLegal(std::span<const std::uint8_t> mask, Stream& stream) {
  std::size_t at = stream.Below(static_cast<std::uint32_t>(mask.size()));
  while (mask[at] == 0) at = (at + 1) % mask.size();
  return static_cast<int>(at);
}

}  // namespace

TEST_CASE("Batch: every observation is what its channels say", "[mdp]") {
  const Semantics semantics = GENERATE(Semantics::kCommit, Semantics::kRedecide);
  const int queue = GENERATE(5, 60);
  const Scenario scenario = Varied(3, 60, {ClockKind::kEvent});
  SchedEnv env(FixedSource(scenario, "varied"), Options(semantics, queue, 60), 0);
  env.Begin(0);
  Stream stream(4, Purpose::kTest);
  int late = 0;  // numbers that say that something does not fit yet
  for (SchedEnv::Outcome outcome; !outcome.terminated;) {
    const ClusterView view = env.simulator().View(Knowledge::kOracle);
    if (env.moved()) {
      const std::vector<int> waiting(view.waiting().begin(), view.waiting().end());
      std::vector<int> visible;
      MakeEncoder(Options(semantics, queue, 60).mdp)->Select(view, waiting, queue, visible);
      const std::vector<double> expected = PlainBatch(view, waiting, visible, env.layout());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        // float32 of values up to 2.
        REQUIRE(env.observation()[i] == Approx(expected[i]).margin(2e-7).epsilon(2e-7));
      }
      for (std::size_t i = U(env.layout().pairs_offset()) + 1; i < U(env.layout().types_offset()); i += 4)
        late += expected[i] > 0.0;
    }
    outcome = env.Step(RandomLegal(env.mask(), stream));
  }
  CHECK(late > 50);
}

TEST_CASE("releases: when a gang fits, and what is free beside it", "[mdp]") {
  // Five GPUs; jobs of 2, 1 and 2 request 100, 50 and 100 s from 0 on. Free: 0, from 50 on 1, from 100 on,
  // job by job, 3 and 5. The fourth waits.
  ScenarioData data =
      test::TinyData({{"a", 5}}, {{1.0}}, {{0, 90, 0, 2}, {0, 40, 0, 1}, {0, 95, 0, 2}, {0, 10, 0, 4}});
  data.jobs.requested_s = {100, 50, 100, 20};
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  Plan plan;
  ClusterView view = simulator.View(Knowledge::kEstimate);
  plan.Begin(view, /*preemptive=*/false);
  for (int job = 0; job < 3; ++job) plan.Put(view, job, 0);
  Releases releases;
  const auto check = [&] {
    CHECK(releases.When(1).time == 50.0);
    CHECK(releases.When(1).spare == 0);
    CHECK(releases.When(2).time == 100.0);
    CHECK(releases.When(2).spare == 1);  // the first of the two that end then is enough
    CHECK(releases.When(4).time == 100.0);
    CHECK(releases.When(4).spare == 1);
    CHECK(releases.When(6).time == kNever);
  };
  releases.Collect(view, 0, plan.room(0), &plan);  // planned
  check();
  Decision decision;
  plan.Emit(view, decision);
  REQUIRE(simulator.Apply(decision).ok());
  view = simulator.View(Knowledge::kEstimate);
  releases.Collect(view, 0, view.free_gpus()[0], nullptr);  // carried out
  check();
}

TEST_CASE("Batch says what it is not for", "[mdp]") {
  MdpSpec mdp = Options(Semantics::kRedecide, 4, 4).mdp;
  mdp.preemptive = true;
  CHECK_THROWS_WITH(MakeEncoder(mdp), Catch::Contains("non-preemptive"));
  mdp.preemptive = false;
  mdp.knowledge = Knowledge::kBlind;
  CHECK_THROWS_WITH(MakeEncoder(mdp), Catch::Contains("expected knowledge estimate"));
}

}  // namespace berth
