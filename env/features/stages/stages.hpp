// Stages and dependencies of jobs.
//
// A step of a job is preprocessing on CPU cores, compute on its GPUs and transfers. Overlapped (a pipeline),
// the longest of the three paces it, otherwise their sum. A part of the preprocessing may be done on the GPU
// instead (task offloading); the best part has a closed form (stage_times.hpp). It is the setting's for all
// until a decision sets it for a job (kOffloadControl), which costs nothing and holds until it is set anew,
// through stops and moves. Clocks, replicas and whoever
// else shares the GPUs slow what is done there, and not the rest.
//
// A job may depend on others: it is blocked from its arrival until they are done, and turned away when one of
// them was. Its JCT counts from its arrival, its time blocked included; schedulers see it among the waiting
// ones once it is ready.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

struct StageSettings final : SettingsOf<StageSettings> {
  // One entry a job type, or one for all.
  std::vector<double> cpu_core_s = {0.0};  // core-seconds of preprocessing a step
  // Seconds that all of it takes on its gang of whole GPUs instead; on more of them or
  // on slices in inverse proportion to what the job has.
  std::vector<double> gpu_prep_s = {0.0};
  std::vector<double> transfer_s = {0.0};  // seconds of transfers a step
  // Of the node, for each GPU held; of a slice or thousandths their part, of a GPU that two jobs share half.
  double cores_per_gpu = 8.0;
  bool overlap = true;
  double offload = 0.0;  // part of the preprocessing done on the GPU; -1 = the best
  std::string after;     // "child>parent:child>parent", job ids
  double depends =
      0.0;  // share of the jobs that wait for one of the ten before them, drawn by its seed and arrivals
  int chain = 0;  // every so many jobs in order of arrival form a chain, each after the one before

  static constexpr const char* kName = "stages";
  static constexpr const char* kHelp =
      "steps of CPU, GPU and transfer stages that overlap or move; jobs that wait for others";
  static std::span<const Field<StageSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs,
                                                double origin_s) const override;  // dependencies.cpp
};

// Part `value` of the preprocessing of job `index` is done on its GPUs from now on: 0 to 1, or -1 = the best
// wherever it runs. Of a job that waits or runs.
inline constexpr ControlKind kOffloadControl{5};

// Who waits for whom. Known to schedulers for jobs that have arrived, blocked ones too.
class StageState final : public StateOf<StageState, StageSettings> {
 public:
  StageState(const StageSettings& settings, const Scenario& scenario);

  std::vector<std::vector<int>> children, parents;  // [J] job indices
  std::vector<int> open_parents;                    // [J] not done yet
  std::vector<double> offload;                      // [J] as kOffloadControl says

  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  bool Blocks(SimCore& core, int job, double time) override;
  void OnLeave(SimCore& core, int job, double time) override;
  double StepFactor(const Scenario& scenario, const SimState& state, int job, double rate,
                    double pace) const override;
  double BusyShare(const Scenario& scenario, const SimState& state, int job, double rate,
                   double pace) const override;

 private:
  const StageSettings* settings_;
  std::vector<char> doomed_;  // [J] one it needs was turned away
};

// What observations show of it.
BlockInfo StagesBlock();
BlockInfo DescendantsBlock();
BlockInfo HeldBackBlock();
ActionInfo OffloadAction();  // what policies may do with it

}  // namespace berth
