// What is expected of the future by those who watch: how much will arrive, and how long jobs will run.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "env/predict/forecast/arrival_forecast.hpp"
#include "env/predict/prediction/size_predictor.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

struct ForecastSettings final : SettingsOf<ForecastSettings> {
  std::string model = "exponential";  // a forecaster's spec (env/predict/forecast/forecaster.hpp)
  double bin_s = 3600.0;              // s, steps of its series
  double horizon_s = 3600.0;          // s ahead that observations show
  std::string sizes = "residual";     // a predictor's spec (env/predict/prediction/size_predictor.hpp)

  static constexpr const char* kName = "forecast";
  static constexpr const char* kHelp = "arrivals are forecast and run times predicted, for all to see";
  static std::span<const Field<ForecastSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
};

// Reads nothing but what has arrived and ended, so anybody may see it. Copies go their own ways.
class ForecastState final : public StateOf<ForecastState, ForecastSettings> {
 public:
  explicit ForecastState(const ForecastSettings& settings);
  ForecastState(const ForecastState& other);
  ForecastState& operator=(const ForecastState&) = delete;

  // Expected to become ready to run within `seconds` from now: jobs, and GPUs that they ask for.
  double ExpectedJobs(double seconds) const { return jobs_.Expected(seconds); }
  double ExpectedGpus(double seconds) const { return gpus_.Expected(seconds); }
  double BinEnd() const { return jobs_.BinEnd(); }  // s, when what is expected is worked out anew
  // Total steps of a job, by those of its kind that have ended and by what it has done, where the view shows
  // that; twice what it has done where nothing has ended yet.
  double PredictedSteps(const ClusterView& view, int job) const;
  // s, of the whole job alone on its fastest type.
  double PredictedSeconds(const ClusterView& view, int job) const;
  int counted() const { return counted_; }  // jobs

  void OnReady(SimCore& core, int job, double time) override;
  void OnLeave(SimCore& core, int job, double time) override;
  void AfterAdvance(SimCore& core) override;
  // Every job that became ready is counted, once.
  std::string Violation(const InvariantInput& input) const override;

 private:
  ArrivalForecast jobs_, gpus_;
  std::unique_ptr<SizePredictor> sizes_;
  int counted_ = 0;
};

BlockInfo ForecastBlock();  // what observations show of it

}  // namespace berth
