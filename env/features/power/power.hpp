// Power, clocks, caps, heat and the price of electricity.
//
// Everything here is of GPUs (physical_gpus.hpp): one that is in MIG slices has one clock, one temperature
// and one draw, to which what runs on its slices adds.
//
// A GPU of which jobs use the share u draws idle + (peak - idle) u (f / f_max)^exponent duty watts, in or out
// of service. It runs at one of the levels of `clocks`: at the one that was last asked for
// (ControlKind::kClock, of an idle GPU too; the highest at first), or lower while it throttles or a cap
// binds. Where even the lowest level of all draws more than a cap allows, its GPUs are clocked part of the
// time only (`duty`), as hardware does below its lowest level; so a cap above idle always holds.
//
// A job uses what its type can (JobTypeTraits::utilization) of the compute that it is given where it shares a
// GPU (sharing_rates.cpp), on a slice no more than the slice has, for the share of a step's time that its
// GPUs work (feature stages; at full clocks, so that what it uses does not depend on what it draws). An
// exchange of gradients counts as work, and so do restores and saves: frameworks keep GPUs clocked for them.
// A replica of a service uses the part of the GPU that it holds for the share of the time that it is busy,
// rho = min(1, rate x (base_s + item_s) / speeds of all replicas): the utilisation of an M/D/1 queue, at full
// clocks and without batches (with them it works for longer at a time and no more than always).
//
// A job runs at the pace of its slowest GPU. At a level of relative speed s it makes 1 / (beta (1/s - 1) + 1)
// of its steps/s: beta = 1, bound by the clock; beta = 0, by what the clock does not change (Hsu & Feng, SC
// 2005, eq. 2).
//
// The exponent: frequency and voltage fall together, so it lies between 1 and 3; Tang, Wang, Wang & Chu
// (e-Energy 2019) measured the core clock that is best for training to save 8.7% to 23.1% of the energy of
// P100, V100 and GTX 1080 Ti. With 1.7 the best level here saves 20% of a V100's and 22% of a P100's.
//
// Heat: C dT/dt = P - (T - ambient) / R for each GPU, solved exactly between events (heat.hpp); what is given
// is the rise R x peak and the time constant R C.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"
#include "env/features/partitions/physical_gpus.hpp"

namespace berth {

struct Control;
struct HeatPath;
struct ScenarioData;
struct SimState;
struct Timer;
class Scenario;
class Simulator;

struct PowerSettings {
  std::vector<double> clocks = {0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  std::vector<double> speeds;       // of each level; empty = the clocks
  std::vector<double> sensitivity;  // beta, one or [T]; empty = 1
  double exponent = 1.7;
  double cap_w = 0.0;              // 0 = none
  std::vector<double> node_cap_w;  // one or [G], 0 = none; empty = none
  std::string cap_rule = "uniform";
  bool heat = false;
  std::vector<double> rise_c = {50.0};           // one or [G]
  std::vector<double> time_constant_s = {60.0};  // one or [G]
  double ambient_c = 25.0;
  double ambient_swing_c = 0.0;
  double hottest_h = 15.0;
  double hot_spot_c = 0.0;
  double throttle_c = 83.0;
  double hysteresis_c = 5.0;
  int throttle_level = 0;
  std::vector<double> electricity_price;  // empty = none

  static constexpr const char* kHelp = "power, clocks, caps, heat and the price of electricity";
  static std::span<const Field<PowerSettings>> Fields();
  void Check(const ScenarioData& scenario) const;

  int levels() const { return static_cast<int>(clocks.size()); }
  // Of the k-th GPU type, slices not counted.
  double Rise(int k) const { return EntryFor(rise_c, k); }
  double TimeConstant(int k) const { return EntryFor(time_constant_s, k); }
  double NodeCap(int k) const {  // kNever = none
    if (node_cap_w.empty()) return std::numeric_limits<double>::infinity();
    const double cap = EntryFor(node_cap_w, k);
    return cap > 0.0 ? cap : std::numeric_limits<double>::infinity();
  }
  // Of a job of this type at a level, to its speed at the highest.
  double Speed(int job_type, int level) const;
  // (f / f_max)^exponent
  double DynamicShare(int level) const;
};

// What the GPUs do. All of it is measured in a real cluster, so schedulers may read all of it.
struct PowerState {
  std::shared_ptr<const PhysicalGpus> gpus;
  std::vector<double> idle_w, peak_w;  // [G]
  std::vector<int> kind;               // [G] which of the types that are not slices
  std::vector<std::uint8_t> type;      // [P] of each GPU
  std::vector<int> node;               // [P]
  std::vector<int> first_gpu;          // [N + 1] of each node
  std::vector<double> speed;           // [T, L] PowerSettings::Speed
  std::vector<double> dynamic_share;   // [L]
  std::vector<std::int64_t> load;  // [P] kLoadUnit ths of its peak above idle in use, may exceed all of it
  std::vector<std::int64_t> job_load;      // [J] of that, by a running job on each of its devices
  std::vector<std::int64_t> replica_load;  // [D] by a replica there
  std::vector<std::uint8_t> asked;         // [P] level that a decision set
  std::vector<std::uint8_t> level;         // [P] in effect
  std::vector<double> duty;                // [P] share of the time clocked, (0, 1]
  std::vector<double> watts;               // [P] now
  std::vector<double> joules;              // [P] up to `since`
  std::vector<double> cost;                // [P] of those
  std::vector<double> temperature_c;       // [P] at `since`
  std::vector<double> since;               // [P] s
  std::vector<std::uint8_t> throttled;     // [P]
  std::vector<int> throttles;              // [P] times that it began to
  std::vector<std::uint32_t> timer;        // [P] version of the timer that stands
  double cap_w = 0.0;                      // of the cluster, kNever = none
  std::vector<double> node_cap_w;          // [N]

