// Series of what the cluster does over time, as its monitoring would measure them.
#pragma once

#include <span>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

struct MonitoringSettings final : SettingsOf<MonitoringSettings> {
  double interval_s = 300.0;

  static constexpr const char* kName = "monitoring";
  static constexpr const char* kHelp =
      "series of utilisation, memory, power, temperature, queue and fairness";
  static std::span<const Field<MonitoringSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
};

// One sample an interval, the latest at the end. Watching changes nothing: no sample brings a decision point.
inline constexpr TimerKind kMonitor{10};

class MonitoringState final : public StateOf<MonitoringState, MonitoringSettings> {
 public:
  MonitoringState(const MonitoringSettings& settings, const Scenario& scenario);

  int types = 0;  // G
  std::vector<double> held,
      capacity;              // [G] GPUs that all devices of the type are when busy, and in all (MIG)
  std::vector<double> time;  // [S] s
  std::vector<double>
      utilization;                // [S, G] share of the type's GPU-seconds that jobs and replicas held since
  std::vector<double> memory_gb;  // [S, G] that running jobs hold (JobTypeTraits::memory_gb)
  std::vector<double>
      watts;  // [S] mean since the sample before; at peak where held, unless a feature knows better
  std::vector<double> temperature_c;  // [S] of the hottest GPU; 0 without heat
  std::vector<double> waiting;        // [S] jobs
  std::vector<double> waiting_gpus;   // [S] that they ask for
  std::vector<double> running;        // [S] jobs
  std::vector<double> fairness;       // [S] Jain index of GPU-seconds attained / (gang x age), all jobs here

  int samples() const { return static_cast<int>(time.size()); }
  // Share of all GPU-seconds held, of the `back`-th sample from the end (0 = the latest).
  double MeanUtilization(int back = 0) const;

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  void EachSeries(const SeriesVisitor& visit) const override;

 private:
  const MonitoringSettings* settings_;
  // At the sample before.
  std::vector<double> busy_s_;  // [G]
  double joules_ = 0.0;
};

BlockInfo MonitoringBlock();  // what observations show of it

}  // namespace berth
