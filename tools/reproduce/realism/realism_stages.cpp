// Stages: preprocessing that starves GPUs, what overlapping and offloading win back; and the order of
// dependent jobs in a pipeline of CPUs and GPUs.
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// `n` jobs of two stages, on 2 CPUs and on 2 GPUs after it; sizes exponential with mean an hour.
Scenario Pipeline(int n, std::uint64_t seed) {
  Stream random(seed, Purpose::kJobs, Split::kEvaluate);
  ScenarioData data;
  data.name = "pipeline";
  for (const char* name : {"cpu", "gpu"}) {
    data.cluster.types.emplace_back();
    data.cluster.types.back().name = name;
    data.cluster.types.back().count = 2;
  }
  data.throughputs = {{"preprocess", "train"}, {1}, {1.0, 0.0, 0.0, 1.0}, {}, {}};
  std::string after;
  for (int i = 0; i < 2 * n; ++i) {
    data.jobs.id.push_back(i);
    data.jobs.arrival.push_back(0.0);
    data.jobs.job_type.push_back(i < n ? 0 : 1);
    data.jobs.gang.push_back(1);
    data.jobs.total_steps.push_back(random.Exponential(3600.0));
    if (i >= n) after += Join(after.empty() ? "" : ":", i, ">", i - n);
  }
  data.features = ParseFeatures("stages(after=" + after + ")");
  return Scenario(std::move(data));
}

}  // namespace

RealismResult RealismStages(const RealismOptions& options) {
  RealismResult result;
  result.title = "Stages: mean JCT by CPU cores a GPU (srpt; 0.2 core-seconds of preprocessing a step)";
  result.shows =
      "With few cores the GPUs wait for data; overlapped stages wait less, and moving the best part of the "
      "preprocessing to the GPU helps while cores are scarce and costs nothing where they are not.";
  result.columns = {"stages", "cores a GPU", "mean JCT h", "makespan h"};
  result.x_label = "CPU cores that come with a GPU";
  result.y_label = "mean JCT, h";
  struct Way {
    const char* name;
    const char* settings;
  };
  for (const Way& way : {Way{"one after the other", "overlap=false"}, Way{"overlapped", "overlap=true"},
                         Way{"overlapped, best part on the GPU", "overlap=true,offload=-1"}}) {
    Curve curve{way.name};
    for (const double cores : {1.0, 2.0, 4.0, 8.0, 16.0}) {
      const std::string features =
          Join("stages(cpu_core_s=0.2,gpu_prep_s=0.05,transfer_s=0.01,cores_per_gpu=", cores, ",",
               way.settings, ")");
      const RealismRuns runs(options.seeds, "srpt", {30, 170}, [&](std::uint64_t seed) {
        return RealismScenario("synthetic(rate=0.8,jobs=200)", "v100=12,p100=12,k80=12", "rounds(360)",
                               features, seed);
      });
      const Interval jct_h = runs.JctHours();
      curve.Add(cores, jct_h);
      result.rows.push_back({way.name, Fixed(cores, 0), Fixed(jct_h.mean, 2), "-"});
    }
    result.curves.push_back(std::move(curve));
  }
  for (const char* scheduler : {"fcfs", "sjf", "critical_path", "johnson"}) {
    const RealismRuns runs(10 * options.seeds, scheduler, {},
                           [](std::uint64_t seed) { return Pipeline(20, seed); });
    result.rows.push_back({Join("20 dependent pairs, 2 CPUs, 2 GPUs: ", scheduler), "-",
                           Fixed(runs.JctHours().mean, 2),
                           Fixed(runs.Mean(&Metrics::makespan_s, 3600.0), 2)});
  }
  return result;
}

}  // namespace berth
