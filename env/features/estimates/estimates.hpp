// Schedulers see estimated throughputs in place of the true ones; the simulator runs the truth.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"

namespace berth {

struct BelievedRates;
struct ScenarioData;

// What cannot run is known: estimates are 0 where the truth is 0, and above 0 elsewhere.
struct EstimateSettings {
  std::string by = "completion";  // an estimator's spec (env/predict/estimation/estimator.hpp), or "table"
  bool learn = false;

  static constexpr const char* kHelp = "schedulers see estimated throughputs in place of the true ones";
  static std::span<const Field<EstimateSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

// What the settings of a valid scenario make schedulers believe.
BelievedRates EstimatedRates(const ScenarioData& scenario);

// With `learn`: what schedulers believe now. Otherwise empty, and the scenario's estimates hold throughout.
struct EstimateState {
  struct Run {  // since the last decision
    int job_type, size, gpu_type;
    int beside;    // job type on the same GPU, -1 = alone
    double since;  // s, it has made progress from then on
  };
  std::vector<double> rate;          // [J, G]
  std::vector<double> best_rate;     // [J]
  std::vector<double> pairs;         // [T, T, G, 2]
  std::vector<char> measured;        // [T, S, G]
  std::vector<char> measured_pairs;  // [T, T, G]
  std::vector<Run> runs;             // of what is not measured yet
  std::uint64_t version = 0;         // how often anything was learned
};

class Simulator;

// Its part of the simulator.
class EstimateEngine {
 public:
  static void Start(Simulator& simulator);
  static void NoteRuns(Simulator& simulator);  // before time moves on
  static void Learn(Simulator& simulator);     // after it has
};

}  // namespace berth
