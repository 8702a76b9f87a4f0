// What is expected of the future by those who watch: how much will arrive, and how long jobs will run.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "env/features/field.hpp"
#include "env/predict/forecast/arrival_forecast.hpp"
#include "env/predict/prediction/size_predictor.hpp"

namespace berth {

struct ForecastSettings {
  std::string model = "exponential";  // a forecaster's spec (env/predict/forecast/forecaster.hpp)
  double bin_s = 3600.0;              // s, steps of its series
  double horizon_s = 3600.0;          // s ahead that observations show
  std::string sizes = "residual";     // a predictor's spec (env/predict/prediction/size_predictor.hpp)

  static constexpr const char* kHelp = "arrivals are forecast and run times predicted, for all to see";
  static std::span<const Field<ForecastSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

// Reads nothing but what has arrived and ended, so anybody may see it. Copies go their own ways.
class ForecastState {
 public:
  explicit ForecastState(const ForecastSettings& settings);
  ForecastState(const ForecastState& other);
  ForecastState& operator=(const ForecastState&) = delete;

  // Expected to become ready to run within `seconds` from now: jobs, and GPUs that they ask for.
  double ExpectedJobs(double seconds) const { return jobs_.Expected(seconds); }
  double ExpectedGpus(double seconds) const { return gpus_.Expected(seconds); }
  double BinEnd() const { return jobs_.BinEnd(); }  // s, when what is expected is worked out anew
  // Total steps of a job, by those of its kind that have ended and by what it has done, where the view shows
  // that; 0 = nothing has ended yet.
  double PredictedSteps(const ClusterView& view, int job) const;
  // s, of the whole job alone on its fastest type.
  double PredictedSeconds(const ClusterView& view, int job) const;
  int counted() const { return counted_; }  // jobs

 private:
  friend class ForecastEngine;
  ArrivalForecast jobs_, gpus_;
  std::unique_ptr<SizePredictor> sizes_;
  int counted_ = 0;
};

class Simulator;
struct InvariantInput;

// Its part of the simulator.
class ForecastEngine {
 public:
  static void Start(Simulator& simulator);
  static void OnReady(Simulator& simulator, int job, double time);
  static void OnComplete(Simulator& simulator, int job);
  static void Advance(Simulator& simulator);  // to a decision point
};

// Every job that became ready is counted, once.
std::string ForecastViolation(const InvariantInput& input);

}  // namespace berth
