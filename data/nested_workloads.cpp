// Workloads over other workloads: several in turn, and one on a cluster of its own with features of its own.
#include <algorithm>

#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/rewards.hpp"

namespace berth {
namespace {

// Several generators in turn: one training run, one search over many loads.
constexpr ParamInfo kMixParams[] = {
    {"of", "synthetic(rate=1.6);synthetic(rate=2)", "workload specs separated by ';', taken in turn"},
};

// Workload (seed, env, episode) is of generator (seed + env + episode) mod n: every n in a row have one of
// each, whatever the order in which they are asked for.
class Mix : public ScenarioSource {
 public:
  Mix(std::vector<std::shared_ptr<const ScenarioSource>> sources, std::string description)
      : sources_(std::move(sources)), description_(std::move(description)) {}
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    return Of(seed, env, episode).Make(seed, split, env, episode, jobs);
  }
  std::string RewardOf(std::uint64_t seed, Split split, std::uint32_t env,
                       std::uint32_t episode) const override {
    return Of(seed, env, episode).RewardOf(seed, split, env, episode);
  }
  int kinds() const override {
    int most = 1;
    for (const auto& source : sources_) most = std::max(most, source->kinds());
    return static_cast<int>(sources_.size()) * most;
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  const ScenarioSource& Of(std::uint64_t seed, std::uint32_t env, std::uint32_t episode) const {
    const std::uint64_t turn = seed % sources_.size() + env % sources_.size() + episode % sources_.size();
    return *sources_[turn % sources_.size()];
  }

  std::vector<std::shared_ptr<const ScenarioSource>> sources_;
  std::string description_;
};

std::shared_ptr<const ScenarioSource> MakeMix(Params& params, const ScenarioSettings& settings) {
  const std::vector<std::string> specs = SplitOutsideParentheses(params.Text("of"), ';');
  if (specs.empty()) throw Error("mix: parameter 'of': expected workload specs separated by ';', found none");
  std::vector<std::shared_ptr<const ScenarioSource>> sources;
  std::string resolved;
  for (const std::string& spec : specs) {
    sources.push_back(MakeWorkload(spec, settings));
    if (!resolved.empty()) resolved += ';';
    resolved += sources.back()->Describe();
  }
  return std::make_shared<Mix>(std::move(sources), WithParam(params.Resolved(), "of", resolved));
}

// A workload on a cluster of its own, so that `mix` takes turns of clusters as it does of loads.
constexpr ParamInfo kOnParams[] = {
    {"cluster", "v100=12+p100=12+k80=12", "as --cluster, with '+' between GPU types; --cluster is not used"},
    {"features", "", "as --features, which are not used then; 'none' = none of them, '' = those"},
    {"reward", "",
     "in training as --reward, which is not used then, and the learning signal that of it alone unless "
     "--signal is reward; '' = that one"},
    {"of", "synthetic", "the workload, such as synthetic(rate=1.6,gangs=multi)"},
};

class On : public ScenarioSource {
 public:
  On(std::shared_ptr<const ScenarioSource> source, std::string reward, std::string description)
      : source_(std::move(source)), reward_(std::move(reward)), description_(std::move(description)) {}
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    return source_->Make(seed, split, env, episode, jobs);
  }
  // What says so within has it.
  std::string RewardOf(std::uint64_t seed, Split split, std::uint32_t env,
                       std::uint32_t episode) const override {
    std::string within = source_->RewardOf(seed, split, env, episode);
    return within.empty() ? reward_ : within;
  }
  int kinds() const override { return source_->kinds(); }
  bool fixed() const override { return source_->fixed(); }
  std::string Describe() const override { return description_; }

 private:
  std::shared_ptr<const ScenarioSource> source_;
  std::string reward_, description_;
};

// Commas separate a spec's parameters, so they cannot separate types here.
ClusterSpec Parse(std::string cluster) {
  std::replace(cluster.begin(), cluster.end(), '+', ',');
  try {
    return ParseCluster(cluster);
  } catch (const Error& error) {
    throw Error(Join("on: parameter 'cluster', with '+' for ',': ", error.what()));
  }
}

// Of the first workload of any kind.
bool DrawsDeadlines(const ScenarioSource& source) {
  constexpr int kJobs = 20;
  for (int kind = 0; kind < source.kinds(); ++kind) {
    const Scenario sample = source.Make(0, Split::kTrain, static_cast<std::uint32_t>(kind), 0, kJobs);
    const std::vector<double>& deadlines = sample.data().jobs.deadline;
    if (std::any_of(deadlines.begin(), deadlines.end(), [](double it) { return it < kNever; })) return true;
  }
  return false;
}

std::shared_ptr<const ScenarioSource> MakeOn(Params& params, const ScenarioSettings& settings) {
  ScenarioSettings own = settings;
  own.cluster = Parse(params.Text("cluster"));
  const std::string features = params.Text("features");
  try {
    if (!features.empty()) own.features = ParseFeatures(features == "none" ? "" : features);
  } catch (const Error& error) {
    throw Error(Join("on: parameter 'features': ", error.what()));
  }
  std::shared_ptr<const ScenarioSource> source = MakeWorkload(params.Text("of"), own);
  const std::string reward = params.Text("reward");
  try {
    if (!reward.empty() && Reward(reward).WeightOf("deadline") > 0.0 && !DrawsDeadlines(*source))
      throw Error("deadline: expected jobs with deadlines, as synthetic(slo=true) draws them, found none");
  } catch (const Error& error) {
    throw Error(Join("on: parameter 'reward': ", error.what()));
  }
  Spec description = ParseSpec(WithParam(params.Resolved(), "of", source->Describe()));
  // One that was not named is not in a policy's card either.
  std::erase_if(description.params, [](const auto& it) { return it.first == "reward" && it.second.empty(); });
  return std::make_shared<On>(std::move(source), reward, description.ToString());
}

}  // namespace

WorkloadInfo MixInfo() {
  return {"mix", "several workloads in turn: workload i is of the i-th, modulo their number", "Berth",
          kMixParams, MakeMix};
}

WorkloadInfo OnInfo() {
  return {"on", "a workload on a cluster and with features of its own: in a mix, several in turn", "Berth",
          kOnParams, MakeOn};
}

}  // namespace berth
