// A mean JCT against load, and the load that it sustains.
#pragma once

#include <span>

namespace berth {

struct LoadPoint {
  double rate;   // jobs/h
  double jct_h;  // mean
};

// The largest rate at which the mean JCT stays under twice that of the lowest rate, linear between the two
// points that enclose it. Where no point reaches twice, the highest rate, and `reached` is false: a lower
// bound.
struct SustainedLoad {
  double rate = 0.0;
  bool reached = false;
};
SustainedLoad Sustained(std::span<const LoadPoint> ascending);  // at least one point

}  // namespace berth
