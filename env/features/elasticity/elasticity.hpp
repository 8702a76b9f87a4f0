// Gangs that may run on more or fewer GPUs than they ask for: how fast, how few, how many, at what cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

// Rate of a job on w GPUs of a type: what the throughput table measured for its job type on w, linear between
// measured sizes; beyond them, or with measured=false, the rate at the nearest (or the gang) times S(w) /
// S(of that). S is a model-parallel group's speed times the data-parallel speed-up over groups:
//   groups of t p GPUs hold a job of `memory_gb` (JobTypeTraits) that one GPU does not: t tensor-parallel
//   within each of p pipeline stages; a group's speed is t / (1 + 2 c (t - 1)) times p m / (m + p - 1).
// Tensor: each GPU computes 1/t and moves 2 (t - 1) / t of the activations (ring all-reduce, Patarasuk & Yuan
// 2009; Shoeybi et al., Megatron-LM, 2019), c the seconds of that for a second of computing. Pipeline: m
// micro-batches through p stages leave a bubble of (p - 1) / (m + p - 1) (Huang et al., GPipe, 2019).
struct ElasticitySettings final : SettingsOf<ElasticitySettings> {
  double min_factor = 0.5, max_factor = 2.0;  // of the gang, where a job has no gang_min or gang_max
  bool measured = true;
  std::string scaling = "data_parallel";
  double parallel = 0.95;
  std::vector<double> curve;
  int tensor = 8;
  double tensor_traffic = 0.02;
  int micro_batches = 8;
  double resize_s = 30.0;

  static constexpr const char* kName = "elasticity";
  static constexpr const char* kHelp = "gangs may run on more or fewer GPUs than they ask for";
  static std::span<const Field<ElasticitySettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  std::shared_ptr<const RatesByWidth> Widths(
      const ScenarioData& scenario) const override;  // elastic_rates.cpp
};

// Data-parallel speed-up on `replicas` over one; 0 beyond what a curve states.
//   linear; amdahl: 1 / (1 - f + f / n), f = `parallel`
//   data_parallel: 1.7, 3.5 and 6.2 on 2, 4 and 8 GPUs, linear between, no further
//   imagenet_256: n^0.972, through 29 h on 8 and 1 h on 256 GPUs (Goyal et al. 2017, ResNet-50)
//   large_512: n^0.615, through 46.5 times one GPU on 512
//   curve: the given points at 1, 2, 4, 8, ..., linear between, no further
double DataParallelSpeedup(const ElasticitySettings& settings, double replicas);
struct ModelParallel {
  int tensor = 1, stages = 1;
  double speed = 1.0;  // of the group over one GPU that could hold the whole
  int gpus() const { return tensor * stages; }
};
// The group that a job of `gpus` times one GPU's memory needs at least.
ModelParallel ModelParallelGroup(const ElasticitySettings& settings, int gpus);

// A start of a running job on more or fewer GPUs of the type that it ran on is a resize: it costs resize_s,
// and no save or restore.
class ElasticityState final : public StateOf<ElasticityState, ElasticitySettings> {
 public:
  ElasticityState(const ElasticitySettings& settings, int jobs)
      : width(static_cast<std::size_t>(jobs), 0), settings_(&settings) {}

  std::vector<int> width;  // [J] GPUs of the current or last run; 0 = never ran
  std::int64_t resizes = 0;

  void StartCost(SimCore& core, int job, int type, RunStart& start) override;
  std::string Violation(const InvariantInput& input) const override;  // of widths

 private:
  const ElasticitySettings* settings_;
};

BlockInfo ElasticityBlock();  // what observations show of it
ActionInfo ResizeAction();    // what policies may do with it

}  // namespace berth
