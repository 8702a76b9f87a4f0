// Programs of shares with many types (share_program.hpp). Few of a job's shares are above 0 at an optimum, so
// columns are generated: the program over some types of each job is solved, the prices of its answer tell
// which other shares would raise the level, and these join, until none would (Gilmore and Gomory, "A linear
// programming approach to the cutting-stock problem", Oper. Res. 1961). The answer is one of the whole
// program: what is left out is what the prices prove to be worth nothing.
//
// Each of these is solved by share_columns.hpp; pricing all shares is O(classes G), once a round.
#pragma once

#include "baselines/gavel/share_columns.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// What a solve leaves for the next one, of nearly the same jobs.
struct ShareMemory {
  ShareStart start;
  std::vector<int> class_of_key;  // of start, by key of a job; -1 = none
  std::vector<int> before;        // [n] the class of start that a class of the present program was

  // Of the program that is solved next: the keys [m] of its jobs, ascending, at least one, and the class [m]
  // of each.
  void Name(std::span<const int> keys, std::span<const int> class_of, int classes);
};

// As ColumnProgram, over all shares, to 1e-8 of the level or the sum, 5e-10 a member, or `gap` where that is
// not 0. kError where the digits do not reach so far or rounds do not end; an answer is not checked here
// (Prove). Pure function of the program but for the clock.
// `memory`: starts from its point and leaves one there; Name comes before.
[[nodiscard]] LpStatus SolveWideShares(const ShareProgram& program, ShareAim aim, ShareAnswer& answer,
                                       double time_limit_s = kLpInfinity, double gap = 0.0,
                                       ShareMemory* memory = nullptr);

}  // namespace berth::gavel
