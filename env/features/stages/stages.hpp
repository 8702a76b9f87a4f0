// Stages and dependencies of jobs.
//
// A step of a job is preprocessing on CPU cores, compute on its GPUs and transfers. Overlapped (a pipeline),
// the longest of the three paces it, otherwise their sum. A part of the preprocessing may be done on the GPU
// instead (task offloading); the best part has a closed form (stage_times.hpp). Clocks, replicas and whoever
// else shares the GPUs slow what is done there, and not the rest.
//
// A job may depend on others: it is blocked from its arrival until they are done, and turned away when one of
// them was. Its JCT counts from its arrival, its time blocked included; schedulers see it among the waiting
// ones once it is ready.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"

namespace berth {

class Scenario;
struct ScenarioData;
struct SimState;

struct StageSettings {
  // One entry a job type, or one for all.
  std::vector<double> cpu_core_s = {0.0};  // core-seconds of preprocessing a step
  // Seconds that all of it takes on its gang of whole GPUs instead; on more of them (feature elasticity) or
  // on slices in inverse proportion to what the job has.
  std::vector<double> gpu_prep_s = {0.0};
  std::vector<double> transfer_s = {0.0};  // seconds of transfers a step
  // Of the node, for each GPU held; of a slice or thousandths their part, of a GPU that two jobs share half.
  double cores_per_gpu = 8.0;
  bool overlap = true;
  double offload = 0.0;  // part of the preprocessing done on the GPU; -1 = the best
  std::string after;     // "child>parent:child>parent", job ids
  int chain = 0;         // every so many jobs in order of arrival form a chain, each after the one before

  static constexpr const char* kHelp =
      "steps of CPU, GPU and transfer stages that overlap or move; jobs that wait for others";
  static std::span<const Field<StageSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

// Who waits for whom. Known to schedulers for jobs that have arrived, blocked ones too.
struct StageState {
  std::vector<std::vector<int>> children, parents;  // [J] job indices
  std::vector<int> open_parents;                    // [J] not done yet
  std::vector<char> blocked;                        // [J] arrived and not ready
  std::vector<char> doomed;                         // [J] one it needs was turned away
  int num_blocked = 0;
};

class Simulator;

// Its part of the simulator.
class StageEngine {
 public:
  static void Start(Simulator& simulator);
  static bool Blocks(Simulator& simulator, int job, double time);   // at its arrival
  static void OnLeave(Simulator& simulator, int job, double time);  // done or turned away
  // What its other stages leave of `rate`, the steps/s of compute on its GPUs as they now are. `pace` is how
  // fast other work on them goes, 1 = as the settings say.
  static double RateFactor(const Scenario& scenario, const SimState& state, int job, double rate,
                           double pace);
  // In what share of the time the GPUs work.
  static double BusyShare(const Scenario& scenario, const SimState& state, int job, double rate, double pace);
};

}  // namespace berth
