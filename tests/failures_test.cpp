// Failures, drains and spot nodes by hand, against a second simulator that walks every second, and by closed
// forms; checkpoints against Daly's expected time.
#include "env/features/failures/failures.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "env/features/checkpoints/checkpoints.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"
#include "tests/strict_order.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"

namespace berth {
namespace {

using test::Says;
using test::Strict;

Scenario With(const Scenario& scenario, const std::string& features, const std::string& clock = "event",
              std::uint64_t seed = 0) {
  ScenarioData data = scenario.data();
  data.seed = seed;
  return test::With(std::move(data), features, clock);
}

std::string ErrorOf(const Scenario& scenario, const std::string& features) {
  try {
    With(scenario, features);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Simulator RunStrict(const Scenario& scenario) {
  Simulator sim(scenario, {.keep_events = true});
  Decision decision;
  while (sim.AdvanceToDecision()) {
    decision.Clear();
    Strict(sim, decision);
    const ApplyResult applied = sim.Apply(decision);
    REQUIRE(applied.ok());
    const std::string violation = CheckInvariants(sim);
    REQUIRE(violation.empty());
  }
  return sim;
}

// The same by walking every second. A job keeps what it has saved; who is interrupted waits again.
struct Outage {
  int down, up, notice, first, last;
};
struct TickResult {
  std::vector<int> completion, interruptions;
  std::vector<double> lost;
};
TickResult Tick(const Scenario& scenario, const std::vector<Outage>& outages, int interval, int save,
                int load) {
  const JobTable& jobs = scenario.data().jobs;
  const std::size_t n = static_cast<std::size_t>(jobs.size());
  struct Job {
    std::vector<int> on;
    double done = 0.0, safe = 0.0;
    int held = 0;   // seconds that it still waits: loading or saving
    int since = 0;  // of progress since its last save
    bool saving = false;
    bool over = false;
  };
  std::vector<Job> all(n);
  TickResult result{std::vector<int>(n, -1), std::vector<int>(n, 0), std::vector<double>(n, 0.0)};
  std::size_t left = n;
  for (int t = 0; left > 0 && t < 1'000'000; ++t) {
    const auto down = [&](int device, bool with_notice) {
      for (const Outage& o : outages) {
        if (device >= o.first && device < o.last && t >= o.down - (with_notice ? o.notice : 0) && t < o.up)
          return true;
      }
      return false;
    };
    for (std::size_t j = 0; j < n; ++j) {  // what happens at t: first who ends
      Job& job = all[j];
      if (!job.on.empty() && job.done >= jobs.total_steps[j]) {
        job.on.clear(), job.over = true, result.completion[j] = t, --left;
      }
      if (job.on.empty()) continue;
      const bool lost = std::any_of(job.on.begin(), job.on.end(), [&](int d) { return down(d, false); });
      if (!lost) continue;
      result.lost[j] += job.done - job.safe;
      job.done = job.safe, job.on.clear(), ++result.interruptions[j];
    }
    for (Job& job : all) {  // a save that ends as a GPU fails is none
      if (job.on.empty() || !job.saving || job.held > 0) continue;
      job.safe = job.done, job.saving = false, job.since = 0;
    }
    std::vector<int> idle;
    for (int d = 0; d < scenario.num_gpus(); ++d) {
      bool held = down(d, true);
      for (const Job& job : all) held = held || std::count(job.on.begin(), job.on.end(), d) > 0;
      if (!held) idle.push_back(d);
    }
    for (std::size_t j = 0; j < n; ++j) {
      Job& job = all[j];
      if (job.over || !job.on.empty() || jobs.arrival[j] > t) continue;
      const auto gang = static_cast<std::size_t>(jobs.gang[j]);
      if (gang > idle.size()) break;
      job.on.assign(idle.begin(), idle.begin() + jobs.gang[j]);
      idle.erase(idle.begin(), idle.begin() + jobs.gang[j]);
      job.held = job.done > 0.0 ? load : 0, job.since = 0, job.saving = false, job.safe = job.done;
    }
    for (std::size_t j = 0; j < n; ++j) {  // from t to t + 1
      Job& job = all[j];
      if (job.on.empty()) continue;
      if (job.held > 0) {
        --job.held;
        continue;
      }
      job.done += scenario.Rate(static_cast<int>(j), 0);
      if (++job.since == interval && job.done < jobs.total_steps[j]) job.held = save, job.saving = true;
    }
  }
  return result;
}

}  // namespace

// 2 GPUs a node, 3 nodes; the node v100/1 (GPUs 2, 3) is down in [100, 150). Jobs of 1 GPU, 1 step/s:
// A (GPU 0), B (1), C (2), D (3) from 0 on. C and D stop at 100 with 100 steps lost, restart at once on GPUs
// 4 and 5, which are idle, and end at 100 + 200 = 300; A and B end at 200.
TEST_CASE("failures: a node takes its jobs down, by hand") {
  ScenarioData data = test::TinyData({{"v100", 6}}, {{1.0}}, {{0, 200}, {0, 200}, {0, 200}, {0, 200}});
  data.cluster.types[0].gpus_per_node = 2;
  const Simulator sim = RunStrict(With(Scenario(data), "failures(mtbf_h=0,events=100:150:node:v100/1)"));
  CHECK(sim.state().completion == std::vector<double>{200, 200, 300, 300});
  CHECK(sim.state().lost_steps == std::vector<double>{0, 0, 100, 100});
  CHECK(sim.state().interruptions == std::vector<int>{0, 0, 1, 1});
}

// One GPU; maintenance in [100, 160) with 40 s of notice. A runs 0-50, B 50-75 through the notice at 60; C
// and D may not start on a GPU that will go, and wait from 75 until 160.
TEST_CASE("failures: a GPU that is announced to leave takes no new job, and what runs there runs on") {
  const Scenario scenario = test::Tiny({{"v100", 1}}, {{1.0}}, {{0, 50}, {40, 25}, {55, 15}, {70, 10}});
  const Simulator sim = RunStrict(With(scenario, "failures(mtbf_h=0,events=100:160:gpu:v100/0:40)"));
  CHECK(sim.state().completion == std::vector<double>{50, 75, 175, 185});
  CHECK(sim.state().interruptions == std::vector<int>{0, 0, 0, 0});
  Simulator seen(With(scenario, "failures(mtbf_h=0,events=100:160:gpu:v100/0:40)"));
  Decision decision;
  bool told = false;
  while (seen.AdvanceToDecision()) {
    const ClusterView view = seen.View(Knowledge::kNone);
    const bool now = view.now() >= 60.0 && view.now() < 100.0;
    CHECK(view.Find<FailureState>()->Announced() == now);
    CHECK(view.Find<FailureState>()->DownAt(0) == (now ? 100.0 : kNever));
    if (now) {
      told = true;
      CHECK_FALSE(view.DeviceFree(0));
      CHECK(view.types()[0].count == 0);
    }
    decision.Clear();
    Strict(seen, decision);
    REQUIRE(seen.Apply(decision).ok());
  }
  CHECK(told);
}

// Random outages of random devices, overlapping ones too, with and without notice; random jobs and gangs;
// periodic checkpoints of whole seconds. Every completion, interruption and lost step, exactly.
TEST_CASE("failures: a simulator that walks every second agrees, and work is conserved") {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    Stream draw(seed, Purpose::kTest);
    ScenarioData data = test::TinyData({{"v100", 8}}, {{1.0}, {0.5}}, {});
    data.cluster.types[0].gpus_per_node = 2;
    double now = 0.0;
    for (int i = 0; i < 14; ++i) {
      now += draw.Below(40);
      data.jobs.id.push_back(i), data.jobs.arrival.push_back(now);
      data.jobs.job_type.push_back(static_cast<int>(draw.Below(2)));
      data.jobs.gang.push_back(1 << draw.Below(3));
      data.jobs.total_steps.push_back(10.0 * (1 + draw.Below(15)));
    }
    std::vector<Outage> outages;
    std::string events;
    for (int i = 0; i < 12; ++i) {
      const int kind = static_cast<int>(draw.Below(3));  // gpu, node, rack of two nodes
      const int unit = 1 << kind, index = static_cast<int>(draw.Below(static_cast<std::uint32_t>(8 / unit)));
      const int down = 1 + static_cast<int>(draw.Below(600)),
                up = down + 1 + static_cast<int>(draw.Below(90));
      const int notice = draw.Below(2) == 0 ? 0 : std::min(down, static_cast<int>(draw.Below(50)));
      outages.push_back({down, up, notice, index * unit, (index + 1) * unit});
      static constexpr const char* kKinds[] = {"gpu", "node", "rack"};
      events += Join(i > 0 ? "|" : "", down, ":", up, ":", kKinds[kind], ":v100/", index, ":", notice);
    }
    const int interval = draw.Below(2) == 0 ? 0 : 5 + static_cast<int>(draw.Below(40));
    const int save = 1 + static_cast<int>(draw.Below(6)), load = 1 + static_cast<int>(draw.Below(6));
    const std::string features = Join(
        "failures(mtbf_h=0,nodes_per_rack=2,events=", events, ");checkpoints(gb=", save * load,
        ",write_gb_s=", load, ",read_gb_s=", save, ",interval=", interval > 0 ? Join(interval) : "none", ")");
    const Scenario scenario = With(Scenario(data), features);
    const TickResult expected = Tick(scenario, outages, interval, save, load);
    const Simulator sim = RunStrict(scenario);
    INFO("seed " << seed << " " << features);
    std::map<int, int> ends;
    for (const Event& event : sim.events()) ends[event.job] += event.kind == EventKind::kComplete;
    for (int job = 0; job < scenario.num_jobs(); ++job) {
      const auto j = static_cast<std::size_t>(job);
      INFO("job " << job);
      CHECK(ends[job] == 1);
      CHECK(sim.state().completion[j] == Approx(expected.completion[j]).margin(1e-6));
      CHECK(sim.state().interruptions[j] == expected.interruptions[j]);
      CHECK(sim.state().lost_steps[j] == Approx(expected.lost[j]).margin(1e-6));
      CHECK(sim.state().steps_done[j] == scenario.data().jobs.total_steps[j]);
    }
  }
}

// Alternating renewal process: a GPU with mean times M up and R in repair is down for R / (M + R) of the
// time. 40 GPUs for 4,000 h with M = 18, R = 2: 0.1, whatever the shape (means alone count). About 8,000
// cycles; three standard errors are 0.1 (1/M..) below 5%.
TEST_CASE("failures: the share of time out of service is that of a renewal process, whatever the shape") {
  for (const char* shape : {"1", "0.7", "2"}) {
    const Scenario scenario = With(test::Tiny({{"v100", 40}}, {{1.0}}, {{0, 1.0}, {4000.0 * 3600, 1.0}}),
                                   Join("failures(mtbf_h=18,repair_h=2,shape=", shape, ")"));
    Simulator sim(scenario, {.keep_events = true});
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      Strict(sim, decision);
      REQUIRE(sim.Apply(decision).ok());
    }
    double down = 0.0;
    for (const Event& event : sim.events()) {
      if (event.time > 4000.0 * 3600) continue;
      if (event.kind == EventKind::kDown) down += 4000.0 * 3600 - event.time;
      if (event.kind == EventKind::kUp) down -= 4000.0 * 3600 - event.time;
    }
    INFO(shape);
    CHECK(down / (40 * 4000.0 * 3600) == Approx(0.1).epsilon(0.05));
  }
  for (double shape : {0.2, 0.5, 0.7, 1.5, 2.0, 20.0})
    CHECK(WeibullMean(shape) == Approx(std::tgamma(1.0 + 1.0 / shape)).epsilon(1e-13));
}

// Jobs that are announced a spot node's end 120 s before lose at most what runs on there.
TEST_CASE("failures: spot nodes go after notice, and only those of the types named") {
  ScenarioData data = test::TinyData({{"v100", 4}, {"k80", 4}}, {{1.0, 1.0}}, {{0, 1.0}, {3.6e6, 1.0}});
  data.cluster.types[1].gpus_per_node = 2;
  Simulator sim(With(Scenario(data), "failures(mtbf_h=0,spot_types=k80,spot_mtbf_h=5,spot_notice_s=120)"),
                {.keep_events = true});
  Decision decision;
  int outages = 0;
  while (sim.AdvanceToDecision()) {
    const FailureState& state = *sim.View(Knowledge::kNone).Find<FailureState>();
    for (int d = 0; d < 8; ++d) {
      if (d < 4) CHECK(state.DownAt(d) == kNever);
      if (d >= 4 && state.DownAt(d) != kNever) CHECK(state.DownAt(d) <= sim.now() + 120.0);
      CHECK(state.DownAt(d) == state.DownAt(d ^ (d < 4 ? 0 : 1)));  // nodes of two
    }
    outages = static_cast<int>(state.outages());
    decision.Clear();
    Strict(sim, decision);
    REQUIRE(sim.Apply(decision).ok());
    REQUIRE(CheckInvariants(sim).empty());
  }
  CHECK(outages > 200);  // 2 nodes x 1,000 h / 6 h
  for (const Event& event : sim.events()) CHECK((event.kind != EventKind::kDown || event.type == 1));
}

TEST_CASE("failures: a log is read, and what is wrong with it is said in one line") {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/failures.csv";
  const Scenario scenario = test::Tiny({{"v100", 4}}, {{1.0}}, {{0, 200}});
  const auto error = [&](const std::string& text) {
    std::ofstream(path) << text;
    return ErrorOf(scenario, "failures(mtbf_h=0,log=" + path + ")");
  };
  CHECK(
      error("down_s,up_s,kind,name,notice_s\n# a comment\n10,20,gpu,v100/3\n30,40,node,v100/0,5\n").empty());
  const Scenario read = With(scenario, "failures(mtbf_h=0,log=" + path + ")");
  CHECK(read.data().features.Find<FailureSettings>()->events == "10:20:gpu:v100/3|30:40:node:v100/0:5");
  const std::string text = ToString(read.data().features);
  std::filesystem::remove(path);  // the scenario has it all
  CHECK(ToString(With(scenario, text).data().features) == text);
  CHECK(RunStrict(read).state().completion == std::vector<double>{230});  // lost at 30, then elsewhere

  CHECK(Says(error("10,20,node,v100/9\n"), "unknown node 'v100/9': v100 has v100/0 to v100/3"));
  CHECK(Says(error("10,20,gpu,w100/0\n"), "did you mean 'v100'"));
  CHECK(Says(error("10,20,nodes,v100/0\n"), "did you mean 'node'"));
  CHECK(Says(error("\n10,20,gpu\n"), ":2: expected down_s,up_s,kind,name[,notice_s], found 3 columns"));
  CHECK(Says(error("10,20,gpu,v100/0\nten,20,gpu,v100/0\n"), ":2: column 1: expected a number"));
  CHECK(Says(error("20,10,gpu,v100/0\n"), "expected 0 <= down < up"));
  CHECK(Says(error("# nothing\n"), "has no rows"));
  CHECK(Says(ErrorOf(scenario, "failures(log=/nowhere.csv)"), "log: /nowhere.csv: no such file"));
  CHECK(Says(ErrorOf(scenario, "failures(spot_types=v10)"), "did you mean 'v100'"));
  CHECK(Says(ErrorOf(scenario, "failures(mtbf_h=0.0001)"), "at least 0.001 h"));
  CHECK(Says(ErrorOf(scenario, "failures(shape=0)"), "shape"));
}

// A job of 1,000 s, 1 step/s, on one GPU. Stopped at 100, it is saved (60 GB at 6 GB/s: 10 s) and loaded (at
// 12 GB/s: 5 s), after 7 s of cold start, when it next starts at 100: progress from 122 on. Its first start
// costs the cold start alone: progress from 7 on, so 93 steps are done by 100. End: 122 + 907 = 1029.
TEST_CASE("checkpoints: what a stop and a start cost, by hand") {
  const Scenario scenario = test::Tiny({{"v100", 1}}, {{1.0}}, {{0, 1000.0}, {100, 1e-9}});
  for (const bool shared : {false, true}) {
    Simulator sim(With(scenario, Join("checkpoints(gb=60,write_gb_s=6,read_gb_s=12,cold_start_s=7,shared=",
                                      shared ? "true" : "false", ")")));
    Decision decision;
    while (sim.AdvanceToDecision()) {
      decision.Clear();
      if (sim.now() == 0.0) decision.Start(0, 0);
      if (sim.now() == 100.0 && sim.state().phase[0] == JobPhase::kRunning) {
        decision.Stop(0);
        decision.Reject(1);
        decision.wake_at = 100.0 + 1e-9;
      }
      if (sim.now() > 100.0 && sim.state().phase[0] == JobPhase::kWaiting) decision.Start(0, 0);
      REQUIRE(sim.Apply(decision).ok());
      REQUIRE(CheckInvariants(sim).empty());
    }
    CHECK(sim.state().completion[0] == Approx(1029.0).margin(1e-6));
  }
}

// Two jobs of one GPU each lose a common node at 50 without ever having saved, and start at 60 again; cold
// start 7 s, nothing to load: 60 + 7 + 100 = 167 for both. With saves every 20 s of progress that take 5 s:
// progress 7-27, save to 32, 32-52: at 50 20 steps are safe. From 60 on: 7 s + load 2 s each, one after the
// other on the shared storage: progress from 69 and from 71; then 80 steps with 3 saves (at 60 and 80 the job
// saves, and at 100 it is over), which the storage serves one after the other.
TEST_CASE("checkpoints: interrupted jobs pay no save, and a shared storage serves one after the other") {
  ScenarioData data = test::TinyData({{"v100", 2}}, {{1.0}}, {{0, 100}, {0, 100}});
  data.cluster.types[0].gpus_per_node = 2;
  const std::string failure = "failures(mtbf_h=0,events=50:60:node:v100/0);";
  const Scenario never =
      With(Scenario(data), failure + "checkpoints(gb=10,read_gb_s=5,cold_start_s=7,shared=true)");
  CHECK(RunStrict(never).state().completion == std::vector<double>{167, 167});
  // Alone on its storage: 69 + 20, save to 94, +20 = 114, save to 119, +20 = 139, save to 144, +20 = 164.
  const Scenario own = With(Scenario(data), failure +
                                                "checkpoints(gb=10,write_gb_s=2,read_gb_s=5,cold_start_s=7,"
                                                "interval=20)");
  const Simulator alone = RunStrict(own);
  CHECK(alone.state().completion == std::vector<double>{164, 164});
  CHECK(alone.state().lost_steps == std::vector<double>{18, 18});
  CHECK(alone.state().features.Find<CheckpointState>()->saves == 8);
  // Shared. Both first save at 27: job 0 to 32, job 1 to 37; at 50 job 0 has 20 + 18, job 1 20 + 13 steps.
  // From 60 on: progress from 69 and 71. Saves: job 0 at 89 to 94, job 1 at 91, served from 94 to 99; job 0
  // 94-114, save to 119; job 1 99-119, save to 124; job 0 119-139, save to 144, 144-164. Job 1 124-144, save
  // to 149, 149-169.
  const Scenario shared = With(Scenario(data), failure +
                                                   "checkpoints(gb=10,write_gb_s=2,read_gb_s=5,"
                                                   "cold_start_s=7,interval=20,shared=true)");
  const Simulator queued = RunStrict(shared);
  CHECK(queued.state().completion == std::vector<double>{164, 169});
  CHECK(queued.state().lost_steps == std::vector<double>{18, 13});
}

// Expected time of a segment of L seconds under failures with mean M, repairs with mean D and restarts of R
// seconds that may fail too: (M + D) exp(R / M) (exp(L / M) - 1) (Daly 2006, eq. 20 by segments; Bougeret et
// al. 2011). 10 h of work, a checkpoint of 120 s every hour, M = 5 h, D = 0.2 h, R = 300 s: the first segment
// starts without R, the last one saves nothing. 600 runs: three standard errors hold the mean.
TEST_CASE("checkpoints: the mean time under failures is Daly's") {
  const double m = 5 * 3600.0, d = 0.2 * 3600.0, r = 300.0, tau = 3600.0, save = 120.0;
  const auto segment = [&](double length, double restart) {
    return (m + d) * std::exp(restart / m) * (std::exp(length / m) - 1.0);
  };
  // A failure in the first segment loses all, and there is nothing to load.
  const double expected = segment(tau + save, 0.0) + 8 * segment(tau + save, r) + segment(tau, r);
  const Scenario base = test::Tiny({{"v100", 1}}, {{1.0}}, {{0, 36000.0}});
  double sum = 0.0, squares = 0.0;
  const int runs = 600;
  for (int seed = 0; seed < runs; ++seed) {
    const Simulator sim = RunStrict(With(base,
                                         "failures(mtbf_h=5,repair_h=0.2);"
                                         "checkpoints(gb=60,write_gb_s=0.5,read_gb_s=0.2,interval=3600)",
                                         "event", static_cast<std::uint64_t>(seed)));
    sum += sim.state().completion[0];
    squares += sim.state().completion[0] * sim.state().completion[0];
  }
  const double mean = sum / runs, error = std::sqrt((squares / runs - mean * mean) / runs);
  INFO("mean " << mean << " +- " << error << ", expected " << expected);
  CHECK(std::abs(mean - expected) < 3.0 * error);
  CHECK(error < 0.03 * expected);
}

// sqrt(2 x 120 x 18000) = 2078.46 s; Daly adds 1/3 sqrt(120 / 36000) + 1/9 (120 / 36000) of it and takes off
// 120 s: 2078.46 (1 + 0.0192450 + 0.00037037) - 120 = 1999.23. By the closed form above no other interval of
// a grid is better by more than the formula's own error.
TEST_CASE("checkpoints: the optimal intervals are Young's and Daly's") {
  CHECK(YoungInterval(120.0, 18000.0) == Approx(2078.4609690826528));
  CHECK(DalyInterval(120.0, 18000.0) == Approx(1999.2308).epsilon(1e-5));
  CHECK(DalyInterval(40.0, 15.0) == 15.0);
  const auto slowdown = [](double tau) { return (std::exp((tau + 120.0) / 18000.0) - 1.0) / tau; };
  double best = 100.0;
  for (double tau = 100.0; tau < 10000.0; tau += 1.0) best = slowdown(tau) < slowdown(best) ? tau : best;
  CHECK(DalyInterval(120.0, 18000.0) == Approx(best).epsilon(0.005));
  // 4 GPUs of M = 20 h fail four times as often: the same 18,000 s. Nodes and racks count where it stands.
  for (const char* source : {"failures(mtbf_h=20);", "failures(mtbf_h=40,node_mtbf_h=20,rack_mtbf_h=20);"}) {
    ScenarioData data = test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 10.0, 0, 4}});
    data.cluster.types[0].gpus_per_node = 4;
    Simulator sim(With(Scenario(data), Join(source, "checkpoints(gb=120,interval=optimal)")));
    REQUIRE(sim.AdvanceToDecision());
    Decision decision;
    decision.Start(0, 0);
    REQUIRE(sim.Apply(decision).ok());
    CHECK(sim.state().features.Find<CheckpointState>()->interval_s[0] == Approx(1999.2308).epsilon(1e-5));
  }
}

