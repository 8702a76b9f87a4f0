#include "tools/python/environments.hpp"

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/task_placement.hpp"
#include "tools/environment_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Keywords = std::map<std::string, std::string>;

Options HeteroClusterOptions() {
  Options options("HeteroCluster-v0", "", "", OptionNames::kKeywords);
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "0", "of workloads; reset(seed=...) draws others");
  AddProcessOptions(options);
  AddEpisodeOptions(options);
  return options;
}

Options TaskPlacementOptionsOf() {
  const TaskPlacementOptions defaults;
  Options options("TaskPlacement-v0", "", "", OptionNames::kKeywords);
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "0", "of workloads; reset(seed=...) draws others");
  options.Group("What the policy sees and may do");
  options.Value("reward", defaults.reward, "mean_utilization, or a sum of terms: see berth list rewards");
  options.Value("tau", Fixed(defaults.tau_s, 0), "seconds: discount = exp(-dt / tau)");
  AddEpisodeOptions(options, /*warmup=*/false);
  return options;
}

std::uint64_t Seed(const Options& options) {
  return static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
}

void Give(Options& options, const Keywords& keywords) {
  for (const auto& [keyword, value] : keywords) options.Give(keyword, value);
}

std::string Description(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options.Resolved()) text += name + "=" + value + "\n";
  return text;
}

void Bound(std::span<const ChannelInfo> channels, int rows, NamedEnvironment& named) {
  for (int row = 0; row < rows; ++row) {
    for (const ChannelInfo& channel : channels) {
      named.low.push_back(channel.low);
      named.high.push_back(channel.high);
    }
  }
}

NamedEnvironment HeteroCluster(const Keywords& keywords) {
  Options options = HeteroClusterOptions();
  Give(options, keywords);
  NamedEnvironment named;
  named.seed = Seed(options);
  const EnvironmentChoice choice = ResolveEnvironment(options, named.seed);
  named.mdp = choice.env.mdp;
  for (const GpuType& type : choice.sample.data().cluster.types) named.gpu_types.push_back(type.name);
  const EncoderInfo encoder = ObservationOf(choice.env.mdp);
  const ObservationLayout layout =
      InOption(options, "actions", [&] { return LayoutOf(choice.env.mdp, choice.sample); });
  Bound(encoder.job, layout.q, named);
  Bound(encoder.pair, layout.q * layout.g, named);
  Bound(encoder.type, layout.g, named);
  Bound(encoder.global, 1, named);
  named.description = Description(options);
  named.signal = choice.env.signal != "reward";
  named.make = [source = choice.source, env = choice.env, size = layout.size()](std::uint64_t seed,
                                                                                int num_envs, int threads) {
    CheckObservations(num_envs, size, "visible, num_envs");
    SchedEnvOptions seeded = env;
    seeded.seed = seed;
    return MakeVecEnv(source, seeded, num_envs, threads);
  };
  return named;
}

NamedEnvironment TaskPlacementEnvironment(const Keywords& keywords) {
  Options options = TaskPlacementOptionsOf();
  Give(options, keywords);
  NamedEnvironment named;
  named.seed = Seed(options);
  const std::shared_ptr<const ScenarioSource> source = ResolveWorkload(options).source;
  TaskPlacementOptions env;
  env.reward = options.Text("reward");
  env.tau_s = options.Number("tau", 1e-3, 1e12);
  env.jobs = ResolveJobs(options, *source);
  ResolveDefaults(options, NumbersOf(*source, env.jobs), {"episode-jobs"});
  env.episode_jobs = ResolveEpisodeJobs(options);
  const int gpus = source->Make(named.seed, Split::kTrain, /*env=*/0, /*episode=*/0, /*jobs=*/1).num_gpus();
  for (int i = 0; i <= gpus; ++i) {
    const ChannelInfo channel = TaskPlacement::Channel(i, env.episode_jobs);
    Bound({&channel, 1}, 1, named);
  }
  named.description = Description(options);
  named.make = [source, env, gpus](std::uint64_t seed, int num_envs, int threads) {
    CheckObservations(num_envs, 1 + std::int64_t{gpus}, "cluster, num_envs");
    TaskPlacementOptions seeded = env;
    seeded.seed = seed;
    return MakeTaskPlacement(source, seeded, num_envs, threads);
  };
  return named;
}

constexpr NamedEnvironmentInfo kRows[] = {
    {"HeteroCluster-v0", "the decision process that `berth train` trains on (env/gym/sched_env.hpp)",
     HeteroCluster, HeteroClusterOptions},
    {"TaskPlacement-v0", "one task at a time onto one GPU (env/gym/task_placement.hpp)",
     TaskPlacementEnvironment, TaskPlacementOptionsOf},
};

}  // namespace

std::span<const NamedEnvironmentInfo> NamedEnvironments() {
  return kRows;
}

const NamedEnvironmentInfo& FindEnvironment(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedEnvironmentInfo& info : kRows) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(Join("unknown environment '", name, "'", DidYouMean(name, names)));
}

NamedEnvironment ResolveEnvironment(const std::string& name, const Keywords& keywords) {
  return FindEnvironment(name).resolve(keywords);
}

}  // namespace berth
