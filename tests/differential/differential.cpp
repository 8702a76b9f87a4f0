#include "tests/differential/differential.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "env/sim/auditor.hpp"
#include "env/sim/simulator.hpp"
#include "tests/audit.hpp"
#include "tests/differential/slow_model.hpp"

namespace berth::differential {
namespace {

constexpr int kMostDecisions = 80;
constexpr int kTypes = 3;
constexpr const char* kTypeNames[] = {"v100", "k80", "a100"};  // of the last there are layouts of slices
constexpr const char* kGoodputTypes[] = {"t4", "rtx2080ti", "a100_40gb"};  // that its profiles know
constexpr const char* kGoodputJobs[] = {"bert", "cifar10", "ncf"};

std::size_t Index(int i) {
  return static_cast<std::size_t>(i);
}

class Draw {
 public:
  Draw(std::uint64_t seed, std::int64_t index)
      : stream_(seed, Purpose::kTest, Split::kTrain, static_cast<std::uint32_t>(index)) {}
  int Below(int n) { return static_cast<int>(stream_.Below(static_cast<std::uint32_t>(n))); }
  bool OneIn(int n) { return Below(n) == 0; }

 private:
  Stream stream_;
};

// A feature with settings at random, told to the model where that has it.
struct Option {
  const char* name;
  bool modelled;
  std::string (*text)(Draw& draw, SlowWorld& world);
};

std::string Outages(Draw& draw, SlowWorld& world) {
  std::string events;
  for (int n = 1 + draw.Below(3); n > 0; --n) {
    const int type = draw.Below(kTypes), gpu = draw.Below(world.counts[Index(type)]);
    const double down = 1 + draw.Below(300), up = down + 1 + draw.Below(120);
    int device = gpu;
    for (int t = 0; t < type; ++t) device += world.counts[Index(t)];
    world.outages.push_back({down, up, device});
    events += Join(events.empty() ? "" : "|", down, ':', up, ":gpu:", world.names[Index(type)], '/', gpu);
  }
  return Join("failures(mtbf_h=0,events=", events, ')');
}

// In the order of the feature table.
const Option kOptions[] = {
    {"topology", true,
     [](Draw&, SlowWorld& world) {
       world.nodes = true;
       return std::string("topology");
     }},
    {"partitions", false, [](Draw&, SlowWorld&) { return std::string("partitions(reconfig_s=5)"); }},
    {"sharing", false, [](Draw&, SlowWorld&) { return std::string("sharing(quantum_s=1,switch_s=0.125)"); }},
    {"elasticity", true,
     [](Draw& draw, SlowWorld& world) {
       world.elastic = true;
       world.resize_s = 1 + draw.Below(8);
       return Join("elasticity(measured=false,scaling=linear,resize_s=", world.resize_s, ')');
     }},
    {"checkpoints", true,
     [](Draw& draw, SlowWorld& world) {
       world.saves = true;
       world.save_s = 1 + draw.Below(6), world.cold_s = draw.Below(4);
       world.load_s = world.save_s / 2;
       if (draw.OneIn(2)) world.every_s = 16 + draw.Below(60);
       return Join("checkpoints(gb=", world.save_s, ",write_gb_s=1,read_gb_s=2,cold_start_s=", world.cold_s,
                   ",interval=", world.every_s == kNotEver ? "none" : Join(world.every_s), ')');
     }},
    {"failures", true, Outages},
    {"latency", false,
     [](Draw& draw, SlowWorld&) {
       return std::string(draw.OneIn(2) ? "latency(seconds=5)"
                                        : "latency(cadence=both,period_s=50,launch_s=3)");
     }},
    {"power", false,
     [](Draw& draw, SlowWorld&) {
       return std::string(draw.OneIn(2) ? "power(cap_w=1200,clocks=0.5:0.75:1,heat=true)"
                                        : "power(node_cap_w=500,cap_rule=highest,clocks=0.5:1)");
     }},
    {"services", false,
     [](Draw&, SlowWorld&) { return std::string("services(rate_per_s=2,replicas=1,interval_s=60)"); }},
    {"stages", false,
     [](Draw& draw, SlowWorld&) {
       return std::string(draw.OneIn(2) ? "stages(cpu_core_s=0.5,gpu_prep_s=0.25,transfer_s=0.125,chain=2)"
                                        : "stages(depends=0.3)");
     }},
    {"goodput", false, [](Draw&, SlowWorld&) { return std::string("goodput"); }},
    {"batch_schedule", false, [](Draw&, SlowWorld&) { return std::string("batch_schedule"); }},
    {"estimates", true, [](Draw&, SlowWorld&) { return std::string("estimates"); }},
    {"monitoring", true,
     [](Draw& draw, SlowWorld&) { return Join("monitoring(interval_s=", 7 + draw.Below(60), ')'); }},
    {"forecast", true, [](Draw&, SlowWorld&) { return std::string("forecast(model=mean,bin_s=60)"); }},
};
constexpr int kFeatures = static_cast<int>(std::size(kOptions)), kPairs = kFeatures * (kFeatures - 1) / 2;

std::vector<int> DrawFeatures(Draw& draw, std::int64_t index) {
  std::vector<int> chosen;
  if (index % 2 == 1) {
    for (int f = 0; f < kFeatures; ++f) {
      if (kOptions[f].modelled && draw.OneIn(3)) chosen.push_back(f);
    }
    return chosen;
  }
  std::int64_t pair = index / 2 % (2 * kPairs);
  for (int a = 0; a < kFeatures; ++a) {
    for (int b = a + 1; b < kFeatures; ++b) {
      if (pair-- == 0) return {a, b};
    }
  }
  std::set<int> three;
  while (three.size() < 3) three.insert(draw.Below(kFeatures));
  return {three.begin(), three.end()};
}

SlowWorld DrawWorld(Draw& draw) {
  SlowWorld world;
  world.counts = {2 * (1 + draw.Below(2)), 2 * (1 + draw.Below(2)), 2};
  world.per_node = {2, 2, 2};
  const double speeds[] = {0.0, 0.5, 1.0, 2.0};
  double by_kind[3][kTypes];
  for (auto& kind : by_kind) {
    for (double& speed : kind) speed = speeds[draw.Below(4)];
    kind[draw.Below(2)] = speeds[1 + draw.Below(3)];
  }
  double arrival = 0.0;
  for (int n = 2 + draw.Below(7), job = 0; job < n; ++job) {
    arrival += draw.OneIn(3) ? 0 : draw.Below(50);
    SlowJob it{arrival, 8.0 * (1 + draw.Below(24)), 1 << draw.Below(3), draw.Below(3), {}};
    it.speeds.assign(by_kind[it.kind], by_kind[it.kind] + kTypes);
    const auto runs = [&] {
      for (int type = 0; type < kTypes; ++type) {
        if (it.speeds[Index(type)] > 0.0 && world.counts[Index(type)] >= it.gang) return true;
      }
      return false;
    };
    while (!runs()) it.gang /= 2;
    world.jobs.push_back(it);
  }
  const int clock = draw.Below(5);
  world.clock = clock < 2 ? SlowClock::kEvent : clock < 4 ? SlowClock::kRounds : SlowClock::kOneEvent;
  world.round_s = 10.0 * (1 + draw.Below(6));
  if (draw.OneIn(2))
    world.checkpoint_s = draw.Below(4), world.restore_s = draw.Below(4), world.migration_s = draw.Below(4);
  return world;
}

Scenario MakeScenario(const SlowWorld& world, const std::string& features, std::uint64_t seed) {
  ScenarioData data;
  data.name = "differential";
  for (int g = 0; g < kTypes; ++g) {
    GpuType type;
    type.name = world.names[Index(g)], type.count = world.counts[Index(g)],
    type.gpus_per_node = world.per_node[Index(g)];
    type.memory_gb = 40.0, type.idle_power_w = 50.0, type.peak_power_w = 300.0;
    data.cluster.types.push_back(type);
  }
  data.throughputs.gang_sizes = {1, 2, 4};
  double speeds[3][kTypes] = {};
  for (const SlowJob& job : world.jobs) std::copy(job.speeds.begin(), job.speeds.end(), speeds[job.kind]);
  for (int kind = 0; kind < 3; ++kind) {
    data.throughputs.job_types.push_back(kGoodputJobs[kind]);
    for (int size = 0; size < 3; ++size) {
      for (double speed : speeds[kind]) {
        data.throughputs.alone.push_back(speed);
        data.throughputs.unconsolidated.push_back(speed / 2);
      }
    }
    for (int other = 0; other < 3; ++other) {
      for (int g = 0; g < kTypes; ++g) {
        const bool can = kind != other && speeds[kind][g] > 0.0 && speeds[other][g] > 0.0;
        data.throughputs.pairs.push_back(can ? speeds[kind][g] / 2 : 0.0);
        data.throughputs.pairs.push_back(can ? speeds[other][g] / 2 : 0.0);
      }
    }
  }
  const bool parts = features.find("sharing") != std::string::npos;
  for (const SlowJob& job : world.jobs) {
    const int number = data.jobs.size();
    data.jobs.id.push_back(number);
    data.jobs.arrival.push_back(job.arrival);
    data.jobs.total_steps.push_back(job.steps);
    data.jobs.gang.push_back(job.gang);
    data.jobs.job_type.push_back(job.kind);
    if (!parts) continue;
    const bool part = job.gang == 1 && number % 2 == 0;
    data.jobs.gpu_milli.push_back(part ? 250 + 250 * (number % 3) : 1000);
    data.jobs.qos.push_back(part ? number / 2 % 3 : 1);
  }
  data.clock.kind = world.clock == SlowClock::kEvent    ? ClockKind::kEvent
                    : world.clock == SlowClock::kRounds ? ClockKind::kRounds
                                                        : ClockKind::kHpc;
  data.clock.round_s = world.round_s;
  data.costs = {world.checkpoint_s, world.restore_s, world.migration_s};
  data.seed = seed;
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

std::vector<SlowCommand> DrawCommands(Draw& draw, const SlowWorld& world, const Simulator& sim) {
  std::vector<SlowCommand> commands;
  const JobList& waiting = sim.state().waiting;
  const JobList& running = sim.state().running;
  const int jobs = static_cast<int>(world.jobs.size());
  const auto of = [&](const JobList& list) {
    return list.empty() || draw.OneIn(40) ? draw.Below(jobs) : list[Index(draw.Below(list.size()))];
  };
  for (int n = draw.Below(4); n > 0; --n) {
    const int kind = draw.Below(16);
    SlowCommand c{SlowOrder::kStart, kind < 9 ? of(waiting) : of(running), draw.Below(kTypes), -1, 0, {}};
    if (kind >= 9) c.what = kind < 11 ? SlowOrder::kStop : SlowOrder::kMove;
    if (kind == 8 && draw.OneIn(8)) c.what = SlowOrder::kReject;
    if (kind == 7 || kind == 15) c.what = SlowOrder::kPack, c.host = of(running), c.type = -1;
    if (c.what == SlowOrder::kStart || c.what == SlowOrder::kMove) {
      if (world.elastic && draw.OneIn(2)) c.width = 1 << draw.Below(3);
      if (draw.OneIn(4)) {
        int first = 0;
        for (int t = 0; t < c.type; ++t) first += world.counts[Index(t)];
        const int width = c.width > 0 ? c.width : world.jobs[Index(c.job)].gang, from = draw.Below(4);
        for (int k = 0; k < width; ++k) c.devices.push_back(first + (from + k) % world.counts[Index(c.type)]);
      }
    }
    commands.push_back(c);
  }
  return commands;
}

Decision DecisionOf(const std::vector<SlowCommand>& commands, double wake) {
  static constexpr CommandKind kKinds[] = {CommandKind::kStart, CommandKind::kStop, CommandKind::kMove,
                                           CommandKind::kReject, CommandKind::kPack};
  Decision decision;
  for (const SlowCommand& c : commands) {
    decision.commands.push_back({kKinds[static_cast<int>(c.what)], c.job, c.type,
                                 static_cast<int>(decision.devices.size()),
                                 static_cast<int>(c.devices.size()), c.host, c.width});
    decision.devices.insert(decision.devices.end(), c.devices.begin(), c.devices.end());
  }
  decision.wake_at = wake;
  return decision;
}

// Both at a decision: "" or what differs.
std::string Compare(const Simulator& sim, const SlowModel& model) {
  const SimState& s = sim.state();
  if (sim.now() != model.now()) return Join("a decision at ", sim.now(), " s, in the model at ", model.now());
  for (int job = 0; job < sim.scenario().num_jobs(); ++job) {
    static constexpr JobPhase kPhases[] = {JobPhase::kFuture, JobPhase::kWaiting, JobPhase::kRunning,
                                           JobPhase::kDone, JobPhase::kRejected};
    if (s.phase[Index(job)] != kPhases[static_cast<int>(model.phase(job))])
      return Join("job ", job, ": phase ", static_cast<int>(s.phase[Index(job)]), ", in the model ",
                  static_cast<int>(model.phase(job)));
    if (s.AttainedSteps(job) != model.StepsBy(job))
      return Join("job ", job, ": ", s.AttainedSteps(job), " steps, in the model ", model.StepsBy(job));
    if (s.phase[Index(job)] != JobPhase::kRunning) continue;
    const auto devices = s.Devices(job);
    if (!std::equal(devices.begin(), devices.end(), model.devices(job).begin(), model.devices(job).end()))
      return Join("job ", job, ": other devices than in the model");
    if (s.rate[Index(job)] != model.Speed(job))
      return Join("job ", job, ": ", s.rate[Index(job)], " steps/s, in the model ", model.Speed(job));
  }
  for (int type = 0; type < kTypes; ++type) {
    if (s.free_gpus[Index(type)] != model.Free(type))
      return Join("type ", type, ": ", s.free_gpus[Index(type)], " free, in the model ", model.Free(type));
  }
  return "";
}

// Event by event; those of one instant in any order.
std::string CompareEvents(const Simulator& sim, const SlowModel& model) {
  std::vector<SlowEvent> ours, its = model.events();
  for (const Event& event : sim.events())
    ours.push_back({event.time, ToString(event.kind), event.type, event.job, event.device});
  std::sort(ours.begin(), ours.end());
  std::sort(its.begin(), its.end());
  for (std::size_t i = 0; i < std::max(ours.size(), its.size()); ++i) {
    const auto words = [i](const std::vector<SlowEvent>& list) {
      if (i >= list.size()) return std::string("nothing");
      const auto& [time, what, type, job, device] = list[i];
      return Join(what, " of job ", job, " on type ", type, ", device ", device, " at ", time, " s");
    };
    if (i >= ours.size() || i >= its.size() || ours[i] != its[i])
      return Join("event ", i, ": ", words(ours), ", in the model ", words(its));
  }
  return "";
}

void AddControls(Draw& draw, const Simulator& sim, Decision& decision) {
  if (!draw.OneIn(3)) return;
  decision.controls.push_back({static_cast<ControlKind>(draw.Below(7)),
                               draw.Below(std::max(sim.scenario().num_jobs(), sim.scenario().num_gpus())),
                               static_cast<double>(draw.Below(6))});
}

std::string Run(Draw& draw, const SlowWorld& world, const Scenario& scenario, bool modelled, Tally& tally) {
  Simulator sim(scenario, {.keep_events = true});
  SlowModel model(world);
  Auditor auditor;
  const auto violation = [&] {
    // Where features change things between decisions, the simulator's own auditor sees it.
    return scenario.plain() ? test::Observe(auditor, sim) : CheckInvariants(sim);
  };
  double wake = kNever;
  int left = kMostDecisions;
  bool ahead = false;  // the model is
  for (; left > 0; --left) {
    const bool idle = sim.state().running.empty();
    const bool goes_on = sim.AdvanceToDecision();
    if (const std::string words = violation(); !words.empty()) return Join("at ", sim.now(), " s: ", words);
    if (modelled) {
      const bool models_on = ahead || model.Advance(wake);
      // Where nothing runs a round may end because of a timer that changes nothing; the model has no such.
      if (goes_on && models_on && sim.now() < model.now() && idle && world.clock == SlowClock::kRounds) {
        ahead = true;
        if (!sim.Apply(DecisionOf({}, wake)).ok()) return "an empty decision is refused";
        continue;
      }
      ahead = false;
      if (goes_on != models_on)
        return Join("at ", sim.now(), " s: ", goes_on ? "goes on" : "ends", ", in the model at ", model.now(),
                    " not");
      if (const std::string words = Compare(sim, model); goes_on && !words.empty())
        return Join("at ", sim.now(), " s: ", words);
    }
    if (!goes_on) break;
    ++tally.decisions;
    std::vector<SlowCommand> commands = DrawCommands(draw, world, sim);
    wake = sim.now() + 1 + draw.Below(60);
    Decision decision;
    for (;;) {
      decision = DecisionOf(commands, wake);
      const ApplyResult result = sim.Validate(decision);
      if (modelled && result.ok() != model.Legal(commands))
        return Join("at ", sim.now(), " s: ", Explain(result, decision, sim), ", in the model the other way");
      if (result.ok()) break;
      ++tally.illegal;
      commands.erase(commands.begin() + result.command);
    }
    if (!modelled) AddControls(draw, sim, decision);
    if (!sim.Apply(decision).ok()) {
      decision.controls.clear();
      if (const ApplyResult result = sim.Apply(decision); !result.ok())
        return Join("at ", sim.now(), " s, validated and not applied: ", Explain(result, decision, sim));
    }
    if (modelled) model.Carry(commands);
    if (const std::string words = violation(); !words.empty())
      return Join("after the decision at ", sim.now(), " s: ", words);
    if (const std::string words = modelled ? Compare(sim, model) : ""; !words.empty())
      return Join("after the decision at ", sim.now(), " s: ", words);
  }
  tally.unfinished += left == 0;
  tally.events += static_cast<std::int64_t>(sim.events().size());
  if (!modelled || ahead || (left == 0 && sim.now() != model.now())) return "";  // cut where they need not be together
  return CompareEvents(sim, model);
}

}  // namespace

std::vector<std::string> NeverTogether(const Tally& tally) {
  std::vector<std::string> never;
  for (int a = 0; a < kFeatures; ++a) {
    for (int b = a + 1; b < kFeatures; ++b) {
      const std::string pair = Join(kOptions[a].name, ';', kOptions[b].name);
      if (!tally.pairs.contains(pair)) never.push_back(pair);
    }
  }
  return never;
}

std::string CheckScenario(std::uint64_t seed, std::int64_t index, Tally& tally) {
  Draw draw(seed, index);
  SlowWorld world = DrawWorld(draw);
  const std::vector<int> chosen = DrawFeatures(draw, index);
  const bool goodput = std::any_of(chosen.begin(), chosen.end(),
                                   [](int f) { return std::string(kOptions[f].name) == "goodput"; });
  for (int type = 0; type < kTypes; ++type)
    world.names.push_back(goodput ? kGoodputTypes[type] : kTypeNames[type]);
  std::string features;
  bool modelled = true;
  for (int f : chosen) {
    features += Join(features.empty() ? "" : ";", kOptions[f].text(draw, world));
    modelled = modelled && kOptions[f].modelled;
  }
  if (goodput) world.clock = SlowClock::kRounds;
  // Timers are no events of clock hpc.
  if (!features.empty() && world.clock == SlowClock::kOneEvent) world.clock = SlowClock::kEvent;
  ++tally.scenarios;
  Scenario scenario;
  try {
    scenario = MakeScenario(world, features, seed + static_cast<std::uint64_t>(index));
  } catch (const Error& error) {
    ++tally.refused[error.what()];
    return "";
  }
  tally.modelled += modelled;
  for (std::size_t a = 0; a < chosen.size(); ++a) {
    const char* const name = kOptions[chosen[a]].name;
    ++tally.with[name];
    for (std::size_t b = a + 1; b < chosen.size(); ++b) ++tally.pairs[Join(name, ';', kOptions[chosen[b]].name)];
  }
  std::string words;
  try {
    const Audited audited;  // the simulator looks at itself too, between decisions
    words = Run(draw, world, scenario, modelled, tally);
  } catch (const std::exception& error) {
    words = error.what();
  }
  return words.empty() ? ""
                       : Join("scenario ", index, " of seed ", seed, ", ", scenario.data().clock.ToString(),
                              ", ", features.empty() ? "no feature" : features, ": ", words);
}

}  // namespace berth::differential
