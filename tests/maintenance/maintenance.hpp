// A feature that only tests know: nodes are closed at stated hours. All of it is in this folder; a table that
// a test hands in has one line for it (maintenance_test.cpp).
#pragma once

#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth::test {

// nodes[i] closes start_h[i] hours into the scenario, for `hours`. Who runs there waits again.
struct MaintenanceSettings final : SettingsOf<MaintenanceSettings> {
  std::vector<double> nodes, start_h;
  double hours = 1.0;

  static constexpr const char* kName = "maintenance";
  static constexpr const char* kHelp = "nodes are closed at stated hours";
  static std::span<const Field<MaintenanceSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  bool Interrupts() const override { return true; }
};

inline constexpr TimerKind kCloses{11};   // index: of the entry
inline constexpr TimerKind kReopens{12};  // index: of the entry

class MaintenanceState final : public StateOf<MaintenanceState, MaintenanceSettings> {
 public:
  MaintenanceState(const MaintenanceSettings& settings, const Scenario& scenario);

  std::vector<int> closed;  // [N] entries for which the node is closed

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  // Devices of closed nodes are out of service for it, no others are, and nobody runs there.
  std::string Violation(const InvariantInput& input) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;
  void AddLanes(double now, std::vector<FeatureLane>& lanes) const override;

 private:
  struct Closing {
    int node;
    double begin_s, end_s;
  };
  const MaintenanceSettings* settings_;
  std::vector<Closing> closings_;  // by entry
};

FeatureModule MaintenanceFeature();

}  // namespace berth::test