  int GpuOf(int device) const { return gpus->gpu_of[static_cast<std::size_t>(device)]; }

  // Between a change and the moment that it takes effect.
  std::vector<int> dirty_nodes;
  std::vector<std::uint8_t> dirty;  // [N]
  std::vector<std::uint8_t> next_level;
  std::vector<double> next_duty;
};

// Exact at `now`; of the state as it stands between two decision points.
double EnergyJ(const PowerState& power, double now);
double ElectricityCost(const PowerSettings& settings, const PowerState& power, double now);  // price units
double TemperatureC(const PowerSettings& settings, const PowerState& power, int gpu, double now);
double TotalWatts(const PowerState& power);
// Parts of a GPU's peak above idle: whole numbers, so that what comes and goes leaves nothing behind, of
// millionths, each of 28 so that slices of sevenths and quarters are whole too.
inline constexpr std::int64_t kLoadParts = 28, kLoadUnit = 1'000'000 * kLoadParts;
// What a running job uses of the GPU of each device that it holds.
std::int64_t LoadOf(const Scenario& scenario, const SimState& state, int job);
// That a GPU would draw.
double WattsAt(const PowerState& power, int gpu, int level, double duty);
// The rule of env/sim/invariants.hpp: "" where what the state says of power follows from the rest of it.
std::string PowerViolation(const Scenario& scenario, const SimState& state);

// Its part of the simulator. What a change of loads, levels or caps does is worked out by Settle, once for
// all that happens at an instant, and before time moves on.
class PowerEngine {
 public:
  static void Start(Simulator& simulator);
  static void OnRate(Simulator& simulator, int job);  // a running job, with its devices, has this rate now
  static void OnEnd(Simulator& simulator, int job);   // it still has them
  static void Settle(Simulator& simulator);
  static bool OnTimer(Simulator& simulator, const Timer& timer);  // is a decision due?
  static bool ControlAllowed(const Simulator& simulator, const Control& control);
  static void CarryOut(Simulator& simulator, const Control& control);
  // Of the rate of GPU work at the highest level.
  static double Speed(const Scenario& scenario, const SimState& state, int job);
  // Of work that its clock bounds.
  static double ClockSpeed(const PowerSettings& settings, const PowerState& power, int device);
  // A replica there now uses this much, in kLoadUnit ths of its GPU; 0 = there is none.
  static void SetReplicaLoad(Simulator& simulator, int device, std::int64_t load);

 private:
  static void SetJobLoad(Simulator& simulator, int job, std::int64_t load);
  static void Mark(PowerState& power, int node);
  static void Propose(Simulator& simulator, int node);
  static bool Adopt(Simulator& simulator, int gpu);  // has its clock changed?
  static void Accrue(Simulator& simulator, int gpu);
  static void Await(Simulator& simulator, int gpu);
};

// Lowers next_level and next_duty of GPUs [begin, end) until they draw `cap` W together (power_caps.cpp).
void HoldCap(const PowerSettings& settings, PowerState& power, int begin, int end, double cap);
// The temperature of a GPU from `since` on while it draws what it draws.
HeatPath HeatOf(const PowerSettings& settings, const PowerState& power, int gpu);

}  // namespace berth
