// How rows are measured: CPU time, which stands on a shared machine as wall time does not; several repeats;
// the median with what lies around it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/json.hpp"

namespace berth::bench {

double CpuSeconds();       // user and system time of this process so far, all threads, those that ended too
double WallSeconds();      // monotonic
double PeakMemoryBytes();  // resident set of this process at its largest (VmHWM), 0 where not stated
void ForgetPeakMemory();   // counts the peak from now on, where the kernel lets us

inline constexpr double kMib = 1024.0 * 1024.0;  // bytes

struct Cost {
  double cpu_s = 0, wall_s = 0;
};
template <class F>
Cost CostOf(const F& work) {
  const double cpu = CpuSeconds(), wall = WallSeconds();
  work();
  return {CpuSeconds() - cpu, WallSeconds() - wall};
}

struct Spread {
  double median = 0, low = 0, high = 0;
  // (high - low) / median: 0.1 means that the repeats lie within 10% of one another. 0 of a single value.
  double relative = 0;
};
Spread SpreadOf(std::span<const double> values);  // REQUIRES: not empty

// Calls `work`, which says how many units it did, again and again for `seconds` of CPU time: units per
// CPU-second, one value a repeat. One call comes before, untimed.
std::vector<double> RatesPerCpuSecond(double seconds, int repeats, const std::function<std::int64_t()>& work);
// Those of `work` over those of `other`, measured in turn, so that what else the machine does meets both.
std::vector<double> RatiosInTurn(double seconds, int repeats, const std::function<std::int64_t()>& work,
                                 const std::function<std::int64_t()>& other);

// Of a measurement of two threads by wall time: "" when they had two cores, else that the figure says little.
// overhead: CPU time of two threads over that of one, for the same work, which stands all the same.
std::string TwoThreadsNote(double cores_given, double overhead);

// What a figure was measured on. Keys: cpu, cores, memory_bytes, kernel, compiler, load_1min, host.
Json MachineJson();

}  // namespace berth::bench
