// Failures of GPUs and their repairs.
#pragma once

#include <span>
#include <vector>

#include "env/features/field.hpp"
#include "env/rng.hpp"

namespace berth {

struct ScenarioData;

// Each GPU fails on its own after an exponential time in service and is repaired after another; its job stops
// and waits, from its last checkpoint.
struct FailureSettings {
  double mtbf_h = 1000.0;  // mean hours in service before a GPU fails
  double repair_h = 1.0;   // mean hours of a repair

  static constexpr const char* kHelp = "GPUs fail and are repaired; a job that loses one starts again";
  static std::span<const Field<FailureSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

struct FailureState {
  std::vector<Stream> streams;  // [D]
};

class Simulator;

// Its part of the simulator.
class FailureEngine {
 public:
  static void Start(Simulator& simulator);
  static bool OnFailure(Simulator& simulator, int device);  // is a decision due?
  static bool OnRepair(Simulator& simulator, int device);

 private:
  static void Await(Simulator& simulator, int device);
};

}  // namespace berth
