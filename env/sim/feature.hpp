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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

  // -- the run. Start: the states of the features before it in the table are there, those after it are not.
  virtual void Start(SimCore& /*core*/) {}
  virtual void BeforeAdvance(SimCore& /*core*/) {}      // time is about to move on
  virtual bool Due(SimCore& /*core*/) { return true; }  // the clock decides: is the scheduler asked now?
  virtual void AfterAdvance(SimCore& /*core*/) {}       // at a decision point, or at the end
  virtual bool OnTimer(SimCore& /*core*/, const Timer& /*timer*/) { return false; }  // is a decision due?
  virtual void OnTimerDue(SimCore& /*core*/, TimerKind /*kind*/) {
  }  // a timer of anybody's calls for a decision
  // What changes at an instant takes effect once, before time moves on and after each decision; and where it
  // does (InParts), rounds are run from one completion to the next.
  virtual void Settle(SimCore& /*core*/) {}
  virtual bool InParts() const { return false; }

  // -- a decision, in this order. Defers: keeps a legal one for later.
  virtual void Withhold(SimCore& /*core*/, const Decision& /*decision*/) {}  // devices that its controls take
  // Of the feature that divides GPUs: is there room for all of it?
  virtual ApplyResult ValidateRoom(SimCore& /*core*/, const Decision& /*decision*/) { return {}; }
  virtual bool Allows(const SimCore& /*core*/, const Control& /*control*/) const { return false; }
  virtual ApplyResult Validate(const SimCore& /*core*/, const Decision& /*decision*/) const { return {}; }
  virtual bool Defers(SimCore& /*core*/, const Decision& /*decision*/) { return false; }
  virtual bool CarryOut(SimCore& /*core*/, const Control& /*control*/) { return false; }  // is it its own?
  virtual void Claim(SimCore& /*core*/) {}       // what is idle now that everything is carried out
  virtual void OnDecided(SimCore& /*core*/) {}   // after Settle
  virtual void OnReported(SimCore& /*core*/) {}  // SimState::changed is about to be forgotten

  // -- where a job goes. Place: of a job with ways of its own. Choose: devices, where the order names none.
  virtual Placing Place(SimCore& /*core*/, int /*job*/, const Command&, const Decision&) {
    return Placing::kNotMine;
  }
  virtual Placing Choose(const SimCore& /*core*/, const Command&, int /*width*/,
                         std::vector<int>& /*devices*/) {
    return Placing::kNotMine;
  }
  virtual void MakeRoom(SimCore& /*core*/, int /*device*/, double /*promised*/) {
  }                                                                          // for a job promised so much
  virtual void OnPlaced(SimCore& /*core*/, int /*job*/, bool /*beside*/) {}  // beside another on its device
  virtual void OnUnplaced(SimCore& /*core*/, int /*job*/) {}  // devices were there, and nothing around them
  virtual void BeforeRelease(SimCore& /*core*/, int /*job*/) {}          // it has its devices
  virtual bool Vacate(SimCore& /*core*/, int /*job*/) { return false; }  // do others stay on its device?
  virtual void AfterRelease(SimCore& /*core*/, int /*device*/) {}  // a job, or what else worked there, left

  // -- a job
  virtual bool Blocks(SimCore& /*core*/, int /*job*/, double /*time*/) { return false; }  // at its arrival
  virtual void OnReady(SimCore& /*core*/, int /*job*/, double /*time*/) {}
  virtual void OnLeave(SimCore& /*core*/, int /*job*/, double /*time*/) {}  // done or turned away (its phase)
  virtual void StartCost(SimCore& /*core*/, int /*job*/, int /*type*/, RunStart& /*start*/) {}
  virtual void OnStart(SimCore& /*core*/, int /*job*/, const RunStart& /*start*/) {}  // all of it is set
  // A run begins or ends at `time`, `held_s` after it began or was last accounted; it has its devices.
  virtual void OnRun(SimCore& /*core*/, int /*job*/, double /*time*/, double /*held_s*/, bool /*starts*/) {}
  virtual void OnRate(SimCore& /*core*/, int /*job*/) {}  // a running job's rate, or its part of a device

  // -- a device
  virtual void OnLost(SimCore& /*core*/, int /*device*/) {}  // it leaves service with what works there
  virtual void OnIdle(SimCore& /*core*/, int /*device*/, bool /*idle*/) {}  // one without a job came or went
  virtual void OnClocks(SimCore& /*core*/, std::span<const int> /*devices*/) {}  // ascending: another pace
  virtual void OnDeviceLoad(SimCore& /*core*/, int /*device*/) {}                // DeviceLoad is another

  // -- factors of a job's rate (effective_rate.cpp). GpuFactor: of the work on its GPUs, multiplied from the
  // last feature of the table to the first; without what clocks do where they count as full.
  virtual double GpuFactor(const Scenario&, const SimState&, int /*job*/, bool /*full_clocks*/) const {
    return 1.0;
  }
  virtual double SpreadFactor(const Scenario&, const SimState&, int /*job*/) const { return 1.0; }
  // What other stages of a step leave of `rate`, steps/s of its GPUs alone, and in what share of the time the
  // GPUs work. `pace`: of other work on them, 1 = undisturbed.
  virtual bool HasStages() const { return false; }
  virtual double StepFactor(const Scenario&, const SimState&, int /*job*/, double /*rate*/,
                            double /*pace*/) const {
    return 1.0;
  }
  virtual double BusyShare(const Scenario&, const SimState&, int /*job*/, double /*rate*/,
                           double /*pace*/) const {
    return 1.0;
  }

  // -- what features give each other
  virtual double GpuShare(const Scenario&, const SimState&, int /*job*/) const {
    return 1.0;
  }  // of its device
  virtual double Promised(const Scenario&, const SimState&, int /*device*/) const { return 0.0; }  // to jobs
  virtual double HeldShare(int /*device*/) const { return 0.0; }  // by what is not a job
  // Of the peak of its GPU, that what is not a job uses there.
  virtual double DeviceLoad(const Scenario&, int /*device*/) const { return 0.0; }
  virtual double ClockSpeed(int /*device*/) const { return 1.0; }  // of work that the clock bounds
  // Has the device's node what one more member of the job demands?
  virtual bool MayTake(int /*job*/, int /*device*/) const { return true; }
  virtual double FailuresPerSecond(const SimState&, int /*job*/) const { return 0.0; }  // where it runs
  virtual std::optional<double> HottestC(double /*now*/) const { return {}; }

  // -- accounts, exact at `now`
  virtual DeviceUse Used(double /*now*/, int /*type*/) const { return {}; }
  virtual double SharedSeconds(double /*now*/, int /*type*/) const { return 0.0; }  // counted twice by jobs
  virtual std::optional<double> EnergyJ(double /*now*/) const { return {}; }  // in place of busy and idle W
  virtual std::optional<double> EnergyCost(double /*now*/) const { return {}; }  // in place of device-hours
  // Of a completed job's device-seconds, those of whole GPUs.
  virtual double GpuSeconds(const Scenario&, int /*job*/, double seconds) const { return seconds; }

  // -- what is checked and shown
  virtual std::string Violation(const InvariantInput& /*input*/) const { return {}; }  // "" when all holds
  virtual void Measure(const SimCore& /*core*/, std::span<double> /*figures*/) const {
  }  // FeatureModule::metrics
  virtual bool HasSeries() const { return false; }
  virtual void EachSeries(const SeriesVisitor& /*visit*/) const {}  // rows of `width` columns, for files
  virtual void AddLanes(double /*now*/, std::vector<FeatureLane>& /*lanes*/) const {}
};

// A state of the feature with settings S.
template <class State, class S>
class StateOf : public FeatureState {
 public:
  using Settings = S;
  std::unique_ptr<FeatureState> Clone() const override {
    return std::make_unique<State>(static_cast<const State&>(*this));
  }
};

}  // namespace berth
