#include "tools/serve/gangs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostGroups = 10000;  // that are remembered
constexpr std::size_t kMostPods = 100000;   // of all that gather
constexpr double kForever = std::numeric_limits<double>::infinity();

}  // namespace

void GangBook::Expire(double now) {
  for (auto at = groups_.begin(); at != groups_.end();) {
    Group& group = at->second;
    if (group.state == State::kGathering && now >= group.until) {
      group.state = State::kRefused;
      group.until += timeout_s_;
      group.through.clear();
    }
    const bool forgotten = now >= group.until && group.state != State::kGathering;
    at = forgotten ? groups_.erase(at) : std::next(at);
  }
}

std::string GangBook::WhyFull() const {
  std::size_t pods = 0;
  for (const auto& [name, group] : groups_) pods += group.through.size();
  return pods < kMostPods ? "" : Join("more than ", kMostPods, " pods of pod groups that start are known");
}

std::int64_t GangBook::HeldByOthers(int type, int gpus, const std::string& key, double until) const {
  std::int64_t held = 0;
  for (const auto& [name, group] : groups_) {
    if (group.state != State::kGathering || group.type != type || name == key || group.until >= until)
      continue;
    const std::int64_t waited_for = group.members - static_cast<std::int64_t>(group.through.size());
    // One of its pods may stand where so many of these could.
    held += waited_for * (whole_nodes_ ? 1 : (group.gpus + gpus - 1) / gpus);
  }
  return held;
}

std::int64_t GangBook::Held(int type, int gpus, double now) {
  Expire(now);
  return HeldByOthers(type, gpus, "", kForever);
}

GangBook::Verdict GangBook::Admit(const ExtenderPod& pod, std::span<const float> scores,
                                  std::span<const std::int64_t> slots, double now) {
  Expire(now);
  const PodGroup& asked = *pod.group;
  const auto known = groups_.find(asked.key);
  if (known != groups_.end()) {
    Group& group = known->second;
    if (group.state == State::kRefused) {
      return {-1, Join("the pod group ", asked.key, " was not whole in time: it may start anew in ",
                       std::ceil(group.until - now), " s")};
    }
    if (group.gpus != pod.gpus) {
      return {-1, Join("asks for ", Counted(pod.gpus, "GPU"), ", the others of the pod group ", asked.key,
                       " for ", group.gpus)};
    }
    // Its own room is held, also should there be less in all by now: the group that began first comes first.
    // More pods than a group needs, or one for a second time, take what nobody waits for.
    const bool waited_for = group.state == State::kGathering && group.through.count(pod.name) == 0;
    const std::int64_t room =
        slots[static_cast<std::size_t>(group.type)] -
        HeldByOthers(group.type, pod.gpus, asked.key, waited_for ? group.until : kForever);
    if (room < 1) return {-1, Join("no room now where the pod group ", asked.key, " runs")};
    if (!waited_for) return {group.type, ""};
    if (const std::string full = WhyFull(); !full.empty()) return {-1, full};
    group.through.insert(pod.name);
    if (static_cast<int>(group.through.size()) >= group.members) {
      group.state = State::kWhole;
      group.through.clear();
      group.until = group.owned ? kForever : now + timeout_s_;
    }
    return {group.type, ""};
  }

  int best = -1;
  std::int64_t most = 0;
  bool runs = false;  // on some type of the table, were all its GPUs idle
  for (std::size_t g = 0; g < slots.size(); ++g) {
    const std::int64_t free = slots[g] - HeldByOthers(static_cast<int>(g), pod.gpus, asked.key, kForever);
    if (scores[g] == -std::numeric_limits<float>::infinity()) continue;
    runs = true;
    most = std::max(most, free);
    if (free < asked.members) continue;
    if (best < 0 || scores[g] > scores[static_cast<std::size_t>(best)]) best = static_cast<int>(g);
  }
  if (!runs) {
    return {-1, Join("no type of the table runs the pod group ", asked.key, ": ",
                     Counted(asked.members, "pod"), " of ", Counted(pod.gpus, "GPU"))};
  }
  if (best < 0) {
    return {-1, Join("the pod group ", asked.key, " needs room for ", Counted(asked.members, "pod"), " of ",
                     Counted(pod.gpus, "GPU"), " on one type, there is for ", most)};
  }
  if (asked.members > 1) {
    if (const std::string full = WhyFull(); !full.empty()) return {-1, full};
  }
  if (groups_.size() >= kMostGroups) {
    // Rather one that is whole and will not be asked about than one that gathers.
    const auto oldest = std::find_if(groups_.begin(), groups_.end(),
                                     [](const auto& group) { return group.second.state == State::kWhole; });
    if (oldest == groups_.end()) return {-1, Join("more than ", kMostGroups, " pod groups are starting")};
    groups_.erase(oldest);
  }
  Group& group = groups_[asked.key];
  group.type = best;
  group.gpus = pod.gpus;
  group.members = asked.members;
  group.owned = asked.owned;
  group.until = now + timeout_s_;
  if (asked.members > 1) {
    group.through.insert(pod.name);
  } else {
    group.state = State::kWhole;
    if (asked.owned) group.until = kForever;
  }
  return {best, ""};
}

}  // namespace berth
