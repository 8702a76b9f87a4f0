#include "env/gym/mdp.hpp"

#include <vector>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// Index of `text` among two names, or an Error with the nearest one.
int OneOfTwo(const std::string& text, const char* what, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<int>(i);
  }
  throw Error(
      Join(what, ": expected ", names[0], " or ", names[1], ", found '", text, "'", DidYouMean(text, names)));
}

}  // namespace

const char* ToString(Semantics semantics) {
  return semantics == Semantics::kCommit ? "commit" : "redecide";
}
const char* ToString(QueueOrder order) {
  return order == QueueOrder::kShortest ? "shortest" : "arrival";
}

Semantics ParseSemantics(const std::string& text) {
  return static_cast<Semantics>(OneOfTwo(text, "semantics", {"redecide", "commit"}));
}
QueueOrder ParseQueueOrder(const std::string& text) {
  return static_cast<QueueOrder>(OneOfTwo(text, "order", {"arrival", "shortest"}));
}

std::string MdpSpec::ToString() const {
  return Join(encoder, " ", berth::ToString(semantics), preemptive ? " preemptive " : " non-preemptive ",
              berth::ToString(knowledge), " order=", berth::ToString(order),
              on_change ? " on_change" : " every_point", work_conserving ? " work_conserving" : " may_idle",
              commit_backfill ? " commit_backfill" : "", " visible=", visible, " reward=", reward,
              " tau=", tau_s, "s");
}

}  // namespace berth
