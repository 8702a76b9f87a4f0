// Series of what the cluster does over time, as its monitoring would measure them.
#pragma once

#include <span>
#include <vector>

#include "env/features/field.hpp"

namespace berth {

class Simulator;
struct ScenarioData;

struct MonitoringSettings {
  double interval_s = 300.0;

  static constexpr const char* kHelp =
      "series of utilisation, memory, power, temperature, queue and fairness";
  static std::span<const Field<MonitoringSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

// One sample an interval, the latest at the end. Watching changes nothing: no sample brings a decision point.
struct MonitoringState {
  int types = 0;  // G
  std::vector<double> held,
      capacity;              // [G] GPUs that all devices of the type are when busy, and in all (MIG)
  std::vector<double> time;  // [S] s
  std::vector<double>
      utilization;                // [S, G] share of the type's GPU-seconds that jobs and replicas held since
  std::vector<double> memory_gb;  // [S, G] that running jobs hold (JobTypeTraits::memory_gb)
  std::vector<double> watts;      // [S] mean since the sample before; at peak where held without `power`
  std::vector<double> temperature_c;  // [S] of the hottest GPU; 0 without heat
  std::vector<double> waiting;        // [S] jobs
  std::vector<double> waiting_gpus;   // [S] that they ask for
  std::vector<double> running;        // [S] jobs
  std::vector<double> fairness;       // [S] Jain index of GPU-seconds attained / (gang x age), all jobs here

  // At the sample before.
  std::vector<double> busy_s;  // [G]
  double joules = 0.0;

  int samples() const { return static_cast<int>(time.size()); }
  // Share of all GPU-seconds held, of the `back`-th sample from the end (0 = the latest).
  double MeanUtilization(int back = 0) const;
};

// visit(name, column, columns a sample): for files.
template <class Visit>
void ForEachSeries(const MonitoringState& m, Visit&& visit) {
  visit("time", m.time, 1), visit("utilization", m.utilization, m.types);
  visit("memory_gb", m.memory_gb, m.types), visit("watts", m.watts, 1);
  visit("temperature_c", m.temperature_c, 1), visit("waiting", m.waiting, 1);
  visit("waiting_gpus", m.waiting_gpus, 1), visit("running", m.running, 1);
  visit("fairness", m.fairness, 1);
}

class MonitoringEngine {
 public:
  static void Start(Simulator& simulator);
  static bool OnTimer(Simulator& simulator);
};

}  // namespace berth
