#include "tools/controller/live_forecast.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "tools/results.hpp"

namespace berth {

LiveMoment MomentOf(const LiveCluster& live) {
  using Phase = StartMoment::Phase;
  LiveMoment found;
  ScenarioData& data = found.moment.data;
  data.name = "live", data.cluster.types = live.types(), data.clock = live.clock();
  std::vector<int> order(U(live.num_jobs()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return live.job(a).arrival_s < live.job(b).arrival_s; });
  const double origin =
      order.empty() ? live.now_s() : std::min(live.now_s(), live.job(order.front()).arrival_s);
  found.moment.now = live.now_s() - origin;
  std::set<int> gangs = {1};
  for (const int index : order) gangs.insert(live.job(index).slurm.gpus);
  data.throughputs.gang_sizes.assign(gangs.begin(), gangs.end());
  for (std::size_t c = 0; c < live.site().classes.size(); ++c) {
    data.throughputs.job_types.push_back(live.site().classes[c].name);
    for (std::size_t s = 0; s < gangs.size(); ++s) {
      for (std::size_t g = 0; g < live.types().size(); ++g)
        data.throughputs.alone.push_back(live.Speed(static_cast<int>(c), static_cast<int>(g)));
    }
  }
  std::map<std::string, int> users;
  std::set<int> running;
  for (const int index : order) {
    const LiveJob& job = live.job(index);
    const bool ran = job.steps_done > 0.0;
    if (job.phase == LivePhase::kGone && !ran) continue;  // cancelled while it waited
    if (live.FittingTypes(job) == 0) continue;            // with a row that no type can run it is no scenario
    StartMoment::Job row;
    row.phase = Phase::kAway;
    if (job.phase == LivePhase::kGone) row.phase = Phase::kEnded;
    if (job.phase == LivePhase::kWaiting) row.phase = Phase::kWaiting, row.type = job.last_type;
    if ((job.phase == LivePhase::kOrdered || job.phase == LivePhase::kRunning) && live.Progresses(job) &&
        !job.slurm.suspended()) {
      running.insert(index);
      row.phase = Phase::kRunning, row.type = job.type, row.devices = job.devices;
      row.since = (job.phase == LivePhase::kRunning ? job.run_start_s : live.now_s()) - origin;
    }
    row.done = live.Steps(job, live.now_s());
    const auto [user, is_new] = users.try_emplace(job.slurm.user, static_cast<int>(users.size()));
    if (is_new) data.tenants.push_back({job.slurm.user.empty() ? "user" : job.slurm.user});
    data.jobs.id.push_back(index),
        data.jobs.arrival.push_back(std::min(job.arrival_s, live.now_s()) - origin);
    data.jobs.job_type.push_back(job.job_class), data.jobs.gang.push_back(job.slurm.gpus);
    data.jobs.total_steps.push_back(row.phase == Phase::kEnded ? row.done
                                                               : std::max(job.total_steps, row.done + 1e-3));
    data.jobs.requested_s.push_back(job.slurm.limit_s), data.jobs.tenant.push_back(user->second);
    data.jobs.allowed.push_back(live.AllowedTypes(job));
    found.moment.jobs.push_back(std::move(row));
    found.ids.push_back(job.slurm.id);
  }
  for (int device = 0; device < live.num_devices(); ++device) {
    const int holder = live.Holder(device);
    if (holder == LiveCluster::kForeign || (holder >= 0 && !running.contains(holder)))
      found.moment.closed.push_back({device, kNever});
  }
  return found;
}

StartForecasts::~StartForecasts() {
  if (thread_.joinable()) thread_.join();
}

void StartForecasts::Begin(LiveMoment moment, double now_s, const std::string& scheduler, double cpu_s) {
  if (busy_.exchange(true)) return;
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this, moment = std::move(moment), now_s, scheduler, cpu_s] {
    std::map<std::string, Interval> made;
    try {
      ForecastOptions options;
      options.cpu_s = cpu_s;
      const std::unique_ptr<Scheduler> asked = MakeScheduler(scheduler, AllSchedulers());
      for (const StartForecast& job : ForecastStarts(moment.moment, *asked, scheduler, options))
        made[moment.ids[U(job.job)]] = {now_s + job.low, now_s + job.median, now_s + job.high};
    } catch (const std::exception&) {  // the page then shows none
    }
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      latest_ = std::move(made);
    }
    busy_ = false;
  });
}

std::map<std::string, StartForecasts::Interval> StartForecasts::Latest() const {
  const std::lock_guard<std::mutex> guard(mutex_);
  return latest_;
}

}  // namespace berth
