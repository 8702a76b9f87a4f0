// Settings of the feature power (power.hpp), and what can be said of its state.
#include "env/features/power/power.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"
#include "env/features/power/electricity.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

[[noreturn]] void Refuse(const std::string& what) {
  throw Error(Join("feature 'power': ", what));
}

void CheckCurve(const char* name, const std::vector<double>& curve, bool strict) {
  if (curve.empty() || curve.back() != 1.0) {
    Refuse(Join(name, ": expected shares of the highest that rise to 1, found ",
                curve.empty() ? std::string("none") : Join(curve.back(), " at the end")));
  }
  for (std::size_t l = 1; l < curve.size(); ++l) {
    if (curve[l] > curve[l - 1] || (!strict && curve[l] == curve[l - 1])) continue;
    Refuse(Join(name, ": expected shares that rise from level to level, found ", curve[l], " after ",
                curve[l - 1]));
  }
}

void CheckLength(const char* name, const std::vector<double>& list, std::size_t each, const char* of) {
  if (list.size() <= 1 || list.size() == each) return;
  Refuse(Join(name, ": expected one number or ", each, ", one for each ", of, ", found ", list.size()));
}

// A cap below what idle GPUs draw cannot be held, one at it would stop every job for ever.
void CheckCap(const std::string& what, double cap, double idle) {
  if (cap > 0.0 && cap <= idle) {
    Refuse(Join(what, ": expected more than the ", idle, " W that its GPUs draw when idle, found ", cap));
  }
}

}  // namespace

std::span<const Field<PowerSettings>> PowerSettings::Fields() {
  using S = PowerSettings;
  static const std::array kFields = {
      Field<S>{"clocks", &S::clocks, "levels: shares of the full clock, rising to 1", 1e-3, 1.0},
      Field<S>{"speeds", &S::speeds,
               "of each level: speed of work that the clock bounds, share of the highest's [the clocks]",
               1e-3, 1.0},
      Field<S>{"sensitivity", &S::sensitivity,
               "by job type or one for all: 1 = bound by the clock, 0 = not at all [1]", 0.0, 1.0},
      Field<S>{"exponent", &S::exponent, "of power above idle in the clock", 1.0, 4.0},
      Field<S>{"cap_w", &S::cap_w, "W that all GPUs may draw together; 0 = no cap"},
      Field<S>{"node_cap_w", &S::node_cap_w, "W of each node, by GPU type or one for all; 0 = no cap [0]"},
      Field<S>{"cap_rule", &S::cap_rule,
               "uniform: one highest level for all; highest: who draws most is lowered first"},
      Field<S>{"heat", &S::heat, "GPUs have temperatures, and throttle"},
      Field<S>{"rise_c", &S::rise_c, "K above ambient at peak power in the end, by GPU type or one for all",
               0.0, 200.0},
      Field<S>{"time_constant_s", &S::time_constant_s, "s to 63% of that, by GPU type or one for all", 5.0,
               1e6},
      Field<S>{"ambient_c", &S::ambient_c, "C, daily mean", -50.0, 100.0},
      Field<S>{"ambient_swing_c", &S::ambient_swing_c, "K by which the hottest hour is above the mean", 0.0,
               50.0},
      Field<S>{"hottest_h", &S::hottest_h, "hour of the day", 0.0, 24.0},
      Field<S>{"hot_spot_c", &S::hot_spot_c,
               "K by which it is warmer at the first node than at the last, evenly between", 0.0, 50.0},
      Field<S>{"throttle_c", &S::throttle_c, "C at which a GPU throttles", -50.0, 1000.0},
      Field<S>{"hysteresis_c", &S::hysteresis_c, "K below that at which it stops to", 0.1, 100.0},
      Field<S>{"throttle_level", &S::throttle_level, "the level that it throttles to", 0.0, 254.0},
      Field<S>{"electricity_price", &S::electricity_price,
               "per kWh, hour by hour from midnight and over again; the cost then has that of electricity "
               "too [none]",
               -1000.0, 1e6},
      Field<S>{"begins_s", &S::begins_s, "s from midnight to the scenario's start, in later jobs of a log"},
  };
  return kFields;
}

void PowerSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("power", scenario.clock);
  CheckCurve("clocks", clocks, /*strict=*/true);
  if (clocks.size() > 255) Refuse(Join("clocks: expected at most 255 levels, found ", clocks.size()));
  if (!speeds.empty()) {
    CheckCurve("speeds", speeds, /*strict=*/false);
    if (speeds.size() != clocks.size())
      Refuse(Join("speeds: expected one for each of ", clocks.size(), " clocks, found ", speeds.size()));
  }
  if (throttle_level >= levels())
    Refuse(Join("throttle_level: expected a level, 0 to ", levels() - 1, ", found ", throttle_level));
  const std::vector<std::string> rules = {"uniform", "highest"};
  if (std::find(rules.begin(), rules.end(), cap_rule) == rules.end()) {
    Refuse(
        Join("cap_rule: expected uniform or highest, found '", cap_rule, "'", DidYouMean(cap_rule, rules)));
  }
  if (rise_c.empty() || time_constant_s.empty()) Refuse("rise_c and time_constant_s: expected a number");
  const std::vector<GpuType>& types = scenario.cluster.types;
  CheckLength("sensitivity", sensitivity, scenario.throughputs.job_types.size(), "job type");
  const std::size_t kinds = NumWholeTypes(scenario);
  CheckLength("node_cap_w", node_cap_w, kinds, "GPU type");
  CheckLength("rise_c", rise_c, kinds, "GPU type");
  CheckLength("time_constant_s", time_constant_s, kinds, "GPU type");
  double idle = 0.0;
  int kind = -1;
  for (int g = 0; g < static_cast<int>(types.size()); ++g) {
    if (PartOf(scenario, g).whole != g) continue;
    ++kind;
    const GpuType& type = types[U(g)];
    if (type.peak_power_w < type.idle_power_w) {
      Refuse(Join("GPU type '", type.name, "': expected a peak of at least the idle ", type.idle_power_w,
                  " W, found ", type.peak_power_w));
    }
    idle += type.count * type.idle_power_w;
    if (const double cap = NodeCap(kind); cap != kNever) {
      CheckCap(Join("node_cap_w of ", type.name), cap,
               std::min(type.count, type.gpus_per_node) * type.idle_power_w);
    }
    if (!heat || type.peak_power_w <= 0.0) continue;
    const double resting =
        ambient_c + ambient_swing_c + hot_spot_c + Rise(kind) * type.idle_power_w / type.peak_power_w;
    if (resting >= throttle_c - hysteresis_c) {
      Refuse(Join("throttle_c: an idle ", type.name, " may be at ", resting,
                  " C and would throttle for ever; expected throttle_c - hysteresis_c above that, found ",
                  throttle_c - hysteresis_c));
    }
  }
  CheckCap("cap_w", cap_w, idle);
  for (double u : scenario.traits.utilization) {
    if (!(u >= 0.0 && u <= 1.0)) Refuse(Join("job_types/utilization: expected 0 to 1, found ", u));
  }
}

