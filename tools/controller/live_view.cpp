// LiveCluster as a scenario and the state of a simulation in the middle of it.
#include <algorithm>
#include <cmath>
#include <set>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/simulator.hpp"
#include "tools/controller/live_cluster.hpp"

namespace berth {
namespace {

// Says that GPUs may leave service, as those of a real cluster do: without a feature a scenario's never do.
struct LiveFeatureState final : FeatureState {
  std::unique_ptr<FeatureState> Clone() const override { return std::make_unique<LiveFeatureState>(*this); }
  HookSet Listens() const override { return 0; }
};
class LiveFeature final : public FeatureSettings {
 public:
  std::vector<FieldInfo> ListFields() const override { return {}; }
  FieldValue Get(std::size_t /*field*/) const override { return 0; }
  void Set(std::size_t /*field*/, const FieldValue& /*value*/) override {}
  void Check(const ScenarioData& /*scenario*/) const override {}
  std::unique_ptr<FeatureState> MakeState(const Scenario& /*scenario*/) const override {
    return std::make_unique<LiveFeatureState>();
  }
};
const FeatureModule kLiveFeature = {"live", "a real cluster, of which GPUs come and go", TagOf("live"),
                                    nullptr};

// It has run to an end, of which schedulers may learn.
bool Ended(const LiveCluster& live, const LiveJob& job) {
  return job.phase == LivePhase::kGone && job.steps_done > 0.0 && job.last_type >= 0 &&
         live.FittingTypes(job) != 0;
}

constexpr double kFuture = 1e12;  // s, arrival of the rows that are still free

}  // namespace

// Of a job that has done all that was thought and still runs nobody knows what is left: a tenth more.
double LiveCluster::Total(const LiveJob& job) const {
  const double done = Steps(job, now_s_);
  return done < job.total_steps ? job.total_steps : 1.1 * done + 1e-3;
}

void LiveCluster::BuildScenario() {
  ScenarioData data;
  data.name = "live", data.cluster.types = types_, data.clock = options_.clock;
  data.features.Add(kLiveFeature, std::make_shared<LiveFeature>());
  for (const JobClass& one : site_.classes) data.throughputs.job_types.push_back(one.name);
  std::set<int> gangs = {1};
  std::map<std::string, int> users;
  for (const LiveJob& job : jobs_) {
    gangs.insert(job.slurm.gpus);
    if (users.try_emplace(job.slurm.user, static_cast<int>(users.size())).second)
      data.tenants.push_back({job.slurm.user});
  }
  if (data.tenants.empty()) data.tenants.push_back({"default"});
  data.throughputs.gang_sizes.assign(gangs.begin(), gangs.end());
  for (const std::vector<double>& speeds : speeds_) {
    for (std::size_t s = 0; s < gangs.size(); ++s)
      data.throughputs.alone.insert(data.throughputs.alone.end(), speeds.begin(), speeds.end());
  }
  // A row that no type can run would be no scenario: such a job is not shown, and its row says what could be.
  const auto any = static_cast<int>(std::find_if(speeds_.begin(), speeds_.end(),
                                                 [](const std::vector<double>& speeds) {
                                                   return std::any_of(speeds.begin(), speeds.end(),
                                                                      [](double v) { return v > 0.0; });
                                                 }) -
                                    speeds_.begin());
  const std::uint64_t all = types_.size() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << types_.size()) - 1;
  double latest = 0.0;
  for (std::size_t i = 0; i < capacity_; ++i) {
    data.jobs.id.push_back(static_cast<std::int64_t>(i));
    const LiveJob* const job =
        i < jobs_.size() && (Shown(jobs_[i]) || Ended(*this, jobs_[i])) ? &jobs_[i] : nullptr;
    if (i < jobs_.size()) latest = std::max(latest, std::min(jobs_[i].arrival_s, now_s_) - origin_s_);
    data.jobs.arrival.push_back(i < jobs_.size() ? latest : kFuture);
    data.jobs.job_type.push_back(job != nullptr ? job->job_class : any);
    data.jobs.gang.push_back(job != nullptr ? job->slurm.gpus : 1);
    data.jobs.total_steps.push_back(job == nullptr       ? 1.0
                                    : Ended(*this, *job) ? job->steps_done
                                                         : Total(*job));
    data.jobs.requested_s.push_back(job != nullptr ? job->slurm.limit_s
                                                   : std::numeric_limits<double>::quiet_NaN());
    data.jobs.tenant.push_back(job != nullptr ? users.at(job->slurm.user) : 0);
    data.jobs.allowed.push_back(job != nullptr ? AllowedTypes(*job) : all);
  }
  scenario_ = Scenario(std::move(data), [this](int job) {
    return job < num_jobs() ? Join("job ", jobs_[U(job)].slurm.id) : Join("row ", job);
  });
}

