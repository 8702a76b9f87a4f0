// Which jobs are about to lose GPUs: a notice is out that theirs go, and nothing new may start there.
#pragma once

#include <algorithm>
#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/in_service.hpp"

namespace berth {

// False of a job that does not run. Any thread.
inline bool NoneInService(const ClusterView& view, int job) {
  return view.AnyLeaving() && view.IsRunning(job) &&
         std::ranges::none_of(view.Devices(job), [&](int device) { return view.InService(device); });
}

// It runs on the type, alone and on its gang, and some of its GPUs are about to go: it may stay there until
// then, though nobody could come. Any thread.
inline bool StaysOnLeaving(const ClusterView& view, int job, int type) {
  return view.AnyLeaving() && view.TypeOf(job) == type && view.Partner(job) < 0 &&
         view.Width(job) == view.Gang(job) && !AllInService(view, job);
}

// GPUs in service that the gang takes of a type: where it stays so, those that it holds. Any thread.
inline int TakesOf(const ClusterView& view, int job, int type) {
  return StaysOnLeaving(view, job, type) ? HeldInService(view, job) : view.Gang(job);
}

// GPUs that others may take once a job has left: not those that will leave service, or have others on them.
// Any thread.
inline int FreedBy(const ClusterView& view, int job) {
  if (view.Partner(job) >= 0) return 0;
  return static_cast<int>(std::ranges::count_if(view.Devices(job), [&](int device) {
    return view.InService(device) && view.PartHolders(device).size() <= 1;
  }));
}

// Is this the last decision before `moment`, s, for all that is known? Where decisions come once a round the
// next one is at the coming boundary, else whenever it is asked for. Any thread.
inline bool LastBefore(const ClusterView& view, double moment) {
  const Clock clock = view.clock();
  const bool rounds = clock.kind == ClockKind::kRounds || clock.kind == ClockKind::kReferenceRounds;
  return view.now() + (rounds ? clock.round_s : 0.0) >= moment;
}

// Of a job that runs and got nothing: it has to leave a GPU, and nobody needs the others that it holds. Until
// the GPU has gone it may run on. taken [D]: what others got. Any thread.
inline bool MayRunOn(const ClusterView& view, int job, const std::vector<char>& taken) {
  return !AllInService(view, job) && std::ranges::none_of(view.Devices(job), [&](int device) {
    return view.InService(device) && taken[static_cast<std::size_t>(device)] != 0;
  });
}

}  // namespace berth
