#include "baselines/composition/shares.hpp"

#include <algorithm>

#include "baselines/placement/in_service.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {

double SpeedWithin(const ClusterView& view, const Inner& inner, int job, std::span<const int> most) {
  double best = 0.0;
  for (int type = 0; type < view.num_types(); ++type) {
    if (view.Gang(job) <= most[U(type)]) best = std::max(best, view.Rate(job, type));
  }
  if (best > 0.0 || !inner.resizes()) return best;
  for (int type = 0; type < view.num_types(); ++type) {
    const int widest = std::min(view.MaxGang(job), most[U(type)]);
    for (int width = view.MinGang(job); width <= widest; ++width)
      best = std::max(best, view.RateAt(job, type, width));
  }
  return best;
}

int Excess(std::span<const int> held, std::span<const int> part) {
  int excess = 0;
  for (std::size_t type = 0; type < held.size(); ++type) excess += std::max(0, held[type] - part[type]);
  return excess;
}

void Shares::RefusePack(const Command& command) const {
  if (command.kind != CommandKind::kPack) return;
  throw Error(
      Join(owner_, ": expected schedulers that give a job GPUs of its own, found one that packs two on one"));
}

int Shares::Ask(const ClusterView& view, Inner& inner, std::span<const int> jobs, std::span<const int> held,
                std::span<const int> part, Decision& decision) {
  inner.Begin(view);
  most_.clear();
  for (int type = 0; type < view.num_types(); ++type) {
    most_.push_back(std::min(part[U(type)], held[U(type)] + left_[U(type)]));
    inner.Limit(type, most_.back(), std::max(0, most_.back() - held[U(type)]));
  }
  int change = 0;
  for (int job : jobs) {
    // On fewer GPUs than its gang, or on some that are about to go, which are beyond the part.
    const bool stays = view.IsRunning(job) && HeldInService(view, job) <= most_[U(view.TypeOf(job))];
    if (stays || SpeedWithin(view, inner, job, most_) > 0.0) {
      inner.Show(view, job);
    } else if (view.IsRunning(job)) {  // the part has shrunk below it
      decision.Stop(job);
      left_[U(view.TypeOf(job))] += Freed(view, job);
      --change;
    }
  }
  return change + Decide(view, inner, decision);
}

int Shares::Decide(const ClusterView& view, Inner& inner, Decision& decision) {
  own_.Clear();
  inner.Decide(view, own_);
  if (!KeepTo(view)) inner.Forget(view);
  leaving_.clear();
  int change = 0;
  for (const Command& command : own_.commands) {
    change += command.kind == CommandKind::kStart;
    change -= command.kind == CommandKind::kStop;
  }
  decision.commands.insert(decision.commands.end(), own_.commands.begin(), own_.commands.end());
  decision.wake_at = std::min(decision.wake_at, own_.wake_at);
  return change;
}

// Jobs on one GPU (packed by somebody before, or with a part of it each) free it when the last of them
// leaves; one out of service is not free then either.
int Shares::Freed(const ClusterView& view, int job) {
  leaving_.push_back(job);
  const auto leaves = [&](int other) {
    return std::find(leaving_.begin(), leaving_.end(), other) != leaving_.end();
  };
  if (view.Partner(job) >= 0 && !leaves(view.Partner(job))) return 0;
  int freed = 0;
  for (int device : view.Devices(job)) {
    const std::span<const int> parts = view.PartHolders(device);
    freed += std::all_of(parts.begin(), parts.end(), leaves) && view.InService(device);
  }
  return freed;
}

bool Shares::KeepTo(const ClusterView& view) {
  before_ = left_;
  for (Command& command : own_.commands) {
    RefusePack(command);
    command.devices_count = 0;
    if (view.IsRunning(command.job)) left_[U(view.TypeOf(command.job))] += Freed(view, command.job);
  }
  bool moves_fit = true;
  const auto beyond = std::erase_if(own_.commands, [&](const Command& command) {
    if (command.kind != CommandKind::kStart && command.kind != CommandKind::kMove) return false;
    const int width = WidthOf(view, command);
    if (left_[U(command.type)] < width) {
      moves_fit = moves_fit && command.kind == CommandKind::kStart;
      return true;
    }
    left_[U(command.type)] -= width;
    return false;
  });
  if (!moves_fit) {  // others may count on the GPUs of a job that stays after all
    left_ = before_;
    own_.commands.clear();
  }
  std::erase_if(own_.commands, [&](const Command& command) {
    return command.kind == CommandKind::kMove && command.type == view.TypeOf(command.job) &&
           WidthOf(view, command) == view.Width(command.job) && AllInService(view, command.job);
  });
  return beyond == 0;
}

}  // namespace berth
