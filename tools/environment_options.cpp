#include "tools/environment_options.hpp"

#include <algorithm>
#include <climits>

#include "env/features/table.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/learning_signal.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr std::int64_t kManyJobs = 1'000'000'000;
// Of which there are a handful: the environments' own, those of a step and of episodes' ends. Learners keep a
// step's for every step of a rollout.
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 28;

// A cluster as a sensible scheduler would have filled it, from what the learner may know too.
std::string WarmupScheduler(const MdpSpec& mdp) {
  if (!mdp.preemptive || mdp.knowledge == Knowledge::kNone) return "fcfs";
  return mdp.knowledge == Knowledge::kOracle ? "srpt" : "las";
}

// What is on in any of the clusters.
Features AnyOf(std::span<const Features> clusters) {
  Features any;
  for (const FeatureModule& module : ShippedFeatures()) {
    for (const Features& features : clusters) {
      const auto on = features.on();
      const auto found = std::find_if(on.begin(), on.end(),
                                      [&](const Features::On& it) { return it.module->tag == module.tag; });
      if (found == on.end()) continue;
      any.Add(*found->module, found->settings);
      break;
    }
  }
  return any;
}

// What workloads bring of their own, each once.
std::vector<std::string> OwnRewards(const ScenarioSource& source, std::uint64_t seed) {
  std::vector<std::string> rewards;
  for (int kind = 0; kind < source.kinds(); ++kind) {
    std::string reward = source.RewardOf(seed, Split::kTrain, static_cast<std::uint32_t>(kind), 0);
    if (!reward.empty() && std::find(rewards.begin(), rewards.end(), reward) == rewards.end())
      rewards.push_back(std::move(reward));
  }
  return rewards;
}

// A command that costs nothing by a reward must not be there with it.
void CheckActions(const Options& options, const MdpSpec& mdp, const std::string& rewarded,
                  const std::string& where) {
  const Reward reward(rewarded);
  for (const ActionUse& use : ParseActions(mdp.actions)) {
    if (use.info->needs_reward == nullptr || reward.WeightOf(use.info->needs_reward) > 0.0) continue;
    throw Error(Join(options.Where("actions"), ": ", use.info->name, ": expected ", where, " with the term '",
                     use.info->needs_reward, "', which it costs, found '", rewarded, "'"));
  }
}

// Room for the commands of every kind of workload.
void LayOutFor(std::span<const Scenario> samples, MdpSpec& mdp) {
  if (samples.size() == 1 || mdp.actions == kStartAlone) return;
  int most_columns = 0, most_rows = 0, least_columns = INT_MAX, least_rows = INT_MAX;
  for (const Scenario& sample : samples) {
    const ObservationLayout layout = LayoutOf(mdp, sample);
    most_columns = std::max(most_columns, layout.g), least_columns = std::min(least_columns, layout.g);
    most_rows = std::max(most_rows, layout.q), least_rows = std::min(least_rows, layout.q);
  }
  if (most_columns > least_columns) mdp.columns = most_columns;
  if (most_rows > least_rows) mdp.rows = most_rows - mdp.visible - EncoderOf(mdp.encoder).entities;
}

// Whoever asks for entities of a feature is to have it in some cluster.
void CheckEntities(const MdpSpec& mdp, const Features& any) {
  for (const BlockUse& use : EncoderOf(mdp.encoder).blocks) {
    if (use.info->entity.empty()) continue;
    for (const FeatureModule& module : ShippedFeatures()) {
      const auto on = any.on();
      const bool is_on = std::any_of(on.begin(), on.end(),
                                     [&](const Features::On& it) { return it.module->tag == module.tag; });
      const bool its_own = std::any_of(module.blocks.begin(), module.blocks.end(), [&](const auto make) {
        return std::string_view(make().name) == use.info->name;
      });
      if (!its_own || is_on) continue;
      throw Error(Join("block ", use.Name(), ": expected a cluster with the feature ", module.name,
                       ", found it off"));
    }
  }
}

}  // namespace

