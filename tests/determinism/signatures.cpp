// What the same runs give, a line each, for tools/determinism to compare between compilers, machines, numbers
// of threads and instruction sets. It needs no file and no library.
//
//   berth_signatures [THREADS]
//
// Lines "SCHEDULER CLOCK FEATURES HASH": of the event log and of every metric, to the bit. Lines "env ENCODER
// FEATURES HASH": of every observation, mask and reward of a vector of environments. A scheduler that cannot
// run says why in the place of the hash. The vector unit goes to the other stream.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "baselines/schedulers.hpp"
#include "env/base/vector_unit.hpp"
#include "env/features/table.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

constexpr int kJobs = 20;
constexpr const char* kFeatures[] = {
    "",
    "failures(mtbf_h=4,repair_h=0.5,shape=0.8,node_mtbf_h=20,node_repair_h=1)",
    "services(rate_per_s=2:1,replicas=1,pattern=bursty,interval_s=600)",
    "stages(cpu_core_s=0.5,gpu_prep_s=0.3,transfer_s=0.1,cores_per_gpu=2,offload=-1,chain=3)",
    "topology(placement=consolidate,cpus_per_node=40,nodes_per_rack=2,slowdown=model)",
    "partitions(reconfig_s=5)",
    "sharing(quantum_s=1,switch_s=0.05)",
    "elasticity(min_factor=0.5,max_factor=2,resize_s=10,measured=false)",
    "failures(mtbf_h=4);checkpoints(gb=10,interval=optimal,cold_start_s=5)",
    "power(cap_w=1500,clocks=0.5:0.75:1,heat=true)",
    "estimates",
    "monitoring(interval_s=77)",
    "latency(seconds=30)",
    "forecast(model=exponential,bin_s=600)",
    "topology;failures(mtbf_h=10);checkpoints(gb=5,interval=young);power(heat=true);elasticity;monitoring;"
    "estimates",
};

