// Who holds which part of which GPU, and its accounts.
#include "env/features/sharing/sharing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/action_kind.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/core.hpp"

namespace berth {
namespace {

int MilliOf(const ScenarioData& data, int job) {
  return data.jobs.gpu_milli.empty() ? 1000 : data.jobs.gpu_milli[U(job)];
}

// Thousandths of GPUs that the job asks for.
std::int64_t AskedMilliOf(const Scenario& scenario, int job) {
  return std::int64_t{scenario.data().jobs.gang[U(job)]} * scenario.GpuMilli(job);
}

}  // namespace

std::span<const Field<SharingSettings>> SharingSettings::Fields() {
  using S = SharingSettings;
  static const std::array kFields = {
      Field<S>{"interference", &S::interference,
               "slowdown of what is not promised, per further job on the GPU: 1 + interference (n - 1)", 0.0,
               100.0},
      Field<S>{"quantum_s", &S::quantum_s, "time slice of jobs on one GPU, s; 0 = all run at once"},
      Field<S>{"switch_s", &S::switch_s, "what a switch between two of them takes, s"},
      Field<S>{"share_suffices", &S::share_suffices,
               "is a job's rate in the table what its share gives (true: logs, whose run times were "
               "measured on the shares, run as they did), or what a whole GPU gives"},
  };
  return kFields;
}

void SharingSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("sharing", scenario.clock);
  if (switch_s > 0.0 && quantum_s == 0.0) {
    throw Error(
        Join("feature 'sharing': switch_s: expected 0 without time slices (quantum_s=0), found ", switch_s));
  }
  for (int job = 0; job < scenario.jobs.size(); ++job) {
    if (MilliOf(scenario, job) == 1000) continue;
    const int gang = scenario.jobs.gang[U(job)];  // and no other width: elasticity gives parts of a GPU one
    if (gang > 1) {
      throw Error(Join("feature 'sharing': job ", job, " asks for ", MilliOf(scenario, job),
                       " thousandths of each of ", gang, " GPUs: expected a gang of 1 or whole GPUs"));
    }
  }
}

int SharingSettings::LargestGang(const ScenarioData& scenario, int job, int type) const {
  const bool holds = scenario.traits.memory_gb.empty() || MilliOf(scenario, job) == 1000 ||
                     scenario.cluster.types[U(type)].memory_gb == 0.0 ||
                     scenario.traits.memory_gb[U(scenario.jobs.job_type[U(job)])] <=
                         scenario.cluster.types[U(type)].memory_gb;
  return holds ? std::numeric_limits<int>::max() : 0;
}

static double MemoryOf(const GpuType& type) {
  return type.memory_gb > 0.0 ? type.memory_gb : kNever;
}
double MemoryOf(const Scenario& scenario, int type) {
  return MemoryOf(scenario.data().cluster.types[U(type)]);
}
double MemoryOf(const ClusterView& view, int type) {
  return MemoryOf(view.types()[U(type)]);
}

double FreeMemoryGb(const ClusterView& view, int device) {
  double free = MemoryOf(view, view.TypeOfDevice(device));
  for (int job : view.PartHolders(device)) free -= view.MemoryGb(job);
  return free;
}

int FreeMilli(const ClusterView& view, int device) {
  if (view.DeviceFree(device)) return 1000;
  const std::span<const int> jobs = view.PartHolders(device);
  if (jobs.empty() || !view.InService(device)) return 0;
  int free = 1000;
  for (int job : jobs) free -= view.GpuMilli(job);
  return free;
}

std::unique_ptr<FeatureState> SharingSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<SharingState>(*this, scenario);
}

SharingState::SharingState(const SharingSettings& settings, const Scenario& scenario)
    : meters(U(scenario.num_types())),
      settings_(&settings),
      running_(U(scenario.num_gpus()), 0),
      running_milli_(running_),
      room_(running_),
      memory_room_(scenario.data().traits.memory_gb.empty() ? 0 : U(scenario.num_gpus()), 0.0),
      asks_(U(scenario.num_jobs()), 0) {}

bool SharingState::HoldsBeside(const Scenario& scenario, const SimState& s, int device, int job) {
  const double need = scenario.MemoryGb(job), gpu = MemoryOf(scenario, scenario.TypeOfDevice(device));
  if (need == 0.0) return true;
  double free = gpu;
  for (int j : s.parts[U(device)]) free -= scenario.MemoryGb(j);
  return HoldsGb(free, need, gpu);
}

