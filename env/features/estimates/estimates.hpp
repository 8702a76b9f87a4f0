// Schedulers see estimated throughputs in place of the true ones; the simulator runs the truth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

// What cannot run is known: estimates are 0 where the truth is 0, and above 0 elsewhere.
struct EstimateSettings final : SettingsOf<EstimateSettings> {
  std::string by = "completion";  // an estimator's spec (env/predict/estimation/estimator.hpp), or "table"
  bool learn = false;

  static constexpr const char* kName = "estimates";
  static constexpr const char* kHelp = "schedulers see estimated throughputs in place of the true ones";
  static std::span<const Field<EstimateSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  bool LearnsRates() const override { return learn; }
  bool Believe(const ScenarioData& scenario, BelievedRates& into) const override;
};

// With `learn` what schedulers are told (SimState::told) follows what runs; otherwise the scenario's
// estimates hold throughout.
class EstimateState final : public StateOf<EstimateState, EstimateSettings> {
 public:
  explicit EstimateState(bool learn) : learn_(learn) {}
  void Start(SimCore& core) override;
  void BeforeAdvance(SimCore& core) override;  // notes what runs
  void AfterAdvance(SimCore& core) override;   // and learns from it

 private:
  struct Run {  // since the last decision
    int job_type, size, gpu_type;
    int beside;    // job type on the same GPU, -1 = alone
    double since;  // s, it has made progress from then on
  };
  bool learn_;
  std::vector<char> measured_;        // [T, S, G]
  std::vector<char> measured_pairs_;  // [T, T, G]
  std::vector<Run> runs_;             // of what is not measured yet
};

}  // namespace berth
