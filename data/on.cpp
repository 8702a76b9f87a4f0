// A workload on a cluster of its own, so that `mix` takes turns of clusters as it does of loads.
#include <algorithm>

#include "data/workload_list.hpp"
#include "data/workloads.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"cluster", "v100=12+p100=12+k80=12", "as --cluster, with '+' between GPU types; --cluster is not used"},
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

std::shared_ptr<const ScenarioSource> Make(Params& params, const ScenarioSettings& settings) {
  ScenarioSettings own = settings;
  own.cluster = Parse(params.Text("cluster"));
  std::shared_ptr<const ScenarioSource> source = MakeWorkload(params.Text("of"), own);
  std::string description = WithParam(params.Resolved(), "of", source->Describe());
  return std::make_shared<On>(std::move(source), std::move(description));
}

}  // namespace

WorkloadInfo OnInfo() {
  return {"on", "a workload on a cluster of its own: in a mix, several clusters in turn", "Berth", kParams,
          Make};
}

}  // namespace berth