MdpSpec ResolveProcess(const Options& options, Knowledge knowledge) {
  MdpSpec mdp;
  mdp.semantics = InOption(options, "semantics", [&] { return ParseSemantics(options.Text("semantics")); });
  mdp.commit_backfill = options.Bool("commit-backfill");
  mdp.preemptive = options.Bool("preemptive");
  mdp.knowledge = knowledge;
  mdp.order = InOption(options, "order", [&] { return ParseQueueOrder(options.Text("order")); });
  mdp.on_change = options.Bool("on-change");
  mdp.work_conserving =
      options.Text("work-conserving") == "auto" ? mdp.preemptive : options.Bool("work-conserving");
  mdp.visible = static_cast<int>(options.Integer("visible", 1, 65536));
  mdp.actions = InOption(options, "actions", [&] { return ResolveActions(options.Text("actions")); });
  if (mdp.semantics == Semantics::kCommit && mdp.actions != kStartAlone) {
    throw Error(Join(options.Where("actions"), ": expected '", kStartAlone, "' alone with ",
                     options.Where("semantics"), " commit, found ", mdp.actions));
  }
  mdp.reread = options.Bool("reread") && mdp.actions != kStartAlone;
  mdp.reward = options.Text("reward");
  mdp.tau_s = options.Number("tau", 1e-3, 1e12);
  mdp.encoder = InOption(options, "encoder", [&] { return ResolveEncoder(options.Text("encoder")); });
  // A misspelt term shows before anything is made.
  InOption(options, "reward", [&] { return Reward(mdp.reward); });
  CheckActions(options, mdp, mdp.reward, options.Where("reward"));
  if (mdp.semantics == Semantics::kCommit && mdp.preemptive) {
    throw Error(Join(options.Where("semantics"), " commit: expected ", options.Where("preemptive"),
                     " false with it, found true"));
  }
  if (mdp.commit_backfill && (mdp.semantics != Semantics::kCommit || knowledge < Knowledge::kEstimate)) {
    throw Error(Join(options.Where("commit-backfill"), ": expected ", options.Where("semantics"),
                     " commit and knowledge estimate or oracle with it"));
  }
  InOption(options, "encoder", [&] { return MakeEncoder(mdp); });  // refuses a process that it is not for
  return mdp;
}

void AddProcessOptions(Options& options, const MdpSpec& mdp) {
  options.Group("What the policy sees and may do");
  options.Value("visible", std::to_string(mdp.visible), "Q: jobs offered at once in training");
  options.Value("order", ToString(mdp.order), "of the candidates: arrival | shortest");
  options.Value("encoder", mdp.encoder,
                "what the policy sees: auto, the richest for the cluster and the process; see berth list "
                "encoders; of own "
                "choice: observation(blocks=...), see "
                "berth list blocks");
  options.Value(
      "actions", mdp.actions,
      "what the policy may do: start, and by ',' what berth list actions shows, with ? where a cluster may "
      "lack it; auto = what the features that are on add");
  options.Value("reread", mdp.reread ? "true" : "false",
                "with more actions than start: true observes anew after each, with what the plan then has; "
                "false once a decision point");
  options.Value("reward", mdp.reward, "sum of terms: see berth list rewards");
  options.Value("tau", kAuto,
                "seconds: discount = exp(-dt / tau); auto = twice the typical run time; of jobs that all "
                "come at once three times what they take");
  options.Value("semantics", ToString(mdp.semantics), "redecide | commit");
  options.Value("commit-backfill", mdp.commit_backfill ? "true" : "false",
                "semantics commit: others may pass the chosen job by the published rule");
  options.Value("preemptive", mdp.preemptive ? "true" : "false", "may running jobs be stopped or moved");
  options.Value("on-change", mdp.on_change ? "true" : "false",
                "pass over decision points at which nothing changed");
  options.Value("work-conserving", "auto",
                "no GPU idles that a job could use: auto (as --preemptive) | true | false");
}

