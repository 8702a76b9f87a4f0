// How much will arrive: arrivals (or any amount that they bring) counted in bins of equal length, and a
// forecaster on those counts. For schedulers, and for observations.
//
//   ArrivalForecast forecast("holt_winters", 3600.0);
//   in Reset:   forecast.Reset(view.now());
//   in Decide:  forecast.CountArrivals(view);
//               double jobs = forecast.Expected(1800.0);      // in the next half hour
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/predict/forecast/forecaster.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// Thread rule: one thread at a time. Bins begin at the time of Reset; times never go back.
class ArrivalForecast {
 public:
  // The model is that fitted to all of the past at the last multiple of `refit` bins; beyond kOften bins at
  // the last of points that lie a tenth of the past apart, so that all fits cost what some ten of the last do.
  // It is fitted when somebody asks. Throws Error for an unknown forecaster.
  ArrivalForecast(const std::string& forecaster, double bin_s, int refit = 24);
  ArrivalForecast(const ArrivalForecast& other);
  ArrivalForecast& operator=(const ArrivalForecast&) = delete;
  void Reset(double now);
  static constexpr std::size_t kOften = 4800;

  // Time is `now`; bins that have ended are handed to the model.
  void Advance(double now);
  void Count(double amount) { open_ += amount; }  // at the time of the last Advance
  void CountArrivals(const ClusterView& view);    // Advance(now), and 1 for each of view.arrived()

  // Of what is counted, expected in (now, now + seconds]. 0 until a bin has ended; never negative.
  double Expected(double seconds) const;
  double BinEnd() const {  // s, of the bin that has not ended
    return begin_ + static_cast<double>(bins_.size() + 1) * bin_s_;
  }
  std::span<const double> bins() const { return bins_; }  // of those that have ended

 private:
  void CatchUp() const;  // the model with the bins that have ended

  std::unique_ptr<Forecaster> forecaster_;
  double bin_s_;
  int refit_;
  double begin_ = 0.0, now_ = 0.0;
  double open_ = 0.0;                             // counted in the bin that has not ended
  std::vector<double> bins_;                      // of those that have
  std::size_t fit_ = 0, next_fit_;                // bins, of the last fit that is due and of the next
  mutable std::size_t fitted_ = 0, counted_ = 0;  // bins that the model was fitted to, and has
};

}  // namespace berth
