#include "env/gym/signals/wspt_potential.hpp"

#include <algorithm>
#include <vector>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/potential.hpp"

namespace berth {
namespace {

constexpr int kTypical = 64;  // jobs that stand for all that may arrive

constexpr ParamInfo kWsptParams[] = {
    {"delay", "1.5", "weight of the delays: jobs seldom leave no GPU idle before them, 0 to 100"},
    {"exponent", "1.6",
     "work is gang^exponent x time left: gangs are harder to place than their GPUs say, 0 to 10; of who "
     "holds a part of a GPU, that part x time left"},
};

class WsptPotential final : public Potential {
 public:
  WsptPotential(double delay, double exponent, const MdpSpec& mdp)
      : delay_(delay), exponent_(exponent), preemptive_(mdp.preemptive), reward_(mdp.reward) {}

  void Begin(const Simulator& simulator) override {
    const Scenario& scenario = simulator.scenario();
    const JobTable& jobs = scenario.data().jobs;
    const int n = scenario.num_jobs();
    gpus_ = scenario.num_whole_gpus();
    size_.clear();
    for (int job = 0; job < n; ++job) {
      const double rate = scenario.BestRate(job), seconds = jobs.total_steps[U(job)] / rate;
      const double gpus = scenario.HoldsPart(job) ? scenario.GpuMilli(job) / 1000.0  // others fill the rest
                                                  : Pow(jobs.gang[U(job)], exponent_);
      size_.push_back({reward_.PerSecond(scenario, job), seconds, gpus, true});
    }
    FindTypical();
    const double span = n > 1 ? jobs.arrival[U(n - 1)] - jobs.arrival[0] : 0.0;
    rate_ = span > 0.0 ? (n - 1) / span : 0.0;
  }

  Value Of(const Simulator& simulator, int known, bool growth) override {
    Gather(simulator, known);
    const auto grows = [&] { return growth ? rate_ * WsptGrowth(jobs_, typical_, delay_, gpus_) : 0.0; };
    Value value;
    value.all = WsptCost(jobs_, delay_, gpus_);
    value.growth = grows();
    value.known = value.all, value.known_growth = value.growth;
    if (std::erase_if(jobs_, [](const WsptJob& job) { return !job.known; }) > 0) {
      value.known = WsptCost(jobs_, delay_, gpus_);
      value.known_growth = grows();
    }
    if (!simulator.arrivals_remain()) value.growth = 0.0;  // of the interval that follows
    return value;
  }

 private:
  // Means over equal parts of the episode's jobs, sorted.
  void FindTypical() {
    jobs_ = size_;
    for (WsptJob& job : jobs_) job.work *= job.left;
    std::sort(jobs_.begin(), jobs_.end(), [](const WsptJob& a, const WsptJob& b) { return a.Before(b); });
    const std::size_t parts = std::min<std::size_t>(jobs_.size(), kTypical);
    typical_.clear();
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t begin = part * jobs_.size() / parts, end = (part + 1) * jobs_.size() / parts;
      WsptJob mean{0.0, 0.0, 0.0, true};
      const auto share = 1.0 / static_cast<double>(end - begin);
      for (std::size_t k = begin; k < end; ++k) {
        mean.weight += jobs_[k].weight * share;
        mean.left += jobs_[k].weight * jobs_[k].left * share;
        mean.work += jobs_[k].work * share;
      }
      mean.left /= mean.weight;
      typical_.push_back(mean);
    }
  }

  void Gather(const Simulator& simulator, int known) {
    const Scenario& scenario = simulator.scenario();
    const JobTable& jobs = scenario.data().jobs;
    jobs_.clear();
    EachInSystem(simulator, [&](int job) {
      const WsptJob& size = size_[U(job)];
      const auto [steps, type] = LeftOf(simulator, job, preemptive_);
      double left = size.left * (steps / jobs.total_steps[U(job)]);
      if (type >= 0) left = steps / scenario.Rate(job, type);
      jobs_.push_back({size.weight, left, size.work * left, job < known});
    });
    std::sort(jobs_.begin(), jobs_.end(), [](const WsptJob& a, const WsptJob& b) { return a.Before(b); });
  }

  double delay_, exponent_;
  bool preemptive_;
  Reward reward_;
  double gpus_ = 1.0, rate_ = 0.0;  // arrivals / s
  // [jobs] on arrival, their work the GPUs as `exponent` counts them; and parts of them.
  std::vector<WsptJob> size_, typical_;
  std::vector<WsptJob> jobs_;  // in the system
};

}  // namespace

double WsptCost(std::span<const WsptJob> jobs, double delay, double gpus) {
  double cost = 0.0, before = 0.0;
  for (const WsptJob& job : jobs) {
    cost += job.weight * (job.left + delay * before / gpus);
    before += job.work;
  }
  return cost;
}

double WsptGrowth(std::span<const WsptJob> jobs, std::span<const WsptJob> more, double delay, double gpus) {
  double after = 0.0, before = 0.0, sum = 0.0;  // weight of those after, work of those before
  for (const WsptJob& job : jobs) after += job.weight;
  std::size_t k = 0;
  for (const WsptJob& one : more) {
    for (; k < jobs.size() && jobs[k].Before(one); ++k) {
      before += jobs[k].work;
      after -= jobs[k].weight;
    }
    sum += one.weight * (one.left + delay * before / gpus) + delay * one.work * after / gpus;
  }
  return more.empty() ? 0.0 : sum / static_cast<double>(more.size());
}

PotentialInfo WsptInfo() {
  return {
      "wspt",
      "delays of jobs worked off by weight over work on one machine of all GPUs, and then their time alone",
      "Smith 1956, \"Various optimizers for single-stage production\"; weights of the terms are Berth's",
      "jct, slowdown or demand",
      kWsptParams,
      [](const MdpSpec& mdp) { return Reward(mdp.reward).CostsTime(); },
      [](Params& params, const MdpSpec& mdp) -> std::unique_ptr<Potential> {
        return std::make_unique<WsptPotential>(params.Number("delay", 0.0, 100.0),
                                               params.Number("exponent", 0.0, 10.0), mdp);
      }};
}

}  // namespace berth
