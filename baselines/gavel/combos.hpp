// Space sharing (OSDI 2020 §3.1 and §4.4): allocations over combos, a job alone or two jobs of gang 1 that
// share one GPU. A job of a larger gang is a combo of its own like any other, so mixed gang sizes are right
// (Gavel's policies/policy.py has rows that are right only where all jobs have equally many combos).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "baselines/gavel/problem.hpp"

namespace berth::gavel {

// The jobs, and how fast each runs beside each other one: by kinds of jobs, of which there are few.
struct PackedProblem {
  Problem base;
  // [kinds, kinds, G] steps/s of a job of the first kind while one of the second shares its GPU; 0 = cannot.
  std::vector<double> beside;
  std::vector<int> kind = {};  // [m]; empty = all differ, kind i is job i
  int kinds = 0;               // read where kind is not empty

  // steps/s of a job while another shares its GPU; 0 also where one has a larger gang or cannot run at all.
  double Beside(int job, int other, int type) const {
    const auto first = static_cast<std::size_t>(job), second = static_cast<std::size_t>(other);
    if (base.gang[first] != 1 || base.gang[second] != 1 || base.throughput[base.at(job, type)] <= 0.0 ||
        base.throughput[base.at(other, type)] <= 0.0) {
      return 0.0;
    }
    if (kind.empty()) return beside[base.at(job * base.jobs() + other, type)];
    return beside[base.at(kind[first] * kinds + kind[second], type)];
  }
};

// One way to use the GPUs of a type: a job alone, or two that share. A column of the packed programs.
struct Combo {
  int first, second;  // jobs, first < second; second = -1: alone
  int type;
  double rate_first, rate_second;  // steps/s, > 0; 0 where there is no second
};

// Every combo that can be of use: singles by job, then pairs lexicographically, each by type. What cannot run
// is left out: a rate of 0, of a pair of either. So are, exactly, pairs that taking turns on the GPU
// dominates: r_a / T_a + r_b / T_b <= 1. Alone for the part r_a / T_a of the time and r_b / T_b of it, the
// two make the same steps with no more of the GPU and no more of their own time, so no optimum loses by it.
std::vector<Combo> UsefulCombos(const PackedProblem& problem);
std::vector<Combo> AllCombos(const PackedProblem& problem);  // only those that can run, dominated ones too

// Fractions of time: of each job alone, and of each pair together.
struct PackedAllocation {
  Allocation alone;                       // [m, G]
  std::vector<std::array<int, 2>> pairs;  // jobs, first < second, lexicographic
  Allocation together;                    // [pairs, G]
};
// Zero shares of a pair on every type leave it out.
PackedAllocation ToAllocation(const PackedProblem& problem, std::span<const Combo> combos,
                              std::span<const double> share);

// [m] steps/s of every job, alone and beside others.
std::vector<double> EffectiveThroughput(const PackedProblem& problem, const PackedAllocation& x);
// How far x is from satisfying the base constraints, a pair taking the time of both and one GPU.
double Violation(const PackedProblem& problem, const PackedAllocation& x);

}  // namespace berth::gavel
