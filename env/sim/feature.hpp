// A feature of the cluster in a simulation: its state, and the moments at which the simulator tells it what
// happens or asks what it makes of it. All that the simulator knows of features is this interface.
//
//   class ClosedNodes final : public StateOf<ClosedNodes, ClosedNodesSettings> {
//    public:
//     void Start(SimCore& core) override { core.SetTimer({3600.0, kCloses, 0}); }
//     bool OnTimer(SimCore& core, const Timer& timer) override { ... core.SetService(...); return true; }
//   };
//
// Order: where several features are on, each hook goes through them in the order of the table, unless it says
// otherwise. What one feature needs to know of another it asks by a query here (GpuShare, HeldShare,
// MayTake, ...), answered by whoever is on. Queries follow from scenario and state alone, so that invariants
// can ask them anew.
//
// With no feature on none of this is reached. Thread rule: as the simulator it belongs to.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "env/sim/apply_result.hpp"
#include "env/sim/decision.hpp"
#include "env/sim/features.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

struct InvariantInput;
class SimCore;

// What a start or a move of a job costs. The core begins with Costs; features say otherwise in turn.
struct RunStart {
  double overhead_s;     // before it makes progress
  bool resizes = false;  // it runs on with more or fewer GPUs of its type, and loses nothing
  bool saving = false;   // of a resize: a save was under way, which is broken off
};

enum class Placing : std::uint8_t { kNotMine, kPlaced, kNoRoom };

// Steps that a job makes in the place of its own type's.
struct OtherSteps {
  int job_type;
  double worth;  // of the job's own in each
};

// Device-seconds of a type, beside those of jobs, each times its part of the device.
struct DeviceUse {
  double held_s = 0.0;  // where no job runs beside it
  double busy_s = 0.0;  // of these, at work
};

// An interval to be drawn on a row of its own.
struct FeatureLane {
  std::string row, text;
  double begin_s, end_s;
};

using SeriesVisitor = std::function<void(const char* name, const std::vector<double>& column, int width)>;

class FeatureState {
 public:
  virtual ~FeatureState() = default;
  virtual std::unique_ptr<FeatureState> Clone() const = 0;
  virtual HookSet Listens() const = 0;  // which of these it overrides

  // -- the run
  // The states of the features before it in the table are there, those after it are not.
  virtual void Start(SimCore&) {}
  // Time is about to move on; and it has, to a decision point or to the end.
  virtual void BeforeAdvance(SimCore&) {}
  virtual void AfterAdvance(SimCore&) {}
  // The clock has come to one of its decision points: is the scheduler asked now?
  virtual bool Due(SimCore&) { return true; }
  // One of its own timers: is a decision due? OnTimerDue: anybody's, where one is.
  virtual bool OnTimer(SimCore&, const Timer&) { return false; }
  virtual void OnTimerDue(SimCore&, TimerKind) {}
  // What has changed at an instant takes effect once: before time moves on, and after a decision. Where
  // anybody listens, rounds are run from one completion to the next.
  virtual void Settle(SimCore&) {}

  // -- a decision: checked and carried out in this order
  // Devices that its controls take are no room for its starts (SimCore::Mark).
  virtual void Withhold(SimCore&, const Decision&) {}
  // Of the feature that divides GPUs: is there room for all of it?
  virtual ApplyResult ValidateRoom(SimCore&, const Decision&) { return {}; }
  // Is the control its own, and legal?
  virtual bool Allows(const SimCore&, const Control&) const { return false; }
  // What else makes it illegal.
  virtual ApplyResult Validate(const SimCore&, const Decision&) const { return {}; }
  // Keeps a legal one for later.
  virtual bool Defers(SimCore&, const Decision&) { return false; }
  // Between what frees devices and what takes some: false where the control is not its own.
  virtual bool CarryOut(SimCore&, const Control&) { return false; }
  // Everything is carried out, and this is idle; then Settle, then OnDecided.
  virtual void Claim(SimCore&) {}
  virtual void OnDecided(SimCore&) {}
  // SimState::changed is about to be forgotten.
  virtual void OnReported(SimCore&) {}

