// How fast jobs run on more or fewer GPUs than their gangs, where a feature lets them: a table that it fills
// once a scenario.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace berth {

class RatesByWidth {
 public:
  struct Class {        // jobs alike in all that matters here
    int low, high;      // GPUs
    std::size_t begin;  // of its rates [G, high - low + 1]
  };
  std::vector<std::size_t> class_of;  // [J]
  std::vector<Class> classes;
  std::vector<double> rates;  // steps/s, 0 = cannot run so

  double Rate(int job, int type, int width) const {
    const Class& c = classes[class_of[static_cast<std::size_t>(job)]];
    if (width < c.low || width > c.high) return 0.0;
    return rates[c.begin + static_cast<std::size_t>(type) * static_cast<std::size_t>(c.high - c.low + 1) +
                 static_cast<std::size_t>(width - c.low)];
  }
  // [Max - Min + 1] on Min, Min + 1, ... GPUs.
  std::span<const double> Curve(int job, int type) const {
    const Class& c = classes[class_of[static_cast<std::size_t>(job)]];
    const auto widths = static_cast<std::size_t>(c.high - c.low + 1);
    return {rates.data() + c.begin + static_cast<std::size_t>(type) * widths, widths};
  }
  int Min(int job) const { return classes[class_of[static_cast<std::size_t>(job)]].low; }
  int Max(int job) const { return classes[class_of[static_cast<std::size_t>(job)]].high; }
};

}  // namespace berth
