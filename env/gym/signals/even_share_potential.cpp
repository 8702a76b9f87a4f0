// What the jobs in the system would still cost if they shared all GPUs evenly until the last is done:
// processor sharing, of jobs that speed up less than they get GPUs. One step better than that is already a
// good schedule (rollout; Bertsekas & Castanon 1999), and where jobs run on any number of GPUs it says, as
// `wspt` does not, what GPUs are worth where they add little.
#include <algorithm>
#include <iterator>
#include <map>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/potential.hpp"

namespace berth {
namespace {

class EvenSharePotential final : public Potential {
 public:
  explicit EvenSharePotential(const MdpSpec& mdp) : preemptive_(mdp.preemptive), reward_(mdp.reward) {}

  void Begin(const Simulator& simulator) override {
    const Scenario& scenario = simulator.scenario();
    const std::vector<GpuType>& types = scenario.data().cluster.types;
    gpus_ = scenario.num_whole_gpus();
    weight_.clear(), curve_of_.clear(), curves_.clear();
    std::map<const double*, int> known;
    for (int job = 0; job < scenario.num_jobs(); ++job) {
      weight_.push_back(reward_.PerSecond(scenario, job));
      const auto [at, fresh] =
          known.try_emplace(scenario.RateCurve(job, 0).data(), static_cast<int>(curves_.size()));
      if (fresh) curves_.push_back(CurveOf(scenario, types, job));
      curve_of_.push_back(at->second);
    }
  }

  Value Of(const Simulator& simulator, int known, bool /*growth*/) override {
    jobs_.clear();
    EachInSystem(simulator, [&](int job) {
      jobs_.push_back(
          {LeftOf(simulator, job, preemptive_).steps, weight_[U(job)], curve_of_[U(job)], job < known});
    });
    Value value;
    const bool all_known = std::all_of(jobs_.begin(), jobs_.end(), [](const Left& job) { return job.known; });
    left_ = jobs_;
    value.known = value.all = Cost();
    if (all_known) return value;
    left_.clear();
    std::copy_if(jobs_.begin(), jobs_.end(), std::back_inserter(left_),
                 [](const Left& job) { return job.known; });
    value.known = Cost();
    return value;
  }

 private:
  struct Left {
    double steps, weight;
    int curve;
    bool known;
  };

  // Steps/s by GPUs, from 0 on, where the cluster's types are shared alike: the best of any width at which
  // the job would have its turn, and on GPUs or slices of them.
  std::vector<double> CurveOf(const Scenario& scenario, const std::vector<GpuType>& types, int job) const {
    const int total = scenario.num_whole_gpus(), least = scenario.MinGang(job);
    std::vector<double> curve(U(total) + 1, 0.0);
    std::vector<double> best(curve.size());
    for (std::size_t whole = 0; whole < types.size(); ++whole) {
      if (types[whole].part.whole >= 0) continue;
      std::fill(best.begin(), best.end(), 0.0);
      for (std::size_t type = 0; type < types.size(); ++type) {
        if (type != whole && types[type].part.whole != static_cast<int>(whole)) continue;
        const std::span<const double> rates = scenario.RateCurve(job, static_cast<int>(type));
        for (std::size_t k = 0; k < rates.size(); ++k) {
          const double width = (least + static_cast<int>(k)) * types[type].part.fraction();
          for (std::size_t gpus = 1; gpus < best.size(); ++gpus)
            best[gpus] = std::max(best[gpus], rates[k] * std::min(1.0, static_cast<double>(gpus) / width));
        }
      }
      const double part = static_cast<double>(types[whole].count) / total;
      for (std::size_t gpus = 1; gpus < best.size(); ++gpus) curve[gpus] += part * best[gpus];
    }
    return curve;
  }

  double RateAt(const Left& job, double gpus) const {
    const std::vector<double>& curve = curves_[U(job.curve)];
    const auto whole = static_cast<std::size_t>(gpus);
    if (whole + 1 >= curve.size()) return curve.back();
    return curve[whole] + (gpus - static_cast<double>(whole)) * (curve[whole + 1] - curve[whole]);
  }

  double Cost() {  // of left_, which it uses up
    double cost = 0.0, now = 0.0;
    while (!left_.empty()) {
      const double share = gpus_ / static_cast<double>(left_.size());
      double next = 1e300;
      rates_.clear();
      for (const Left& job : left_) {
        rates_.push_back(std::max(RateAt(job, share), 1e-300));
        next = std::min(next, job.steps / rates_.back());
      }
      now += next;
      std::size_t kept = 0;
      for (std::size_t k = 0; k < left_.size(); ++k) {
        const double steps = left_[k].steps - rates_[k] * next;
        if (steps <= 1e-9 * left_[k].steps) {
          cost += left_[k].weight * now;
        } else {
          left_[kept] = left_[k];
          left_[kept++].steps = steps;
        }
      }
      left_.resize(kept);
    }
    return cost;
  }

  bool preemptive_;
  Reward reward_;
  double gpus_ = 1.0;
  std::vector<double> weight_;               // [jobs] a second
  std::vector<int> curve_of_;                // [jobs]
  std::vector<std::vector<double>> curves_;  // [GPUs + 1] steps/s
  std::vector<Left> jobs_, left_;
  std::vector<double> rates_;
};

}  // namespace

PotentialInfo EvenShareInfo() {
  return {
      "even_share",
      "when each job would be done if all shared the GPUs evenly from now on, as wide as that lets them be",
      "rollout of processor sharing: Bertsekas & Castanon 1999, \"Rollout algorithms for stochastic "
      "scheduling problems\"",
      "jct, slowdown or demand",
      {},
      [](const MdpSpec& mdp) { return Reward(mdp.reward).CostsTime(); },
      [](Params&, const MdpSpec& mdp) -> std::unique_ptr<Potential> {
        return std::make_unique<EvenSharePotential>(mdp);
      },
      /*on_request=*/true};
}

}  // namespace berth
