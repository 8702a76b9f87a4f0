// All features of a cluster at once: random decisions break no invariant, and every scheduler gets through.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "baselines/schedulers.hpp"
#include "data/workloads.hpp"
#include "env/base/rng.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/stages/stages.hpp"
#include "env/features/table.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/sched_env.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

const std::vector<std::string> kFeatures = {
    "failures(mtbf_h=20,repair_h=0.5,node_mtbf_h=100,node_repair_h=1,spot_types=k80,spot_mtbf_h=30,spot_away_"
    "h=1)",
    "services(rate_per_s=2:1,replicas=1,pattern=bursty,interval_s=600)",
    "stages(cpu_core_s=0.5,gpu_prep_s=0.3,transfer_s=0.1,cores_per_gpu=2,offload=-1,chain=3)",
    "topology(placement=consolidate,cpus_per_node=40,nodes_per_rack=2)",
    "partitions(reconfig_s=5)",
    "sharing(quantum_s=1,switch_s=0.05)",
    "elasticity(min_factor=0.5,max_factor=2,resize_s=10)",
    "checkpoints(gb=10,interval=600,cold_start_s=5)",
    "power(cap_w=3500,clocks=0.5:0.75:1,heat=true)",
    "estimates",
    "monitoring(interval_s=300)",
    "latency(seconds=30)",
    "forecast(model=exponential,bin_s=600)",
};

// Others of the same, of which some are drawn: with planned outages of GPUs and racks, caps of nodes,
// replicas beside training, layouts from the start.
const std::vector<std::string> kVariants = {
    "failures(mtbf_h=50,events=900:2000:gpu:a100/0|2500:4000:rack:v100/0:300|3000:3500:node:k80/"
    "1,rack_mtbf_h="
    "60)",
    "services(rate_per_s=3:1:8,replicas=1:2:1,pattern=diurnal,period_s=4000,interval_s=300,share=0.3)",
    "stages(cpu_core_s=1,cores_per_gpu=3,overlap=false)",
    "topology(placement=best_fit,cpus_per_node=30:20:24,cpus_per_gpu=2,slowdown=model,nodes_per_rack=1)",
    "partitions(layout=3g.20gb+2g.10gb+1g.5gb,reconfig_s=30)",
    "sharing(interference=0.3)",
    "elasticity(min_factor=0.25,resize_s=0)",
    "checkpoints(gb=4,interval=optimal,mtbf_h=2,shared=true)",
    "power(node_cap_w=900:700:500,cap_rule=highest,clocks=0.4:0.6:0.8:1,heat=true,rise_c=70,throttle_c=75)",
    "estimates(learn=true)",
    "monitoring(interval_s=77)",
    "latency(cadence=both,period_s=500,launch_s=20)",
    "forecast(model=mean,bin_s=900)",
};

// Each feature with probability 3 / 4, in one of its two variants.
std::string RandomFeatures(Stream& random) {
  REQUIRE(kVariants.size() == kFeatures.size());
  std::string text;
  for (std::size_t f = 0; f < kFeatures.size(); ++f) {
    if (random.Below(4) > 0) text += (random.Below(2) == 0 ? kFeatures : kVariants)[f] + ";";
  }
  return text;
}

std::string AllFeatures(const std::vector<std::string>& features = kFeatures) {
  std::string text;
  for (const std::string& feature : features) text += feature + ";";
  return text;
}

