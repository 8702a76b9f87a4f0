#include "tests/pair_model.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::test {
namespace {

struct Job {
  double left;  // steps
  int type = -1, partner = -1, last = -1;
  double held_until = 0.0;  // no progress before
  double done = kNever;
  double until = 0.0;  // where it stopped in the last stretch
  bool here = false;
};

// The rates straight from the table.
double Rate(const ScenarioData& data, const std::vector<Job>& jobs, int j) {
  const std::size_t types = data.cluster.types.size(), type = U(jobs[U(j)].type);
  const std::size_t kind = U(data.jobs.job_type[U(j)]);
  if (jobs[U(j)].partner < 0) {
    const auto& sizes = data.throughputs.gang_sizes;
    const auto size = std::find(sizes.begin(), sizes.end(), data.jobs.gang[U(j)]) - sizes.begin();
    return data.throughputs.alone[(kind * sizes.size() + static_cast<std::size_t>(size)) * types + type];
  }
  const std::size_t other = U(data.jobs.job_type[U(jobs[U(j)].partner)]);
  return data.throughputs.pairs[((kind * data.throughputs.job_types.size() + other) * types + type) * 2];
}

void Part(std::vector<Job>& jobs, int j) {
  if (jobs[U(j)].partner >= 0) jobs[U(jobs[U(j)].partner)].partner = -1;
  jobs[U(j)].partner = -1;
}

void CarryOut(const Scenario& scenario, const Decision& decision, double now, std::vector<Job>& jobs,
              PairModelResult& result) {
  const Costs& costs = scenario.data().costs;
  std::vector<bool> moves(jobs.size(), false);
  for (const Command& c : decision.commands) {
    moves[U(c.job)] = jobs[U(c.job)].type >= 0 && c.kind != CommandKind::kStop;
    Part(jobs, c.job);
    jobs[U(c.job)].type = -1;
    result.stops += c.kind == CommandKind::kStop;
  }
  for (const bool packs : {false, true}) {
    for (const Command& c : decision.commands) {
      if (c.kind == CommandKind::kStop || (c.kind == CommandKind::kPack) != packs) continue;
      Job& job = jobs[U(c.job)];
      job.type = packs ? jobs[U(c.host)].type : c.type;
      if (packs) {
        BERTH_CHECK(job.type >= 0 && jobs[U(c.host)].partner < 0, c.job, " beside ", c.host);
        job.partner = c.host;
        jobs[U(c.host)].partner = c.job;
        ++(moves[U(c.job)] ? result.moved_packs : result.packs);
      }
      double cost = 0.0;
      if (moves[U(c.job)] || job.last >= 0) cost = costs.checkpoint_s + costs.restore_s;
      if (moves[U(c.job)] || (job.last >= 0 && job.last != job.type)) cost += costs.migration_s;
      job.held_until = now + cost;
      job.last = job.type;
    }
  }
}

// Takes every running job forward from `now` to the next instant at which something is decided, and returns
// it.
double Walk(const Scenario& scenario, double now, double next_arrival, std::vector<Job>& jobs) {
  const ScenarioData& data = scenario.data();
  const ClockKind clock = data.clock.kind;
  double end = clock == ClockKind::kEvent    ? next_arrival
               : clock == ClockKind::kRounds ? now + data.clock.round_s
                                             : -1.0;
  std::vector<double> rate(jobs.size()), from(jobs.size());
  bool any = false;
  for (int j = 0; j < scenario.num_jobs(); ++j) {
    Job& job = jobs[U(j)];
    if (job.type < 0) continue;
    any = true;
    rate[U(j)] = Rate(data, jobs, j);
    from[U(j)] = std::max(now, job.held_until);
    if (clock == ClockKind::kEvent) end = std::min(end, from[U(j)] + job.left / rate[U(j)]);
  }
  if (!any && clock != ClockKind::kRounds) return next_arrival;
  for (int j = 0; j < scenario.num_jobs(); ++j) {
    Job& job = jobs[U(j)];
    if (job.type < 0) continue;
    if (clock == ClockKind::kReferenceRounds) {
      const double steps =
          std::min(std::floor(rate[U(j)] * (now + data.clock.round_s - from[U(j)])), job.left);
      job.left -= steps;
      job.until = from[U(j)] + steps / rate[U(j)];
      end = std::max(end, job.until);
    } else {
      const double finish = from[U(j)] + job.left / rate[U(j)];
      job.until = std::min(finish, end);
      job.left = finish <= end ? 0.0 : job.left - rate[U(j)] * std::max(0.0, end - from[U(j)]);
    }
    if (job.left == 0.0) job.done = job.until;
  }
  return end;
}

}  // namespace

