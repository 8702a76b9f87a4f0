// Sharing: what switching between slices of time costs, and what the classes of service get.
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr Window kClassesWindow = {50, 250};

// The shipped workload, every job of a quarter or half of a GPU, of a class drawn evenly.
Scenario Parts(double rate, std::uint64_t seed, const std::string& sharing) {
  const auto draw = [&](ScenarioData& data) {
    Stream random(seed, Purpose::kTest, Split::kEvaluate);
    for (int job = 0; job < data.jobs.size(); ++job) {
      data.jobs.gpu_milli.push_back(250 * (1 + static_cast<int>(random.Below(2))));
      data.jobs.qos.push_back(static_cast<int>(random.Below(3)));
    }
  };
  return RealismScenario(Join("synthetic(rate=", rate, ",jobs=300)"), "v100=12", "rounds(360)", sharing, seed,
                         draw);
}

}  // namespace

RealismResult RealismSwitching(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Time slices on 12 V100: mean JCT by what a switch between jobs costs, by length of the slice";
  result.shows =
      "Of a GPU with two jobs or more a switch of s seconds leaves q / (q + s) at slices of q: long slices "
      "hide what short ones pay in full. Who is alone on a GPU pays nothing.";
  result.columns = {"slice s", "switch s", "left of a GPU", "mean JCT h", "95%"};
  result.x_label = "seconds of a switch";
  result.y_label = "mean JCT, h";
  for (const double quantum : {0.5, 2.0, 10.0}) {
    Curve curve{Join("slices of ", quantum, " s")};
    for (const double switch_s : {0.0, 0.05, 0.1, 0.2, 0.4}) {
      const RealismRuns runs(
          options.seeds, "gpu_shares(overtake=true)", kClassesWindow, [&](std::uint64_t seed) {
            return Parts(
                1.0, seed,
                Join("sharing(share_suffices=true,quantum_s=", quantum, ",switch_s=", switch_s, ")"));
          });
      const Interval jct_h = runs.JctHours();
      curve.Add(switch_s, jct_h);
      result.rows.push_back({Fixed(quantum, 1), Fixed(switch_s, 2), Fixed(quantum / (quantum + switch_s), 3),
                             Fixed(jct_h.mean, 2), Brackets(jct_h, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

RealismResult RealismClasses(const RealismOptions& options) {
  RealismResult result;
  result.title = "Classes of service on 12 V100: slow-down while running, by class and load";
  result.shows =
      "A guaranteed job runs at its share of the GPU whatever others do; a burstable one takes of what is "
      "idle beyond its share; best effort has only what the others leave, which is less the more there are. "
      "Seconds on the GPU over those of a whole one, geometric means over jobs.";
  result.columns = {"class", "jobs/h", "slow-down while running", "95%", "mean JCT h"};
  result.x_label = "jobs an hour";
  result.y_label = "seconds on the GPU over those alone";
  const char* const kClasses[] = {"guaranteed", "burstable", "best effort"};
  std::vector<Curve> curves;
  for (const char* name : kClasses) curves.push_back({name});
  for (const double rate : {0.2, 0.4, 0.7, 1.0}) {
    std::vector<double> slow[3], jct[3];  // a workload each
    for (int seed = 0; seed < options.seeds; ++seed) {
      const auto scheduler = MakeScheduler("gpu_shares(overtake=true)", AllSchedulers());
      const Simulator sim =
          FinishedRun(Parts(rate, static_cast<std::uint64_t>(seed), "sharing(interference=0.1)"), *scheduler,
                      kClassesWindow);
      double logs[3] = {}, hours[3] = {}, count[3] = {};
      const JobTable& jobs = sim.scenario().data().jobs;
      for (int job = kClassesWindow.begin; job < kClassesWindow.end; ++job) {
        const std::size_t c = U(jobs.qos[U(job)]);
        const double alone = jobs.total_steps[U(job)] / sim.scenario().BestRate(job);
        logs[c] += std::log(sim.state().AttainedSeconds(job) / alone);
        hours[c] += (sim.state().completion[U(job)] - jobs.arrival[U(job)]) / 3600.0;
        ++count[c];
      }
      for (std::size_t c = 0; c < 3; ++c) {
        slow[c].push_back(std::exp(logs[c] / count[c]));
        jct[c].push_back(hours[c] / count[c]);
      }
    }
    for (std::size_t c = 0; c < 3; ++c) {
      const Interval mean = BootstrapMean(slow[c], 1);
      curves[c].Add(rate, mean);
      result.rows.push_back({kClasses[c], Fixed(rate, 1), Fixed(mean.mean, 3), Brackets(mean, 3),
                             Fixed(BootstrapMean(jct[c], 1).mean, 2)});
    }
  }
  result.curves = std::move(curves);
  return result;
}

}  // namespace berth
