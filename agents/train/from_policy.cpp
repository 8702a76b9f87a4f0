#include "agents/train/from_policy.hpp"

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/gym/encoder.hpp"
#include "policies/architecture.hpp"

namespace berth {
namespace {

void Expect(const std::string& path, const char* what, const std::string& policy, const std::string& run) {
  if (policy == run) return;
  throw Error(Join("--from ", path, ": expected a policy of the same ", what, " as the run's ", run,
                   ", found ", policy));
}

// Of a policy or a run.
template <typename T>
std::string SizesText(const T& of) {
  const bool starts = of.mdp.actions == kStartAlone;
  return Join(of.layout.q, " jobs on ", of.layout.g, starts ? " GPU types" : " columns of actions");
}

}  // namespace

PolicyBundle ReadBeginning(const std::string& path, const RunIdentity& run) {
  PolicyBundle policy = LoadBundle(path);
  Expect(path, "network", ResolveArchitecture(policy.network), run.network);
  if (policy.layout.q == 0 || run.layout.q == 0) {  // what is not a cluster has no encoder
    Expect(path, "observation", std::to_string(policy.layout.size()), std::to_string(run.layout.size()));
    Expect(path, "number of actions", std::to_string(policy.num_actions), std::to_string(run.num_actions));
    return policy;
  }
  Expect(path, "encoder", ResolveEncoder(policy.mdp.encoder), ResolveEncoder(run.mdp.encoder));
  Expect(path, "actions", policy.mdp.actions, run.mdp.actions);
  Expect(path, "semantics", ToString(policy.mdp.semantics), ToString(run.mdp.semantics));
  if (!FindArchitecture(ParseSpec(run.network).name).any_size) {  // a weight for each column
    Expect(path, "size", SizesText(policy), SizesText(run));
    Expect(path, "GPU types", Listed(policy.gpu_types), Listed(run.gpu_types));
  }
  if (policy.reserve != Reserve::kNone) {
    throw Error(Join("--from ", path,
                     ": expected a policy that reserves nothing, which no training does, found reserve ",
                     ToString(policy.reserve)));
  }
  return policy;
}

}  // namespace berth