TEST_CASE("checkpoints: bad settings are refused in one line") {
  const Scenario scenario = test::Tiny({{"v100", 4}}, {{1.0}}, {{0, 200}});
  CHECK(Says(ErrorOf(scenario, "checkpoints(interval=optimum)"), "did you mean 'optimal'"));
  CHECK(Says(ErrorOf(scenario, "checkpoints(interval=optimal)"), "expected mtbf_h or the feature failures"));
  CHECK(Says(ErrorOf(scenario, "checkpoints(interval=0)"), "at least 1 s"));
  CHECK(Says(ErrorOf(scenario, "checkpoints(write_gb_s=0)"), "write_gb_s"));
}

// A deliberate bug for each rule.
TEST_CASE("failures and checkpoints: the invariants see what is wrong") {
  const Scenario scenario = With(test::Tiny({{"v100", 2}}, {{1.0}}, {{0, 200}}),
                                 "failures(mtbf_h=0,events=100:150:gpu:v100/0);checkpoints(interval=10)");
  Simulator sim(scenario);
  REQUIRE(sim.AdvanceToDecision());
  Decision decision;
  decision.Start(0, 0);
  REQUIRE(sim.Apply(decision).ok());
  SimState state = sim.state();
  const std::vector<double> busy = {0.0};
  REQUIRE(CheckInvariants(sim).empty());
  state.out_of_service[1] = kFailed;
  CHECK(
      Says(state.features.Find<FailureState>()->Violation({scenario, state, busy}), "device 1: 0 failures"));
  state.out_of_service[1] = kDraining;
  CHECK(Says(state.features.Find<FailureState>()->Violation({scenario, state, busy}), "device 1: 0 notices"));
  state.out_of_service[1] = 0;
  state.safe_steps[0] = 5.0;
  CHECK(Says(CheckInvariants({scenario, state, busy}), "job 0 has 5 steps safe of 0"));
  state.safe_steps[0] = 0.0, state.lost_steps[0] = 3.0;
  CHECK(Says(CheckInvariants({scenario, state, busy}), "job 0 lost 3 steps in 0 interruptions"));
}