double PowerSettings::Speed(int job_type, int level) const {
  const double s = (speeds.empty() ? clocks : speeds)[U(level)];
  if (s == 1.0) return 1.0;
  const double beta = sensitivity.empty() ? 1.0 : sensitivity[sensitivity.size() > 1 ? U(job_type) : 0];
  return 1.0 / (beta * (1.0 / s - 1.0) + 1.0);
}

double PowerSettings::DynamicShare(int level) const {
  const double f = clocks[U(level)];
  return f == 1.0 ? 1.0 : Pow(f, exponent);
}

std::shared_ptr<const FeatureSettings> PowerSettings::OfJobs(const JobTable&, double origin_s) const {
  if (origin_s == 0.0 || (electricity_price.empty() && ambient_swing_c == 0.0)) return nullptr;
  auto kept = std::make_shared<PowerSettings>(*this);
  kept->begins_s += origin_s;
  return kept;
}

double PowerSettings::NextChange(double now) const {
  const double change = NextPrice(electricity_price, now + begins_s);
  double next = change - begins_s;
  while (next + begins_s < change) next = std::nextafter(next, kNever);  // rounding: not before it
  return next;
}

double PowerSettings::PriceAt(double now) const {
  return berth::PriceAt(electricity_price, now + begins_s);
}

double PowerSettings::PriceIntegral(double now) const {
  return berth::PriceIntegral(electricity_price, now + begins_s);
}

double WattsAt(const PowerState& power, int gpu, int level, double duty) {
  const std::size_t type = power.type[U(gpu)];
  const double millionths = static_cast<double>(power.load[U(gpu)]) / static_cast<double>(kLoadParts);
  const double used = std::min(1.0, millionths * 1e-6);
  return power.idle_w[type] +
         (power.peak_w[type] - power.idle_w[type]) * used * (power.dynamic_share[U(level)] * duty);
}

double TotalWatts(const PowerState& power) {
  double sum = 0.0;
  for (double watts : power.watts) sum += watts;
  return sum;
}

double EnergyJ(const PowerState& power, double now) {
  double sum = 0.0;
  for (std::size_t p = 0; p < power.watts.size(); ++p)
    sum += power.joules[p] + power.watts[p] * (now - power.since[p]);
  return sum;
}

double ElectricityCost(const PowerSettings& settings, const PowerState& power, double now) {
  const double until = settings.PriceIntegral(now);
  double sum = 0.0;
  for (std::size_t p = 0; p < power.watts.size(); ++p) {
    sum += power.cost[p] + power.watts[p] * (until - settings.PriceIntegral(power.since[p])) / 3.6e6;
  }
  return sum;
}

HeatPath HeatOf(const PowerSettings& settings, const PowerState& power, int gpu) {
  const int type = power.type[U(gpu)], kind = power.kind[U(type)];
  const double peak = power.peak_w[U(type)];
  const double nodes = static_cast<double>(power.node_cap_w.size());
  const double spot =
      nodes > 1.0 ? settings.hot_spot_c * (nodes - 1.0 - power.node[U(gpu)]) / (nodes - 1.0) : 0.0;
  HeatPath path;
  path.around = {settings.ambient_c + spot, settings.ambient_swing_c,
                 settings.hottest_h - settings.begins_s / 3600.0};
  path.since = power.since[U(gpu)];
  path.start_c = power.temperature_c[U(gpu)];
  path.rise_c = peak > 0.0 ? settings.Rise(kind) * power.watts[U(gpu)] / peak : 0.0;
  path.tau_s = settings.TimeConstant(kind);
  return path;
}

double TemperatureC(const PowerSettings& settings, const PowerState& power, int gpu, double now) {
  return HeatOf(settings, power, gpu).At(now);
}

FeatureModule PowerFeature() {
  static constexpr TimerKind kTimers[] = {kHeat};
  static constexpr MetricInfo kMetrics[] = {
      {"electricity_cost", "currency units of electricity, a part of cost", MetricInfo::Place::kJobs}};
  static constexpr BlockInfo (*kBlocks[])() = {PowerBlock};
  static constexpr ActionInfo (*kActions[])() = {ClockAction, CapAction};
  FeatureModule module = ModuleOf<PowerSettings>();
  module.timers = kTimers;
  module.metrics = kMetrics;
  module.blocks = kBlocks;
  module.actions = kActions;
  return module;
}

}  // namespace berth
