// Job sizes of the generators, by spec and mean: "exponential", "deterministic", "lognormal(scv=4)",
// "bounded_pareto(alpha=1.5,range=1000)", "hyperexponential(scv=4)"; scv = variance / mean^2.
//
// The moments are here beside the draws because queueing formulas ask for them
// (tools/reproduce/queueing_theory.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "env/base/rng.hpp"
#include "env/base/spec.hpp"

namespace berth {

inline constexpr ParamInfo kSizesParam = {"sizes", "exponential",
                                          "exponential | deterministic | lognormal(scv=4) | "
                                          "bounded_pareto(alpha=1.5,range=1000): largest over smallest | "
                                          "hyperexponential(scv=4): two phases, balanced means"};

// An immutable value.
class SizeDistribution {
 public:
  // `mean` > 0. Throws Error with the nearest right name.
  static SizeDistribution Parse(const std::string& spec, double mean);

  double Draw(Stream& stream) const;  // > 0

  double PartialMoment(int n, double x) const;  // E[X^n; X <= x], n >= 0; x = kNever: the moment
  double Moment(int n) const;                   // E[X^n]
  double Cdf(double x) const { return PartialMoment(0, x); }
  double mean() const { return mean_; }
  double Scv() const { return Moment(2) / (mean_ * mean_) - 1.0; }
  double low() const { return low_; }                // smallest possible size
  double high() const { return high_; }              // largest, kNever = unbounded
  const std::string& spec() const { return spec_; }  // with every parameter

 private:
  enum class Kind : std::uint8_t { kDeterministic, kExponential, kLognormal, kBoundedPareto };

  Kind kind_ = Kind::kExponential;
  std::string spec_;
  double mean_ = 1.0;
  double low_ = 0.0, high_ = 0.0;
  double share_ = 1.0;                       // kExponential: of the first phase, otherwise the second
  double phase_mean_[2] = {1.0, 1.0};        // kExponential
  double mu_ = 0.0, sigma_ = 0.0;            // kLognormal: of the logarithm
  double alpha_ = 0.0, tail_at_high_ = 0.0;  // kBoundedPareto: (low / high)^alpha
};

}  // namespace berth