// As ValidateRoom found it.
Placing SharingState::Place(SimCore& core, int job, const Command& command, const Decision& decision) {
  const Scenario& scenario = core.scenario();
  if (!scenario.HoldsPart(job)) return Placing::kNotMine;
  SimState& s = core.state();
  const int milli = scenario.GpuMilli(job);
  const int first = scenario.first_device(command.type);
  const int last = first + scenario.data().cluster.types[U(command.type)].count;
  int device = -1;
  bool refused = false;  // for what is around a device
  if (command.devices_count > 0) {
    device = decision.devices[U(command.devices_begin)];
  } else {
    for (int d = first; d < last; ++d) {
      const int room = s.device_milli[U(d)];
      if (room < milli || s.out_of_service[U(d)] != 0 || !HoldsBeside(scenario, s, d, job)) continue;
      if (!core.MayTake(job, d)) {
        refused = true;
        continue;
      }
      if (device < 0 || room < s.device_milli[U(device)]) device = d;
    }
  }
  BERTH_CHECK(device >= 0 || refused, "job ", job, ": validated, and no GPU has room");
  if (device < 0) return Placing::kNoRoom;
  for (FeatureState& feature : s.features.Of(Hook::kMakeRoom))
    feature.MakeRoom(core, device, PromisedTo(scenario, job));
  core.TakeSlot(job).assign(1, device);
  s.on_type[U(job)] = static_cast<std::int8_t>(command.type);
  std::vector<int>& jobs = s.parts[U(device)];
  if (jobs.empty()) {
    s.device_job[U(device)] = job;
    core.Occupy(device);
    --s.free_gpus[U(command.type)];
  }
  jobs.push_back(job);
  s.device_milli[U(device)] = static_cast<std::int16_t>(s.device_milli[U(device)] - milli);
  for (FeatureState& feature : s.features.Of(Hook::kOnPlaced))
    feature.OnPlaced(core, job, /*beside=*/jobs.size() > 1);
  core.RerateOn(device, /*but=*/job);  // its own run begins later
  return Placing::kPlaced;
}

bool SharingState::Vacate(SimCore& core, int job) {
  if (!core.scenario().HoldsPart(job)) return false;
  SimState& s = core.state();
  const int device = s.Devices(job).front();
  std::vector<int>& jobs = s.parts[U(device)];
  jobs.erase(std::find(jobs.begin(), jobs.end(), job));
  if (jobs.empty()) return false;
  s.device_milli[U(device)] =
      static_cast<std::int16_t>(s.device_milli[U(device)] + core.scenario().GpuMilli(job));
  s.device_job[U(device)] = jobs.front();
  core.RerateOn(device);
  return true;
}

void SharingState::OnReady(SimCore& core, int job, double time) {
  demand.Advance(time);
  demand.asked_milli += AskedMilliOf(core.scenario(), job);
  asks_[U(job)] = 1;
}

void SharingState::OnLeave(SimCore& core, int job, double time) {
  if (std::exchange(asks_[U(job)], 0) == 0) return;  // turned away before it was ready
  demand.Advance(time);
  demand.asked_milli -= AskedMilliOf(core.scenario(), job);
}

void SharingState::Measure(const SimCore& core, std::span<double> figures) const {
  Demand all = demand;
  all.Advance(core.now());
  figures[0] = all.asked_milli_s > 0.0 ? 1.0 - all.served_milli_s / all.asked_milli_s : 0.0;
}

void SharingState::OnRun(SimCore& core, int job, double time, double /*held_s*/, bool starts) {
  demand.Advance(time);
  demand.served_milli += (starts ? 1 : -1) * AskedMilliOf(core.scenario(), job);
  if (!core.scenario().HoldsPart(job)) return;
  const SimState& s = core.state();
  const std::size_t device = U(s.Devices(job).front());
  Meter& meter = meters[U(s.on_type[U(job)])];
  meter.extra_s += static_cast<double>(meter.extra) * (time - meter.since);
  meter.spare_milli_s += static_cast<double>(meter.spare_milli) * (time - meter.since);
  meter.since = time;
  const auto count = [&](int sign) {
    if (running_[device] == 0) return;
    meter.extra += sign * (running_[device] - 1);
    meter.spare_milli += sign * (1000 - running_milli_[device]);
  };
  count(-1);
  const int sign = starts ? 1 : -1;
  running_[device] = static_cast<std::int16_t>(running_[device] + sign);
  running_milli_[device] =
      static_cast<std::int16_t>(running_milli_[device] + sign * core.scenario().GpuMilli(job));
  count(1);
}

double SharingState::SharedSeconds(double now, int type) const {
  const Meter& meter = meters[U(type)];
  return meter.extra_s + static_cast<double>(meter.extra) * (now - meter.since);
}

double SharingState::GpuSeconds(const Scenario& scenario, int job, double seconds) const {
  return seconds * (scenario.GpuMilli(job) / 1000.0);
}

double ShareSeconds(const SimCore& core, int type) {
  const double busy = core.BusySeconds(type);
  const auto* sharing = core.state().features.Find<SharingState>();
  if (sharing == nullptr) return busy;
  const SharingState::Meter& meter = sharing->meters[U(type)];
  return busy -
         (meter.spare_milli_s + static_cast<double>(meter.spare_milli) * (core.now() - meter.since)) / 1000.0;
}

FeatureModule SharingFeature() {
  static constexpr MetricInfo kMetrics[] = {
      {"unserved_demand", "of the GPU-seconds that jobs in the system ask for, the share in which they wait",
       MetricInfo::Place::kQueue}};
  static constexpr BlockInfo (*kBlocks[])() = {SharingBlock};
  static constexpr ActionInfo (*kActions[])() = {ShareAction};
  FeatureModule module = ModuleOf<SharingSettings>();
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
