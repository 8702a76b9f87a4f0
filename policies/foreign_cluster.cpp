#include "policies/foreign_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// What Scenario does not look at: where jobs run, and times against the clock.
void CheckState(const ForeignCluster& cluster, Knowledge granted) {
  const auto types = static_cast<int>(cluster.types.size());
  if (types == 0) throw Error("types: expected at least one GPU type, found none");
  if (cluster.rates.size() != cluster.jobs.size() * cluster.types.size()) {
    throw Error(Join("rates: expected ", cluster.jobs.size(), " x ", types, " numbers, found ",
                     cluster.rates.size()));
  }
  if (!(cluster.now_s >= 0.0) || std::isinf(cluster.now_s)) {
    throw Error(Join("now_s: expected seconds >= 0, found ", cluster.now_s));
  }
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const ForeignJob& job = cluster.jobs[i];
    if (job.arrival_s > cluster.now_s) {
      throw Error(
          Join("job ", i, ": arrival_s: expected at most now_s, ", cluster.now_s, ", found ", job.arrival_s));
    }
    if (job.gang < 1) throw Error(Join("job ", i, ": gang: expected at least 1 GPU, found ", job.gang));
    if (granted >= Knowledge::kEstimate &&
        (!(job.remaining_steps > 0.0) || std::isinf(job.remaining_steps))) {
      throw Error(Join("job ", i, ": remaining_steps: expected > 0, found ", job.remaining_steps));
    }
    const std::span<const double> rates =
        cluster.rates.subspan(i * cluster.types.size(), cluster.types.size());
    for (double rate : rates) {
      if (!(rate >= 0.0) || std::isinf(rate)) {
        throw Error(Join("job ", i, ": rates: expected steps/s >= 0, found ", rate));
      }
    }
    if (!(job.attained_s >= 0.0) || std::isinf(job.attained_s)) {
      throw Error(Join("job ", i, ": attained_s: expected seconds >= 0, found ", job.attained_s));
    }
    if (job.attained_steps < 0.0 || std::isinf(job.attained_steps)) {
      throw Error(Join("job ", i, ": attained_steps: expected steps >= 0, found ", job.attained_steps));
    }
    if (job.running_on < -1 || job.running_on >= types) {
      throw Error(
          Join("job ", i, ": running_on: expected -1 or a type below ", types, ", found ", job.running_on));
    }
    if (job.running_on >= 0 && rates[U(job.running_on)] == 0.0) {
      throw Error(
          Join("job ", i, ": it runs on '", cluster.types[U(job.running_on)].name, "', where its rate is 0"));
    }
  }
}

std::vector<int> ByArrival(std::span<const ForeignJob> jobs) {
  std::vector<int> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return jobs[U(a)].arrival_s < jobs[U(b)].arrival_s; });
  return order;
}

// Every job is a job type of its own: rates come by job.
Scenario MakeScenario(const ForeignCluster& cluster, std::span<const int> order, Knowledge granted) {
  ScenarioData data;
  data.cluster.types.assign(cluster.types.begin(), cluster.types.end());
  ThroughputTable& table = data.throughputs;
  for (const ForeignJob& job : cluster.jobs) table.gang_sizes.push_back(job.gang);
  std::sort(table.gang_sizes.begin(), table.gang_sizes.end());
  table.gang_sizes.erase(std::unique(table.gang_sizes.begin(), table.gang_sizes.end()),
                         table.gang_sizes.end());
  const std::size_t types = cluster.types.size();
  JobTable& jobs = data.jobs;
  for (int position : order) {
    const ForeignJob& job = cluster.jobs[U(position)];
    const auto rates = cluster.rates.subspan(U(position) * types, types);
    for (std::size_t size = 0; size < table.gang_sizes.size(); ++size) {
      table.alone.insert(table.alone.end(), rates.begin(), rates.end());
    }
    jobs.job_type.push_back(static_cast<int>(table.job_types.size()));
    table.job_types.push_back(std::to_string(position));
    jobs.id.push_back(position);
    jobs.arrival.push_back(job.arrival_s);
    jobs.gang.push_back(job.gang);
    jobs.total_steps.push_back(granted >= Knowledge::kEstimate ? job.remaining_steps : 1.0);
    jobs.weight.push_back(job.weight);
    jobs.deadline.push_back(job.deadline_s);
    jobs.requested_s.push_back(job.requested_s);
  }
  // The caller's estimates are estimates already: no further error on them.
  data.knowledge = granted == Knowledge::kEstimate ? Knowledge::kOracle : granted;
  return Scenario(std::move(data), [order](int job) { return Join("job ", order[U(job)]); });
}

// A simulator that has just begun has every column that there is; here its jobs are in the middle of it.
SimState MakeState(const Scenario& scenario, const ForeignCluster& cluster, std::span<const int> order,
                   Knowledge granted) {
  SimState state = Simulator(scenario).state();
  state.now = cluster.now_s;
  for (int job = 0; job < static_cast<int>(order.size()); ++job) {
    const ForeignJob& from = cluster.jobs[U(order[U(job)])];
    state.phase[U(job)] = JobPhase::kWaiting;
    state.progress_from[U(job)] = state.run_start[U(job)] = state.busy_from[U(job)] = cluster.now_s;
    state.run_seconds[U(job)] = from.attained_s;
    // Of the sighted, total_steps are what is left, and nothing is done.
    if (granted == Knowledge::kBlind && from.attained_steps > 0.0) {
      state.steps_done[U(job)] = from.attained_steps;
    }
    state.gpu_seconds[U(job)] = from.attained_s * from.gang;
    state.active.Insert(job);
    if (from.running_on < 0) {
      state.waiting.Insert(job);
      continue;
    }
    state.running.Insert(job);
    state.phase[U(job)] = JobPhase::kRunning;
    state.on_type[U(job)] = state.last_type[U(job)] = static_cast<std::int8_t>(from.running_on);
    if ((state.free_gpus[U(from.running_on)] -= from.gang) < 0) {
      const GpuType& type = cluster.types[U(from.running_on)];
      throw Error(Join("job ", order[U(job)], ": the jobs up to it run on more GPUs of '", type.name,
                       "' than the ", type.count, " that there are"));
    }
  }
  if (cluster.changed && !order.empty()) state.arrived.push_back(0);
  state.changed_since = 1;  // not the first decision: its devices are those it had
  return state;
}

}  // namespace

ForeignView::ForeignView(const ForeignCluster& cluster, Knowledge granted)
    : order_((CheckState(cluster, granted), ByArrival(cluster.jobs))),
      scenario_(MakeScenario(cluster, order_, granted)),
      state_(MakeState(scenario_, cluster, order_, granted)),
      view_(scenario_, state_, granted) {}

}  // namespace berth
