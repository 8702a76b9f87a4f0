// Failures: what they cost by how often they come, whether they take one GPU or a node of four, with and
// without checkpoints.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismFailures(const RealismOptions& options) {
  RealismResult result;
  result.title = "Failures: mean JCT by mean time between failures of a GPU (repairs take 2 h)";
  result.shows =
      "A job that fails starts again from its last stop or checkpoint, so long jobs suffer most; nodes of "
      "four "
      "GPUs that fail as often as their GPUs would together take more jobs down at once.";
  result.columns = {"scheduler and failures", "MTBF h", "mean JCT h", "interruptions per job",
                    "lost work h per job"};
  result.x_label = "mean time between failures of one GPU, h";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  const struct {
    const char *name, *scheduler;
    bool nodes, saves;
  } kCases[] = {{"fcfs", "fcfs", false, false},
                {"srpt", "srpt", false, false},
                {"srpt, nodes of four", "srpt", true, false},
                {"srpt, saved every half hour", "srpt", false, true}};
  for (const auto& c : kCases) {
    Curve curve{c.name};
    for (const double mtbf_h : {100.0, 300.0, 1000.0, 3000.0}) {
      const std::string failures =
          c.nodes ? Join("failures(mtbf_h=0,node_mtbf_h=", mtbf_h / 4.0, ",node_repair_h=2)")
                  : Join("failures(mtbf_h=", mtbf_h, ",repair_h=2)");
      const std::string features = failures + (c.saves ? ";checkpoints(gb=5,interval=1800)" : "");
      const RealismRuns runs(options.seeds, c.scheduler, {50, 250}, [&](std::uint64_t seed) {
        return RealismScenario("synthetic(rate=1.2,jobs=300)", "v100=12/4,p100=12/4,k80=12/4", "rounds(360)",
                               features, seed);
      });
      const Interval jct_h = runs.JctHours();
      curve.Add(mtbf_h, jct_h);
      result.rows.push_back({c.name, Fixed(mtbf_h, 0), Fixed(jct_h.mean, 2),
                             Fixed(runs.Mean(&Metrics::interruptions_per_job), 2),
                             Fixed(runs.Mean(&Metrics::lost_work_h), 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