// 40 jobs of three kinds and gangs of 1, 2 and 4 on three types, one of which can be partitioned; small jobs
// hold parts of GPUs, of every class.
Scenario Combined(std::uint64_t seed, const char* clock, const std::string& features) {
  Stream random(seed, Purpose::kTest);
  std::vector<test::TinyJob> jobs;
  double at = 0.0;
  for (int i = 0; i < 40; ++i) {
    at += random.Exponential(300.0);
    jobs.push_back(
        {at, random.Uniform(200.0, 4000.0), static_cast<int>(random.Below(3)), 1 << random.Below(3)});
  }
  ScenarioData data = test::TinyData({{"v100", 8}, {"k80", 8}, {"a100", 2}},
                                     {{2.0, 1.0, 4.0}, {3.0, 0.8, 5.0}, {1.0, 1.0, 1.5}}, jobs);
  for (GpuType& type : data.cluster.types) {
    type.gpus_per_node = 4, type.memory_gb = 40.0;
    type.idle_power_w = 50.0, type.peak_power_w = 300.0, type.price_per_hour = 1.0;
  }
  data.cluster.types[2].gpus_per_node = 2;
  for (int pair = 0; pair < 9; ++pair) {  // of job types
    for (int type = 0; type < 3; ++type) {
      const std::size_t first = static_cast<std::size_t>(pair / 3 * 9 + type);
      const std::size_t second = static_cast<std::size_t>(pair % 3 * 9 + type);
      for (std::size_t row : {first, second})
        data.throughputs.pairs.push_back(0.6 * data.throughputs.alone[row]);
    }
  }
  data.traits = {{5.0, 10.0, 20.0}, {0.1, 0.5, 1.0}, {4.0, 8.0, 16.0}, {1.0, 0.7, 0.4}, {0.9, 0.5, 0.2}, {}};
  for (const test::TinyJob& job : jobs) {
    const bool part = job.gang == 1 && random.Below(2) == 0 && features.find("sharing") != std::string::npos;
    data.jobs.gpu_milli.push_back(part ? 250 * (1 + static_cast<int>(random.Below(3))) : 1000);
    const auto qos = static_cast<int>(random.Below(3));
    data.jobs.qos.push_back(part ? qos : std::max(qos, 1));  // whole ones may be packed
    data.jobs.demand.push_back(random.Uniform(1.0, 8.0));    // cores of each member
    data.jobs.deadline.push_back(job.arrival + random.Uniform(3600.0, 36000.0));
  }
  data.clock = Clock::Parse(clock);
  data.seed = seed;
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

// Commands and controls that may or may not be legal.
class Proposer {
 public:
  Proposer(const Simulator& sim, Stream& random) : sim_(sim), random_(random) {}

  void Propose(Decision& decision) {
    decision.Clear();
    decision.wake_at = sim_.now() + 1000.0;  // whatever is drawn, it goes on
    for (std::uint32_t n = random_.Below(6); n > 0; --n) Add(decision);
  }

 private:
  int Below(int n) { return static_cast<int>(random_.Below(static_cast<std::uint32_t>(n))); }
  int Pick(const JobList& list) { return list[static_cast<std::size_t>(Below(list.size()))]; }
  int Type() { return Below(sim_.scenario().num_types()); }
  int Width() { return 1 + Below(8); }
  // As many of the type's as the job's gang, in a row that begins anywhere.
  std::vector<int> Devices(int job, int type) {
    const int count = sim_.scenario().data().cluster.types[static_cast<std::size_t>(type)].count;
    const int gang = sim_.scenario().data().jobs.gang[static_cast<std::size_t>(job)], from = Below(count);
    std::vector<int> devices;
    for (int k = 0; k < gang; ++k) devices.push_back(sim_.scenario().first_device(type) + (from + k) % count);
    return devices;
  }

  void Add(Decision& decision) {
    const JobList& waiting = sim_.state().waiting;
    const JobList& running = sim_.state().running;
    const int kind = Below(20);
    if (kind >= 16) return Control(decision, Below(6));
    if (kind < 9 ? waiting.empty() : running.empty()) return;
    const int type = Type();
    if (kind < 6) return decision.Start(Pick(waiting), type);
    if (kind == 6) {
      const int job = Pick(waiting);
      return decision.Start(job, type, Devices(job, type));
    }
    if (kind == 7) return decision.StartAt(Pick(waiting), type, Width());
    if (kind == 8) return Below(20) == 0 ? decision.Reject(Pick(waiting)) : Pack(decision, Pick(waiting));
    const int job = Pick(running);
    if (kind == 9) return decision.Stop(job);
    if (kind == 10) return decision.Move(job, type);
    if (kind == 11) return decision.Move(job, type, Devices(job, type));
    if (kind == 12) return decision.Resize(job, type, Width());
    if (kind == 13) return decision.Resize(job, sim_.state().on_type[static_cast<std::size_t>(job)], Width());
    Pack(decision, job);
  }

  void Pack(Decision& decision, int job) {
    if (!sim_.state().running.empty()) decision.Pack(job, Pick(sim_.state().running));
  }

  void Control(Decision& decision, int which) {
    const auto kind = static_cast<ControlKind>(which);
    if (kind == kPartitionControl)
      decision.controls.push_back({kind, Below(3), static_cast<double>(Below(20))});
    if (kind == kClockControl)
      decision.controls.push_back({kind, Below(sim_.scenario().num_gpus()), Below(5) * 1.0});
    if (kind == kPowerCapControl)
      decision.controls.push_back({kind, Below(7) - 1, random_.Uniform(150.0, 6000.0)});
    const JobList& running = sim_.state().running;
    if (kind == kSaveControl && !running.empty()) decision.controls.push_back({kind, Pick(running), 1.0});
    if (kind == kOffloadControl)
      decision.controls.push_back({kind, Below(sim_.scenario().num_jobs()), Below(7) * 0.25 - 0.25});
    if (kind == kReplicasControl) decision.controls.push_back({kind, Below(4), Below(5) * 1.0});
  }

  const Simulator& sim_;
  Stream& random_;
};

void Propose(const Simulator& sim, Stream& random, Decision& decision) {
  Proposer(sim, random).Propose(decision);
}

// Drops what is illegal, one by one, and checks that a refused decision changes nothing.
int ApplyLegalPart(Simulator& sim, Decision& decision) {
  for (int dropped = 0;; ++dropped) {
    const std::uint64_t before = sim.signature();
    const ApplyResult result = sim.Apply(decision);
    if (result.ok()) return dropped;
    REQUIRE(sim.signature() == before);
    REQUIRE_FALSE(Explain(result, decision, sim).empty());
    if (result.rule == Rule::kControl) {
      decision.controls.erase(decision.controls.begin() + result.command);
    } else {
      decision.commands.erase(decision.commands.begin() + result.command);
    }
  }
}

// Every job is somewhere, once.
void CheckConservation(const Simulator& sim) {
  for (int job = 0; job < sim.scenario().num_jobs(); ++job) {
    const auto j = static_cast<std::size_t>(job);
    const JobPhase phase = sim.state().phase[j];
    if (phase == JobPhase::kDone) {
      REQUIRE(sim.state().steps_done[j] == sim.scenario().data().jobs.total_steps[j]);
    }
    REQUIRE(sim.state().waiting.Contains(job) == (phase == JobPhase::kWaiting));
    REQUIRE(sim.state().running.Contains(job) == (phase == JobPhase::kRunning));
  }
}

// Every kind of command and control that was carried out, by features that were on together.
struct Seen {
  std::map<int, int> commands, controls;
  int named = 0, resized = 0;

  void Count(const Decision& decision) {
    for (const Command& c : decision.commands) {
      ++commands[static_cast<int>(c.kind)];
      named += c.devices_count > 0;
      resized += c.kind == CommandKind::kMove && c.width > 0;
    }
    for (const Control& c : decision.controls) ++controls[static_cast<int>(c.kind)];
  }
};

// Half of the scenarios have all features, the others a random choice.
TEST_CASE("features combined: 10,000 random decisions break nothing", "[features]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  int decisions = 0, dropped = 0, finished = 0;
  Seen seen;
  for (std::uint64_t seed = 1; decisions < 10000; ++seed) {
    const char* clock = seed % 2 == 0 ? "event" : "rounds(120)";
    Stream random(seed, Purpose::kTest, Split::kEvaluate);
    const std::string features = seed % 4 < 2 ? AllFeatures() : RandomFeatures(random);
    Simulator sim(Combined(seed, clock, features));
    Decision decision;
    for (int left = 400; left > 0 && sim.AdvanceToDecision() && decisions < 10000; --left, ++decisions) {
      INFO("seed " << seed << ", " << sim.now() << " s, " << clock << ", " << features);
      REQUIRE(CheckInvariants(sim) == "");
      Propose(sim, random, decision);
      dropped += ApplyLegalPart(sim, decision);
      REQUIRE(CheckInvariants(sim) == "");
      seen.Count(decision);
      CheckConservation(sim);
    }
    const Metrics m = Measure(sim, {});
    INFO("seed " << seed << ", " << clock << ", " << features);
    CHECK(m.utilization <= 1.0 + 1e-9);
    finished += sim.finished();
    REQUIRE_FALSE(sim.stalled());
  }
  CHECK(dropped > 100);  // the proposals do reach what is illegal
  CHECK(finished > 0);
  for (CommandKind kind : {CommandKind::kStart, CommandKind::kStop, CommandKind::kMove, CommandKind::kReject,
                           CommandKind::kPack}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(seen.commands[static_cast<int>(kind)] > 20);
  }
  for (ControlKind kind : {kPartitionControl, kClockControl, kPowerCapControl, kReplicasControl, kSaveControl,
                           kOffloadControl}) {
    CAPTURE(static_cast<int>(kind));
    CHECK(seen.controls[static_cast<int>(kind)] > 100);
  }
  CHECK(seen.named > 100);
  CHECK(seen.resized > 50);
}

void CheckRanges(const EncoderInfo& info, const ObservationLayout& layout, const std::vector<float>& out) {
  const auto check = [&](std::span<const ChannelInfo> channels, const float* row) {
    for (const ChannelInfo& channel : channels) {
      const float value = *row++;
      if (value >= channel.low - 1e-6F && value <= channel.high + 1e-6F) continue;  // false of NaN
      FAIL(info.name << " shows " << channel.name << " = " << value);
    }
  };
  for (int row = 0; row < layout.q; ++row) check(info.job, out.data() + row * layout.job_channels);
  for (int pair = 0; pair < layout.q * layout.g; ++pair)
    check(info.pair, out.data() + layout.pairs_offset() + pair * layout.pair_channels);
  for (int type = 0; type < layout.g; ++type)
    check(info.type, out.data() + layout.types_offset() + type * layout.type_channels);
  check(info.global, out.data() + layout.global_offset());
}

// What the encoder shows at every point of a random run: within its ranges, and where `forgets` what one that
// has seen nothing else shows.
void WatchRandomRun(const EncoderInfo& info, const MdpSpec& mdp, const Scenario& scenario, bool forgets) {
  const ObservationLayout layout = info.Layout(mdp.visible + info.entities, scenario.num_types());
  std::vector<float> out(static_cast<std::size_t>(layout.size())), afresh(out.size());
  Simulator sim(scenario);
  Stream random(5, Purpose::kTest, Split::kEvaluate);
  Decision decision;
  std::vector<int> visible;
  const std::unique_ptr<Encoder> encoder = MakeEncoder(mdp);
  encoder->Begin(sim.View(mdp.knowledge));
  while (sim.AdvanceToDecision()) {
    const ClusterView view = sim.View(mdp.knowledge);
    const std::span<const int> candidates = mdp.preemptive ? view.active() : view.waiting();
    CAPTURE(sim.now());
    encoder->Select(view, candidates, mdp.visible, visible);
    encoder->Encode({view, view.free_gpus(), candidates, visible}, layout, out);
    CheckRanges(info, layout, out);
    if (forgets) {
      const std::unique_ptr<Encoder> fresh = MakeEncoder(mdp);
      fresh->Begin(view);
      fresh->Select(view, candidates, mdp.visible, visible);
      fresh->Encode({view, view.free_gpus(), candidates, visible}, layout, afresh);
      REQUIRE(std::equal(out.begin(), out.end(), afresh.begin()));
    }
    Propose(sim, random, decision);
    ApplyLegalPart(sim, decision);
  }
}

// All but the published one, which asks for one type and jobs that nobody stops: encoders_test has that to
// the bit.
TEST_CASE("features combined: observations stay within their ranges over random steps", "[features][mdp]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  std::size_t watched = 0;
  std::vector<EncoderInfo> infos(Encoders().begin(), Encoders().end());
  std::string entities;
  for (const BlockInfo& block : Blocks()) {
    if (!block.entity.empty()) entities += Join(entities.empty() ? "" : "+", block.name, ":1(most=2)");
  }
  infos.push_back(EncoderOf("observation(blocks=" + entities + ")"));
  infos.back().name = "observation(blocks=" + entities + ")";
  for (const EncoderInfo& info : infos) {
    if (std::string(info.name) == "RLScheduler") continue;
    ++watched;
    // ObservationV2's forecast counts the arrivals that it was shown.
    const bool forgets = std::string(info.name) != "ObservationV2";
    for (const char* clock : {"event", "rounds(120)"}) {
      if (test::kSanitized && std::string(clock) != "event") continue;
      for (const bool preemptive : {true, false}) {
        CAPTURE(info.name, clock, preemptive);
        const bool rigid = std::string(info.name) == "Batch" || std::string(info.name) == "Lookahead";
        if (preemptive && rigid) continue;  // of processes that stop nobody
        MdpSpec mdp;
        mdp.encoder = info.name;
        mdp.visible = 12;
        mdp.preemptive = preemptive;
        for (const std::string& features : {AllFeatures(), AllFeatures(kVariants)})
          WatchRandomRun(info, mdp, Combined(5, clock, features), forgets);
      }
    }
  }
  CHECK(watched + 1 == infos.size());
}

// The decision process on all of them at random: the return is minus the time that jobs were in the system.
TEST_CASE("features combined: the decision process goes through an episode", "[features]") {
  for (const char* clock : {"event", "rounds(120)"}) {
    for (const bool preemptive : {true, false}) {
      SchedEnvOptions options;
      options.mdp.encoder = "ObservationV2";
      options.mdp.visible = 12;
      options.mdp.preemptive = preemptive;
      options.warmup_jobs = 0;
      options.episode_jobs = 40;
      SchedEnv env(FixedSource(Combined(7, clock, AllFeatures()), "combined"), options, 0);
      env.Begin(0);
      const double before = env.simulator().JobSeconds();
      Stream random(7, Purpose::kTest, Split::kEvaluate);
      for (SchedEnv::Outcome outcome; !outcome.terminated;) {
        std::vector<int> legal;
        for (int a = 0; a < env.num_actions(); ++a) {
          if (env.mask()[static_cast<std::size_t>(a)] != 0) legal.push_back(a);
        }
        REQUIRE_FALSE(legal.empty());
        outcome = env.Step(legal[random.Below(static_cast<std::uint32_t>(legal.size()))]);
        const std::string violation = CheckInvariants(env.simulator());
        REQUIRE(violation == "");
      }
      CHECK(env.episode_return() == Approx(before - env.simulator().JobSeconds()).epsilon(1e-9));
    }
  }
}

TEST_CASE("features combined: every scheduler runs each and all of them to the end", "[features]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  std::vector<std::string> texts = kFeatures;
  texts.push_back(AllFeatures());
  // Nodes with cores for few of the jobs that their GPUs could take (they want 1 to 8 for each), alone and
  // with what makes schedulers name devices.
  const std::string cores = "topology(placement=best_fit,cpus_per_node=16:12:10)";
  texts.push_back(cores);
  texts.push_back(cores + ";sharing;partitions(reconfig_s=5);power(clocks=0.5:1,heat=true)");
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const std::string& text : texts) {
      for (const char* clock : {"event", "rounds(120)"}) {
        INFO(info.name << " with " << text << " under " << clock);
        const auto scheduler = MakeScheduler(info.name, std::vector<SchedulerTable>{BaselineSchedulers()});
        const Scenario scenario = Combined(3, clock, text);
        RunResult run;
        CHECK_NOTHROW(run = Run(scenario, *scheduler, info.name, {}));
        if (run.decisions > 0) CHECK(run.metrics.jobs + run.metrics.unfinished == scenario.num_jobs());
      }
    }
  }
}

