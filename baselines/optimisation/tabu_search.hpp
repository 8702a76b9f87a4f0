// Tabu search over plans, step by step, so that a test can follow it.
#pragma once

#include <functional>
#include <vector>

#include "baselines/optimisation/instance.hpp"

namespace berth {

struct TabuOptions {
  int iterations = 50;
  int tenure = 7;        // moves for which a job may not return to where it was
  int candidates = 100;  // moves looked at in an iteration, where there are more
};

// A step of the search: `job` left place `from_place` of type `from_type` for the other.
struct TabuStep {
  int job, from_type, from_place, to_type, to_place;
  int swapped;   // the job that took its place, -1 = none
  bool tabu;     // it was forbidden, and taken all the same
  double value;  // of the plan that it leads to
};

// Glover, Tabu search, ORSA Journal on Computing 1 (1989) and 2 (1990), simple form with short-term memory.
// A plan is seen as a queue for each type. Neighbours: a job put at any place of any queue, and two of one
// queue exchanged. Each iteration goes to the neighbour of least value, be it worse, of equal ones the first;
// for `tenure` iterations a job that it moved may not return to the type that it left, or within a queue to
// the place that it left (of an exchange neither). Aspiration: a forbidden move is allowed if it leads to
// less than the least value seen; where all are forbidden and none is allowed, the one that is free soonest
// is taken. `plan`: where it begins, then the best seen; its value is returned. `draw(n)` gives 0..n-1, for
// the candidates where there are more neighbours than those. `watch` may be empty. REQUIRES: each job on a
// type where it can run. O(iterations candidates n GPUs).
double TabuSearch(const Instance& instance, Target target, const TabuOptions& options,
                  const std::function<int(int)>& draw, Assignment& plan,
                  const std::function<void(const TabuStep&)>& watch = {});

}  // namespace berth
