// Completions ordered by (time, rank, job): total by construction, so equal times never depend on the heap.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace berth {

// A binary heap over a reused vector. Entries of jobs that were stopped are dropped lazily: the owner
// compares `version`.
struct Completion {
  double time;            // s
  std::int32_t rank;      // order within an instant; clock hpc: the order of starts, otherwise all 0
  std::int32_t job;       // the sequence: lower job index first
  std::uint32_t version;  // of the job's current run
};
static_assert(std::is_trivially_copyable_v<Completion>);

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Completion& top() const { return heap_.front(); }
  void Push(const Completion& event) {
    heap_.push_back(event);
    std::push_heap(heap_.begin(), heap_.end(), After);
  }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), After);
    heap_.pop_back();
  }
  template <class Keep>
  void KeepOnly(const Keep& keep) {
    std::erase_if(heap_, [&keep](const Completion& event) { return !keep(event); });
    std::make_heap(heap_.begin(), heap_.end(), After);
  }

 private:
  static bool After(const Completion& a, const Completion& b) {
    if (a.time != b.time) return a.time > b.time;
    if (a.rank != b.rank) return a.rank > b.rank;
    return a.job > b.job;
  }
  std::vector<Completion> heap_;
};

}  // namespace berth
