// R || sum C exactly, where it is easy: jobs of one GPU that all weigh the same, on GPUs that are each free
// from some moment on. The k-th job from the end on a GPU is waited for by itself and the k - 1 behind it, so
// that its p seconds count k times, whoever those are: the least sum of completions is a cheapest assignment
// of jobs to places (GPU, k) at cost (when the GPU is free) + k p (Horn, Operations Research 21, 1973; Bruno,
// Coffman & Sethi, CACM 17, 1974). Its matrix is that of an assignment, so that the linear program's vertices
// are whole: no branching. Which GPU of its type a job has at the same k is all the same to the sum; each
// type takes its shortest job first, which is optimal on equal machines that are free from different moments
// on (Meilijson & Tamir, Operations Research 32, 1984; Huang, Operations Research 34, 1986). With weights,
// even on two equal machines (Bruno, Coffman & Sethi 1974), or gangs the problem is NP-hard.
#pragma once

#include "baselines/optimisation/instance.hpp"

namespace berth {

// Gangs of one, equal weights.
bool HasPlaces(const Instance& instance);

// REQUIRES: HasPlaces, and at least one job. A plan whose list schedule has the least sum of completions.
// O(n^2 (G n + GPUs)) where few places a GPU do, each of the at most log n times that they are doubled twice
// as much.
Assignment PlaceFromTheEnd(const Instance& instance);

}  // namespace berth
