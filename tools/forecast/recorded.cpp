#include <algorithm>
#include <cmath>
#include <map>

#include "data/sacct/accounting.hpp"
#include "data/sacct/site.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/forecast/moments.hpp"

namespace berth {
namespace {

constexpr std::int64_t kNextRun = 1'000'000'000'000;  // between ids of a job's runs, as `convert` writes them

}  // namespace

RecordedPast::RecordedPast(Scenario scenario, const std::string& accounting)
    : scenario_(std::move(scenario)), runs_(U(scenario_.num_jobs())) {
  const SacctTable table = ReadSacctText(accounting);
  const Site site = SiteOf(accounting, {});
  std::map<std::string, int> node_named;
  std::map<std::string, int> of_type;
  for (const SlurmNode& node : site.nodes) {
    int type = 0;
    while (type < scenario_.num_types() && scenario_.data().cluster.types[U(type)].name != node.type) ++type;
    if (type == scenario_.num_types())
      throw Error(Join(accounting, ": expected the scenario of this accounting, found one without GPUs '",
                       node.type, "'"));
    int& next = of_type[node.type];
    node_named[node.name] = static_cast<int>(devices_.size());
    devices_.emplace_back();
    for (int k = 0; k < node.gpus; ++k, ++next)
      devices_.back().push_back(scenario_.first_device(type) + next);
  }
  std::map<std::int64_t, std::vector<const SacctRow*>> rows;
  for (const SacctRow& row : table.rows) rows[row.id].push_back(&row);
  for (auto& [id, its] : rows)
    std::stable_sort(its.begin(), its.end(),
                     [](const SacctRow* a, const SacctRow* b) { return a->submit < b->submit; });
  const JobTable& jobs = scenario_.data().jobs;
  std::vector<const SacctRow*> row_of;
  double origin = -kNever;
  for (int job = 0; job < jobs.size(); ++job) {
    const std::int64_t id = jobs.id[U(job)];
    const auto at = rows.find(id % kNextRun);
    if (at == rows.end() || U(id / kNextRun) >= at->second.size())
      throw Error(Join(accounting, ": expected the accounting of the scenario, found none of job ", id));
    row_of.push_back(at->second[U(id / kNextRun)]);
    // A job that was held arrives behind its submission, so the latest is that of one that was not.
    origin = std::max(origin, at->second.front()->submit - jobs.arrival[U(job)]);
  }
  for (int job = 0; job < jobs.size(); ++job) {
    const SacctRow& row = *row_of[U(job)];
    Run& run = runs_[U(job)];
    run.start = row.start - origin;
    run.end = run.start + row.elapsed;
    starts_.of_job[job].push_back(run.start);
    for (const std::string& name : ExpandHosts(row.nodes, row.where)) {
      const auto at = node_named.find(name);
      if (at == node_named.end())
        throw Error(Join(row.where, ": expected a node of slurm.conf, found '", name, "'"));
      run.nodes.push_back(at->second);
    }
    if (run.nodes.empty())  // its GPUs would be free while it runs
      throw Error(Join(row.where, ": column 'NodeList': expected the nodes that job ", row.id,
                       " ran on, found none (sacct --format=NodeList,... writes them)"));
  }
}

int RecordedPast::WaitingAt(double time) const {
  int waiting = 0;
  for (int job = 0; job < scenario_.num_jobs(); ++job)
    waiting += scenario_.data().jobs.arrival[U(job)] <= time && runs_[U(job)].start > time ? 1 : 0;
  return waiting;
}

double RecordedPast::LongestQueue() const {
  double longest = kNever;
  int most = 0;
  for (const double time : scenario_.data().jobs.arrival) {
    if (const int waiting = WaitingAt(time); waiting > most) most = waiting, longest = time;
  }
  return longest;
}

std::vector<double> RecordedPast::Times(int count) const {
  std::vector<double> all = scenario_.data().jobs.arrival, times;
  for (const Run& run : runs_) all.push_back(run.start);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const double last = scenario_.data().jobs.arrival.back();
  std::erase_if(all, [&](double time) { return time > last || WaitingAt(time) == 0; });
  const std::size_t many = std::min(U(count), all.size());
  for (std::size_t k = 0; k < many; ++k) times.push_back(all[(2 * k + 1) * all.size() / (2 * many)]);
  return times;
}

std::vector<PastMoment> RecordedPast::At(const std::vector<double>& times) const {
  std::vector<PastMoment> moments;
  for (const double now : times) {
    PastMoment past = EmptyMoment(scenario_, now, [&](int job) { return runs_[U(job)].end > now; });
    std::vector<char> taken(U(scenario_.num_gpus()), 0);
    for (std::size_t k = 0; k < past.job.size(); ++k) {
      const int job = past.job[k];
      const Run& run = runs_[U(job)];
      StartMoment::Job& its = past.moment.jobs[k];
      if (run.start > now) continue;
      its.gpu_seconds = scenario_.data().jobs.gang[U(job)] * (std::min(now, run.end) - run.start);
      if (run.end <= now) {
        its.phase = StartMoment::Phase::kEnded;
        its.since = run.end;
        continue;
      }
      // GPUs evenly over its nodes: accounting does not say which.
      its.phase = StartMoment::Phase::kRunning;
      its.since = run.start;
      const int gang = scenario_.data().jobs.gang[U(job)], nodes = static_cast<int>(run.nodes.size());
      for (int n = 0; n < nodes; ++n) {
        int wanted = gang / nodes + (n < gang % nodes ? 1 : 0);
        for (const int device : devices_[U(run.nodes[U(n)])]) {
          if (wanted == 0 || taken[U(device)] != 0) continue;
          taken[U(device)] = 1, --wanted;
          its.devices.push_back(device);
        }
      }
      its.type = its.devices.empty() ? -1 : scenario_.TypeOfDevice(its.devices[0]);
      const bool one_type = std::all_of(its.devices.begin(), its.devices.end(), [&](int device) {
        return scenario_.TypeOfDevice(device) == its.type;
      });
      if (static_cast<int>(its.devices.size()) != gang || !one_type || scenario_.Rate(job, its.type) <= 0.0) {
        for (const int device : its.devices)  // a gang that the scenario cannot show: its GPUs are away
          past.moment.closed.push_back({device, now + std::max(1.0, now - run.start)});
        its = {};
        its.phase = StartMoment::Phase::kAway;
        continue;
      }
      its.done = scenario_.Rate(job, its.type) * (now - run.start);
    }
    moments.push_back(std::move(past));
  }
  return moments;
}

}  // namespace berth
