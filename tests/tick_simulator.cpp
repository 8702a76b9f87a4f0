#include "tests/tick_simulator.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"

namespace berth::test {
namespace {

struct Job {
  TickJob face;
  double arrival;
  double left;            // steps
  double held_until = 0;  // no progress before: restoring
  double done = -1;       // s
  bool releases = true;   // its GPUs are free again
};

// Adds the job to the plan on `type`, or on the first type with room where `type` is -1. False when nothing
// fits.
bool Put(const TickJob& job, int type, std::vector<int>& room, std::map<int, int>& plan) {
  for (int g = 0; g < static_cast<int>(room.size()); ++g) {
    const auto u = static_cast<std::size_t>(g);
    if ((type >= 0 && g != type) || job.rates[u] <= 0 || room[u] < job.gang) continue;
    room[u] -= job.gang;
    plan[job.index] = g;
    return true;
  }
  return false;
}

}  // namespace

std::map<int, int> Plan(TickRule rule, const std::vector<TickJob>& jobs, const std::vector<int>& gpus) {
  std::vector<int> room = gpus;
  std::map<int, int> plan;
  if (rule == TickRule::kPreemptive) {
    std::vector<TickJob> order = jobs;
    std::stable_sort(order.begin(), order.end(),
                     [](const TickJob& a, const TickJob& b) { return a.weight > b.weight; });
    for (const TickJob& job : order) Put(job, job.last, room, plan);
    return plan;
  }
  for (const TickJob& job : jobs) {
    if (job.on >= 0) Put(job, job.on, room, plan);
  }
  for (const TickJob& job : jobs) {
    if (job.on < 0 && !Put(job, -1, room, plan) && rule == TickRule::kStrict) break;
  }
  return plan;
}

std::vector<double> TickSimulate(const Scenario& scenario, TickRule rule) {
  const ScenarioData& data = scenario.data();
  const bool rounds = data.clock.kind == ClockKind::kRounds;
  std::vector<int> gpus;
  for (const GpuType& type : data.cluster.types) gpus.push_back(type.count);
  std::vector<Job> jobs;
  for (int j = 0; j < scenario.num_jobs(); ++j) {
    const auto u = static_cast<std::size_t>(j);
    std::vector<double> rates(scenario.Rates(j).begin(), scenario.Rates(j).end());
    const double weight = data.jobs.weight.empty() ? 1.0 : data.jobs.weight[u];
    jobs.push_back(
        {{j, data.jobs.gang[u], -1, -1, weight, rates}, data.jobs.arrival[u], data.jobs.total_steps[u]});
  }

  std::size_t finished = 0;
  for (double now = 0; finished < jobs.size(); ++now) {
    BERTH_CHECK(now < 1e6, "the rule leaves a job waiting for ever");
    bool something = false;  // arrived or completed at this very second
    for (Job& job : jobs) {
      something = something || job.arrival == now;
      if (job.face.on < 0 || job.left > 0 || job.done >= 0) continue;
      job.done = now;
      job.releases = false;
      ++finished;
      something = true;
    }
    const bool boundary = std::fmod(now, data.clock.round_s) == 0;
    if (rounds ? boundary : something) {
      std::vector<TickJob> present;
      std::vector<int> room = gpus;
      for (Job& job : jobs) {
        if (!job.releases) job.releases = true, job.face.on = -1;
        if (job.arrival <= now && job.done < 0) present.push_back(job.face);
      }
      const std::map<int, int> plan = Plan(rule, present, room);
      for (const TickJob& face : present) {
        Job& job = jobs[static_cast<std::size_t>(face.index)];
        const auto put = plan.find(face.index);
        const int type = put == plan.end() ? -1 : put->second;
        if (type == face.on) continue;
        if (type >= 0) {
          const bool again = face.last >= 0;
          job.held_until = now + (again ? data.costs.checkpoint_s + data.costs.restore_s : 0.0);
          job.face.last = type;
        }
        job.face.on = type;
      }
    }
    for (Job& job : jobs) {  // the second from now to now + 1
      if (job.face.on < 0 || job.done >= 0 || now < job.held_until) continue;
      job.left -= job.face.rates[static_cast<std::size_t>(job.face.on)];
      BERTH_CHECK(job.left >= 0, "job ", job.face.index, " ends within a second");
    }
  }
  std::vector<double> completions;
  for (const Job& job : jobs) completions.push_back(job.done);
  return completions;
}

}  // namespace berth::test
