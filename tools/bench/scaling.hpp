// How costs grow: time and memory against jobs, queue, GPUs, types, environments and threads, each with the
// exponent of the power law through its points.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/json.hpp"

namespace berth::bench {

// How a cost grows: y = c x^k through measured points.
struct PowerLaw {
  double exponent = 0, factor = 0;  // k, c
  double residual = 0;              // the largest |log(y / c x^k)|: 0.1 = the worst point is 10% off
};

// Least squares of log y over log x. REQUIRES: as many y as x, at least two different x, all > 0.
PowerLaw FitPowerLaw(std::span<const double> x, std::span<const double> y);

struct ScalingPoint {
  double x = 0;
  double cpu_s = 0, wall_s = 0;  // of the work alone
  double peak_bytes = 0;         // of its process, preparation included
};
struct ScalingReport {
  std::string name, what, axis;
  std::string expected;              // exponent of CPU time that the method has on paper
  std::vector<ScalingPoint> points;  // as many as were measured
  std::string failure;               // why later ones are missing, or ""
  std::string not_run;               // why it cannot be measured here, or ""
  PowerLaw time, memory;             // through the points; of threads `time` is of wall time
  bool fitted = false;               // two points or more
};

// `only`: sweeps or groups of them by commas, all when it is empty. `limit_s`: wall time after which a point,
// and with it the rest of its sweep, is given up.
std::vector<ScalingReport> MeasureScaling(const std::string& only, double limit_s);
std::string TableOf(const std::vector<ScalingReport>& reports);
Json JsonOf(const std::vector<ScalingReport>& reports);

}  // namespace berth::bench
