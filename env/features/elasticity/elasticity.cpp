#include "env/features/elasticity/elasticity.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
std::span<const Field<ElasticitySettings>> ElasticitySettings::Fields() {
  using S = ElasticitySettings;
  static const std::array kFields = {
      Field<S>{"min_factor", &S::min_factor, "fewest GPUs over the gang, of jobs without gang_min", 0, 1},
      Field<S>{"max_factor", &S::max_factor, "most GPUs over the gang, of jobs without gang_max", 1},
      Field<S>{"measured", &S::measured,
               "true: the throughput table's gang sizes where it has them, unless a job type is as fast "
               "with each of them, as in logs without speeds"},
      Field<S>{"scaling", &S::scaling,
               "data-parallel speed-up: data_parallel, linear, amdahl, imagenet_256 or large_512"},
      Field<S>{"parallel", &S::parallel, "amdahl: the part that is parallel", 0, 1},
      Field<S>{"curve", &S::curve, "speed-up on 1:2:4:8:... GPUs over one, instead of scaling", 1},
      Field<S>{"tensor", &S::tensor, "most tensor-parallel GPUs; larger models are cut into stages", 1},
      Field<S>{"tensor_traffic", &S::tensor_traffic, "seconds of all-reduce a second of computing"},
      Field<S>{"micro_batches", &S::micro_batches, "through the stages of a pipeline in a step", 1},
      Field<S>{"resize_s", &S::resize_s, "seconds without progress of a resize on the same type"},
  };
  return kFields;
}

void ElasticitySettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("elasticity", scenario.clock);
  static const std::vector<std::string> kNames = {"data_parallel", "linear", "amdahl", "imagenet_256",
                                                  "large_512"};
  if (std::find(kNames.begin(), kNames.end(), scaling) == kNames.end()) {
    throw Error(
        Join("feature 'elasticity': scaling: expected data_parallel, linear, amdahl, imagenet_256 or "
             "large_512, found '",
             scaling, "'", DidYouMean(scaling, kNames)));
  }
  for (std::size_t k = 0; k < curve.size(); ++k) {
    if (k == 0 && curve[k] != 1.0)
      throw Error(Join("feature 'elasticity': curve: expected 1 on one GPU, found ", curve[k]));
    if (k > 0 && curve[k] < curve[k - 1]) {
      throw Error(Join("feature 'elasticity': curve: expected no fall from ", 1 << (k - 1), " to ", 1 << k,
                       " GPUs, found ", curve[k - 1], " and ", curve[k]));
    }
  }
}

std::unique_ptr<FeatureState> ElasticitySettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<ElasticityState>(*this, scenario.num_jobs());
}

void ElasticityState::StartCost(SimCore& core, int job, int type, RunStart& start) {
  const SimState& s = core.state();
  const int before = std::exchange(width[U(job)], s.Width(job));
  const bool moves = s.phase[U(job)] == JobPhase::kRunning;
  if (!moves || s.last_type[U(job)] != type || before == s.Width(job)) return;
  ++resizes;
  start.resizes = true;
  start.overhead_s = settings_->resize_s;
}

std::string ElasticityState::Violation(const InvariantInput& in) const {
  const SimState& s = in.state;
  for (int job : s.running) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;
    const int held = s.Width(job);
    if (held < in.scenario.MinGang(job) || held > in.scenario.MaxGang(job))
      return Join("job ", job, " runs on ", held, " GPUs, not on ", in.scenario.MinGang(job), " to ",
                  in.scenario.MaxGang(job));
    if (width[U(job)] != held)
      return Join("job ", job, " runs on ", held, " GPUs, ", width[U(job)], " are remembered");
  }
  return "";
}

FeatureModule ElasticityFeature() {
  static constexpr BlockInfo (*kBlocks[])() = {ElasticityBlock};
  static constexpr ActionInfo (*kActions[])() = {ResizeAction};
  FeatureModule module = ModuleOf<ElasticitySettings>();
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
