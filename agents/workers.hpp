// The learners' only parallelism: a team whose workers run tensor operations each on its own thread alone
// (one intra-op thread), so that no OpenMP barrier spins while a partner is descheduled (pytorch #80777).
#pragma once

#include <cstdint>
#include <functional>

#include "env/thread_team.hpp"

namespace berth {

class Workers {
 public:
  explicit Workers(int count);  // count >= 1; the caller is worker 0
  int count() const { return team_.size(); }
  // Runs work(0) .. work(count - 1) at once and waits for all. Rethrows the exception of the lowest that
  // threw.
  void Run(const std::function<void(int worker)>& work) { team_.Run(work); }

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
