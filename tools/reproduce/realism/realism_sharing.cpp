// Sharing: what parts of GPUs are worth to jobs that cannot fill one, by load and by where the parts are
// taken.
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/sharing/sharing.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/realism/realism.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr Window kSharingWindow = {50, 250};

// The shipped workload, of which every job can use a share drawn from an eighth to all of a GPU: its rate in
// the table is what that share gives. `whole`: it holds the GPU alone all the same.
Scenario Shared(double rate, std::uint64_t seed, bool whole) {
  const auto parts = [&](ScenarioData& data) {
    Stream random(seed, Purpose::kTest, Split::kEvaluate);
    for (int job = 0; job < data.jobs.size(); ++job) {
      const int eighths = 1 + static_cast<int>(random.Below(8));
      data.jobs.gpu_milli.push_back(whole ? 1000 : 125 * eighths);
    }
  };
  return RealismScenario(Join("synthetic(rate=", rate, ",jobs=300)"), "v100=12", "rounds(360)",
                         "sharing(share_suffices=true)", seed, parts);
}

}  // namespace

RealismResult RealismSharing(const RealismOptions& options) {
  RealismResult result;
  result.title = "Parts of GPUs: mean JCT by load, 12 V100, jobs that can use an eighth to all of one";
  result.shows =
      "Whole GPUs are full long before their compute is: jobs that hold the part they use wait at higher "
      "loads "
      "only. Where parts are taken decides how many large ones still fit.";
  result.columns = {"scheduler", "jobs/h", "mean JCT h", "GPUs in use", "and held by parts"};
  result.x_label = "jobs an hour";
  result.y_label = "mean JCT, h";
  struct Way {
    const char *name, *scheduler;
    bool whole;
  };
  constexpr Way kWays[] = {{"whole GPUs", "gpu_shares(overtake=true)", true},
                           {"parts, best fit", "gpu_shares(overtake=true)", false},
                           {"parts, worst fit", "gpu_shares(fit=worst,overtake=true)", false},
                           {"parts, fgd", "gpu_shares(fit=fgd,overtake=true)", false}};
  for (const Way& way : kWays) {
    Curve curve{way.name};
    for (const double rate : {0.3, 0.6, 0.9, 1.2, 1.5}) {
      std::vector<double> jct;
      double used = 0.0, held = 0.0;  // held: by the parts of GPUs, of all of them
      for (int seed = 0; seed < options.seeds; ++seed) {
        const auto scheduler = MakeScheduler(way.scheduler, AllSchedulers());
        const Simulator sim = FinishedRun(Shared(rate, static_cast<std::uint64_t>(seed), way.whole),
                                          *scheduler, kSharingWindow);
        const Metrics metrics = Measure(sim, kSharingWindow);
        jct.push_back(metrics.mean_jct_s / 3600.0);
        used += metrics.utilization / options.seeds;
        held += ShareSeconds(sim.core(), 0) / (sim.scenario().num_gpus() * sim.now()) / options.seeds;
      }
      const Interval mean = BootstrapMean(jct, 1);
      curve.Add(rate, mean);
      result.rows.push_back({way.name, Fixed(rate, 1), Fixed(mean.mean, 2), Fixed(used, 3), Fixed(held, 3)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
