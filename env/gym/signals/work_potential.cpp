#include "env/gym/signals/work_potential.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/signals/load_prices.hpp"
#include "env/gym/signals/potential.hpp"

namespace berth {
namespace {

// What each second of a job's run adds to a reward's term, in its unit.
struct WorkPrices {
  std::vector<double> gpu;  // [G] a GPU
  std::vector<double> own;  // [jobs] whatever it holds; none = 0
};

WorkPrices InMoney(const Scenario& scenario) {
  WorkPrices prices;
  for (const GpuType& type : scenario.data().cluster.types)
    prices.gpu.push_back(type.price_per_hour / 3600.0);
  return prices;
}

// Beyond what the GPU draws idle.
WorkPrices InEnergy(const Scenario& scenario) {
  WorkPrices prices;
  for (const GpuType& type : scenario.data().cluster.types)
    prices.gpu.push_back((type.peak_power_w - type.idle_power_w) / 3.6e6);
  return prices;
}

WorkPrices InTime(const Scenario& scenario) {
  const JobTable& jobs = scenario.data().jobs;
  std::vector<double> gpus;
  std::vector<TypePart> parts;
  for (const GpuType& type : scenario.data().cluster.types)
    gpus.push_back(type.count), parts.push_back(type.part);
  std::vector<TypedWork> work;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    const double best = scenario.BestRate(job), alone = jobs.total_steps[U(job)] / best;
    work.push_back({scenario.WorkingGpus(job) * alone, {}, alone});
    for (int g = 0; g < scenario.num_types(); ++g) work.back().speed.push_back(scenario.Rate(job, g) / best);
  }
  LoadPrices found = FindLoadPrices(work, gpus, parts);
  return {std::move(found.price), std::move(found.own)};
}

struct Term {
  const char* reward;
  WorkPrices (*prices)(const Scenario& scenario);
};
constexpr Term kTerms[] = {{"cost", InMoney}, {"energy", InEnergy}, {"makespan", InTime}};

class WorkPotential final : public Potential {
 public:
  explicit WorkPotential(const MdpSpec& mdp) : preemptive_(mdp.preemptive), reward_(mdp.reward) {}

  void Begin(const Simulator& simulator) override {
    const Scenario& scenario = simulator.scenario();
    price_.assign(U(scenario.num_types()), 0.0);
    own_.assign(U(scenario.num_jobs()), 0.0);
    for (const Term& term : kTerms) {
      const double weight = reward_.WeightOf(term.reward);
      if (weight == 0.0) continue;
      const WorkPrices prices = term.prices(scenario);
      for (std::size_t g = 0; g < prices.gpu.size(); ++g) price_[g] += weight * prices.gpu[g];
      for (std::size_t job = 0; job < prices.own.size(); ++job) own_[job] += weight * prices.own[job];
    }
    least_.clear();
    for (int job = 0; job < scenario.num_jobs(); ++job)
      least_.push_back(LeastPrice(scenario, job, price_, own_[U(job)]));
  }

  Value Of(const Simulator& simulator, int known, bool /*growth*/) override {
    const Scenario& scenario = simulator.scenario();
    return SumOverJobs(simulator, known, [&](int job) {
      const auto [steps, type] = LeftOf(simulator, job, preemptive_);
      double step = least_[U(job)];
      if (type >= 0)
        step = (scenario.WorkingGpus(job) * price_[U(type)] + own_[U(job)]) / scenario.Rate(job, type);
      return steps * step;
    });
  }

 private:
  bool preemptive_;
  Reward reward_;
  std::vector<double> price_, own_;  // [G] of a GPU second, [jobs] of a second of the job
  std::vector<double> least_;        // [jobs] of a step of the whole gang
};

}  // namespace

double LeastPrice(const Scenario& scenario, int job, std::span<const double> price, double own) {
  double least = std::numeric_limits<double>::infinity();
  for (int g = 0; g < scenario.num_types(); ++g) {
    if (const double rate = scenario.Rate(job, g); rate > 0.0)
      least = std::min(least, (scenario.WorkingGpus(job) * price[U(g)] + own) / rate);
  }
  return least;
}

PotentialInfo WorkInfo() {
  return {"work",
          "cost, energy or makespan of the work left, each job's on the type where it adds least",
          "prices of time: dual of R|pmtn|Cmax, Lawler & Labetoulle 1978; their use as a potential: Berth",
          "cost, energy or makespan",
          {},
          [](const MdpSpec& mdp) {
            const Reward reward(mdp.reward);
            return std::any_of(std::begin(kTerms), std::end(kTerms),
                               [&](const Term& term) { return reward.WeightOf(term.reward) > 0.0; });
          },
          [](Params&, const MdpSpec& mdp) -> std::unique_ptr<Potential> {
            return std::make_unique<WorkPotential>(mdp);
          }};
}

}  // namespace berth
