// Workloads over other workloads: several in turn, and one on a cluster of its own with features of its own.
#include <algorithm>

#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"

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
    const std::uint64_t turn = seed % sources_.size() + env % sources_.size() + episode % sources_.size();
    return sources_[turn % sources_.size()]->Make(seed, split, env, episode, jobs);
  }
  int kinds() const override {
    int most = 1;
    for (const auto& source : sources_) most = std::max(most, source->kinds());
    return static_cast<int>(sources_.size()) * most;
  }
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
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
    {"of", "synthetic", "the workload, such as synthetic(rate=1.6,gangs=multi)"},
};

class On : public ScenarioSource {
 public:
  On(std::shared_ptr<const ScenarioSource> source, std::string description)
      : source_(std::move(source)), description_(std::move(description)) {}
  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    return source_->Make(seed, split, env, episode, jobs);
  }
  int kinds() const override { return source_->kinds(); }
  bool fixed() const override { return source_->fixed(); }
  std::string Describe() const override { return description_; }

 private:
  std::shared_ptr<const ScenarioSource> source_;
  std::string description_;
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
  std::string description = WithParam(params.Resolved(), "of", source->Describe());
  return std::make_shared<On>(std::move(source), std::move(description));
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
