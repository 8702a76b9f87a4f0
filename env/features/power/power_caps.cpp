// Caps: which clocks are lowered, and how far. Worked out anew from what was asked for whenever something
// changes, so clocks rise again as soon as they may.
//
//   uniform: one ceiling for all, the highest level under which the GPUs draw no more than the cap
//   highest: who draws most goes down a level (the lowest-numbered of those who draw the same), until they do
//
// Greedy reduction of the highest consumer: as Intel's node managers and Etinski et al., "Power-aware job
// scheduling in HPC centers" (2012) assign frequencies under a budget; uniform: what vendors' tools set.
#include <algorithm>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

struct Range {
  PowerState& power;
  int begin, end;

  double Watts(int gpu, int level) const { return WattsAt(power, gpu, level, power.next_duty[U(gpu)]); }
  double Sum(int ceiling) const {
    double sum = 0.0;
    for (int gpu = begin; gpu < end; ++gpu)
      sum += Watts(gpu, std::min<int>(power.next_level[U(gpu)], ceiling));
    return sum;
  }
  void Lower(int ceiling) {
    for (int gpu = begin; gpu < end; ++gpu)
      power.next_level[U(gpu)] = static_cast<std::uint8_t>(std::min<int>(power.next_level[U(gpu)], ceiling));
  }
};

void HoldUniformly(Range range, double cap, int top) {
  int ceiling = top - 1;
  while (ceiling > 0 && range.Sum(ceiling) > cap) --ceiling;
  range.Lower(ceiling);
}

void HoldHighest(Range range, double cap, double sum) {
  std::vector<std::pair<double, int>> heap;  // (watts, -GPU): the most first, the lowest-numbered on ties
  for (int gpu = range.begin; gpu < range.end; ++gpu) {
    const int level = range.power.next_level[U(gpu)];
    if (level > 0 && range.power.load[U(gpu)] > 0) heap.emplace_back(range.Watts(gpu, level), -gpu);
  }
  std::make_heap(heap.begin(), heap.end());
  while (sum > cap && !heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const auto [watts, minus] = heap.back();
    heap.pop_back();
    const int level = --range.power.next_level[U(-minus)];
    const double less = range.Watts(-minus, level);
    sum += less - watts;
    if (level == 0) continue;
    heap.emplace_back(less, minus);
    std::push_heap(heap.begin(), heap.end());
  }
}

}  // namespace

void HoldCap(const PowerSettings& settings, PowerState& power, int begin, int end, double cap) {
  if (cap == kNever) return;
  const int top = static_cast<int>(power.dynamic_share.size()) - 1;
  const Range range{power, begin, end};
  const double sum = range.Sum(top);
  if (sum <= cap) return;
  if (settings.cap_rule == "uniform") {
    HoldUniformly(range, cap, top);
  } else {
    HoldHighest(range, cap, sum);
  }
  const double lowest = range.Sum(top);
  if (lowest <= cap) return;
  // At the lowest level, and still too much: clocked part of the time.
  double idle = 0.0;
  for (int gpu = begin; gpu < end; ++gpu) idle += power.idle_w[power.type[U(gpu)]];
  const double share = (cap - idle) / (lowest - idle);
  for (int gpu = begin; gpu < end; ++gpu) {
    if (power.load[U(gpu)] > 0) power.next_duty[U(gpu)] *= share;
  }
}

}  // namespace berth
