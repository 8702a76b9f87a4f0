#include "baselines/composition/inner.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

Inner::Inner(const std::string& what, const std::string& spec) : spec_(spec), tables_(TablesInUse()) {
  try {
    scheduler_ = MakeScheduler(spec_, tables_);
  } catch (const Error& error) {
    throw Error(Join(what, ": ", error.what()));
  }
}

Inner::Inner(std::string spec, std::vector<SchedulerTable> tables)
    : spec_(std::move(spec)), tables_(std::move(tables)), scheduler_(MakeScheduler(spec_, tables_)) {}

Inner Inner::Another() const {
  return Inner(spec_, tables_);
}

void Inner::Reset(const ClusterView& view, bool some_jobs) {
  part_.some_jobs = some_jobs;
  shown_.assign(U(view.num_jobs()), 0);
  before_.clear();
  Begin(view);
  scheduler_->Reset(Part(view));
}

void Inner::Begin(const ClusterView& view) {
  part_.types.assign(view.types().begin(), view.types().end());
  part_.free_gpus.assign(view.free_gpus().begin(), view.free_gpus().end());
  for (auto* list : {&part_.waiting, &part_.running, &part_.active, &part_.arrived, &part_.completed}) {
    list->clear();
  }
  for (int job : view.completed()) {
    if (shown_[U(job)] != 0) part_.completed.push_back(job);
  }
  part_.segments.clear();
  for (const Segment& segment : view.segments()) {
    if (shown_[U(segment.job)] != 0) part_.segments.push_back(segment);
  }
}

void Inner::Show(const ClusterView& view, int job) {
  if (shown_[U(job)] == 0) part_.arrived.push_back(job);
  shown_[U(job)] = 1;
  part_.active.push_back(job);
  (view.IsRunning(job) ? part_.running : part_.waiting).push_back(job);
}

void Inner::Limit(int type, int count, int free) {
  part_.types[U(type)].count = count;
  part_.free_gpus[U(type)] = free;
}

// Whether all that it saw it sees again or has ended, and all else that it sees has arrived for it.
bool Inner::Continues(const ClusterView& view) const {
  std::size_t again = 0;
  auto now = part_.active.begin();
  for (int job : before_) {
    now = std::lower_bound(now, part_.active.end(), job);
    if (now != part_.active.end() && *now == job) {
      ++again;
    } else if (!view.IsDone(job)) {
      return false;
    }
  }
  return again + part_.arrived.size() == part_.active.size();
}

void Inner::Decide(const ClusterView& view, Decision& decision) {
  const bool continues = Continues(view), saw_nobody = before_.empty();
  before_ = part_.active;
  if (!continues) Forget(view);
  if (saw_nobody && part_.active.empty()) return;
  own_.Clear();
  scheduler_->Decide(Part(view), own_);
  Append(own_, decision);
}

void Append(const Decision& from, Decision& to) {
  const int offset = static_cast<int>(to.devices.size());
  to.devices.insert(to.devices.end(), from.devices.begin(), from.devices.end());
  for (Command command : from.commands) {
    command.devices_begin += offset;
    to.commands.push_back(command);
  }
  to.controls.insert(to.controls.end(), from.controls.begin(), from.controls.end());
  to.wake_at = std::min(to.wake_at, from.wake_at);
}

int WidthOf(const ClusterView& view, const Command& command) {
  return command.width > 0 ? command.width : view.Gang(command.job);
}

void Inner::DecideAll(const ClusterView& view, Decision& decision) {
  Begin(view);
  for (int job : view.active()) Show(view, job);
  Decide(view, decision);
}

void Inner::Forget(const ClusterView& view) {
  scheduler_->Reset(Part(view));
}

}  // namespace berth