// Other scenarios, each with features drawn anew; the invariants hold all the way.
namespace {

// To the end, under the features that `seed` draws; after `most` decisions it is held to be stuck.
void RunDrawn(const std::string& name, std::uint64_t seed, const char* clock, int most = 1'000'000'000) {
  Stream random(seed, Purpose::kTest, Split::kEvaluate);
  const std::string text = RandomFeatures(random);
  INFO(name << ", seed " << seed << ", " << clock << ", " << text);
  const auto scheduler = MakeScheduler(name, std::vector<SchedulerTable>{BaselineSchedulers()});
  Simulator sim(Combined(seed, clock, text));
  scheduler->Reset(sim.View(scheduler->knowledge()));
  Decision decision;
  for (int decisions = 0; sim.AdvanceToDecision(); ++decisions) {
    REQUIRE(decisions < most);
    decision.Clear();
    scheduler->Decide(sim.View(scheduler->knowledge()), decision);
    const ApplyResult applied = sim.Apply(decision);
    INFO(Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    if (decisions % 16 == 0) REQUIRE(CheckInvariants(sim) == "");
  }
  CHECK_FALSE(sim.stalled());
  CheckConservation(sim);
}

}  // namespace

TEST_CASE("features combined: every scheduler runs random ones of them", "[features]") {
  if (test::kThreadSanitized) return test::Skip(test::kOneThread);
  std::uint64_t seed = 100;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const char* clock : {"event", "rounds(120)"}) RunDrawn(info.name, ++seed, clock);
  }
}

// State is loaded from storage that all share, which takes longer than a round and longer than from one GPU that
// grows hot to the next (seeds 275, 123); and two jobs hold parts of one GPU, of which one was sent to where it
// was, to load anew (239).
TEST_CASE("features combined: Gavel's rounds let who starts begin", "[features]") {
  RunDrawn("gandiva", 275, "event", 20000);
  RunDrawn("gandiva", 123, "rounds(120)", 20000);
  RunDrawn("gavel", 239, "event", 20000);
}

}  // namespace
}  // namespace berth
