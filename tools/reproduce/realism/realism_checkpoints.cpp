// Checkpoints: saving often costs time, saving seldom costs work, and Daly's interval weighs the two.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismCheckpoints(const RealismOptions& options) {
  RealismResult result;
  result.title = "Checkpoints of 60 GB: mean JCT by interval, GPUs failing every 50 h (srpt)";
  result.shows =
      "Saving often costs time, saving seldom loses work; the level line of each storage is what Daly's "
      "interval "
      "gives, which is worked out from the failures of the GPUs that a job stands on.";
  result.columns = {"storage GB/s", "interval s", "mean JCT h", "interruptions per job",
                    "lost work h per job"};
  result.x_label = "seconds of progress between checkpoints";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  const std::vector<double> intervals = {300, 900, 2700, 8100, 24300};
  for (const double storage : {0.05, 0.2, 1.0}) {
    const auto measure = [&](const std::string& interval) {
      const RealismRuns runs(options.seeds, "srpt", {50, 200}, [&](std::uint64_t seed) {
        return RealismScenario("synthetic(rate=1.0,jobs=250)", "v100=12,p100=12,k80=12", "rounds(360)",
                               Join("failures(mtbf_h=50,repair_h=1);checkpoints(gb=60,write_gb_s=", storage,
                                    ",read_gb_s=", storage, ",interval=", interval, ")"),
                               seed);
      });
      const Interval jct_h = runs.JctHours();
      result.rows.push_back({Fixed(storage, 2), interval, Fixed(jct_h.mean, 2),
                             Fixed(runs.Mean(&Metrics::interruptions_per_job), 2),
                             Fixed(runs.Mean(&Metrics::lost_work_h), 2)});
      return jct_h;
    };
    Curve curve{Join(Fixed(storage, 2), " GB/s")};
    for (const double interval : intervals) curve.Add(interval, measure(Join(interval)));
    const Interval optimal = measure("optimal");
    Curve level{Join(Fixed(storage, 2), " GB/s, Daly's interval")};
    for (const double x : {intervals.front(), intervals.back()}) level.Add(x, optimal.mean);
    result.curves.push_back(std::move(curve));
    result.curves.push_back(std::move(level));
  }
  return result;
}

}  // namespace berth
