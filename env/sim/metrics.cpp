#include "env/sim/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/index.hpp"
#include "env/sim/accounts.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
namespace {

constexpr double kSlowdownFloor = 10.0;  // s: bounded slowdown, Feitelson & Rudolph 1998

// Run time on an isolated 1/m share of every type (Gavel's IsolatedPolicy), m = mean jobs in system during
// the job's life.
double IsolatedSeconds(const Simulator& simulator, int job, double jct) {
  const Scenario& scenario = simulator.scenario();
  const double gang = scenario.data().jobs.gang[U(job)];
  const double others = (simulator.JobSecondsAtEnd(job) - simulator.JobSecondsAtArrival(job)) / jct;
  const double m = std::max(1.0, others);
  double share = 0.0, rate = 0.0;
  for (int type = 0; type < scenario.num_types(); ++type) {
    if (WeightOf(scenario.data(), type).capacity == 0.0) continue;  // a slice of a GPU that is counted
    const double y = scenario.data().cluster.types[U(type)].count / m / gang;
    share += y;
    rate += y * scenario.Rate(job, type);
  }
  if (share > 1.0) rate /= share;
  return scenario.data().jobs.total_steps[U(job)] / rate;
}

double Mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (double x : values) sum += x;
  return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
}

// Quantile of values in any order, which it leaves in another; 0 of none.
double QuantileOrZero(std::vector<double>& values, double q) {
  if (values.empty()) return 0.0;
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::ptrdiff_t>(at), above = below + 1;
  std::nth_element(values.begin(), below, values.end());
  if (above != values.end()) std::iter_swap(above, std::min_element(above, values.end()));
  return Quantile(values, q);  // which looks at these two alone
}

}  // namespace

double Metrics::Of(std::string_view key) const {
  for (const auto& [name, value] : of_features) {
    if (name == key) return value;
  }
  return 0.0;
}

void Metrics::Set(std::string_view key, double value) {
  for (auto& [name, old] : of_features) {
    if (name == key) {
      old = value;
      return;
    }
  }
  of_features.emplace_back(key, value);
}

double Quantile(std::span<const double> sorted, double q) {
  BERTH_CHECK(!sorted.empty() && q >= 0.0 && q <= 1.0, sorted.size(), " values, q = ", q);
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(below);
  // Of infinite values the difference is no number, and neither is nothing of one.
  if (std::isinf(sorted[above])) return share > 0.0 ? sorted[above] : sorted[below];
  return sorted[below] + share * (sorted[above] - sorted[below]);
}

std::vector<double> CompletionTimes(const Simulator& simulator, Window window) {
  const JobTable& jobs = simulator.scenario().data().jobs;
  const int end = window.end < 0 ? jobs.size() : window.end;
  std::vector<double> jct;
  for (int job = window.begin; job < end; ++job) {
    const double done = simulator.state().completion[U(job)];
    jct.push_back(done == kNever ? std::numeric_limits<double>::quiet_NaN() : done - jobs.arrival[U(job)]);
  }
  return jct;
}

std::vector<double> FinishTimeFairness(const Simulator& simulator, Window window) {
  std::vector<double> ftf = CompletionTimes(simulator, window);
  for (std::size_t i = 0; i < ftf.size(); ++i)  // what is unfinished stays NaN
    if (!std::isnan(ftf[i])) ftf[i] /= IsolatedSeconds(simulator, window.begin + static_cast<int>(i), ftf[i]);
  return ftf;
}

