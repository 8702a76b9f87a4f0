#include "env/features/forecast/forecast.hpp"

#include <array>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// What `make` throws, with the setting in front.
template <class Make>
void CheckSpec(const char* setting, const std::string& spec, const Make& make) {
  try {
    make(spec);
  } catch (const Error& error) {
    throw Error(Join("feature 'forecast': ", setting, ": ", error.what()));
  }
}

}  // namespace

std::span<const Field<ForecastSettings>> ForecastSettings::Fields() {
  using S = ForecastSettings;
  static const std::array kFields = {
      Field<S>{"model", &S::model, "of arrivals: last, mean, seasonal_naive, exponential, holt_winters, ar"},
      Field<S>{"bin_s", &S::bin_s, "s, steps of the series of arrivals", 1.0},
      Field<S>{"horizon_s", &S::horizon_s, "s ahead that observations show", 1.0},
      Field<S>{"sizes", &S::sizes, "of run times, from jobs that ended: residual, recent, request"},
  };
  return kFields;
}

void ForecastSettings::Check(const ScenarioData&) const {
  CheckSpec("model", model, MakeForecaster);
  CheckSpec("sizes", sizes, MakeSizePredictor);
}

ForecastState::ForecastState(const ForecastSettings& settings)
    : jobs_(settings.model, settings.bin_s),
      gpus_(settings.model, settings.bin_s),
      sizes_(MakeSizePredictor(settings.sizes)) {}

ForecastState::ForecastState(const ForecastState& other)
    : jobs_(other.jobs_), gpus_(other.gpus_), sizes_(other.sizes_->Clone()), counted_(other.counted_) {}

double ForecastState::PredictedSteps(const ClusterView& view, int job) const {
  const double attained = view.granted() >= Knowledge::kBlind ? view.AttainedSteps(job) : 0.0;
  return sizes_->Predict(KindOf(view, job), attained);
}

double ForecastState::PredictedSeconds(const ClusterView& view, int job) const {
  return PredictedSteps(view, job) / view.BestRate(job);
}

void ForecastEngine::Start(Simulator& sim) {
  const ForecastState state(*sim.scenario().data().features.forecast);
  sim.state_.forecast = Owned<ForecastState>::Make(state);
}

void ForecastEngine::OnReady(Simulator& sim, int job, double time) {
  ForecastState& state = *sim.state_.forecast;
  state.jobs_.Advance(time), state.gpus_.Advance(time);
  state.jobs_.Count(1.0);
  state.gpus_.Count(sim.scenario().data().jobs.gang[U(job)]);
  ++state.counted_;
}

void ForecastEngine::OnComplete(Simulator& sim, int job) {
  const ClusterView view = sim.View(Knowledge::kNone);
  sim.state_.forecast->sizes_->Add(KindOf(view, job), sim.state_.steps_done[U(job)]);
}

void ForecastEngine::Advance(Simulator& sim) {
  ForecastState& state = *sim.state_.forecast;
  state.jobs_.Advance(sim.now()), state.gpus_.Advance(sim.now());
}

std::string ForecastViolation(const InvariantInput& in) {
  const SimState& s = in.state;
  if (!s.forecast) return "";
  int here = 0, known = 0;  // who was blocked by a rejected job is known, and never was here
  for (const JobPhase phase : s.phase) {
    here += phase == JobPhase::kWaiting || phase == JobPhase::kRunning || phase == JobPhase::kDone;
    known += phase != JobPhase::kFuture;
  }
  const int counted = s.forecast->counted();
  if (counted >= here && counted <= known) return "";
  return Join("the forecast counted ", counted, " jobs of ", here, " to ", known);
}

}  // namespace berth
