#include "env/features/power/electricity.hpp"

#include <cmath>
#include <limits>

namespace berth {

double PriceAt(const std::vector<double>& hours, double t) {
  if (hours.empty()) return 0.0;
  const double hour = std::floor(t / 3600.0);
  const double n = static_cast<double>(hours.size());
  return hours[static_cast<std::size_t>(hour - n * std::floor(hour / n))];
}

double NextPrice(const std::vector<double>& hours, double t) {
  const double now = PriceAt(hours, t);
  for (std::size_t k = 1; k < hours.size(); ++k) {
    const double next = 3600.0 * (std::floor(t / 3600.0) + static_cast<double>(k));
    if (PriceAt(hours, next) != now) return next;
  }
  return std::numeric_limits<double>::infinity();
}

double PriceIntegral(const std::vector<double>& hours, double t) {
  if (hours.empty()) return 0.0;
  const double cycle = 3600.0 * static_cast<double>(hours.size());
  const double cycles = std::floor(t / cycle);
  double rest = t - cycle * cycles;
  double sum = 0.0, part = 0.0;
  for (double price : hours) {
    sum += 3600.0 * price;
    const double within = rest < 3600.0 ? rest : 3600.0;
    part += within * price;
    rest -= within;
  }
  return cycles * sum + part;
}

}  // namespace berth