void PackingRule(const Scenario& scenario, const std::vector<SeatedJob>& present, Decision& decision) {
  std::vector<SeatedJob> order = present;
  std::stable_sort(order.begin(), order.end(),
                   [](const SeatedJob& a, const SeatedJob& b) { return a.weight > b.weight; });
  std::vector<int> room, type_of(U(scenario.num_jobs()), -1), host_of = type_of, guest_of = type_of,
                                                              on = type_of;
  for (const GpuType& type : scenario.data().cluster.types) room.push_back(type.count);
  std::vector<int> hosts;
  for (const SeatedJob& job : order) {
    on[U(job.index)] = job.on;
    for (int g = 0; g < scenario.num_types() && type_of[U(job.index)] < 0; ++g) {
      if (scenario.Rate(job.index, g) <= 0.0 || room[U(g)] < job.gang) continue;
      room[U(g)] -= job.gang;
      type_of[U(job.index)] = g;
      hosts.push_back(job.index);
    }
    for (int host : hosts) {
      if (type_of[U(job.index)] >= 0) break;
      if (guest_of[U(host)] >= 0 || scenario.PairRate(job.index, host, type_of[U(host)]) <= 0.0) continue;
      type_of[U(job.index)] = type_of[U(host)];
      host_of[U(job.index)] = host;
      guest_of[U(host)] = job.index;
    }
  }
  for (const SeatedJob& job : present) {
    const int type = type_of[U(job.index)], host = host_of[U(job.index)], mate = job.partner;
    const bool together = mate >= 0 && on[U(mate)] == type_of[U(mate)] && type == type_of[U(mate)] &&
                          (host == mate || host_of[U(mate)] == job.index);
    if (type < 0) {
      if (job.on >= 0) decision.Stop(job.index);
    } else if (host >= 0) {
      if (!together) decision.Pack(job.index, host);
    } else if (job.on < 0) {
      decision.Start(job.index, type);
    } else if (job.on != type || (mate >= 0 && mate < job.index && !together && host_of[U(mate)] < 0 &&
                                  type_of[U(mate)] == type)) {
      decision.Move(job.index, type);  // elsewhere, or away from a partner that stays there alone
    }
  }
}

PairModelResult PairSimulate(const Scenario& scenario, const SeatRule& rule) {
  const ScenarioData& data = scenario.data();
  PairModelResult result;
  result.busy.assign(U(scenario.num_types()), 0.0);
  std::vector<Job> jobs;
  for (double steps : data.jobs.total_steps) jobs.push_back({steps});
  Decision decision;
  double now = 0.0;
  for (int round = 0;; ++round) {
    BERTH_CHECK(round < 100000, "the rule leaves a job waiting for ever");
    std::vector<SeatedJob> present;
    double next_arrival = kNever;
    for (int j = 0; j < scenario.num_jobs(); ++j) {
      Job& job = jobs[U(j)];
      job.here = job.done == kNever && data.jobs.arrival[U(j)] <= now;
      if (job.here) {
        const double weight = data.jobs.weight.empty() ? 1.0 : data.jobs.weight[U(j)];
        present.push_back({j, data.jobs.gang[U(j)], job.type, job.partner, weight});
      } else if (data.jobs.arrival[U(j)] > now) {
        next_arrival = std::min(next_arrival, data.jobs.arrival[U(j)]);
      }
    }
    if (present.empty() && next_arrival == kNever) break;
    decision.Clear();
    rule(scenario, present, decision);
    CarryOut(scenario, decision, now, jobs, result);
    const double end = Walk(scenario, now, next_arrival, jobs);
    for (int j = 0; j < scenario.num_jobs(); ++j) {
      Job& job = jobs[U(j)];
      if (job.type < 0) continue;
      if (job.partner < 0) {
        result.busy[U(job.type)] += data.jobs.gang[U(j)] * (job.until - now);
      } else if (job.partner > j) {
        result.busy[U(job.type)] += std::max(job.until, jobs[U(job.partner)].until) - now;
      }
    }
    for (int j = 0; j < scenario.num_jobs(); ++j) {
      if (jobs[U(j)].done != kNever) Part(jobs, j), jobs[U(j)].type = -1;
    }
    now = end;
  }
  for (const Job& job : jobs) result.completion.push_back(job.done);
  return result;
}

}  // namespace berth::test
