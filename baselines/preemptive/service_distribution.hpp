// Sizes of jobs as a distribution of equally likely values, and the Gittins index of a job that had some
// service (Gittins 1979; Aalto, Ayesta & Righter 2009, eq. 1):
//
//   G(a) = sup over D > 0 of P(S - a <= D | S > a) / E[min(S - a, D) | S > a].
#pragma once

#include <string>
#include <vector>

namespace berth {

class ServiceDistribution {
 public:
  void Clear() { sizes_.clear(); }
  void Add(double size);  // >= 0
  bool empty() const { return sizes_.empty(); }
  // "60:600:3600": sizes > 0, one may stand more than once. Throws Error naming `what`.
  static ServiceDistribution Parse(const std::string& text, const std::string& what);

  // 1/size. With delta > 0 this D alone, as in Tiresias' simulator, otherwise the supremum, which is attained
  // where a job may end. 0 when no value is above `attained`. O(values).
  double GittinsIndex(double attained, double delta = 0.0) const;

 private:
  std::vector<double> sizes_;  // ascending
};

// Positive numbers between colons, as in "3250:7200". Throws Error naming `what`.
std::vector<double> ParsePositiveList(const std::string& text, const std::string& what);

}  // namespace berth
