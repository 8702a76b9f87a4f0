// A grid of evaluations, cell by cell and on several cores: what `berth sweep` does, for other callers too.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/sweep/sweep_plan.hpp"
#include "tools/sweep/sweep_table.hpp"

namespace berth {

struct SweepRequest {
  std::vector<Axis> axes;
  Options settings;                         // those of AddEvaluationPlan; {axis} in their texts
  std::string folder;                       // of the cells; made where it is not there
  std::string where = "--out";              // how messages name the folder
  std::int64_t begin = 0, end = -1;         // the cells to run; -1 = to the last
  const std::atomic<bool>* stop = nullptr;  // becomes true: cells that have ended are kept
  std::string source = {};                  // the build, as the folder's record has it
  MakeSchedulerOf make = {};                // schedulers by their specs; none = Berth's
  std::vector<std::pair<std::string, std::string>> own = {};  // of those that are not Berth's: name, hash
  // In the place of this process's threads: is to put what RunCell gives of each of these into the folder
  // (CellPath), now or later. Where it leaves one out, the sweep was stopped.
  std::function<void(const std::vector<std::int64_t>& todo)> run = {};
  // A cell has ended, so many of those to be made: called on any of the threads.
  std::function<void(std::int64_t made, std::int64_t todo)> ended = {};
};

struct SweepState {
  std::int64_t cells = 0, kept = 0, made = 0;  // of the grid; asked for and there; asked for and run now
  std::int64_t there = 0;                      // of the grid
  bool stopped = false;
};

// Runs the cells that are not there yet. The same request gives the same cells to the bit, on any number of
// threads and however often it was interrupted. The workload of a seed depends on the seed and the workload's
// settings alone, so cells share workloads (common random numbers). Throws Error: bad settings, before
// anything runs; a folder of another sweep; a folder in which another process is at work.
SweepState RunSweep(const SweepRequest& request);

// The rows of one cell, as its file has them (WriteCell).
std::string RunCell(const SweepPlan& plan, std::int64_t cell, int threads);

// All cells of a sweep that is complete.
std::vector<SweptCell> ReadSweep(const SweepRequest& request);

}  // namespace berth
