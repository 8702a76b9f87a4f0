#include "tools/policy_semantics.hpp"

#include <cctype>
#include <functional>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "policies/bundle.hpp"

namespace berth {
namespace {

// Of a policy: what it was trained in; of a rule: where it is said; "" where neither is. Of all schedulers
// inside it too, each told to `found`.
void EachSemantics(const std::string& text, const std::function<void(const std::string&)>& found) {
  if (text.find('(') == std::string::npos) return;  // a name, of the Python package any: run/policy.h5
  const Spec spec = ParseSpec(text);
  for (const auto& [key, value] : spec.params) {
    if (spec.name == "policy" && key == "file") found(ToString(LoadBundle(value).mdp.semantics));
    if (key == "semantics") found(ToString(ParseSemantics(value)));
    for (const std::string& part : SplitOutsideParentheses(value, '|')) {  // not score=-(wait/request)^3
      const std::vector<std::string> fields =
          SplitOutsideParentheses(part, ':');  // of pools: NAME:GPUS:SCHEDULER
      const std::string inner = fields.empty() ? "" : fields.back();
      const bool names = !inner.empty() && std::isalpha(static_cast<unsigned char>(inner.front())) != 0;
      if (names && inner.back() == ')' && inner.find('=') != std::string::npos) EachSemantics(inner, found);
    }
  }
}

}  // namespace

std::string CommonSemantics(std::span<const std::string> schedulers) {
  std::string found, of;
  for (const std::string& text : schedulers) {
    EachSemantics(text, [&](const std::string& semantics) {
      if (!found.empty() && semantics != found) {
        throw Error(Join("--schedulers: expected schedulers of one decision semantics, found ", of, " of '",
                         found, "' and ", text, " of '", semantics, "'"));
      }
      found = semantics, of = text;
    });
  }
  return found.empty() ? ToString(Semantics::kRedecide) : found;
}

}  // namespace berth
