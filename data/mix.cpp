// Several generators in turn: one training run, one search over many loads.
#include "data/workload_list.hpp"
#include "data/workloads.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
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
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  std::vector<std::shared_ptr<const ScenarioSource>> sources_;
  std::string description_;
};

std::shared_ptr<const ScenarioSource> Make(Params& params, const ScenarioSettings& settings) {
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

}  // namespace

WorkloadInfo MixInfo() {
  return {"mix", "several workloads in turn: workload i is of the i-th, modulo their number", "Berth",
          kParams, Make};
}

}  // namespace berth
