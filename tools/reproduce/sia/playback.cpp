#include "tools/reproduce/sia/playback.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "tools/json.hpp"

namespace berth::sia {

Playback::Playback(const std::string& path, const std::vector<std::string>& names) : path_(path) {
  std::map<std::string, int> index;
  for (const std::string& name : names) index.emplace(name, static_cast<int>(index.size()));
  const Json rounds = ReadJson(path);
  const auto wrong = [&path](const std::string& found) {
    return Error(Join(path, ": expected [[seconds, {job: configuration}], ...] in order of time, ", found));
  };
  if (!rounds.is_array()) throw wrong("found no list");
  for (const Json& round : rounds) {
    if (!round.is_array() || round.size() != 2 || !round[0].is_number() || !round[1].is_object())
      throw wrong("found " + round.dump().substr(0, 40));
    const double at = round[0];
    if (!choices_.empty() && at <= choices_.rbegin()->first)
      throw wrong(Join("found ", at, " twice or late"));
    std::map<int, int>& now = choices_[at];
    for (const auto& [name, configuration] : round[1].items()) {
      const auto job = index.find(name);
      if (job == index.end()) throw wrong(Join("found the job '", name, "', of no name in the workload"));
      if (!configuration.is_number_unsigned())
        throw wrong(Join("found ", configuration.dump(), " for '", name, "'"));
      now[job->second] = configuration;
      most_ = std::max(most_, now[job->second]);
    }
  }
}

void Playback::Reset(const ClusterView& view) {
  configurations_.Reset(view);
  const int count = static_cast<int>(configurations_.list().size());
  if (most_ >= count)
    throw Error(Join(path_, ": expected configurations below ", count, ", as many as the cluster has, found ",
                     most_));
}

void Playback::Decide(const ClusterView& view, Decision& decision) {
  const auto next = choices_.upper_bound(view.now());
  static const std::map<int, int> kNone;
  const std::map<int, int>& now = next == choices_.begin() ? kNone : std::prev(next)->second;
  const std::vector<int> jobs(view.active().begin(), view.active().end());
  std::vector<int> chosen;
  for (int job : jobs) {
    const auto found = now.find(job);
    chosen.push_back(found == now.end() ? -1 : found->second);
  }
  configurations_.Emit(view, jobs, chosen, decision);
  if (next != choices_.end()) decision.wake_at = next->first;
}

}  // namespace berth::sia
