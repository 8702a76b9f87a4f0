#include "tools/sweep/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <optional>
#include <streambuf>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "env/base/whole_file.hpp"
#include "tools/file_lock.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/sweep/sweep_folder.hpp"

namespace berth {
namespace {

// Readers of traces say on standard output how they understood them: for one cell, not for each. Quiet while
// any of these is there, for cells may run on several threads.
class QuietOutput {
 public:
  QuietOutput() {
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) before_ = std::cout.rdbuf(&nowhere_);
  }
  ~QuietOutput() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) std::cout.rdbuf(before_);
  }
  QuietOutput(const QuietOutput&) = delete;
  QuietOutput& operator=(const QuietOutput&) = delete;

 private:
  struct Nowhere : std::streambuf {
    int_type overflow(int_type c) override { return traits_type::not_eof(c); }
    std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
  };
  static inline std::mutex mutex_;
  static inline Nowhere nowhere_;
  static inline std::streambuf* before_ = nullptr;
  static inline int count_ = 0;
};

// A whole sweep has the folder for itself; parts share it, each with its own range.
struct Locks {
  Locks(const SweepRequest& request, bool part, std::int64_t end)
      : folder(LockOf(request.folder), Join(request.where, ": ", request.folder), "berth sweep", part) {
    if (part)
      own.emplace(Join(request.folder, "/cells/", request.begin, "-", end, ".lock"),
                  Join(request.where, ": ", request.folder, ": cells ", request.begin, ":", end),
                  "berth sweep");
  }
  FileLock folder;
  std::optional<FileLock> own;
};

}  // namespace

SweepState RunSweep(const SweepRequest& request) {
  const SweepPlan plan(request.axes, request.settings, SweepColumns(), request.make);
  const bool part = request.begin != 0 || request.end != -1;
  const std::int64_t end = request.end == -1 ? plan.grid().size() : request.end;
  BERTH_CHECK(request.begin >= 0 && request.begin < end && end <= plan.grid().size(), request.begin, ":",
              end);
  const int threads = Threads(request.settings);
  plan.Check(request.begin);

  const QuietOutput quiet;
  MakeFolder(request.folder + "/cells", request.where);
  const Locks locks(request, part, end);
  if (!part) {
    for (const char* of : {"", "/cells"}) RemoveUnfinished(request.folder + of);
  }
  SweepRecord record = plan.Record(request.source);
  record.own = request.own;
  const bool begun = HoldsSweep(request.folder, record, request.where);
  SweepState state;
  state.cells = plan.grid().size();
  std::vector<std::int64_t> todo;
  for (std::int64_t cell = 0; cell < state.cells; ++cell) {
    const bool there = std::filesystem::exists(CellPath(request.folder, cell));
    state.there += there;
    if (cell < request.begin || cell >= end) continue;
    state.kept += there;
    if (!there) todo.push_back(cell);
  }
  for (const std::int64_t cell : todo)
    plan.Check(cell);  // the last one's mistake shows before the first runs
  if (!begun) WriteRecord(request.folder, record);
  if (todo.empty()) return state;

  if (request.run) {
    request.run(todo);
    for (const std::int64_t cell : todo)
      state.made += std::filesystem::exists(CellPath(request.folder, cell));
    state.there += state.made;
    state.stopped = state.made < std::ssize(todo);
    return state;
  }
  const int at_once = static_cast<int>(std::min<std::int64_t>(threads, std::ssize(todo)));
  std::atomic<std::int64_t> made{0};
  std::atomic<bool> failed{false};
  Progress progress("sweep");
  ThreadTeam team(at_once);
  team.Run(static_cast<int>(todo.size()), [&](int index) {
    const std::int64_t cell = todo[todo.size() - 1 - U(index)];  // a team begins with its last part
    if (failed || (request.stop != nullptr && *request.stop)) return;
    try {
      EvaluationPlan evaluation = plan.Cell(cell, std::max(1, threads / at_once));
      evaluation.stop = request.stop;
      std::vector<ResultRow> rows = Evaluate(evaluation);
      if (rows.empty()) return;
      WriteCell(plan.grid(), Swept(cell, evaluation, std::move(rows)), CellPath(request.folder, cell));
    } catch (...) {
      failed = true;
      throw;
    }
    const std::int64_t now_made = ++made;
    if (request.ended) request.ended(now_made, std::ssize(todo));
    const auto count = static_cast<double>(now_made), all = static_cast<double>(todo.size());
    progress.Update(count / all,
                    Join(count, " of ", Counted(todo.size(), "cell"), ", ", progress.Rate(count, "cells")));
  });
  state.made = made;
  state.there += state.made;
  state.stopped = state.made < std::ssize(todo);
  return state;
}

std::string RunCell(const SweepPlan& plan, std::int64_t cell, int threads) {
  const QuietOutput quiet;
  const EvaluationPlan evaluation = plan.Cell(cell, threads);
  return CellText(plan.grid(), Swept(cell, evaluation, Evaluate(evaluation)));
}

std::vector<SweptCell> ReadSweep(const SweepRequest& request) {
  const Grid grid(request.axes);
  std::vector<SweptCell> cells;
  for (std::int64_t cell = 0; cell < grid.size(); ++cell)
    cells.push_back(ReadCell(grid, cell, CellPath(request.folder, cell)));
  return cells;
}

}  // namespace berth
