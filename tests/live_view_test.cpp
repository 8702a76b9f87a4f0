// A real cluster as schedulers are shown it: what they decide there is what they decide in the simulator at
// the same moment. The "real" cluster is a simulation, told as squeue and sinfo would tell it.
#include <algorithm>
#include <set>

#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tools/controller/live_cluster.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr double kEpoch = 1e9;  // s since 1970, of the scenario's origin
const char* const kClasses[] = {"small", "large", "any"};
const std::vector<std::vector<double>> kSpeeds = {{4.0, 2.0, 1.0}, {3.0, 2.5, 0.25}, {1.0, 1.0, 1.0}};

SiteFile LiveSite(const std::vector<GpuType>& types) {
  SiteFile site;
  for (std::size_t c = 0; c < kSpeeds.size(); ++c) {
    JobClass one{kClasses[c], Join(kClasses[c], "*"), {}};
    for (std::size_t g = 0; g < types.size(); ++g) one.speeds[types[g].name] = kSpeeds[c][g];
    site.classes.push_back(one);
  }
  return site;
}

// Gangs of 1, 2 and 4 on nodes of 4; work that no two jobs have alike, so that no order hangs on a tie.
Scenario LiveScenario(std::uint64_t seed, const Clock& clock) {
  Stream stream(seed, Purpose{99});
  ScenarioData data;
  data.clock = clock;
  for (const char* name : {"k80", "p100", "v100"}) {
    GpuType type;
    type.name = name, type.count = 8, type.gpus_per_node = 4;
    data.cluster.types.push_back(type);
  }
  data.throughputs.job_types.assign(std::begin(kClasses), std::end(kClasses));
  data.throughputs.gang_sizes = {1, 2, 4};
  for (const std::vector<double>& speeds : kSpeeds) {
    for (int size = 0; size < 3; ++size)
      data.throughputs.alone.insert(data.throughputs.alone.end(), speeds.begin(), speeds.end());
  }
  double at = 0.0;
  for (int job = 0; job < 60; ++job) {
    data.jobs.id.push_back(job), data.jobs.arrival.push_back(at);
    data.jobs.job_type.push_back(static_cast<int>(stream.Below(3)));
    data.jobs.gang.push_back(1 << stream.Below(3));
    data.jobs.total_steps.push_back(50.0 + 2000.0 * stream.Uniform());
    data.jobs.requested_s.push_back(1500.0 + 4000.0 * stream.Uniform());
    at += 40.0 * stream.Uniform();
  }
  return Scenario(std::move(data));
}

// What squeue and sinfo would say of the simulation now.
SlurmState Told(const Simulator& simulator) {
  const ScenarioData& data = simulator.scenario().data();
  const SimState& state = simulator.state();
  SlurmState told;
  const auto name_of = [&](int device) {
    const int type = simulator.scenario().TypeOfDevice(device);
    return Join(data.cluster.types[U(type)].name, "-",
                (device - simulator.scenario().first_device(type)) / 4);
  };
  std::map<std::string, int> used;
  for (const int j : state.active) {
    SlurmJob job;
    job.id = Join(j + 1), job.name = data.throughputs.job_types[U(data.jobs.job_type[U(j)])],
    job.user = "somebody", job.partition = "gpu";
    job.comment = Join("checkpoint steps=", data.jobs.total_steps[U(j)]);
    job.admin_comment = "berth", job.requeue = true;
    job.submit_s = kEpoch + data.jobs.arrival[U(j)];
    job.limit_s = data.jobs.requested_s[U(j)];
    job.gpus = job.per_node = data.jobs.gang[U(j)];
    job.restarts = state.preemptions[U(j)];
    job.state = state.phase[U(j)] == JobPhase::kRunning ? "RUNNING" : "PENDING";
    if (job.state == "RUNNING") {
      job.start_s = kEpoch + state.run_start[U(j)];
      for (const int device : state.Devices(j)) {
        const std::string node = name_of(device);
        if (job.nodes.empty() || job.nodes.back() != node)
          job.nodes.push_back(node), job.gpu_indices.emplace_back();
        job.gpu_indices.back().push_back(
            (device - simulator.scenario().first_device(simulator.scenario().TypeOfDevice(device))) % 4);
        ++used[node];
      }
    }
    told.jobs.push_back(std::move(job));
  }
  for (const GpuType& type : data.cluster.types) {
    for (int n = 0; n < type.count / 4; ++n) {
      SlurmGpuNode node;
      node.name = Join(type.name, "-", n), node.gpu_type = type.name, node.gpus = 4, node.idle_cpus = 64;
      node.used = used[node.name], node.state = "idle", node.partitions = {"gpu"};
      told.nodes.push_back(node);
    }
  }
  return told;
}