void LiveCluster::FillState(Knowledge granted, const std::vector<int>& withheld) {
  state_ = Simulator(scenario_).state();
  SimState& state = state_;
  state.now = now_s_ - origin_s_;
  for (int job = 0; job < num_jobs(); ++job) {
    const LiveJob& from = jobs_[U(job)];
    const std::size_t j = U(job);
    state.phase[j] = from.phase == LivePhase::kGone ? JobPhase::kDone : JobPhase::kFuture;
    state.preemptions[j] = from.preemptions;
    state.last_type[j] = static_cast<std::int8_t>(from.last_type);
    if (from.first_start_s < kNever) state.first_start[j] = std::max(0.0, from.first_start_s - origin_s_);
    if (!Shown(from)) {
      state.steps_done[j] = from.steps_done;
      state.run_seconds[j] = from.attained_s, state.gpu_seconds[j] = from.gpu_seconds;
      continue;
    }
    state.steps_done[j] = granted == Knowledge::kNone ? 0.0 : Steps(from, now_s_);
    state.safe_steps[j] = from.words.checkpoint ? state.steps_done[j] : 0.0;
    state.progress_from[j] = state.busy_from[j] = state.now;
    state.run_start[j] = std::max(0.0, from.run_start_s - origin_s_);
    const bool runs = from.phase == LivePhase::kRunning;
    const double run = runs ? std::max(0.0, now_s_ - from.run_start_s - from.rested_s) : 0.0;
    state.run_seconds[j] = from.attained_s + run;
    state.gpu_seconds[j] = from.gpu_seconds + run * static_cast<double>(from.devices.size());
    state.active.Insert(job);
    if (from.phase == LivePhase::kWaiting) {
      state.phase[j] = JobPhase::kWaiting;
      state.waiting.Insert(job);
      continue;
    }
    state.phase[j] = JobPhase::kRunning;
    state.running.Insert(job);
    state.on_type[j] = state.last_type[j] = static_cast<std::int8_t>(from.type);
    state.rate[j] = scenario_.Rate(job, from.type);
    if (!runs) state.run_start[j] = state.now;
    state.first_start[j] = std::min(state.first_start[j], state.run_start[j]);
    state.slot[j] = static_cast<std::int32_t>(state.device_slots.size());
    state.device_slots.push_back(from.devices);
    for (const int device : from.devices)
      state.device_job[U(device)] = job, state.device_milli[U(device)] = 0;
  }
  for (std::size_t g = 0; g < types_.size(); ++g) state.types[g].count = state.free_gpus[g] = 0;
  for (int device = 0; device < num_devices(); ++device) {
    const auto g = U(TypeOf(device));
    const int holder = Holder(device);
    const bool held = holder == kForeign || (holder >= 0 && !Shown(jobs_[U(holder)])) ||
                      std::binary_search(withheld.begin(), withheld.end(), device);
    if (held) state.out_of_service[U(device)] = kHeld;
    if (held && state.device_job[U(device)] >= 0) ++state.num_leaving;  // withheld, and its job may stay
    if (!held) ++state.types[g].count;
    if (!held && state.device_job[U(device)] < 0) ++state.free_gpus[g];
  }
  for (const int job : arrived_) {
    if (Shown(jobs_[U(job)])) state.arrived.push_back(job);
  }
  for (const int job : completed_) {
    if (Ended(*this, jobs_[U(job)])) state.completed.push_back(job);
  }
  state.segments = ended_segments_;
  for (const int job : state.running) {
    const LiveJob& from = jobs_[U(job)];
    if (from.phase != LivePhase::kRunning) continue;  // ordered: not there yet
    const double since = std::max(from.run_start_s, decided_s_);
    if (now_s_ > since) state.segments.push_back({job, from.type, now_s_ - since, state.now, false});
  }
  std::stable_sort(state.segments.begin(), state.segments.end(), [](const Segment& a, const Segment& b) {
    return a.finish != b.finish ? a.finish > b.finish : a.job < b.job;
  });
  // Nobody may think that it followed: what happened in between was not told job by job.
  looks_ += 2;
  state.changed_since = begun_anew_ || capacity_changed_ ? 0 : looks_;
  state.history = looks_ + 1;
}

ClusterView LiveCluster::View(Knowledge granted, const std::vector<int>& withheld) {
  BuildScenario();  // rows change with every look: what jobs have done, and who is there
  FillState(granted, withheld);
  return ClusterView(scenario_, state_, granted);
}

}  // namespace berth