// Three types, gangs of 1, 2 and 4; no time and no rate is a round number.
Scenario Made(std::uint64_t seed, const Clock& clock, const std::string& features) {
  ScenarioData data;
  data.name = "signatures";
  const char* names[] = {"v100", "k80", "a100"};
  for (int g = 0; g < 3; ++g) {
    GpuType type;
    type.name = names[g], type.count = g == 2 ? 2 : 8, type.gpus_per_node = g == 2 ? 2 : 4;
    type.memory_gb = 40.0, type.idle_power_w = 51.0, type.peak_power_w = 307.0, type.price_per_hour = 1.1;
    data.cluster.types.push_back(type);
  }
  Stream stream(seed, Purpose::kTest);
  data.throughputs.job_types = {"x", "y", "z"};
  data.throughputs.gang_sizes = {1, 2, 4};
  for (int type = 0; type < 3; ++type) {
    std::vector<double> one;
    for (int g = 0; g < 3; ++g) one.push_back(stream.Uniform(0.5, 4.0));
    for (int size = 0; size < 3; ++size) {
      for (double rate : one) data.throughputs.alone.push_back(rate * (1.0 + 0.85 * ((1 << size) - 1)));
    }
  }
  for (int pair = 0; pair < 9; ++pair) {  // of job types
    for (int g = 0; g < 3; ++g) {
      for (int row : {pair / 3, pair % 3})
        data.throughputs.pairs.push_back(0.61 *
                                         data.throughputs.alone[static_cast<std::size_t>(row * 9 + g)]);
    }
  }
  data.traits = {{5.1, 9.9, 20.0}, {0.13, 0.5, 1.0}, {4.0, 8.0, 16.0}, {1.0, 0.71, 0.4}, {0.9, 0.5, 0.2}, {}};
  double at = 0.0;
  for (int i = 0; i < kJobs; ++i) {
    at += stream.Exponential(300.0);
    data.jobs.id.push_back(i);
    data.jobs.arrival.push_back(at);
    data.jobs.job_type.push_back(static_cast<int>(stream.Below(3)));
    data.jobs.gang.push_back(1 << stream.Below(3));
    data.jobs.total_steps.push_back(stream.Uniform(200.0, 4000.0));
    data.jobs.weight.push_back(stream.Uniform(0.5, 3.0));
    data.jobs.deadline.push_back(at + stream.Uniform(3600.0, 36000.0));
    data.jobs.demand.push_back(stream.Uniform(1.0, 8.0));
    data.jobs.tenant.push_back(static_cast<int>(stream.Below(2)));
    const bool part = data.jobs.gang.back() == 1 && stream.Below(2) == 0 && features.find("sharing") == 0;
    data.jobs.gpu_milli.push_back(part ? 250 * (1 + static_cast<int>(stream.Below(3))) : 1000);
    data.jobs.qos.push_back(std::max(static_cast<int>(stream.Below(3)), part ? 0 : 1));
  }
  data.tenants = {{"a", 1.0}, {"b", 2.5}};
  data.clock = clock;
  data.seed = seed;
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

class Hash {  // FNV-1a, 64 bits
 public:
  void Add(const void* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      value_ = (value_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3ULL;
  }
  void Add(double x) { Add(&x, sizeof x); }
  std::string Text() const { return Join(std::hex, value_); }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

// Every metric but those of wall time, which Metrics has none of.
std::string OfRun(const std::string& scheduler, const Scenario& scenario) {
  RunOptions options;
  options.max_time_s = 1e6;
  options.notice = [](const std::string&) {};
  const auto decider = MakeScheduler(scheduler, std::vector<SchedulerTable>{BaselineSchedulers()});
  const RunResult run = Run(scenario, *decider, scheduler, options);
  const Metrics& m = run.metrics;
  Hash hash;
  hash.Add(&run.signature, sizeof run.signature);
  for (double x :
       {m.mean_jct_s, m.p95_jct_s, m.mean_wait_s, m.mean_slowdown, m.makespan_s, m.utilization, m.mean_ftf,
        m.jain, m.deadline_miss_rate, m.throughput_per_h, m.cost, m.energy_kwh, m.lost_work_h,
        m.mean_jobs_in_system, m.backlog_gpu_h, m.backlog_growth, m.hpc_bounded_slowdown, m.hpc_utilization})
    hash.Add(x);
  for (const auto& [name, value] : m.of_features) hash.Add(value);
  return hash.Text();
}

class Source final : public ScenarioSource {
 public:
  explicit Source(std::string features) : features_(std::move(features)) {}
  Scenario Make(std::uint64_t seed, Split, std::uint32_t env, std::uint32_t episode, int) const override {
    return Made(seed + 1000 * env + episode, {ClockKind::kRounds, 97.0}, features_);
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return "signatures"; }

 private:
  std::string features_;
};

std::string OfEnvironments(const std::string& encoder, const std::string& features, int threads) {
  SchedEnvOptions options;
  options.mdp.visible = 8;
  options.mdp.encoder = encoder;
  options.episode_jobs = 12;
  options.warmup_jobs = 0;
  const auto env = MakeVecEnv(std::make_shared<Source>(features), options, /*num_envs=*/8, threads);
  StepStorage out(8, env->layout().size(), env->num_actions());
  env->Reset(out.buffers());
  Stream stream(3, Purpose::kTest);
  std::vector<std::int32_t> actions(8);
  Hash hash;
  for (int step = 0; step < 400; ++step) {
    for (std::size_t n = 0; n < actions.size(); ++n) {
      const auto width = static_cast<std::size_t>(env->num_actions());
      std::size_t a = stream.Below(static_cast<std::uint32_t>(width));
      while (out.action_mask[n * width + a] == 0) a = (a + 1) % width;
      actions[n] = static_cast<std::int32_t>(a);
    }
    env->Step(actions, out.buffers());
    hash.Add(out.observation.data(), out.observation.size() * sizeof(float));
    hash.Add(out.action_mask.data(), out.action_mask.size());
    hash.Add(out.reward.data(), out.reward.size() * sizeof(float));
    hash.Add(out.discount.data(), out.discount.size() * sizeof(float));
  }
  return hash.Text();
}

struct Row {
  std::string name;
  std::function<std::string()> make;
  std::string value;
};

void Fill(Row& row) {
  try {
    row.value = row.make();
  } catch (const std::exception& error) {
    row.value = Join("cannot: ", error.what());
  }
}

int Print(int threads) {
  std::vector<Row> rows;
  for (const SchedulerInfo& info : BaselineSchedulers()) {
    for (const Clock& clock : {Clock{ClockKind::kEvent}, Clock{ClockKind::kRounds, 97.0}}) {
      for (const char* features : kFeatures) {
        rows.push_back({Join(info.name, ' ', clock.ToString(), ' ', features[0] == '\0' ? "-" : features),
                        [name = std::string(info.name), clock, features] {
                          return OfRun(name, Made(11, clock, features));
                        },
                        ""});
      }
    }
  }
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) {
    team.emplace_back([&] {
      for (std::size_t i = next++; i < rows.size(); i = next++) Fill(rows[i]);
    });
  }
  for (std::thread& thread : team) thread.join();
  for (const char* encoder : {"ObservationV1", "ObservationV2", "ObservationV3"}) {
    for (const char* features : {kFeatures[0], kFeatures[1], kFeatures[9]}) {
      rows.push_back({Join("env ", encoder, ' ', features[0] == '\0' ? "-" : features),
                      [=] { return OfEnvironments(encoder, features, threads); }, ""});
      Fill(rows.back());
    }
  }
  for (const Row& row : rows) std::cout << row.name << '\t' << row.value << '\n';
  return 0;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  static constexpr const char* kUnits[] = {"baseline", "avx2", "avx512"};
  std::cerr << kUnits[static_cast<int>(berth::BestVectorUnit())] << '\n';
  return berth::Print(argc > 1 ? std::atoi(argv[1]) : 1);
}
