// Power: what a cap on the whole cluster costs in time, by the rule that lowers the clocks, and what lower
// clocks and other types save within a bound on slow-down.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr const char* kPowerWorkload = "synthetic(rate=1.2,jobs=500)";
constexpr const char* kCluster = "v100=12/4,p100=12/4,k80=12/4";
constexpr Window kPowerWindow = {0, 500};  // all: every run does the same work
// Two tariffs a day, in the order of what large consumers pay: 0.08 by night, 0.20 from 8 to 20 h.
constexpr const char* kPrices =
    "0.08:0.08:0.08:0.08:0.08:0.08:0.08:0.08:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.2:0.08:0.08:0.08:"
    "0.08";

struct Measured {
  double jct_h = 0.0, energy_kwh = 0.0, cost = 0.0;
};

// Means over the workloads.
Measured MeasurePower(const RealismOptions& options, const std::string& power, const std::string& scheduler) {
  const RealismRuns runs(options.seeds, scheduler, kPowerWindow, [&](std::uint64_t seed) {
    return RealismScenario(kPowerWorkload, kCluster, "event",
                           Join("power(electricity_price=", kPrices, power, ")"), seed);
  });
  return {runs.Mean(&Metrics::mean_jct_s, 3600.0), runs.Mean(&Metrics::energy_kwh),
          runs.Mean("electricity_cost")};
}

std::vector<std::string> Row(const std::string& what, double setting, int decimals, const Measured& m) {
  return {what, Fixed(setting, decimals), Fixed(m.jct_h, 2), Fixed(m.energy_kwh, 1), Fixed(m.cost, 2)};
}

}  // namespace

RealismResult RealismPower(const RealismOptions& options) {
  RealismResult result;
  result.title = "A cap on the power of 36 GPUs (8.4 kW at peak, 1.2 kW idle): mean JCT and energy by cap";
  result.shows =
      "Relative to no cap. While it binds, each GPU does its work at a lower clock, slower and for less "
      "energy a "
      "step; a run that lasts longer also pays longer for idle GPUs.";
  result.columns = {"clocks lowered", "cap kW", "mean JCT h", "energy kWh", "electricity cost"};
  result.x_label = "cap, kW";
  result.y_label = "relative to no cap";
  const Measured free = MeasurePower(options, "", "fcfs");
  result.rows.push_back(Row("never (no cap)", 8.4, 1, free));
  for (const char* rule : {"uniform", "highest"}) {
    Curve jct{Join("mean JCT, ", rule)}, energy{Join("energy, ", rule)};
    for (const double cap_w : {3000.0, 3600.0, 4400.0, 5400.0, 6400.0, 7400.0}) {
      const Measured m = MeasurePower(options, Join(",cap_w=", cap_w, ",cap_rule=", rule), "fcfs");
      result.rows.push_back(Row(rule, cap_w / 1000.0, 1, m));
      jct.Add(cap_w / 1000.0, m.jct_h / free.jct_h);
      energy.Add(cap_w / 1000.0, m.energy_kwh / free.energy_kwh);
    }
    result.curves.push_back(std::move(jct));
    result.curves.push_back(std::move(energy));
  }
  return result;
}

RealismResult RealismClocks(const RealismOptions& options) {
  RealismResult result;
  result.title = "Clocks and types chosen for energy: mean JCT and energy by the bound on slow-down";
  result.shows =
      "energy_efficient relative to a bound of 1, which is full clock on the fastest type. What it counts, "
      "all "
      "watts or those above idle, decides how low it goes.";
  result.columns = {"watts counted", "bound", "mean JCT h", "energy kWh", "electricity cost"};
  result.x_label = "bound on slow-down";
  result.y_label = "relative to a bound of 1";
  for (const bool idle : {true, false}) {
    const char* counted = idle ? "all" : "above idle";
    Curve jct{Join("mean JCT, ", counted)}, energy{Join("energy, ", counted)};
    Measured first;
    for (const double bound : {1.0, 1.15, 1.3, 1.5, 2.0, 3.0}) {
      const Measured m = MeasurePower(
          options, "", Join("energy_efficient(slowdown=", bound, ",idle=", idle ? "true" : "false", ")"));
      if (bound == 1.0) first = m;
      result.rows.push_back(Row(counted, bound, 2, m));
      jct.Add(bound, m.jct_h / first.jct_h);
      energy.Add(bound, m.energy_kwh / first.energy_kwh);
    }
    result.curves.push_back(std::move(jct));
    result.curves.push_back(std::move(energy));
  }
  return result;
}

RealismResult RealismPrices(const RealismOptions& options) {
  RealismResult result;
  result.title = "Electricity at 0.08 by night and 0.20 by day: what waiting for cheap hours saves";
  result.shows =
      "A third of the jobs may take 1.2 times their run time, a third 2 times, a third 10 times: only those "
      "with "
      "room move into the night, and pay with their JCT. A larger margin before the deadline shifts less.";
  result.columns = {"scheduler", "electricity cost", "energy kWh", "mean JCT h", "deadlines missed"};
  result.x_label = "cost of electricity";
  result.y_label = "mean JCT, h";
  for (const char* scheduler : {"edf(preemptive=false)", "cheap_hours(margin=0)", "cheap_hours(margin=0.25)",
                                "cheap_hours(margin=1)", "cheap_hours(margin=3)"}) {
    const RealismRuns runs(options.seeds, scheduler, kPowerWindow, [](std::uint64_t seed) {
      return RealismScenario("synthetic(rate=1.2,jobs=500,slo=true)", "v100=36", "event",
                             Join("power(electricity_price=", kPrices, ")"), seed);
    });
    const double cost = runs.Mean("electricity_cost"), jct_h = runs.Mean(&Metrics::mean_jct_s, 3600.0);
    result.rows.push_back({scheduler, Fixed(cost, 2), Fixed(runs.Mean(&Metrics::energy_kwh), 1),
                           Fixed(jct_h, 2), Fixed(100.0 * runs.Mean(&Metrics::deadline_miss_rate), 1) + "%"});
    result.curves.push_back({scheduler, {cost}, {jct_h}});
  }
  return result;
}

}  // namespace berth
