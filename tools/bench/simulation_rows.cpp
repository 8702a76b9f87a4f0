// Whole simulations: the reference's own trace, the paper's scale, and a hundred times that.
#include <filesystem>

#include "data/workloads.hpp"
#include "env/sim/metrics.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"

namespace berth::bench {
namespace {

constexpr const char* kPaperCluster = "v100=36,p100=36,k80=36";
constexpr const char* kHundredfold = "v100=3600,p100=3600,k80=3600";
constexpr double kReferenceSeconds = 15.6;  // of Gavel's own simulator, on a near-idle machine
// Of Gavel's own simulator: CPU-seconds for 5,000 jobs at 4.8 jobs an hour; its trace is not public.
constexpr double kReferencePaperSeconds = 128.92;

Measured SpeedUp(double reference_s, const std::vector<SimulationCost>& costs) {
  Measured measured;
  for (const SimulationCost& cost : costs) measured.values.push_back(reference_s / cost.cpu_s);
  measured.detail = {{"cpu_s", costs.front().cpu_s},
                     {"reference_s", reference_s},
                     {"mean_jct_s", costs.front().mean_jct_s},
                     {"decisions", costs.front().decisions}};
  return measured;
}

Measured Reference(const BenchSetup& setup) {
  const std::string trace = setup.reference + "/sim/traces_public/single_r3_s0.trace";
  if (!std::filesystem::exists(trace)) throw CannotRun("needs " + trace + " (--reference)");
  ScenarioSettings settings;
  settings.cluster = ParseCluster(kPaperCluster);
  const FormatInfo& format = FindFormat("gavel");
  settings.clock = format.default_clock;
  const Scenario scenario = format.read(trace, settings);
  return SpeedUp(kReferenceSeconds, Simulate(scenario, "gavel", {200, 500}, setup.repeats));
}

Measured Paper(const BenchSetup&) {
  const Scenario scenario =
      Generated("synthetic(rate=4.8,jobs=7500)", kPaperCluster, {ClockKind::kReferenceRounds, 360.0});
  Measured measured = SpeedUp(kReferencePaperSeconds, Simulate(scenario, "gavel", {4000, 5000}, 1));
  measured.note =
      "against the reference's CPU time on its own trace of 5,000 jobs, which is not public: ours is "
      "generated, with 7,500";
  return measured;
}

Measured Million(const char* scheduler, const Clock& clock) {
  const Scenario scenario = Generated("synthetic(rate=480,jobs=1000000)", kHundredfold, clock);
  const SimulationCost cost = Simulate(scenario, scheduler, {}, 1).front();
  Measured measured;
  measured.values = {cost.cpu_s};
  measured.detail = {{"scheduler", scheduler},
                     {"clock", clock.ToString()},
                     {"mean_jct_s", cost.mean_jct_s},
                     {"decisions", cost.decisions}};
  return measured;
}

constexpr BenchRow kSimulationRows[] = {
    {"simulation/single_r3_s0",
     "the reference's trace under its aware max-min policy, CPU time: how many times faster than its 15.6 s",
     "times", Bound::kAtLeast, 100, 0, Reference},
    {"simulation/paper", "108 GPUs, 7,500 jobs at 4.8/h, max-min: how many times faster than the reference",
     "times", Bound::kAtLeast, 100, 0, Paper},
    {"simulation/million_easy", "10,800 GPUs, 1,000,000 jobs at 480/h, clock event, easy", "CPU s",
     Bound::kAtMost, 60, 2, [](const BenchSetup&) { return Million("easy", {ClockKind::kEvent}); }},
    {"simulation/million_srpt", "the same under clock rounds(360), srpt", "CPU s", Bound::kAtMost, 60, 2,
     [](const BenchSetup&) {
       return Million("srpt", {ClockKind::kRounds, 360.0});
     }},
    {"simulation/million_max_min", "the same under clock rounds(360), gavel(objective=max_min)", "CPU s",
     Bound::kAtMost, 600, 2,
     [](const BenchSetup&) {
       return Million("gavel(objective=max_min)", {ClockKind::kRounds, 360.0});
     }},
};

}  // namespace

std::span<const BenchRow> SimulationRows() {
  return kSimulationRows;
}

}  // namespace berth::bench
