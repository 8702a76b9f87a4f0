#include "env/gym/mdp.hpp"

#include <vector>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// Index of `text` among the names, or an Error with the nearest one.
int OneOf(const std::string& text, const char* what, const std::vector<std::string>& names) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return static_cast<int>(i);
    known += Join(i == 0 ? "" : i + 1 < names.size() ? ", " : " or ", names[i]);
  }
  throw Error(Join(what, ": expected ", known, ", found '", text, "'", DidYouMean(text, names)));
}

}  // namespace

const char* ToString(Semantics semantics) {
  return semantics == Semantics::kCommit ? "commit" : "redecide";
}
const char* ToString(QueueOrder order) {
  return order == QueueOrder::kShortest ? "shortest" : "arrival";
}

const char* ToString(Reserve reserve) {
  constexpr const char* kNames[] = {"none", "head", "easy"};
  return kNames[static_cast<int>(reserve)];
}

Semantics ParseSemantics(const std::string& text) {
  return static_cast<Semantics>(OneOf(text, "semantics", {"redecide", "commit"}));
}
QueueOrder ParseQueueOrder(const std::string& text) {
  return static_cast<QueueOrder>(OneOf(text, "order", {"arrival", "shortest"}));
}

Reserve ParseReserve(const std::string& text) {
  return static_cast<Reserve>(OneOf(text, "reserve", {"none", "head", "easy"}));
}

std::string MdpSpec::ToString() const {
  return Join(encoder, " ", berth::ToString(semantics), preemptive ? " preemptive " : " non-preemptive ",
              berth::ToString(knowledge), " order=", berth::ToString(order),
              on_change ? " on_change" : " every_point", work_conserving ? " work_conserving" : " may_idle",
              commit_backfill ? " commit_backfill" : "", actions == "start" ? "" : " actions=" + actions,
              reread ? " reread" : "", " visible=", visible, " reward=", reward, " tau=", tau_s, "s");
}

}  // namespace berth
