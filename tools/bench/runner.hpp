// Measures rows, each in a process of its own, and reports them.
#pragma once

#include <string>
#include <vector>

#include "tools/bench/bench_rows.hpp"

namespace berth::bench {

struct RowReport {
  BenchRow row;
  Measured measured;                             // no values when the row was not measured
  std::string not_run;                           // cannot run here: the reason
  std::string failure;                           // should have run and did not
  double cpu_s = 0, wall_s = 0, peak_bytes = 0;  // of the row's process: preparation included

  bool has_target() const { return row.bound != Bound::kNone; }
  bool Met() const;  // median and memory; REQUIRES: has_target and values
};

RowReport MeasureRow(const BenchRow& row, const BenchSetup& setup, double limit_s);
std::vector<RowReport> MeasureRows(const std::vector<BenchRow>& rows, const BenchSetup& setup,
                                   double limit_s);

// "1,234,567", "12.3", "0.0412": three digits or more.
std::string Figure(double value);
std::string TableOf(const std::vector<RowReport>& reports);  // those not measured below it, with the reason
Json JsonOf(const RowReport& report);                        // keys: tools/bench/README.md

}  // namespace berth::bench
