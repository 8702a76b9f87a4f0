#include "tools/policy_semantics.hpp"

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "policies/bundle.hpp"

namespace berth {

std::string CommonSemantics(std::span<const std::string> schedulers) {
  std::string found, of;
  for (const std::string& text : schedulers) {
    const Spec spec = ParseSpec(text);
    for (const auto& [key, value] : spec.params) {
      std::string semantics;  // of a policy: what it was trained in; of a rule: where it is said
      if (spec.name == "policy" && key == "file") semantics = ToString(LoadBundle(value).mdp.semantics);
      if (spec.name != "policy" && key == "semantics") semantics = ToString(ParseSemantics(value));
      if (semantics.empty()) continue;
      if (!found.empty() && semantics != found) {
        throw Error(Join("--schedulers: expected schedulers of one decision semantics, found ", of, " of '",
                         found, "' and ", text, " of '", semantics, "'"));
      }
      found = semantics, of = text;
    }
  }
  return found.empty() ? ToString(Semantics::kRedecide) : found;
}

}  // namespace berth
