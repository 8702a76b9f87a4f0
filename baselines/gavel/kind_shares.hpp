// From what kinds of jobs do together to what each job does (packed_kinds.hpp).
#pragma once

#include <array>
#include <span>
#include <vector>

namespace berth::gavel {

struct TimeAt {
  double rate;  // >= 0
  double time;  // of all jobs together, >= 0
  bool own;     // beside another job of the kind: at most half of it can be one job's
};
struct JobShare {
  int job;
  double share;
};

// For each of `times` [o], by falling rate, whose shares make it up: of n jobs by falling demand [n], each at
// its mean rate, with a time of 1 each, `times` summing to n. Each job in turn takes the slowest piece of
// what is left whose mean rate is enough; the rest then is enough for the others if it was before (the shadow
// of an atom; Beiglboeck and Juillet, "On a problem of optimal transport under marginal martingale
// constraints", Ann. Probab. 2016, lemma 4.6), unless `own` was in the way. `blocked` gets whom it was in the
// way of, and whether all reach their demands within 1e-10 is returned. O(n o).
bool SplitTimes(std::span<const TimeAt> times, std::span<const double> demand,
                std::vector<std::vector<JobShare>>& shares, std::vector<int>& blocked);

// Who shares with whom for how long: as long in all as each is in a list. The second: of one list, no job of
// which has more than half of its sum.
struct PairShare {
  int first, second;
  double share;
};
std::vector<PairShare> MatchShares(std::span<const JobShare> one, std::span<const JobShare> other);
std::vector<PairShare> MatchShares(std::span<const JobShare> among);

}  // namespace berth::gavel
