// Gavel's policies against recorded answers of the reference (`berth reproduce gavel --golden`).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth {

// The largest of one measure of one policy over all instances.
struct GoldenRow {
  std::string policy, what;
  double tolerance;
  int checks;
  double largest;
  std::string instance;  // where it is
  bool held() const { return largest <= tolerance; }
};
struct GoldenReport {
  int instances = 0;
  std::vector<GoldenRow> rows;         // in the order of the file
  std::map<std::string, int> skipped;  // "policy: reason", how often
};
// Any number of instances and jobs, any subset of policies. Throws Error for a file of another format or with
// nothing to check.
GoldenReport ReadAndCheckGolden(const std::string& path);

// Prints it: the largest deviation per policy and its tolerance; policies without a check are named as
// skipped. 0, or 1 where a deviation is beyond its tolerance.
int CheckGavelGolden(const std::string& file);

}  // namespace berth
