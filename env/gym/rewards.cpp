#include "env/gym/rewards.hpp"

#include <algorithm>
#include <iterator>

#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/sim/accounts.hpp"
#include "env/sim/metrics.hpp"

namespace berth {
namespace {

constexpr double kMostWeight = 1e9;

double TotalJct(const Simulator& simulator, const RunningSums&) {
  return simulator.JobSeconds();
}

double TotalSlowdown(const Simulator&, const RunningSums& sums) {
  return sums.slowdown();
}

// The clock while there is work, the last completion afterwards: telescopes to the makespan.
double TotalMakespan(const Simulator& simulator, const RunningSums&) {
  if (simulator.jobs_in_system() > 0 || simulator.arrivals_remain()) return simulator.now();
  double last = 0.0;
  for (double done : simulator.state().completion) {
    if (done != kNever) last = std::max(last, done);
  }
  return last;
}

double TotalDemand(const Simulator&, const RunningSums& sums) {
  return sums.demand();
}

double TotalMisses(const Simulator&, const RunningSums& sums) {
  return sums.misses();
}

double TotalCost(const Simulator& simulator, const RunningSums&) {
  return UsedCost(simulator.core());
}

double TotalLate(const Simulator& simulator, const RunningSums&) {
  double late = 0.0;
  for (const FeatureState& feature : simulator.state().features.Of(Hook::kLate)) late += feature.Late();
  return late;
}

double TotalEnergy(const Simulator& simulator, const RunningSums&) {
  return UsedEnergyJ(simulator.core()) / 3.6e6;
}

// Of a finished run: what the totals above are of a whole episode, a job; but the metric's slowdowns are at
// least 1.
double JobJct(const Metrics& m) {
  return m.mean_jct_s;
}
double JobSlowdown(const Metrics& m) {
  return m.mean_slowdown;
}
double JobMakespan(const Metrics& m) {
  return m.makespan_s / m.jobs;
}
double JobMisses(const Metrics& m) {
  return m.deadline_miss_rate;
}
double JobCost(const Metrics& m) {
  return m.cost / m.jobs;
}
double JobEnergy(const Metrics& m) {
  return m.energy_kwh / m.jobs;
}
double JobFtf(const Metrics& m) {
  return m.max_ftf / m.jobs;
}

double FinalFtf(const Simulator& simulator, const RunningSums&) {
  return Measure(simulator, {}).max_ftf;
}
double FinalUtilization(const Simulator& simulator, const RunningSums&) {
  return -Measure(simulator, {}).utilization;
}

constexpr RewardInfo kRewards[] = {
    {"jct", "minus the sum of job completion times, s (jobs in system integrated over time)",
     "Little 1961: jobs in system integrated over time is the sum of times in system", TotalJct, JobJct,
     false, /*sums=*/false, [](const Scenario&, int) { return 1.0; }},
    {"slowdown", "minus the sum of JCT / max(run time alone, 10 s)",
     "Feitelson & Rudolph 1998, bounded at 10 s", TotalSlowdown, JobSlowdown, false, /*sums=*/true,
     SlowdownPerSecond},
    {"demand", "minus the sum of JCT x GPUs asked for, GPU-seconds, parts of GPUs as such",
     "as jct with each job weighted by its GPUs (Smith 1956)", TotalDemand, nullptr, false, /*sums=*/true,
     DemandPerSecond},
    {"makespan", "minus the makespan, s", "Graham 1966", TotalMakespan, JobMakespan, false},
    {"deadline", "minus the number of jobs that miss their deadline", "metrics.hpp", TotalMisses, JobMisses,
     false,
     /*sums=*/true},
    {"cost", "minus the price of the busy device-hours", "metrics.hpp", TotalCost, JobCost, false},
    {"energy", "minus the energy of the cluster, kWh", "metrics.hpp", TotalEnergy, JobEnergy, false},
    {"late", "minus the requests of services that are not answered in time, or wait for longer",
     "metrics.hpp", TotalLate, nullptr, false},
    {"ftf", "minus the largest finish-time fairness rho, at the end",
     "Mahajan et al., NSDI 2020 (Themis), as metrics.cpp states it", FinalFtf, JobFtf, true},
    {"utilization", "the utilisation, at the end", "metrics.hpp", FinalUtilization, nullptr, true},
};

}  // namespace

std::span<const RewardInfo> Rewards() {
  return kRewards;
}

Reward::Reward(const std::string& spec) {
  std::vector<std::string> names;
  for (const RewardInfo& info : kRewards) names.emplace_back(info.name);
  for (const std::string& part : SplitOutsideParentheses(spec, '+')) {
    const std::size_t star = part.find('*');
    const std::string name = star == std::string::npos ? part : part.substr(star + 1);
    const double weight =
        star == std::string::npos ? 1.0 : ParseNumber(part.substr(0, star), "reward '" + spec + "': weight");
    const auto it = std::find_if(std::begin(kRewards), std::end(kRewards),
                                 [&](const RewardInfo& info) { return name == info.name; });
    if (it == std::end(kRewards)) {
      throw Error(Join("reward '", spec, "': unknown term '", name, "'", DidYouMean(name, names),
                       "; expected a sum such as jct+0.5*slowdown"));
    }
    if (!(weight > 0.0) || weight > kMostWeight)
      throw Error(Join("reward '", spec, "': weight of ", name, ": expected more than 0 and at most ",
                       kMostWeight, ", since terms are costs, found ", part.substr(0, star)));
    terms_.push_back({weight, &*it});
    needs_sums_ = needs_sums_ || it->sums;
  }
  if (terms_.empty()) throw Error(Join("reward '", spec, "': expected a sum such as jct+0.5*slowdown"));
}

void Reward::Begin(const Simulator& simulator) {
  if (needs_sums_) sums_.Begin(simulator);
}

void Reward::Observe(const Simulator& simulator) {
  if (needs_sums_) sums_.Observe(simulator);
}

double Reward::Running(const Simulator& simulator) const {
  double total = 0.0;
  for (const Term& term : terms_) {
    if (!term.info->terminal) total += term.weight * term.info->total(simulator, sums_);
  }
  return total;
}

bool Reward::PaidAtEnd() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.info->terminal; });
}

