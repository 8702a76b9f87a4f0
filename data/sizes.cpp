#include "data/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

constexpr ParamInfo kLognormalParams[] = {{"scv", "4", "variance / mean^2, > 0"}};
constexpr ParamInfo kHyperexponentialParams[] = {{"scv", "4", "variance / mean^2, at least 1"}};
constexpr ParamInfo kBoundedParetoParams[] = {
    {"alpha", "1.5", "tail exponent, > 0"},
    {"range", "1000", "largest over smallest size, > 1"},
};

// A size of 0 is no job: what a draw may round to is lifted to this share of the mean (chance below 2^-52).
constexpr double kLeast = 0x1.0p-60;

// Integral of n-th power times the exponential density of mean m over [0, x], by parts.
double ExponentialPartial(int n, double x, double m) {
  const double tail = x == kNever ? 0.0 : std::exp(-x / m);
  double integral = x == kNever ? 1.0 : -std::expm1(-x / m);
  double power = 1.0;
  for (int k = 1; k <= n; ++k) {
    power *= x == kNever ? 0.0 : x;
    integral = k * m * integral - power * tail;
  }
  return integral;
}

}  // namespace

SizeDistribution SizeDistribution::Parse(const std::string& text, double mean) {
  BERTH_CHECK(mean > 0.0, "mean size ", mean);
  const Spec parsed = ParseSpec(text);
  SizeDistribution d;
  d.mean_ = mean;
  d.high_ = kNever;
  const auto read = [&](std::span<const ParamInfo> infos, auto&& fill) {
    Params params(parsed, infos);
    fill(params);
    params.CheckAllRead();
    d.spec_ = params.Resolved();
  };
  if (parsed.name == "deterministic") {
    d.kind_ = Kind::kDeterministic;
    d.low_ = d.high_ = mean;
    read({}, [](Params&) {});
  } else if (parsed.name == "exponential") {
    d.phase_mean_[0] = d.phase_mean_[1] = mean;
    read({}, [](Params&) {});
  } else if (parsed.name == "hyperexponential") {
    // Two phases with balanced means (Morse 1958; Allen 1990 §3.2.9): each contributes half of the mean.
    read(kHyperexponentialParams, [&](Params& params) {
      const double scv = params.Number("scv", 1.0, 1e6);
      d.share_ = 0.5 * (1.0 + std::sqrt((scv - 1.0) / (scv + 1.0)));
      d.phase_mean_[0] = mean / (2.0 * d.share_);
      d.phase_mean_[1] = mean / (2.0 * (1.0 - d.share_));
    });
  } else if (parsed.name == "lognormal") {
    d.kind_ = Kind::kLognormal;
    read(kLognormalParams, [&](Params& params) {
      const double variance = Log(1.0 + params.Number("scv", 1e-6, 1e6));
      d.sigma_ = std::sqrt(variance);
      d.mu_ = Log(mean) - 0.5 * variance;
    });
  } else if (parsed.name == "bounded_pareto") {
    // B(k, p, alpha) of Crovella, Harchol-Balter & Murta (1998): P(X > x) falls as x^-alpha between k and p.
    d.kind_ = Kind::kBoundedPareto;
    read(kBoundedParetoParams, [&](Params& params) {
      d.alpha_ = params.Number("alpha", 0.01, 100.0);
      const double range = params.Number("range", 1.0 + 1e-6, 1e12);
      d.tail_at_high_ = Pow(range, -d.alpha_);
      d.low_ = 1.0;
      d.high_ = range;
      d.low_ = mean / d.PartialMoment(1, kNever);
      d.high_ = d.low_ * range;
    });
  } else {
    static const std::vector<std::string> kNames = {"exponential", "deterministic", "lognormal",
                                                    "bounded_pareto", "hyperexponential"};
    throw Error(
        Join("sizes: expected exponential, deterministic, lognormal(...), bounded_pareto(...) or "
             "hyperexponential(...), found '",
             parsed.name, "'", DidYouMean(parsed.name, kNames)));
  }
  return d;
}

double SizeDistribution::Draw(Stream& stream) const {
  double size = mean_;
  switch (kind_) {
    case Kind::kDeterministic:
      break;
    case Kind::kExponential: {
      const int phase = share_ < 1.0 && stream.Uniform() >= share_ ? 1 : 0;
      size = stream.Exponential(phase_mean_[phase]);
      break;
    }
    case Kind::kLognormal:
      size = Exp(mu_ + sigma_ * stream.Normal());
      break;
    case Kind::kBoundedPareto:  // by the inverse of P(X > x)
      size = low_ * Pow(1.0 - stream.Uniform() * (1.0 - tail_at_high_), -1.0 / alpha_);
      size = std::clamp(size, low_, high_);
      break;
  }
  return std::max(size, kLeast * mean_);
}

double SizeDistribution::PartialMoment(int n, double x) const {
  if (x < low_ || x <= 0.0) return 0.0;
  switch (kind_) {
    case Kind::kDeterministic:
      return std::pow(mean_, n);
    case Kind::kExponential:
      return share_ * ExponentialPartial(n, x, phase_mean_[0]) +
             (1.0 - share_) * ExponentialPartial(n, x, phase_mean_[1]);
    case Kind::kLognormal: {
      const double whole = std::exp(n * mu_ + 0.5 * n * n * sigma_ * sigma_);
      if (x == kNever) return whole;
      return whole * 0.5 * std::erfc((mu_ + n * sigma_ * sigma_ - std::log(x)) / (sigma_ * std::sqrt(2.0)));
    }
    case Kind::kBoundedPareto:
      break;
  }
  const double top = std::min(x, high_) / low_;
  const double power = n - alpha_;
  const double integral = power == 0.0 ? std::log(top) : (std::pow(top, power) - 1.0) / power;
  return alpha_ * std::pow(low_, n) * integral / (1.0 - tail_at_high_);
}

double SizeDistribution::Moment(int n) const {
  return PartialMoment(n, kNever);
}

}  // namespace berth