void AddEpisodeOptions(Options& options, bool warmup, const std::string& signal) {
  options.Group("Episodes");
  options.Value(
      "episode-jobs", kAuto,
      "arrivals in an episode before it is truncated; auto = enough to fill the cluster, 300 at least");
  options.Group("Jobs");
  options.Value("jobs", "",
                "of a fixed scenario: train on pieces of jobs A:B alone, so that the rest can test [all]");
  if (!warmup) return;
  options.Group("Episodes");
  options.Value("signal", signal,
                "what is learned from, a quieter stand-in for the reward: auto | reward | "
                "see berth list signals");
  options.Value("warmup-jobs", kAuto,
                "it starts after up to this many arrivals; auto = a third of --episode-jobs auto");
}

void CheckObservations(std::int64_t envs, std::int64_t size, const std::string& where) {
  if (envs * size <= kMostNumbers) return;
  throw Error(Join(where, ": expected observations of at most ", kMostNumbers, " numbers in all, found ",
                   envs, " of ", size));
}

int ResolveEpisodeJobs(const Options& options) {
  return static_cast<int>(options.Integer("episode-jobs", 1, kManyJobs));
}

Window ResolveJobs(const Options& options, const ScenarioSource& source) {
  if (options.Text("jobs").empty()) return {};
  if (!source.fixed()) {
    throw Error(Join(options.Where("jobs"), ": expected with it a fixed scenario (",
                     options.Where("scenario"), "), found a generator"));
  }
  const auto [begin, end] = options.Range("jobs");
  return {static_cast<int>(begin), static_cast<int>(end)};
}

EnvironmentChoice ResolveEnvironment(Options& options, std::uint64_t seed,
                                     std::shared_ptr<const ScenarioSource> own) {
  const std::shared_ptr<const ScenarioSource> source = own ? own : ResolveWorkload(options).source;
  std::vector<Scenario> samples;  // of every kind
  std::vector<Features> features;
  for (int kind = 0; kind < source->kinds(); ++kind) {
    samples.push_back(source->Make(seed, Split::kTrain, static_cast<std::uint32_t>(kind), 0, /*jobs=*/1));
    features.push_back(samples.back().data().features);
  }
  Scenario& sample = samples.front();
  if (options.Text("encoder") == "auto") {
    const Semantics semantics =
        InOption(options, "semantics", [&] { return ParseSemantics(options.Text("semantics")); });
    options.Assign("encoder", RichestEncoder(AnyOf(features), semantics, sample.data().knowledge));
  }
  if (options.Text("actions") == "auto") {
    const bool commits = options.Text("semantics") == ToString(Semantics::kCommit);
    options.Assign("actions", commits ? kStartAlone : ActionsOf(features));
  }
  SchedEnvOptions env;
  env.jobs = ResolveJobs(options, *source);
  const WorkloadNumbers numbers = NumbersOf(*source, env.jobs);
  std::string chosen = ResolveDefaults(options, numbers, {"tau", "episode-jobs", "warmup-jobs"});
  env.mdp = ResolveProcess(options, sample.data().knowledge);
  InOption(options, "encoder", [&] { return CheckEntities(env.mdp, AnyOf(features)); });
  for (const std::string& reward : OwnRewards(*source, seed))
    CheckActions(options, env.mdp, reward, "every reward= of the workload");
  InOption(options, "actions", [&] { return LayOutFor(samples, env.mdp); });
  env.seed = seed;
  env.split = Split::kTrain;
  env.episode_jobs = ResolveEpisodeJobs(options);
  env.warmup_jobs = static_cast<int>(options.Integer("warmup-jobs", 0, kManyJobs));
  const int there = (env.jobs.end < 0 ? sample.num_jobs() : env.jobs.end) - env.jobs.begin;
  if (source->fixed() && there < env.episode_jobs)
    chosen += Join(chosen.empty() ? "" : "; ", "there are only ", there,
                   " jobs to train on: each episode is all of them, without warm-up");
  env.signal =
      InOption(options, "signal", [&] { return LearningSignal(options.Text("signal"), env.mdp).ToString(); });
  options.Assign("signal", env.signal);
  env.warmup = [spec = WarmupScheduler(env.mdp)] { return MakeScheduler(spec, AllSchedulers()); };
  return {source, std::move(sample), std::move(env), numbers, chosen};
}

}  // namespace berth
