// Partitions: layouts that stay and layouts that follow the waiting jobs, by load and by what a change takes.
#include "data/gpu_types.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/partitions/partitions.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// The shipped workload on 12 A100 of 80 GB with the rates of its V100s (ratios are what matters here); what
// of a GPU a job type can use is drawn for each, from a seventh to all of it.
Scenario Partitioned(double rate, std::uint64_t seed, const std::string& features) {
  const auto on_a100s = [](ScenarioData& data) {
    for (const GpuType& type : ShippedGpuTypes()) {
      if (type.name != "a100") continue;
      const int count = data.cluster.types[0].count;
      data.cluster.types[0] = type;
      data.cluster.types[0].count = count;
    }
    Stream random(7, Purpose::kTest, Split::kEvaluate);
    for (std::size_t type = 0; type < data.throughputs.job_types.size(); ++type)
      data.traits.utilization.push_back((1.0 + random.Below(7)) / 7.0);
    data.throughputs.pairs.clear();
  };
  return RealismScenario(Join("synthetic(rate=", rate, ",jobs=300)"), "v100=12", "event", features, seed,
                         on_a100s);
}

}  // namespace

RealismResult RealismPartitions(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Partitions (MIG): mean JCT by load, 12 A100 80 GB, job types that can use 1/7 to all of one";
  result.shows =
      "With few jobs whole GPUs are best, with many slices are; a layout chosen for those who wait moves "
      "from one to the other with the load. Layouts chosen once are those that serve the mix at the highest "
      "rate, whatever the load.";
  result.columns = {"layouts", "jobs/h", "mean JCT h", "utilisation"};
  result.x_label = "jobs an hour";
  result.y_label = "mean JCT, h";
  struct Way {
    const char *name, *scheduler, *features;
  };
  constexpr Way kWays[] = {
      {"whole GPUs", "mig(repartition=false)", "partitions"},
      {"fixed 3g+3g", "mig(repartition=false)", "partitions(layout=3g.40gb+3g.40gb)"},
      {"fixed 4g+2g+1g", "mig(repartition=false)", "partitions(layout=4g.40gb+2g.20gb+1g.10gb)"},
      {"chosen once for the mix", "mig_static", "partitions(reconfig_s=5)"},
      {"chosen, 5 s a change", "mig", "partitions(reconfig_s=5)"},
      {"chosen, 1 h a change", "mig", "partitions(reconfig_s=3600)"}};
  for (const Way& way : kWays) {
    Curve curve{way.name};
    for (const double rate : {0.3, 0.6, 0.9, 1.2}) {
      const RealismRuns runs(options.seeds, way.scheduler, {50, 250},
                             [&](std::uint64_t seed) { return Partitioned(rate, seed, way.features); });
      const Interval jct_h = runs.JctHours();
      curve.Add(rate, jct_h);
      result.rows.push_back(
          {way.name, Fixed(rate, 1), Fixed(jct_h.mean, 2), Fixed(runs.Mean(&Metrics::utilization), 3)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