double Reward::Terminal(const Simulator& simulator) const {
  double total = 0.0;
  for (const Term& term : terms_) {
    if (term.info->terminal) total += term.weight * term.info->total(simulator, sums_);
  }
  return total;
}

void Reward::Totals(const Simulator& simulator, bool ended, std::span<double> totals) const {
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const RewardInfo& info = *terms_[i].info;
    totals[i] = info.terminal && !ended ? 0.0 : info.total(simulator, sums_);
  }
}

std::vector<std::string> Reward::Names() const {
  std::vector<std::string> names;
  for (const Term& term : terms_) names.emplace_back(term.info->name);
  return names;
}

double Reward::PerSecond(const Scenario& scenario, int job) const {
  double sum = 0.0;
  for (const Term& term : terms_) {
    if (term.info->a_second != nullptr) sum += term.weight * term.info->a_second(scenario, job);
  }
  return sum;
}

bool Reward::CostsTime() const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [](const Term& term) { return term.weight > 0.0 && term.info->a_second != nullptr; });
}

double Reward::WeightOf(std::string_view term) const {
  double sum = 0.0;
  for (const Term& one : terms_) sum += one.info->name == term ? one.weight : 0.0;
  return sum;
}

double Reward::AJob(const Metrics& metrics) const {
  double total = 0.0;
  for (const Term& term : terms_) {
    if (term.info->a_job == nullptr) {
      throw Error(
          Join("reward: expected terms for which runs have a metric, of which less is better, found '",
               term.info->name, "'"));
    }
    total += term.weight * term.info->a_job(metrics);
  }
  return total;
}

}  // namespace berth
