#include "env/features/forecast/forecast.hpp"

#include <array>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
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
    : StateOf(other),
      jobs_(other.jobs_),
      gpus_(other.gpus_),
      sizes_(other.sizes_->Clone()),
      counted_(other.counted_) {}

double ForecastState::PredictedSteps(const ClusterView& view, int job) const {
  const double attained = view.granted() >= Knowledge::kBlind ? view.AttainedSteps(job) : 0.0;
  return sizes_->Predict(KindOf(view, job), attained);
}

double ForecastState::PredictedSeconds(const ClusterView& view, int job) const {
  return PredictedSteps(view, job) / view.BestRate(job);
}

std::unique_ptr<FeatureState> ForecastSettings::MakeState(const Scenario&) const {
  return std::make_unique<ForecastState>(*this);
}

void ForecastState::OnReady(SimCore& core, int job, double time) {
  jobs_.Advance(time), gpus_.Advance(time);
  jobs_.Count(1.0);
  gpus_.Count(core.scenario().data().jobs.gang[U(job)]);
  ++counted_;
}

void ForecastState::OnLeave(SimCore& core, int job, double /*time*/) {
  if (core.state().phase[U(job)] != JobPhase::kDone) return;
  sizes_->Add(KindOf(core.View(Knowledge::kNone), job), core.state().steps_done[U(job)]);
}

void ForecastState::AfterAdvance(SimCore& core) {
  jobs_.Advance(core.now()), gpus_.Advance(core.now());
}

std::string ForecastState::Violation(const InvariantInput& in) const {
  int here = 0, known = 0;  // who was blocked by a rejected job is known, and never was here
  for (const JobPhase phase : in.state.phase) {
    here += phase == JobPhase::kWaiting || phase == JobPhase::kRunning || phase == JobPhase::kDone;
    known += phase != JobPhase::kFuture;
  }
  if (counted_ >= here && counted_ <= known) return "";
  return Join("the forecast counted ", counted_, " jobs of ", here, " to ", known);
}

FeatureModule ForecastFeature() {
  static constexpr BlockInfo (*kBlocks[])() = {ForecastBlock};
  FeatureModule module = ModuleOf<ForecastSettings>();
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth
