#include <array>

#include "agents/learner/agent.hpp"
#include "env/base/check.hpp"

namespace berth {

void Agent::BeginWith(const PolicyBundle& policy) {
  SetParameters(network(), policy);
}

std::span<const AgentInfo> Agents() {
#define BERTH_ROW(function) function(),
  static const std::array table = {BERTH_AGENTS(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

const AgentInfo& FindAgent(const std::string& name) {
  std::vector<std::string> names;
  for (const AgentInfo& info : Agents()) {
    if (name == info.name) return info;
    names.emplace_back(info.name);
  }
  throw Error(Join("unknown agent '", name, "'", DidYouMean(name, names)));
}

std::unique_ptr<Agent> MakeAgent(const std::string& spec, const AgentSetup& setup) {
  const Spec parsed = ParseSpec(spec);
  const AgentInfo& info = FindAgent(parsed.name);
  Params params(parsed, info.params);
  AgentSetup with = setup;
  with.memory = MemoryOf(setup.network, setup.layout, setup.num_actions);
  std::unique_ptr<Agent> agent = info.make(params, with);
  params.CheckAllRead();
  return agent;
}

std::string ResolveAgent(const std::string& spec) {
  const Spec parsed = ParseSpec(spec);
  return Params(parsed, FindAgent(parsed.name).params).Resolved();
}

}  // namespace berth
