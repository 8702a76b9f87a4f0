// Power, clocks, caps, heat and the price of electricity.
//
// A GPU of which jobs use the share u draws idle + (peak - idle) u (f / f_max)^exponent duty watts, in or out
// of service. It runs at one of the levels of `clocks`: at the one that was last asked for
// (ControlKind::kClock, of an idle GPU too; the highest at first), or lower while it throttles or a cap
// binds. Where even the lowest level of all draws more than a cap allows, its GPUs are clocked part of the
// time only (`duty`), as hardware does below its lowest level; so a cap above idle always holds.
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
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"

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
  double Rise(int type) const { return rise_c[rise_c.size() > 1 ? static_cast<std::size_t>(type) : 0]; }
  double TimeConstant(int type) const {
    return time_constant_s[time_constant_s.size() > 1 ? static_cast<std::size_t>(type) : 0];
  }
  double NodeCap(int type) const {  // kNever = none
    if (node_cap_w.empty()) return std::numeric_limits<double>::infinity();
    const double cap = node_cap_w[node_cap_w.size() > 1 ? static_cast<std::size_t>(type) : 0];
    return cap > 0.0 ? cap : std::numeric_limits<double>::infinity();
  }
  // Of a job of this type at a level, to its speed at the highest.
  double Speed(int job_type, int level) const;
  // (f / f_max)^exponent
  double DynamicShare(int level) const;
};

// What the GPUs do. All of it is measured in a real cluster, so schedulers may read all of it.
struct PowerState {
  std::vector<double> idle_w, peak_w;  // [G]
  std::vector<std::uint8_t> type;      // [D]
  std::vector<int> node;               // [D]
  std::vector<int> first_device;       // [N + 1] of each node
  std::vector<double> speed;           // [T, L] PowerSettings::Speed
  std::vector<double> dynamic_share;   // [L]
  std::vector<std::int64_t> load;  // [D] millionths of its peak above idle that its jobs use, may exceed 10^6
  std::vector<std::uint8_t> asked;      // [D] level that a decision set
  std::vector<std::uint8_t> level;      // [D] in effect
  std::vector<double> duty;             // [D] share of the time clocked, (0, 1]
  std::vector<double> watts;            // [D] now
  std::vector<double> joules;           // [D] up to `since`
  std::vector<double> cost;             // [D] of those
  std::vector<double> temperature_c;    // [D] at `since`
  std::vector<double> since;            // [D] s
  std::vector<std::uint8_t> throttled;  // [D]
  std::vector<int> throttles;           // [D] times that it began to
  std::vector<std::uint32_t> timer;     // [D] version of the timer that stands
  double cap_w = 0.0;                   // of the cluster, kNever = none
  std::vector<double> node_cap_w;       // [N]

  // Between a change and the moment that it takes effect.
  std::vector<int> dirty_nodes;
  std::vector<std::uint8_t> dirty;  // [N]
  std::vector<std::uint8_t> next_level;
  std::vector<double> next_duty;
};

// Exact at `now`; of the state as it stands between two decision points.
double EnergyJ(const PowerState& power, double now);
double ElectricityCost(const PowerSettings& settings, const PowerState& power, double now);  // price units
double TemperatureC(const PowerSettings& settings, const PowerState& power, int device, double now);
double TotalWatts(const PowerState& power);
// Millionths of a GPU's peak above idle that a job uses: its type's utilisation (JobTypeTraits), of the share
// of the GPU that it needs. Integers, so that what comes and goes leaves nothing behind.
std::int64_t LoadOf(const ScenarioData& scenario, int job);
// That a GPU would draw.
double WattsAt(const PowerState& power, int device, int level, double duty);
// The rule of env/invariants.hpp: "" where what the state says of power follows from the rest of it.
std::string PowerViolation(const Scenario& scenario, const SimState& state);

// Its part of the simulator. What a change of loads, levels or caps does is worked out by Settle, once for
// all that happens at an instant, and before time moves on.
class PowerEngine {
 public:
  static void Start(Simulator& simulator);
  static void OnStart(Simulator& simulator, int job);  // it has its devices
  static void OnEnd(Simulator& simulator, int job);    // it still has them
  static void Settle(Simulator& simulator);
  static bool OnTimer(Simulator& simulator, const Timer& timer);  // is a decision due?
  static bool ControlAllowed(const Simulator& simulator, const Control& control);
  static void CarryOut(Simulator& simulator, const Control& control);
  static double Speed(const Simulator& simulator, int job);  // of its rate at the highest level

 private:
  static void AddLoad(Simulator& simulator, int job, int sign);
  static void Mark(PowerState& power, int node);
  static void Propose(Simulator& simulator, int node);
  static void Adopt(Simulator& simulator, int device);
  static void Accrue(Simulator& simulator, int device);
  static void Await(Simulator& simulator, int device);
};

// Lowers next_level and next_duty of devices [begin, end) until they draw `cap` W together (power_caps.cpp).
void HoldCap(const PowerSettings& settings, PowerState& power, int begin, int end, double cap);
// The temperature of a GPU from `since` on while it draws what it draws.
HeatPath HeatOf(const PowerSettings& settings, const PowerState& power, int device);

}  // namespace berth
