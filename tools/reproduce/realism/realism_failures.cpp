// Failures: what they cost by how often they come, under a rule that knows remaining time and one that does
// not.
#include "env/check.hpp"
#include "tools/reproduce/realism/realism.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismFailures(const RealismOptions& options) {
  RealismResult result;
  result.title = "Failures of GPUs: mean JCT by mean time between failures of one GPU (repairs take 2 h)";
  result.shows = "A job that fails starts again from its last stop, so long jobs suffer most.";
  result.columns = {"scheduler", "MTBF h", "mean JCT h", "interruptions per job"};
  result.x_label = "mean time between failures of one GPU, h";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  for (const char* scheduler : {"fcfs", "srpt"}) {
    Curve curve{scheduler, {}, {}, {}, {}};
    for (const double mtbf_h : {100.0, 300.0, 1000.0, 3000.0}) {
      std::vector<double> jct;
      double interruptions = 0.0;
      for (int seed = 0; seed < options.seeds; ++seed) {
        const Scenario scenario = RealismScenario(
            "synthetic(rate=1.2,jobs=300)", "v100=12,p100=12,k80=12", "rounds(360)",
            Join("failures(mtbf_h=", mtbf_h, ",repair_h=2)"), static_cast<std::uint64_t>(seed));
        const RunResult run = RealismRun(scenario, scheduler, {50, 250});
        jct.push_back(run.metrics.mean_jct_s / 3600.0);
        interruptions += run.metrics.interruptions_per_job / options.seeds;
      }
      const Interval mean = BootstrapMean(jct, 1);
      curve.x.push_back(mtbf_h), curve.y.push_back(mean.mean);
      curve.low.push_back(mean.low), curve.high.push_back(mean.high);
      result.rows.push_back({scheduler, Fixed(mtbf_h, 0), Fixed(mean.mean, 2), Fixed(interruptions, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
