// Several schedulers that share out one cluster: each is asked in turn, is shown its jobs and at most so many
// GPUs of every type, and what it orders is kept to that.
//
//   shares.Begin(view);                             // all idle GPUs are left
//   for (...) running += shares.Ask(view, inner, its_jobs, held, part, decision);
//
// An inner scheduler is not shown jobs that it cannot start in its part: whose gang is too large, or, where
// it resizes, their fewest GPUs too many. One of those that runs is stopped where what it holds is too much
// too. Who shows it other jobs (Inner::Begin, Limit, Show) has it Decide. Devices that it chose are
// forgotten: it counts its part's types, but device numbers are the whole cluster's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "env/sim/decision.hpp"

namespace berth {

// Thread rule: one thread at a time.
class Shares {
 public:
  // `owner` stands in the message where an inner scheduler packs two jobs on one GPU, which cannot be shared
  // out.
  explicit Shares(std::string owner) : owner_(std::move(owner)) {}
  void Begin(const ClusterView& view) { left_.assign(view.free_gpus().begin(), view.free_gpus().end()); }
  // [G] GPUs that whoever is asked next may take; those that are to stay idle are taken off here.
  std::vector<int>& left() { return left_; }
  // Appends what `inner` decides over `jobs` (ascending, waiting or running), which hold `held` [G] GPUs and
  // may hold `part` [G]; the change in the number of jobs that run. Throws Error where it packs.
  int Ask(const ClusterView& view, Inner& inner, std::span<const int> jobs, std::span<const int> held,
          std::span<const int> part, Decision& decision);
  // The same over the jobs and GPUs that `inner` has been shown.
  int Decide(const ClusterView& view, Inner& inner, Decision& decision);
  void RefusePack(const Command& command) const;

 private:
  int Freed(const ClusterView& view, int job);  // GPUs, where it stops or moves
  bool KeepTo(const ClusterView& view);         // what is left; false = orders were taken away

  std::string owner_;
  std::vector<int> left_;     // [G] idle, once those asked so far have theirs
  std::vector<int> leaving_;  // jobs of the one that is asked: they stop or move
  std::vector<int> most_, before_;
  Decision own_;
};

// steps/s of the job within `most` [G] GPUs, on the best type: of its gang, and where that fits nowhere and
// `inner` resizes, of the best width; 0 = it cannot run there.
double SpeedWithin(const ClusterView& view, const Inner& inner, int job, std::span<const int> most);

// GPUs held beyond the part: who has to give is asked first.
int Excess(std::span<const int> held, std::span<const int> part);

}  // namespace berth