  // -- where a job goes
  // A job that is placed in a way of its own; or devices, where the order names none.
  virtual Placing Place(SimCore&, int /*job*/, const Command&, const Decision&) { return Placing::kNotMine; }
  virtual Placing Choose(const SimCore&, const Command&, int /*width*/, std::vector<int>& /*devices*/) {
    return Placing::kNotMine;
  }
  // For a job that comes to the device and is promised so much of it.
  virtual void MakeRoom(SimCore&, int /*device*/, double /*promised*/) {}
  // It has its devices, or is beside another on its own. OnUnplaced: devices were there, what they need
  // around them was not.
  virtual void OnPlaced(SimCore&, int /*job*/, bool /*beside*/) {}
  virtual void OnUnplaced(SimCore&, int /*job*/) {}
  // It gives its devices back. Vacate: do others stay on its device? AfterRelease: of each; of a device that
  // something else than a job leaves, too.
  virtual void BeforeRelease(SimCore&, int /*job*/) {}
  virtual bool Vacate(SimCore&, int /*job*/) { return false; }
  virtual void AfterRelease(SimCore&, int /*device*/) {}

  // -- a job
  // It arrives: is it held back (SimCore::Block), or turned away?
  virtual bool Blocks(SimCore&, int /*job*/, double /*time*/) { return false; }
  virtual void OnReady(SimCore&, int /*job*/, double /*time*/) {}
  // Done or turned away, as its phase says.
  virtual void OnLeave(SimCore&, int /*job*/, double /*time*/) {}
  // It runs and has other devices, which nothing else knows yet: is that no start, so that it runs on as if
  // resized?
  virtual bool RunsOn(const SimCore&, int /*job*/, int /*type*/) const { return false; }
  // It starts, moves or resizes: what that costs, before anything is set but its devices; and all is set.
  virtual void StartCost(SimCore&, int /*job*/, int /*type*/, RunStart&) {}
  virtual void OnStart(SimCore&, int /*job*/, const RunStart&) {}
  // A run begins, or ends after `held_s`, for the accounts; it has its devices.
  virtual void OnRun(SimCore&, int /*job*/, double /*time*/, double /*held_s*/, bool /*starts*/) {}
  // A running job has another rate, or another part of its device.
  virtual void OnRate(SimCore&, int /*job*/) {}

  // -- a device
  // It leaves service with what works there; one without a job came or went.
  virtual void OnLost(SimCore&, int /*device*/) {}
  virtual void OnIdle(SimCore&, int /*device*/, bool /*idle*/) {}
  // These, ascending, have another pace; what is not a job there uses another part of its GPU (DeviceLoad).
  virtual void OnClocks(SimCore&, std::span<const int> /*devices*/) {}
  virtual void OnDeviceLoad(SimCore&, int /*device*/) {}

  // -- factors of a job's rate (effective_rate.cpp), multiplied from the last feature of the table to the
  // first
  // Of the job itself, on GPUs that nothing disturbs: another batch, say.
  virtual double OwnFactor(const Scenario&, const SimState&, int /*job*/) const { return 1.0; }
  // Of any work on its GPUs, by what is done to them; without what clocks do where they count as full.
  // SpreadFactor: of a gang over nodes, which makes `rate` steps/s together and undisturbed.
  virtual double GpuFactor(const Scenario&, const SimState&, int /*job*/, bool /*full_clocks*/) const {
    return 1.0;
  }
  virtual double SpreadFactor(const Scenario&, const SimState&, int /*job*/, double /*rate*/) const {
    return 1.0;
  }
  // What other stages of a step leave of `rate`, steps/s of its GPUs alone, and in what share of the time the
  // GPUs work. `pace`: of other work on them, 1 = undisturbed, whatever the job makes of them itself.
  virtual double StepFactor(const Scenario&, const SimState&, int /*job*/, double /*rate*/,
                            double /*pace*/) const {
    return 1.0;
  }
  virtual double BusyShare(const Scenario&, const SimState&, int /*job*/, double /*rate*/,
                           double /*pace*/) const {
    return 1.0;
  }

