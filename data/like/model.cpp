#include "data/like/model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth {

double LikeQuantiles::At(double share) const {
  BERTH_DCHECK(!values.empty() && share >= 0.0 && share <= 1.0, values.size(), " ", share);
  if (values.size() == 1) return values[0];
  const double at = share * static_cast<double>(values.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(at), values.size() - 2);
  const double low = values[i], high = values[i + 1], part = at - static_cast<double>(i);
  if (low == high) return low;
  const double value = low > 0.0 ? low * Pow(high / low, part) : low + part * (high - low);
  return std::clamp(value, low, high);
}

// Of each step the mean of what lies straight between two logarithms, (high - low) / ln(high / low).
double LikeQuantiles::Mean() const {
  if (values.size() == 1) return values[0];
  double sum = 0.0;
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double low = values[i], high = values[i + 1];
    const bool straight = low == 0.0 || high - low <= 1e-6 * low;
    sum += straight ? 0.5 * (low + high) : (high - low) / Log(high / low);
  }
  return sum / static_cast<double>(values.size() - 1);
}

// Marsaglia, "Evaluating the normal distribution", Journal of Statistical Software 11(4), 2004: the series
// z + z^3/3 + z^5/(3 5) + ...
double NormalShare(double score) {
  if (score < -8.0) return 0.0;
  if (score > 8.0) return 1.0;
  double term = score, sum = score;
  for (double odd = 3.0; std::abs(term) > 1e-17 * std::abs(sum); odd += 2.0) {
    term *= score * score / odd;
    sum += term;
  }
  return std::clamp(0.5 + sum * Exp(-0.5 * score * score - 0.91893853320467274178), 0.0, 1.0);
}

double NormalScore(double share) {
  double low = -8.0, high = 8.0;
  for (int i = 0; i < 48; ++i) {
    const double middle = 0.5 * (low + high);
    (NormalShare(middle) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double LikeRunSeconds(const ScenarioData& data, std::size_t job) {
  const auto first =
      data.throughputs.alone.begin() + static_cast<std::ptrdiff_t>(AloneRow(data, static_cast<int>(job)));
  return data.jobs.total_steps[job] / *std::max_element(first, first + std::ssize(data.cluster.types));
}

}  // namespace berth
