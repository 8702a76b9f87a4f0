// Who holds which part of which GPU, and its accounts.
#include "env/features/sharing/sharing.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/topology/placement.hpp"
#include "env/features/topology/placement_engine.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

bool NodeHolds(const SimState& s, int device, int job) {
  if (!s.placement || s.placement->free.left.empty()) return true;
  const NodeCapacity& left = s.placement->free.Left(s.placement->layout->NodeOf(device));
  return Room(1, left, (*s.placement->demand)[U(job)]) > 0;
}

int MilliOf(const ScenarioData& data, int job) {
  return data.jobs.gpu_milli.empty() ? 1000 : data.jobs.gpu_milli[U(job)];
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
               "is a job's rate in the table what its share gives (true), or what a whole GPU gives"},
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
    const int most =
        scenario.jobs.gang_max.empty() ? scenario.jobs.gang[U(job)] : scenario.jobs.gang_max[U(job)];
    if (most > 1) {
      throw Error(Join("feature 'sharing': job ", job, " asks for ", MilliOf(scenario, job),
                       " thousandths of each of ", most, " GPUs: expected a gang of 1 or whole GPUs"));
    }
  }
}

std::vector<int> HoldersOf(const SimState& s, int device) {
  if (s.sharing && !s.sharing->jobs[U(device)].empty()) return s.sharing->jobs[U(device)];
  const int job = s.device_job[U(device)];
  if (job < 0) return {};
  const int partner = s.partner[U(job)];
  return partner < 0 ? std::vector<int>{job} : std::vector<int>{job, partner};
}

int FreeMilli(const ClusterView& view, int device) {
  if (view.DeviceFree(device)) return 1000;
  if (view.sharing() == nullptr) return 0;
  const auto& jobs = view.sharing()->jobs[U(device)];
  if (jobs.empty() || !view.InService(device)) return 0;
  int free = 1000;
  for (int job : jobs) free -= view.GpuMilli(job);
  return free;
}

bool SharingEngine::Parts(const Simulator& sim, int job) {
  return MilliOf(sim.scenario_.data(), job) < 1000;
}

void SharingEngine::Start(Simulator& sim) {
  SharingState state;
  const std::size_t devices = U(sim.scenario_.num_gpus());
  state.jobs.resize(devices);
  state.running.assign(devices, 0);
  state.running_milli.assign(devices, 0);
  state.meters.resize(U(sim.scenario_.num_types()));
  state.room.resize(devices);
  sim.state_.sharing = Owned<SharingState>::Make(std::move(state));
}

// As ValidateRoom found it.
bool SharingEngine::Place(Simulator& sim, int job, const Command& command, const Decision& decision) {
  SimState& s = sim.state_;
  const int milli = MilliOf(sim.scenario_.data(), job);
  const int first = sim.scenario_.first_device(command.type);
  const int last = first + sim.scenario_.data().cluster.types[U(command.type)].count;
  int device = -1;
  if (command.devices_count > 0) {
    device = decision.devices[U(command.devices_begin)];
  } else {
    for (int d = first; d < last; ++d) {
      const int room = s.device_milli[U(d)];
      if (room < milli || s.out_of_service[U(d)] != 0 || !NodeHolds(s, d, job)) continue;
      if (device < 0 || room < s.device_milli[U(device)]) device = d;
    }
  }
  BERTH_CHECK(device >= 0 || s.placement, "job ", job, ": validated, and no GPU has room");
  if (device < 0) return false;
  if (s.services) ServiceEngine::MakeRoom(sim, device, PromisedPart(sim.scenario_, job));
  sim.TakeSlot(job);
  s.device_slots[U(s.slot[U(job)])].assign(1, device);
  s.on_type[U(job)] = static_cast<std::int8_t>(command.type);
  std::vector<int>& jobs = s.sharing->jobs[U(device)];
  if (jobs.empty()) {
    s.device_job[U(device)] = job;
    sim.free_bits_[U(device / 64)] &= ~(std::uint64_t{1} << (device % 64));
    --s.free_gpus[U(command.type)];
  }
  jobs.push_back(job);
  s.device_milli[U(device)] = static_cast<std::int16_t>(s.device_milli[U(device)] - milli);
  if (s.placement) jobs.size() == 1 ? PlacementEngine::Take(sim, job) : PlacementEngine::TakeBeside(sim, job);
  Rerate(sim, device, /*but=*/job);  // its own run begins later
  return true;
}

// A rate may stay the same where other stages pace the job, and what it uses of the GPU not.
void SharingEngine::Rerate(Simulator& sim, int device, int but) {
  const SimState& s = sim.state_;
  for (int job : HoldersOf(s, device)) {
    if (job == but || s.phase[U(job)] != JobPhase::kRunning) continue;
    sim.Rerate(job);
    if (s.power) PowerEngine::OnRate(sim, job);
  }
}

bool SharingEngine::Leave(Simulator& sim, int job) {
  SimState& s = sim.state_;
  if (!Parts(sim, job)) return false;
  const int device = s.Devices(job).front();
  std::vector<int>& jobs = s.sharing->jobs[U(device)];
  jobs.erase(std::find(jobs.begin(), jobs.end(), job));
  if (jobs.empty()) return false;
  s.device_milli[U(device)] =
      static_cast<std::int16_t>(s.device_milli[U(device)] + MilliOf(sim.scenario_.data(), job));
  s.device_job[U(device)] = jobs.front();
  Rerate(sim, device);
  return true;
}

void SharingEngine::Runs(Simulator& sim, int job, double time, bool starts) {
  if (!Parts(sim, job)) return;
  SimState& s = sim.state_;
  SharingState& state = *s.sharing;
  const std::size_t device = U(s.Devices(job).front());
  SharingState::Meter& meter = state.meters[U(s.on_type[U(job)])];
  meter.extra_s += static_cast<double>(meter.extra) * (time - meter.since);
  meter.spare_milli_s += static_cast<double>(meter.spare_milli) * (time - meter.since);
  meter.since = time;
  const auto count = [&](int sign) {
    if (state.running[device] == 0) return;
    meter.extra += sign * (state.running[device] - 1);
    meter.spare_milli += sign * (1000 - state.running_milli[device]);
  };
  count(-1);
  const int sign = starts ? 1 : -1;
  state.running[device] = static_cast<std::int16_t>(state.running[device] + sign);
  state.running_milli[device] =
      static_cast<std::int16_t>(state.running_milli[device] + sign * MilliOf(sim.scenario_.data(), job));
  count(1);
}

double SharingEngine::ExtraSeconds(const Simulator& sim, int type) {
  const SharingState::Meter& meter = sim.state_.sharing->meters[U(type)];
  return meter.extra_s + static_cast<double>(meter.extra) * (sim.now() - meter.since);
}

double ShareSeconds(const Simulator& sim, int type) {
  const double busy = sim.BusySeconds(type);
  if (!sim.state().sharing) return busy;
  const SharingState::Meter& meter = sim.state().sharing->meters[U(type)];
  return busy -
         (meter.spare_milli_s + static_cast<double>(meter.spare_milli) * (sim.now() - meter.since)) / 1000.0;
}

}  // namespace berth
