// Power, clocks, caps, heat and the price of electricity.
//
// Everything here is of GPUs (env/sim/physical_gpus.hpp): one that is in MIG slices has one clock, one
// temperature and one draw, to which what runs on its slices adds.
//
// A GPU of which jobs use the share u draws idle + (peak - idle) u (f / f_max)^exponent duty watts, in or out
// of service. It runs at one of the levels of `clocks`: at the one that was last asked for
// (kClockControl, of an idle GPU too; the highest at first), or lower while it throttles or a cap
// binds. Where even the lowest level of all draws more than a cap allows, its GPUs are clocked part of the
// time only (`duty`), as hardware does below its lowest level; so a cap above idle always holds.
//
// A job uses what its type can (JobTypeTraits::utilization) of the compute that it is given where it shares a
// GPU, on a slice no more than the slice has, for the share of a step's time that its
// GPUs work (at full clocks, so that what it uses does not depend on what it draws). An
// exchange of gradients counts as work. Restores and saves draw as steps do: frameworks keep GPUs clocked.
// What is not a job uses what its feature says (DeviceLoad).
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

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {

struct HeatPath;

struct PowerSettings final : SettingsOf<PowerSettings> {
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
  double begins_s = 0.0;

  static constexpr const char* kName = "power";
  static constexpr const char* kHelp = "power, clocks, caps, heat and the price of electricity";
  static std::span<const Field<PowerSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;

  double NextChange(double now) const override;  // of the price of electricity
  // Prices and the hottest hour go on.
  std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs, double origin_s) const override;

  // Of electricity.hpp, by the scenario's clock. Of the integral only differences have a meaning.
  double PriceAt(double now) const;
  double PriceIntegral(double now) const;

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

inline constexpr ControlKind kClockControl{1};     // device `index` runs at clock level `value`
inline constexpr ControlKind kPowerCapControl{2};  // node `index` (-1: the cluster) may draw `value` W
inline constexpr TimerKind kHeat{8};               // index: GPU

// What the GPUs do. All of it is measured in a real cluster, so schedulers may read all of it. What a change
// of loads, levels or caps does is worked out by Settle.
class PowerState final : public StateOf<PowerState, PowerSettings> {
 public:
  PowerState(const PowerSettings& settings, const Scenario& scenario);

  std::shared_ptr<const PhysicalGpus> gpus;
  std::vector<double> idle_w, peak_w;  // [G]
  std::vector<int> kind;               // [G] which of the types that are not slices
  std::vector<std::uint8_t> type;      // [P] of each GPU
  std::vector<int> node;               // [P]
  std::vector<int> first_gpu;          // [N + 1] of each node
  std::vector<double> speed;           // [T, L] PowerSettings::Speed
  std::vector<double> dynamic_share;   // [L]
  std::vector<std::int64_t> load;  // [P] kLoadUnit ths of its peak above idle in use, may exceed all of it
  std::vector<std::int64_t> job_load;    // [J] of that, by a running job on each of its devices
  std::vector<std::int64_t> other_load;  // [D] by what is not a job there
  std::vector<std::uint8_t> asked;       // [P] level that a decision set
  std::vector<std::uint8_t> level;       // [P] in effect
  std::vector<double> duty;              // [P] share of the time clocked, (0, 1]
  std::vector<double> watts;             // [P] now
  std::vector<double> joules;            // [P] up to `since`
  std::vector<double> cost;              // [P] of those
  std::vector<double> temperature_c;     // [P] at `since`
  std::vector<double> since;             // [P] s
  std::vector<std::uint8_t> throttled;   // [P]
  std::vector<int> throttles;            // [P] times that it began to
  std::vector<std::uint32_t> timer;      // [P] version of the timer that stands
  double cap_w = 0.0;                    // of the cluster, kNever = none
  std::vector<double> node_cap_w;        // [N]

  int GpuOf(int device) const { return gpus->gpu_of[static_cast<std::size_t>(device)]; }

  // Between a change and the moment that it takes effect.
  std::vector<int> dirty_nodes;
  std::vector<std::uint8_t> dirty;  // [N]
  std::vector<std::uint8_t> next_level;
  std::vector<double> next_duty;

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;
  void Settle(SimCore& core) override;
  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  void OnRun(SimCore& core, int job, double time, double held_s, bool starts) override;
  void OnRate(SimCore& core, int job) override;
  void OnDeviceLoad(SimCore& core, int device) override;
  double GpuFactor(const Scenario& scenario, const SimState& state, int job, bool full_clocks) const override;
  double ClockSpeed(int device) const override;
  std::optional<double> EnergyJ(double now) const override;
  std::optional<double> EnergyCost(double now) const override;
  std::optional<double> HottestC(double now) const override;
  double PowerShare(int device) const override;
  double DegreesC(int device, double now) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;
  std::string Violation(const InvariantInput& input) const override;  // power_checks.cpp

 private:
  // What a running job uses of the GPU of each device that it holds.
  std::int64_t LoadOf(const Scenario& scenario, const SimState& state, int job) const;
  std::int64_t OtherLoadOn(const Scenario& scenario, const SimState& state, int device) const;
  std::string ViolationOf(int gpu, double now) const;
  void SetJobLoad(SimCore& core, int job, std::int64_t load);
  void Mark(int node);
  void Propose(int node);
  bool Adopt(SimCore& core, int gpu);  // has its clock changed?
  void Accrue(double now, int gpu);
  void Await(SimCore& core, int gpu);

  const PowerSettings* settings_;
};

// Exact at `now`; of the state as it stands between two decision points.
double EnergyJ(const PowerState& power, double now);
double ElectricityCost(const PowerSettings& settings, const PowerState& power, double now);  // price units
double TemperatureC(const PowerSettings& settings, const PowerState& power, int gpu, double now);
double TotalWatts(const PowerState& power);
// Parts of a GPU's peak above idle: whole numbers, so that what comes and goes leaves nothing behind, of
// millionths, each of 28 so that slices of sevenths and quarters are whole too.
inline constexpr std::int64_t kLoadParts = 28, kLoadUnit = 1'000'000 * kLoadParts;
// That a GPU would draw.
double WattsAt(const PowerState& power, int gpu, int level, double duty);
// Lowers next_level and next_duty of GPUs [begin, end) until they draw `cap` W together (power_caps.cpp).
void HoldCap(const PowerSettings& settings, PowerState& power, int begin, int end, double cap);
// The temperature of a GPU from `since` on while it draws what it draws.
HeatPath HeatOf(const PowerSettings& settings, const PowerState& power, int gpu);

BlockInfo PowerBlock();  // what observations show of it
// What policies may do with it.
ActionInfo ClockAction();
ActionInfo CapAction();

}  // namespace berth
