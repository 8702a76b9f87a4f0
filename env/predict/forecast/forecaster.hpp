// Forecasts of a series at equal steps, such as arrivals an hour. Adding a model is a file with
// `ForecasterInfo XForecaster()` and a line in the table.
//
//   auto forecaster = MakeForecaster("holt_winters(season=24)");
//   forecaster->Fit(history);            // parameters from the past; continues from its end
//   double next = forecaster->Ahead(1);
//   forecaster->Add(observed);           // time moves on by one step
#pragma once

#include <memory>
#include <span>
#include <string>

#include "env/base/spec.hpp"

namespace berth {

// Before it has seen anything a forecaster expects 0, before it has seen enough for its model the mean of
// what it has seen. Thread rule: one thread at a time.
class Forecaster {
 public:
  virtual ~Forecaster() = default;
  // Forgets, chooses the parameters that are to be fitted by the history, and runs through it.
  virtual void Fit(std::span<const double> history) = 0;
  virtual void Add(double value) = 0;
  virtual double Ahead(int steps) const = 0;  // expected value, `steps` >= 1 after the last
  virtual std::unique_ptr<Forecaster> Clone() const = 0;
};

struct ForecasterInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
  std::unique_ptr<Forecaster> (*make)(Params& params);
};

#define BERTH_FORECASTERS(X) \
  X(Last)                    \
  X(Mean)                    \
  X(SeasonalNaive)           \
  X(Exponential)             \
  X(HoltWinters)             \
  X(Autoregression)

#define BERTH_DECLARE(Name) ForecasterInfo Name##Forecaster();
BERTH_FORECASTERS(BERTH_DECLARE)
#undef BERTH_DECLARE

// The table, in the order of the list.
std::span<const ForecasterInfo> Forecasters();
// Throws Error for unknown names or parameters, with the nearest name.
std::unique_ptr<Forecaster> MakeForecaster(const std::string& spec);

}  // namespace berth
