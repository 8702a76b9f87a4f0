#include "baselines/composition/inner.hpp"

#include <algorithm>

#include "baselines/schedulers.hpp"
#include "env/check.hpp"
#include "env/index.hpp"

namespace berth {
Inner::Inner(const std::string& what, const std::string& spec) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  try {
    scheduler_ = MakeScheduler(spec, tables);
  } catch (const Error& error) {
    throw Error(Join(what, ": ", error.what()));
  }
}

void Inner::Reset(const ClusterView& view) {
  shown_.assign(U(view.num_jobs()), 0);
  before_.clear(), unreported_.clear();
  Begin(view);
  scheduler_->Reset(Part(view));
}

void Inner::Begin(const ClusterView& view) {
  part_.types.assign(view.types().begin(), view.types().end());
  part_.free_gpus.assign(view.free_gpus().begin(), view.free_gpus().end());
  for (auto* list : {&part_.waiting, &part_.running, &part_.active, &part_.arrived, &part_.completed}) {
    list->clear();
  }
  part_.completed = unreported_;
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
  const bool continues = Continues(view);
  before_ = part_.active;
  if (!continues) Forget(view);
  if (part_.active.empty()) {
    unreported_ = part_.completed;
    return;
  }
  unreported_.clear();
  own_.Clear();
  scheduler_->Decide(Part(view), own_);
  const int offset = static_cast<int>(decision.devices.size());
  decision.devices.insert(decision.devices.end(), own_.devices.begin(), own_.devices.end());
  for (Command command : own_.commands) {
    command.devices_begin += offset;
    decision.commands.push_back(command);
  }
  decision.controls.insert(decision.controls.end(), own_.controls.begin(), own_.controls.end());
  decision.wake_at = std::min(decision.wake_at, own_.wake_at);
}

int Inner::DecideWithin(const ClusterView& view, const char* who, std::vector<int>& left,
                        Decision& decision) {
  within_.Clear();
  Decide(view, within_);
  int change = 0;
  for (Command& command : within_.commands) {
    RefusePack(who, command);
    command.devices_count = 0;
    if (view.IsRunning(command.job)) left[U(view.TypeOf(command.job))] += view.Width(command.job);
    change -= command.kind == CommandKind::kStop;
  }
  bool dropped = false;
  std::erase_if(within_.commands, [&](const Command& command) {
    if (command.kind != CommandKind::kStart && command.kind != CommandKind::kMove) return false;
    const int width = WidthOf(view, command);
    if (left[U(command.type)] < width) return dropped = true;  // it did not keep to its part
    left[U(command.type)] -= width;
    change += command.kind == CommandKind::kStart;
    return command.kind == CommandKind::kMove && command.type == view.TypeOf(command.job) &&
           width == view.Width(command.job);
  });
  if (dropped) Forget(view);
  decision.commands.insert(decision.commands.end(), within_.commands.begin(), within_.commands.end());
  decision.wake_at = std::min(decision.wake_at, within_.wake_at);
  return change;
}

int WidthOf(const ClusterView& view, const Command& command) {
  return command.width > 0 ? command.width : view.Gang(command.job);
}

void RefusePack(const char* who, const Command& command) {
  if (command.kind != CommandKind::kPack) return;
  throw Error(
      Join(who, ": expected schedulers that give a job GPUs of its own, found one that packs two on one"));
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
