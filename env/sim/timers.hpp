// What happens in a cluster by itself, ordered by (time, kind, index, sequence): total by construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace berth {

// In the order in which things of one instant happen. Each kind is a feature's own, named in its header and
// listed in its FeatureModule (a test finds two alike). Persistent (golden logs): 0 to 10 are taken.
enum class TimerKind : std::uint8_t {};

struct Timer {
  double time;  // s
  TimerKind kind;
  std::int32_t index;         // of whom it concerns
  std::uint32_t version = 0;  // whoever sets it compares, so that a timer can be forgotten
};

class TimerQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const Timer& top() const { return heap_.front().timer; }
  void Push(const Timer& timer) {
    heap_.push_back({timer, sequence_++});
    std::push_heap(heap_.begin(), heap_.end(), After);
  }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), After);
    heap_.pop_back();
  }

 private:
  struct Entry {
    Timer timer;
    std::uint64_t sequence;
  };
  static bool After(const Entry& a, const Entry& b) {
    if (a.timer.time != b.timer.time) return a.timer.time > b.timer.time;
    if (a.timer.kind != b.timer.kind) return a.timer.kind > b.timer.kind;
    if (a.timer.index != b.timer.index) return a.timer.index > b.timer.index;
    return a.sequence > b.sequence;
  }
  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace berth
