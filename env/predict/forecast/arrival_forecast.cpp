#include "env/predict/forecast/arrival_forecast.hpp"

#include <algorithm>
#include <cmath>

namespace berth {

ArrivalForecast::ArrivalForecast(const std::string& forecaster, double bin_s, int refit)
    : forecaster_(MakeForecaster(forecaster)),
      bin_s_(bin_s),
      refit_(refit),
      next_fit_(static_cast<std::size_t>(refit)) {
  BERTH_CHECK(bin_s > 0.0 && refit >= 1, bin_s, " ", refit);
}

ArrivalForecast::ArrivalForecast(const ArrivalForecast& other)
    : forecaster_(other.forecaster_->Clone()),
      bin_s_(other.bin_s_),
      refit_(other.refit_),
      begin_(other.begin_),
      now_(other.now_),
      open_(other.open_),
      bins_(other.bins_),
      fit_(other.fit_),
      next_fit_(other.next_fit_),
      fitted_(other.fitted_),
      counted_(other.counted_) {}

void ArrivalForecast::Reset(double now) {
  begin_ = now_ = now;
  open_ = 0.0;
  bins_.clear();
  fit_ = fitted_ = counted_ = 0;
  next_fit_ = static_cast<std::size_t>(refit_);
  forecaster_->Fit({});
}

void ArrivalForecast::Advance(double now) {
  BERTH_CHECK(now >= now_, now, " after ", now_);
  now_ = now;
  while (BinEnd() <= now) {
    bins_.push_back(open_);
    open_ = 0.0;
    if (bins_.size() < next_fit_) continue;
    fit_ = next_fit_;
    next_fit_ += std::max(static_cast<std::size_t>(refit_), fit_ < kOften ? 0 : fit_ / 10);
  }
}

// A fit forgets what was before it: those that nobody asked after make no difference.
void ArrivalForecast::CatchUp() const {
  if (fitted_ < fit_) {
    forecaster_->Fit(std::span(bins_).first(fit_));
    fitted_ = counted_ = fit_;
  }
  for (; counted_ < bins_.size(); ++counted_) forecaster_->Add(bins_[counted_]);
}

void ArrivalForecast::CountArrivals(const ClusterView& view) {
  Advance(view.now());
  Count(static_cast<double>(view.arrived().size()));
}

double ArrivalForecast::Expected(double seconds) const {
  if (bins_.empty()) return 0.0;
  CatchUp();
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