  // -- what features ask of each other
  // Does the job make other steps now, on the GPU type, than its own type's?
  virtual std::optional<OtherSteps> StepsOf(int /*job*/, int /*type*/) const { return {}; }
  // The part of its device's compute that a job is given; what all jobs there are promised of it; what is
  // held of it by what is not a job.
  virtual double GpuShare(const Scenario&, const SimState&, int /*job*/) const { return 1.0; }
  virtual double Promised(const Scenario&, const SimState&, int /*device*/) const { return 0.0; }
  virtual double HeldShare(int /*device*/) const { return 0.0; }
  // Of the peak of its GPU, used by what is not a job.
  virtual double DeviceLoad(const Scenario&, int /*device*/) const { return 0.0; }
  // Of work that the clock bounds, over the highest.
  virtual double ClockSpeed(int /*device*/) const { return 1.0; }
  // Has the device's node what one more member of the job demands?
  virtual bool MayTake(int /*job*/, int /*device*/) const { return true; }
  // Of the devices of a running job.
  virtual double FailuresPerSecond(const SimState&, int /*job*/) const { return 0.0; }
  // C of the hottest GPU.
  virtual std::optional<double> HottestC(double /*now*/) const { return {}; }
  // When the device will leave service, as announced; infinite = nothing is. What its GPU draws, over its
  // peak. C of its GPU; 0 = nothing is known.
  virtual double LeavesAt(int /*device*/) const { return std::numeric_limits<double>::infinity(); }
  virtual double PowerShare(int /*device*/) const { return 0.0; }
  virtual double DegreesC(int /*device*/, double /*now*/) const { return 0.0; }

  // -- accounts, exact at `now`
  virtual DeviceUse Used(double /*now*/, int /*type*/) const { return {}; }
  // Device-seconds of a type that jobs hold together and each counts.
  virtual double SharedSeconds(double /*now*/, int /*type*/) const { return 0.0; }
  // In place of busy and idle power, and of device-hours x price.
  virtual std::optional<double> EnergyJ(double /*now*/) const { return {}; }
  virtual std::optional<double> EnergyCost(double /*now*/) const { return {}; }
  // Of a job's device-seconds, of runs that are over, those of whole GPUs.
  virtual double GpuSeconds(const Scenario&, int /*job*/, double seconds) const { return seconds; }

  // Of what it serves beside jobs: how many were not served in time, or wait to be.
  virtual double Late() const { return 0.0; }

  // -- what is checked and shown
  // "" when all holds.
  virtual std::string Violation(const InvariantInput&) const { return {}; }
  // Fills FeatureModule::metrics, which are 0.
  virtual void Measure(const SimCore&, std::span<double> /*figures*/) const {}
  // Series over time, in rows of `width` columns, for files.
  virtual void EachSeries(const SeriesVisitor&) const {}
  // What a timeline shows of it.
  virtual void AddLanes(double /*now*/, std::vector<FeatureLane>&) const {}
};

// A state of the feature with settings S.
template <class State, class S>
class StateOf : public FeatureState {
 public:
  using Settings = S;
  std::unique_ptr<FeatureState> Clone() const override {
    return std::make_unique<State>(static_cast<const State&>(*this));
  }
  HookSet Listens() const override {
    HookSet set = 0;
#define BERTH_HOOK(name) \
  if (!std::is_same_v<decltype(&State::name), decltype(&FeatureState::name)>) set |= BitOf(Hook::k##name);
    BERTH_HOOKS(BERTH_HOOK)
#undef BERTH_HOOK
    return set;
  }
};

}  // namespace berth
