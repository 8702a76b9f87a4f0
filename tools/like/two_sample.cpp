#include "tools/like/two_sample.hpp"

#include <algorithm>
#include <cmath>

#include "data/like/fit_memory.hpp"
#include "env/base/check.hpp"

namespace berth {

double KolmogorovTail(double x) {
  if (x < 0.2) return 1.0;  // the series needs many terms there, and is above 1 - 1e-12
  double sum = 0.0;
  for (int k = 1; k <= 100; ++k) {
    const double term = std::exp(-2.0 * k * k * x * x);
    sum += k % 2 == 1 ? term : -term;
    if (term < 1e-18) break;
  }
  return std::clamp(2.0 * sum, 0.0, 1.0);
}

// The regularised incomplete gamma function Q(degrees / 2, x / 2): its series below the mean, its continued
// fraction (Lentz) above (Press et al., Numerical Recipes, section 6.2).
double ChiSquareTail(double x, double degrees) {
  const double a = 0.5 * degrees, z = 0.5 * x;
  if (z <= 0.0) return 1.0;
  const double front = std::exp(a * std::log(z) - z - std::lgamma(a));
  if (z < a + 1.0) {
    double term = 1.0 / a, sum = term;
    for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) term *= z / n, sum += term;
    return std::clamp(1.0 - front * sum, 0.0, 1.0);
  }
  double b = z + 1.0 - a, c = 1e300, d = 1.0 / b, fraction = d;
  for (int i = 1; i < 10000; ++i) {
    const double an = -i * (i - a);
    b += 2.0;
    d = 1.0 / (an * d + b), c = b + an / c;
    fraction *= c * d;
    if (std::abs(c * d - 1.0) < 1e-15) break;
  }
  return std::clamp(front * fraction, 0.0, 1.0);
}

TwoSample KolmogorovSmirnov(std::vector<double> a, std::vector<double> b) {
  BERTH_CHECK(!a.empty() && !b.empty(), a.size(), " and ", b.size());
  std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  TwoSample result;
  result.statistic = result.distance = KolmogorovDistance(a, b);
  const double root = std::sqrt(n * m / (n + m));
  result.p = KolmogorovTail((root + 0.12 + 0.11 / root) * result.distance);
  return result;
}

TwoSample ChiSquare(std::span<const double> a, std::span<const double> b) {
  BERTH_CHECK(a.size() == b.size(), a.size(), " and ", b.size());
  double sum_a = 0.0, sum_b = 0.0;
  for (double count : a) sum_a += count;
  for (double count : b) sum_b += count;
  BERTH_CHECK(sum_a > 0.0 && sum_b > 0.0, sum_a, " and ", sum_b);
  TwoSample result;
  double rare_a = 0.0, rare_b = 0.0, categories = 0.0;
  const auto add = [&](double in_a, double in_b) {
    const double all = (in_a + in_b) / (sum_a + sum_b), off_a = in_a - all * sum_a,
                 off_b = in_b - all * sum_b;
    if (all > 0.0)
      result.statistic += off_a * off_a / (all * sum_a) + off_b * off_b / (all * sum_b), categories += 1.0;
  };
  for (std::size_t i = 0; i < a.size(); ++i) {
    result.distance += 0.5 * std::abs(a[i] / sum_a - b[i] / sum_b);
    const bool rare = (a[i] + b[i]) * std::min(sum_a, sum_b) < 5.0 * (sum_a + sum_b);
    if (rare)
      rare_a += a[i], rare_b += b[i];
    else
      add(a[i], b[i]);
  }
  add(rare_a, rare_b);
  if (categories > 1.0) result.p = ChiSquareTail(result.statistic, categories - 1.0);
  return result;
}

}  // namespace berth
