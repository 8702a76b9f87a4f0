// The scheduler's own time: mean JCT by how long a decision takes, and by how often there is one.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// Mean JCT of `scheduler` under each of `values` of a setting, the others as in `features`.
void Sweep(const RealismOptions& options, const std::string& name, const std::string& scheduler,
           const std::string& features, const std::vector<double>& values, RealismResult& into) {
  Curve curve{name};
  for (const double value : values) {
    const RealismRuns runs(options.seeds, scheduler, {100, 300}, [&](std::uint64_t seed) {
      return RealismScenario(
          "synthetic(rate=2.4,jobs=400)", "v100=12,p100=12,k80=12", "event",
          Join("failures(mtbf_h=50,repair_h=1);checkpoints(gb=1,interval=1800);", features, value, ")"),
          seed);
    });
    const Interval jct_h = runs.JctHours();
    curve.Add(value, jct_h);
    into.rows.push_back(
        {name, Fixed(value, 0), Fixed(jct_h.mean, 2), Fixed(runs.Mean("dropped_entries"), 1)});
  }
  into.curves.push_back(std::move(curve));
}

}  // namespace

RealismResult RealismLatency(const RealismOptions& options) {
  RealismResult result;
  result.title = "Decision latency: mean JCT by the time that a decision takes (GPUs fail every 50 h)";
  result.shows =
      "GPUs that fall idle wait for the decision that is under way and then for the next one; entries that "
      "failures and completions have overtaken meanwhile are dropped. anticipate decides on the state "
      "predicted "
      "for the moment of effect, so that the next job starts when the last one ends; the stops that it "
      "orders "
      "ahead count among the dropped.";
  result.columns = {"scheduler", "latency s", "mean JCT h", "entries dropped"};
  result.x_label = "seconds from what a decision sees to its effect";
  result.y_label = "mean JCT, h";
  for (const char* scheduler : {"fcfs", "srpt", "las", "anticipate(inner=fcfs)", "anticipate(inner=srpt)"})
    Sweep(options, scheduler, scheduler, "latency(seconds=", {0, 60, 300, 900, 1800}, result);
  return result;
}

RealismResult RealismCadence(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Recompute cadence: mean JCT by the period of decisions (each takes 60 s, GPUs fail every 50 h)";
  result.shows =
      "Decisions at a period alone leave GPUs idle until the next; where events call for them too, the "
      "period "
      "adds only what a second look is worth.";
  result.columns = {"scheduler and cadence", "period s", "mean JCT h", "entries dropped"};
  result.x_label = "seconds between periodic decisions";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  for (const char* scheduler : {"srpt", "las"}) {
    for (const char* cadence : {"periodic", "both"}) {
      Sweep(options, Join(scheduler, ", ", cadence), scheduler,
            Join("latency(seconds=60,cadence=", cadence, ",period_s="), {120, 360, 1080, 3240}, result);
    }
  }
  return result;
}

}  // namespace berth
