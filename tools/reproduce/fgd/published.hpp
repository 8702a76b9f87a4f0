// The published outcome of the allocation experiment, run by run (expected_results of the authors' artefact).
#pragma once

#include <string>
#include <vector>

namespace berth::fgd {

struct PublishedRun {
  std::string workload;            // "openb_pod_list_default"
  std::string policy;              // Policy::published
  std::vector<double> by_percent;  // [kPercents] % of capacity by % of capacity arrived; NaN = none
};
// analysis_allo_discrete.csv, analysis_frag_discrete.csv; plain or gzip. Throws Error.
std::vector<PublishedRun> ReadPublishedRuns(const std::string& path);

// Of several runs at one percentage.
struct Spread {
  double mean = 0.0, sd = 0.0, low = 0.0, high = 0.0;
  int runs = 0;  // 0: the rest says nothing
  bool Holds(double value) const { return runs > 0 && value >= low && value <= high; }
};
Spread SpreadOf(const std::vector<double>& values);  // NaN are passed over

}  // namespace berth::fgd