TEST_CASE("failures: a job that never ends is told of once, and a run ends where it is told to") {
  // An hour of work and an outage every 36 s on average, nothing saved: it ends with probability exp(-100).
  const Scenario scenario =
      With(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 3600}}), "failures(mtbf_h=0.01,repair_h=0.001)");
  std::vector<std::string> told;
  RunOptions options;
  options.max_time_s = 1e6;
  options.notice = [&](const std::string& words) { told.push_back(words); };
  const auto fcfs = test::Make("fcfs");
  const RunResult run = Run(scenario, *fcfs, "fcfs", options);
  CHECK(run.metrics.unfinished == 1);
  CHECK(run.metrics.end_s > 1e6);
  CHECK(run.metrics.end_s < 1e6 + 3600.0);  // the first decision after it
  REQUIRE(told.size() == 1);
  // Noticed after 100 h, the first time that it decides then: in tenths of an hour.
  CHECK(Says(told[0], "no job has ended for 100"));
  CHECK(told[0].find(" h, ") <= std::string("no job has ended for 100.0").size());
  // Left alone it ends by itself after ten times as long; where nobody is told, with an error.
  told.clear();
  options.max_time_s = kNever;
  const RunResult whole = Run(scenario, *fcfs, "fcfs", options);
  CHECK(whole.metrics.unfinished == 1);
  CHECK(whole.metrics.end_s > 1000.0 * 3600.0);
  CHECK(whole.metrics.end_s < 1001.0 * 3600.0);
  REQUIRE(told.size() == 2);
  CHECK(Says(told[1], "1 in the system; the cluster itself has stopped them "));
  options.notice = nullptr;
  CHECK_THROWS_WITH(Run(scenario, *fcfs, "fcfs", options),
                    Catch::Contains("scheduler 'fcfs' stalls: no job has ended"));
  options.notice = [&](const std::string& words) { told.push_back(words); };
  // Where jobs do end nobody is told: two of 100 s each, four days apart.
  told.clear();
  const Scenario ends =
      With(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 100}, {345600, 100}}), "failures(mtbf_h=1000)");
  CHECK(Run(ends, *fcfs, "fcfs", options).metrics.unfinished == 0);
  CHECK(told.empty());
}

}  // namespace berth
