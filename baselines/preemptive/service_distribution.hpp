// Sizes of jobs as a distribution of equally likely values, and the Gittins index of a job that had some
// service (Gittins 1979; Aalto, Ayesta & Righter 2009, eq. 1):
//
//   G(a) = sup over D > 0 of P(S - a <= D | S > a) / E[min(S - a, D) | S > a].
#pragma once

#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// Of a service: a sum may come a rounding error short of what a job has had, and a wake-up early by one.
inline constexpr double kServiceRounding = 1e-9;

class ServiceDistribution {
 public:
  void Clear() { sizes_.clear(); }
  void Add(double size);  // >= 0
  bool empty() const { return sizes_.empty(); }
  // "60:600:3600": sizes > 0, one may stand more than once. Throws Error naming `what`.
  static ServiceDistribution Parse(const std::string& text, const std::string& what);

  // 1/size. With delta > 0 this D alone, as in Tiresias' simulator, otherwise the supremum, which is attained
  // where a job may end. 0 when no value is above `attained`, but for rounding. O(values).
  double GittinsIndex(double attained, double delta = 0.0) const;

 private:
  std::vector<double> sizes_;  // ascending
};

// Positive numbers between colons, as in "3250:7200". Throws Error naming `what`.
std::vector<double> ParsePositiveList(const std::string& text, const std::string& what);

inline constexpr ParamInfo kServicesParam = {
    "services", "learned",
    "GPU-seconds that jobs need, equally likely, as in 600:600:7200; learned = those of completed jobs"};
inline constexpr ParamInfo kDeltaParam = {
    "delta", "0",
    "GPU-seconds ahead that the index looks at, as in Tiresias' simulator (3250); 0 = the best"};

// The service distribution that a blind scheduler goes by: given in its parameters, or the GPU-seconds of the
// jobs that it has seen complete.
class LearnedServices {
 public:
  explicit LearnedServices(Params& params);  // reads services and delta
  void Reset();
  void Learn(const ClusterView& view);  // at every decision point; needs kBlind
  double Index(double attained) const { return now_.GittinsIndex(attained, delta_); }

 private:
  bool learns_;
  ServiceDistribution given_, now_;
  double delta_;
};

// GPU-seconds that a job has had, on its gang or, where a feature lets it, on other numbers of GPUs; needs
// kBlind.
inline double AttainedGpuSeconds(const ClusterView& view, int job) {
  return view.plain() ? view.AttainedSeconds(job) * view.Gang(job) : view.AttainedGpuSeconds(job);
}

}  // namespace berth