std::set<std::string> Orders(const Decision& decision) {
  std::set<std::string> orders;
  for (const Command& command : decision.commands)
    orders.insert(Join(static_cast<int>(command.kind), " job ", command.job, " type ", command.type));
  return orders;
}

// How many decisions were compared. Commands of a live view name rows, which a job keeps: in order of
// arrival, as in the scenario.
int CompareLive(const std::string& spec, const Scenario& scenario) {
  const std::unique_ptr<Scheduler> simulated = MakeScheduler(spec, AllSchedulers()),
                                   asked = MakeScheduler(spec, AllSchedulers());
  Simulator simulator(scenario);
  LiveOptions options;
  options.clock = scenario.data().clock, options.control = true;
  LiveCluster live(LiveSite(scenario.data().cluster.types), options);
  simulated->Reset(simulator.View(simulated->knowledge()));
  Decision there, here;
  int compared = 0, commands = 0;
  while (simulator.AdvanceToDecision()) {
    there.Clear(), here.Clear();
    simulated->Decide(simulator.View(simulated->knowledge()), there);
    live.Update(Told(simulator), kEpoch + simulator.now());
    const ClusterView view = live.View(asked->knowledge());
    if (live.begun_anew()) asked->Reset(view);
    asked->Decide(view, here);
    live.Decided();
    INFO(spec << " at " << simulator.now() << " s, decision " << compared);
    REQUIRE(Orders(here) == Orders(there));
    commands += static_cast<int>(there.commands.size());
    ++compared;
    for (const Command& command : there.commands) {
      const bool stops = command.kind == CommandKind::kStop || command.kind == CommandKind::kMove;
      if (stops) live.StopOrdered(command.job, kEpoch + simulator.now());
    }
    REQUIRE(simulator.Apply(there).ok());
  }
  CHECK(commands >= scenario.num_jobs());
  CHECK(simulator.finished());
  return compared;
}

}  // namespace

// Whose choices hang on the last bits of what jobs have done, which a real cluster is seen to have done a
// little differently, or that search until a time is over.
const std::set<std::string> kNotToTheBit = {"annealing", "gang_scheduling", "genetic",
                                            "gittins",   "hybrid",          "milp",
                                            "predicted", "tabu_search",     "weighted_round_robin"};

TEST_CASE("live clusters: every scheduler decides as in the simulator") {
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    if (kNotToTheBit.contains(info.name)) continue;
    if (test::kSanitized && info.name[0] > 'f') continue;  // a third of them
    DYNAMIC_SECTION(info.name) {
      CHECK(CompareLive(info.name, LiveScenario(1, Clock{})) > 60);
    }
  }
}

TEST_CASE("live clusters: schedulers with other parameters and jobs, too") {
  const std::string spec = GENERATE(as<std::string>{}, "srpt", "easy", "las", "gavel(objective=fifo)",
                                    "gavel(objective=makespan)", "guard(policy=srpt,fallback=fcfs)");
  for (const std::uint64_t seed : {2, 3}) CHECK(CompareLive(spec, LiveScenario(seed, Clock{})) > 60);
}

TEST_CASE("live clusters: schedulers that decide in rounds, too") {
  const std::string spec = GENERATE(as<std::string>{}, "srpt", "las", "gavel(objective=max_min)");
  Clock clock;
  clock.kind = ClockKind::kRounds, clock.round_s = 60.0;
  for (const std::uint64_t seed : {1, 2}) CHECK(CompareLive(spec, LiveScenario(seed, clock)) > 10);
}

TEST_CASE("live clusters: a policy decides as in the simulator") {
  CHECK(CompareLive("policy(file=" BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle.h5)",
                    LiveScenario(4, Clock{})) > 60);
}

}  // namespace berth
