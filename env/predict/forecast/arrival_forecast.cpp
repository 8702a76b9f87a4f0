#include "env/predict/forecast/arrival_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace berth {

ArrivalForecast::ArrivalForecast(const std::string& forecaster, double bin_s, int refit)
    : forecaster_(MakeForecaster(forecaster)), bin_s_(bin_s), refit_(refit) {
  BERTH_CHECK(bin_s > 0.0 && refit >= 1, bin_s, " ", refit);
}

ArrivalForecast::ArrivalForecast(const ArrivalForecast& other)
    : forecaster_(other.forecaster_->Clone()),
      bin_s_(other.bin_s_),
      refit_(other.refit_),
      begin_(other.begin_),
      now_(other.now_),
      open_(other.open_),
      bins_(other.bins_) {}

void ArrivalForecast::Reset(double now) {
  begin_ = now_ = now;
  open_ = 0.0;
  bins_.clear();
  forecaster_->Fit({});
}

void ArrivalForecast::Advance(double now) {
  BERTH_CHECK(now >= now_, now, " after ", now_);
  now_ = now;
  while (BinEnd() <= now) {
    bins_.push_back(open_);
    open_ = 0.0;
    if (bins_.size() % static_cast<std::size_t>(refit_) == 0) {
      forecaster_->Fit(bins_);
    } else {
      forecaster_->Add(bins_.back());
    }
  }
}

void ArrivalForecast::CountArrivals(const ClusterView& view) {
  Advance(view.now());
  Count(static_cast<double>(view.arrived().size()));
}

double ArrivalForecast::Expected(double seconds) const {
  if (bins_.empty()) return 0.0;
  double sum = 0.0, from = now_;
  const double end = now_ + seconds;
  for (int steps = 1; from < end; ++steps) {
    const double bin_end =
        begin_ + static_cast<double>(bins_.size() + static_cast<std::size_t>(steps)) * bin_s_;
    const double to = std::min(end, bin_end);
    sum += std::max(0.0, forecaster_->Ahead(steps)) * (to - from) / bin_s_;
    from = to;
  }
  return sum;
}

}  // namespace berth
