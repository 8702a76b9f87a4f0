// The learners' only parallelism: a team whose workers run tensor operations each on its own thread alone
// (one intra-op thread), so that no OpenMP barrier spins while a partner is descheduled (pytorch #80777).
#pragma once

#include <ATen/Parallel.h>

#include <cstdint>
#include <functional>

#include "env/base/thread_team.hpp"

namespace berth {

class Workers {
 public:
  // count >= 1; the caller is one of them. With OpenMP the number of threads is each thread's own.
  explicit Workers(int count) : team_(count, [] { at::set_num_threads(1); }) {}
  int count() const { return team_.size(); }
  // Runs work(0) .. work(parts - 1), each on whichever worker is free, and waits for all. Rethrows the
  // exception of the lowest that threw.
  void Run(int parts, const std::function<void(int part)>& work) { team_.Run(parts, work); }

 private:
  ThreadTeam team_;
};

// [begin, end) of part `part` of `parts` nearly equal parts of `size` things.
struct PartRange {
  std::int64_t begin, end;
};
inline PartRange PartOf(std::int64_t size, int part, int parts) {
  return {size * part / parts, size * (part + 1) / parts};
}

}  // namespace berth
