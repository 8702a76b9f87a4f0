#include "tools/policy_semantics.hpp"

#include "env/check.hpp"
#include "env/spec.hpp"
#include "policies/bundle.hpp"

namespace berth {

std::string CommonSemantics(std::span<const std::string> schedulers) {
  std::string found, of;
  for (const std::string& text : schedulers) {
    const Spec spec = ParseSpec(text);
    if (spec.name != "policy") continue;
    for (const auto& [key, value] : spec.params) {
      if (key != "file") continue;
      const std::string semantics = ToString(LoadBundle(value).mdp.semantics);
      if (!found.empty() && semantics != found) {
        throw Error(Join("--schedulers: expected policies of one decision semantics, found ", of, " of '",
                         found, "' and ", text, " of '", semantics, "'"));
      }
      found = semantics, of = text;
    }
  }
  return found.empty() ? ToString(Semantics::kRedecide) : found;
}

}  // namespace berth
