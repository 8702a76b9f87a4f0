#include "env/gym/signals/critical_ratio_potential.hpp"

#include <vector>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/potential.hpp"

namespace berth {
namespace {

constexpr ParamInfo kCriticalRatioParams[] = {
    {"exponent", "2", "of the ratio: higher looks at urgent jobs alone, 0.1 to 100"}};

class CriticalRatioPotential final : public Potential {
 public:
  CriticalRatioPotential(double exponent, const MdpSpec& mdp)
      : exponent_(exponent), preemptive_(mdp.preemptive), weight_(Reward(mdp.reward).WeightOf("deadline")) {}

  void Begin(const Simulator&) override {}

  Value Of(const Simulator& simulator, int known, bool /*growth*/) override {
    const Scenario& scenario = simulator.scenario();
    const std::vector<double>& deadline = scenario.data().jobs.deadline;
    if (deadline.empty()) return {};
    return SumOverJobs(simulator, known, [&](int job) {
      if (deadline[U(job)] == kNever) return 0.0;
      const auto [steps, type] = LeftOf(simulator, job, preemptive_);
      const double rate = type >= 0 ? scenario.Rate(job, type) : scenario.BestRate(job);
      return weight_ * MissChance(steps / rate, deadline[U(job)] - simulator.now(), exponent_);
    });
  }

 private:
  double exponent_;
  bool preemptive_;
  double weight_;
};

}  // namespace

double MissChance(double left, double until, double exponent) {
  if (until < 0.0) return 0.0;
  return left < until ? Pow(left / until, exponent) : 1.0;
}

PotentialInfo CriticalRatioInfo() {
  return {"critical_ratio",
          "deadlines that will be missed, each by how much of the time until it the job has to run",
          "critical ratio: Conway 1965, \"Priority dispatching and job lateness in a job shop\"",
          "deadline",
          kCriticalRatioParams,
          [](const MdpSpec& mdp) { return Reward(mdp.reward).WeightOf("deadline") > 0.0; },
          [](Params& params, const MdpSpec& mdp) -> std::unique_ptr<Potential> {
            return std::make_unique<CriticalRatioPotential>(params.Number("exponent", 0.1, 100.0), mdp);
          }};
}

}  // namespace berth
