#include "tools/forecast/moments.hpp"

#include <algorithm>
#include <set>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

constexpr int kPastRemembered = 4000;  // arrivals that are remembered beside those that are here

void CheckShown(const Scenario& scenario) {
  const Features& on = scenario.data().features;
  const char* name = on.Find<ElasticitySettings>()  ? ElasticitySettings::kName
                     : on.Find<PartitionSettings>() ? PartitionSettings::kName
                     : on.Find<ServiceSettings>()   ? ServiceSettings::kName
                     : on.Find<SharingSettings>()   ? SharingSettings::kName
                                                    : nullptr;
  if (name != nullptr)
    throw Error(
        Join("forecast: expected jobs that hold their gangs of whole GPUs until they end, found a scenario "
             "with the feature '",
             name, "'"));
}

// How long whoever is out of service stays so: as long again as it has been, knowing no better.
void CloseDevices(const Simulator& simulator, const std::vector<double>& down_since, StartMoment& moment) {
  const SimState& state = simulator.state();
  for (int device = 0; device < simulator.scenario().num_gpus(); ++device) {
    if (state.InService(device)) continue;
    moment.closed.push_back({device, moment.now + std::max(1.0, moment.now - down_since[U(device)])});
  }
}

}  // namespace

PastMoment EmptyMoment(const Scenario& scenario, double now, const std::function<bool(int)>& here) {
  const ScenarioData& data = scenario.data();
  const std::vector<double>& arrival = data.jobs.arrival;
  const int come = static_cast<int>(std::upper_bound(arrival.begin(), arrival.end(), now) - arrival.begin());
  PastMoment past;
  for (int job = 0; job < come; ++job) {
    if (job >= come - kPastRemembered || here(job)) past.job.push_back(job);
  }
  StartMoment& moment = past.moment;
  moment.now = now;
  moment.data = data;
  moment.data.features = {};
  moment.data.jobs = {};
  // Not what only features read.
  const std::set<std::string> left_out = {"gang_min", "gang_max", "gpu_milli", "qos"};
  std::vector<const void*> columns;
  ForEachColumn(data.jobs, [&](const char*, const auto& column, bool) { columns.push_back(&column); });
  std::size_t at = 0;
  ForEachColumn(moment.data.jobs, [&](const char* name, auto& column, bool) {
    const auto& source = *static_cast<const std::remove_reference_t<decltype(column)>*>(columns[at++]);
    if (source.empty() || left_out.count(name) == 1) return;
    for (const int job : past.job) column.push_back(source[U(job)]);
  });
  moment.jobs.resize(past.job.size());
  return past;
}

double KnownStarts::Next(int job, double time) const {
  const auto at = of_job.find(job);
  if (at == of_job.end()) return kNever;
  const auto next = std::upper_bound(at->second.begin(), at->second.end(), time);
  return next == at->second.end() ? kNever : *next;
}

template <class See>
std::vector<Event> SimulatedPast::Replay(const See& see) const {
  const std::unique_ptr<Scheduler> scheduler = MakeScheduler(spec_, AllSchedulers());
  Simulator simulator(scenario_, {/*keep_events=*/true});
  CheckRunnable(scenario_, *scheduler, spec_);
  scheduler->Reset(simulator.View(scheduler->knowledge()));
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    decision.Clear();
    scheduler->Decide(simulator.View(scheduler->knowledge()), decision);
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok())
      throw Error(Join("scheduler '", spec_, "' decides illegally: ", Explain(applied, decision, simulator)));
    if (!see(simulator)) break;
  }
  if (simulator.stalled()) throw Error(Join("scheduler '", spec_, "' stalls at ", simulator.now(), " s"));
  return simulator.events();
}

SimulatedPast::SimulatedPast(Scenario scenario, std::string spec)
    : scenario_(std::move(scenario)), spec_(std::move(spec)) {
  CheckShown(scenario_);
  const std::vector<Event> events = Replay([&](const Simulator& simulator) {
    points_.push_back({simulator.now(), static_cast<int>(simulator.state().waiting.size())});
    return true;
  });
  for (const Event& event : events) {
    if (event.kind == EventKind::kStart || event.kind == EventKind::kPack)
      starts_.of_job[event.job].push_back(event.time);
  }
}

double SimulatedPast::LongestQueue() const {
  const auto longest = std::max_element(points_.begin(), points_.end(),
                                        [](const Point& a, const Point& b) { return a.waiting < b.waiting; });
  return longest == points_.end() || longest->waiting == 0 ? kNever : longest->time;
}

std::vector<double> SimulatedPast::Times(int count) const {
  std::vector<double> busy, times;
  const double last = scenario_.data().jobs.arrival.back();
  for (const Point& point : points_) {
    if (point.waiting > 0 && point.time <= last && (busy.empty() || point.time > busy.back()))
      busy.push_back(point.time);
  }
  const std::size_t many = std::min(U(count), busy.size());
  for (std::size_t k = 0; k < many; ++k) times.push_back(busy[(2 * k + 1) * busy.size() / (2 * many)]);
  return times;
}

std::vector<PastMoment> SimulatedPast::At(const std::vector<double>& times) const {
  std::vector<PastMoment> moments;
  std::vector<double> down_since(U(scenario_.num_gpus()), kNever);
  std::size_t point = 0;
  Replay([&](const Simulator& simulator) {
    const SimState& state = simulator.state();
    for (std::size_t d = 0; d < down_since.size(); ++d) {
      if (state.InService(static_cast<int>(d)))
        down_since[d] = kNever;
      else
        down_since[d] = std::min(down_since[d], simulator.now());
    }
    const double next = ++point < points_.size() ? points_[point].time : kNever;
    while (moments.size() < times.size() && times[moments.size()] < next) {
      const double now = std::max(times[moments.size()], simulator.now());
      const auto here = [&](int job) {
        return state.phase[U(job)] == JobPhase::kWaiting || state.phase[U(job)] == JobPhase::kRunning;
      };
      PastMoment past = EmptyMoment(scenario_, now, here);
      for (std::size_t k = 0; k < past.job.size(); ++k) {
        const std::size_t j = U(past.job[k]);
        StartMoment::Job& its = past.moment.jobs[k];
        its.done = state.AttainedSteps(past.job[k]);
        its.type = state.last_type[j];
        its.gpu_seconds = state.AttainedGpuSeconds(past.job[k]);
        if (state.phase[j] == JobPhase::kRunning) {
          its.phase = StartMoment::Phase::kRunning;
          its.type = state.on_type[j], its.since = state.run_start[j];
          const std::span<const int> devices = state.Devices(past.job[k]);
          its.devices.assign(devices.begin(), devices.end());
          its.done = state.steps_done[j] + state.rate[j] * std::max(0.0, now - state.progress_from[j]);
        } else if (state.phase[j] == JobPhase::kDone) {
          its.phase = StartMoment::Phase::kEnded;
          its.since = state.completion[j];
        } else if (state.phase[j] != JobPhase::kWaiting ||
                   (!state.blocked.empty() && state.blocked[j] != 0)) {
          its.phase = StartMoment::Phase::kAway;
        }
      }
      CloseDevices(simulator, down_since, past.moment);
      moments.push_back(std::move(past));
    }
    return moments.size() < times.size();
  });
  return moments;
}

}  // namespace berth
