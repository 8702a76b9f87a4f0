// How often what happened lay in the interval that was forecast, and intervals corrected by that.
//
// Conformal prediction (Romano, Patterson & Candes, Conformalized quantile regression, NeurIPS 2019, with
// each end on its own): both ends move by the factor that would have been right for the forecasts that are
// settled by now. A live site can do the same.
#pragma once

#include <vector>

#include "tools/forecast/start_forecast.hpp"

namespace berth {

class StartCalibration {
 public:
  // A forecast, seconds from when it was made, and what became of it: it started `actual` after that; or
  // `settled` false: it waits still, `actual` after that.
  void Add(const StartForecast& forecast, double actual, bool settled = true);
  // Moves low and high; at least 30 forecasts must be known, before which nothing changes.
  void Correct(double interval, std::vector<StartForecast>& forecasts) const;

 private:
  struct Past {
    double low, high, actual;  // s
  };
  std::vector<Past> past_;
};

}  // namespace berth