Metrics Measure(const Simulator& simulator, Window window) {
  const Scenario& scenario = simulator.scenario();
  const SimState& state = simulator.state();
  const JobTable& jobs = scenario.data().jobs;
  const int end = window.end < 0 ? jobs.size() : window.end;
  Metrics m;
  m.end_s = simulator.now();

  std::vector<double> jct, wait, slowdown, ftf;
  double inverse = 0.0, inverse_square = 0.0, preemptions = 0.0, interruptions = 0.0, lost = 0.0;
  int deadlines = 0, missed = 0;
  // Was it stopped from outside (max_time_s), so that what is open might still be in time?
  const bool cut_off = !simulator.finished() && !simulator.stalled();
  for (int job = window.begin; job < end; ++job) {
    const double done = state.completion[U(job)];
    const double deadline = jobs.deadline.empty() ? kNever : jobs.deadline[U(job)];
    const bool open = cut_off && done == kNever && state.phase[U(job)] != JobPhase::kRejected &&
                      !Misses(simulator.now(), deadline);
    deadlines += deadline != kNever && !open;
    missed += !open && Misses(done, deadline);
    if (done == kNever) {
      ++m.unfinished;
      continue;
    }
    jct.push_back(done - jobs.arrival[U(job)]);
    wait.push_back(state.first_start[U(job)] - jobs.arrival[U(job)]);
    const double alone = jobs.total_steps[U(job)] / scenario.BestRate(job);
    slowdown.push_back(std::max(1.0, jct.back() / std::max(alone, kSlowdownFloor)));
    ftf.push_back(jct.back() / IsolatedSeconds(simulator, job, jct.back()));
    inverse += 1.0 / slowdown.back();
    inverse_square += 1.0 / (slowdown.back() * slowdown.back());
    preemptions += state.preemptions[U(job)];
    if (!state.interruptions.empty()) {
      interruptions += state.interruptions[U(job)];
      lost += state.lost_steps[U(job)] / scenario.BestRate(job);
    }
    m.makespan_s = std::max(m.makespan_s, done);
  }
  m.jobs = static_cast<int>(jct.size());
  const double n = m.jobs;
  m.mean_jct_s = Mean(jct);
  m.mean_wait_s = Mean(wait);
  m.mean_slowdown = Mean(slowdown);
  m.mean_ftf = Mean(ftf);  // means before quantiles: their sums are in the order of the jobs
  m.p50_jct_s = QuantileOrZero(jct, 0.50);
  m.p95_jct_s = QuantileOrZero(jct, 0.95);
  m.p99_jct_s = QuantileOrZero(jct, 0.99);
  m.max_jct_s = QuantileOrZero(jct, 1.0);
  m.p99_wait_s = QuantileOrZero(wait, 0.99);
  m.max_wait_s = QuantileOrZero(wait, 1.0);
  m.p99_slowdown = QuantileOrZero(slowdown, 0.99);
  m.max_ftf = QuantileOrZero(ftf, 1.0);
  // Jain, Chiu & Hawe 1984: (sum x)^2 / (n sum x^2).
  m.jain = inverse_square > 0.0 ? inverse * inverse / (n * inverse_square) : 0.0;
  m.deadline_miss_rate = deadlines > 0 ? static_cast<double>(missed) / deadlines : 0.0;
  const double span = m.jobs > 0 ? m.makespan_s - jobs.arrival[U(window.begin)] : 0.0;
  m.throughput_per_h = span > 0.0 ? n / (span / 3600.0) : 0.0;
  m.lost_work_h = m.jobs > 0 ? lost / 3600.0 / n : 0.0;
  m.interruptions_per_job = m.jobs > 0 ? interruptions / n : 0.0;
  m.preemptions_per_job = m.jobs > 0 ? preemptions / n : 0.0;

  double busy_all = 0.0, capacity = 0.0;
  for (int type = 0; type < scenario.num_types(); ++type) {
    const GpuType& gpu = scenario.data().cluster.types[U(type)];
    const DeviceWeight weight = WeightOf(scenario.data(), type);
    busy_all += HeldSeconds(simulator.core(), type) * weight.busy;
    capacity += gpu.count * weight.capacity;
  }
  m.cost = UsedCost(simulator.core());
  m.energy_kwh = UsedEnergyJ(simulator.core()) / 3.6e6;
  if (m.end_s > 0.0) {
    m.utilization = busy_all / (capacity * m.end_s);
    m.mean_jobs_in_system = simulator.JobSeconds() / m.end_s;
  }
  for (const FeatureStates::Entry& entry : state.features.entries()) {
    std::vector<double> figures(entry.module->metrics.size(), 0.0);
    entry.state->Measure(simulator.core(), figures);
    for (std::size_t i = 0; i < figures.size(); ++i)
      m.of_features.push_back({entry.module->metrics[i].key, figures[i]});
  }
  MeasureHpc(simulator, window, m);
  MeasureBacklog(simulator, window, m);
  return m;
}

}  // namespace berth
