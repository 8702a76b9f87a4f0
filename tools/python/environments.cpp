#include "tools/python/environments.hpp"

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/gym/batched_envs.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/sched_env.hpp"
#include "env/gym/task_placement.hpp"
#include "tools/environment_options.hpp"
#include "tools/python/keywords.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

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

// What the extras are of an environment with this layout; `reward` names the metrics' terms.
void Extend(const EnvironmentExtras& extras, const ObservationLayout& layout, const std::string& reward,
            NamedEnvironment& named) {
  if (extras.lay_out) {
    const TailBounds tail = extras.lay_out(layout);
    named.tail = static_cast<int>(tail.low.size());
    named.low.insert(named.low.end(), tail.low.begin(), tail.low.end());
    named.high.insert(named.high.end(), tail.high.begin(), tail.high.end());
  }
  if (!extras.metrics) return;
  named.metrics = std::make_shared<StepMetrics>();
  named.metrics->names = Reward(reward).Names();
  named.metrics->names.insert(named.metrics->names.end(), std::begin(kStepFigures), std::end(kStepFigures));
}

// N environments that `make(index)` makes, with the extras.
template <class Make>
std::unique_ptr<VecEnv> MakeExtended(const EnvironmentExtras& extras, const NamedEnvironment& named,
                                     Knowledge knowledge, int num_envs, int threads, const Make& make) {
  using Env = decltype(make(0U));
  if (named.metrics) {
    named.metrics->num_envs = num_envs;
    named.metrics->values.assign(named.metrics->names.size() * U(num_envs), 0.0);
  }
  return std::make_unique<BatchedEnvs<ExtendedEnv<Env>>>(num_envs, threads, [&](std::uint32_t i) {
    return ExtendedEnv<Env>(make(i), named.metrics, i, extras.make_tail ? extras.make_tail() : nullptr,
                            U(named.tail), knowledge);
  });
}

NamedEnvironment HeteroCluster(const Keywords& keywords, const EnvironmentExtras& extras) {
  Options options = HeteroClusterOptions();
  Give(options, keywords);
  NamedEnvironment named;
  named.seed = Seed(options);
  const EnvironmentChoice choice =
      ResolveEnvironment(options, named.seed, extras.source ? extras.source(options) : nullptr);
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
  Extend(extras, layout, choice.env.mdp.reward, named);
  named.make = [source = choice.source, env = choice.env, size = layout.size() + named.tail, extras,
                extended = named](std::uint64_t seed, int num_envs, int threads) -> std::unique_ptr<VecEnv> {
    CheckObservations(num_envs, size, "visible, num_envs");
    SchedEnvOptions seeded = env;
    seeded.seed = seed;
    if (!extended.metrics && extended.tail == 0) return MakeVecEnv(source, seeded, num_envs, threads);
    CheckEpisodes(num_envs, threads, env.episode_jobs, env.mdp.tau_s);
    return MakeExtended(extras, extended, env.mdp.knowledge, num_envs, threads,
                        [&](std::uint32_t i) { return SchedEnv(source, seeded, i); });
  };
  return named;
}

NamedEnvironment TaskPlacementEnvironment(const Keywords& keywords, const EnvironmentExtras& extras) {
  Options options = TaskPlacementOptionsOf();
  Give(options, keywords);
  NamedEnvironment named;
  named.seed = Seed(options);
  const std::shared_ptr<const ScenarioSource> source =
      extras.source ? extras.source(options) : ResolveWorkload(options).source;
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
  Extend(extras, {.global_channels = 1 + gpus}, env.reward, named);
  named.make = [source, env, gpus, extras, extended = named](std::uint64_t seed, int num_envs,
                                                             int threads) -> std::unique_ptr<VecEnv> {
    CheckObservations(num_envs, 1 + std::int64_t{gpus} + extended.tail, "cluster, num_envs");
    TaskPlacementOptions seeded = env;
    seeded.seed = seed;
    if (!extended.metrics && extended.tail == 0) return MakeTaskPlacement(source, seeded, num_envs, threads);
    CheckEpisodes(num_envs, threads, env.episode_jobs, env.tau_s);
    return MakeExtended(extras, extended, Knowledge::kNone, num_envs, threads,
                        [&](std::uint32_t i) { return TaskPlacement(source, seeded, i); });
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

NamedEnvironment ResolveEnvironment(const std::string& name, const Keywords& keywords,
                                    const EnvironmentExtras& extras) {
  return FindEnvironment(name).resolve(keywords, extras);
}

}  // namespace berth
