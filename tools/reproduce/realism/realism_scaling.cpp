// Elasticity far beyond a node: what published scaling of large trainings is worth to a cluster, and what
// cuts of a model into stages and tensors cost.
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/features/table.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

// Trainings of 29 h +- 50% each on 8 of `gpus` GPUs at `rate` steps/s, Poisson arrivals.
Scenario Trainings(int gpus, double per_day, double rate, const std::string& features, std::uint64_t seed) {
  ScenarioData data;
  GpuType type;
  type.name = "gpu", type.count = gpus, type.gpus_per_node = 8;
  data.cluster.types = {type};
  data.throughputs.job_types = {"training"};
  data.throughputs.gang_sizes = {8};
  data.throughputs.alone = {rate};
  Stream random(seed, Purpose::kTest, Split::kEvaluate);
  double now = 0.0;
  for (int job = 0; job < 120; ++job) {
    now += random.Exponential(86400.0 / per_day);
    data.jobs.id.push_back(job);
    data.jobs.arrival.push_back(now);
    data.jobs.job_type.push_back(0);
    data.jobs.gang.push_back(8);
    data.jobs.total_steps.push_back(29.0 * 3600.0 * random.Uniform(0.5, 1.5));
  }
  data.name = "trainings";
  data.seed = seed;
  data.features = ParseFeatures(features);
  return Scenario(std::move(data));
}

}  // namespace

RealismResult RealismLargeScale(const RealismOptions& options) {
  RealismResult result;
  result.title = "Trainings of 29 h on 8 GPUs, which may take all 256 of a cluster: mean JCT by load";
  result.shows =
      "elastic_srpt gives the shortest all that it can use. Where scaling is nearly linear that costs next "
      "to "
      "nothing; where it is not, the GPU-hours that wide trainings waste are missing to those that wait, the "
      "more "
      "the higher the load, and gangs of 8 waste none. optimus gives GPUs to whoever gains most by them.";
  result.columns = {"scheduler and scaling", "trainings a day", "mean JCT h", "95%"};
  result.x_label = "trainings a day";
  result.y_label = "mean JCT, h";
  result.log_y = true;
  const struct {
    const char *name, *scheduler, *features;
  } kWays[] = {
      {"srpt, 8 GPUs each", "srpt", ""},
      {"elastic_srpt, amdahl (99% parallel)", "elastic_srpt", "scaling=amdahl,parallel=0.99"},
      {"optimus, amdahl (99% parallel)", "optimus", "scaling=amdahl,parallel=0.99"},
      {"elastic_srpt, large_512 (46.5 times on 512)", "elastic_srpt", "scaling=large_512"},
      {"elastic_srpt, imagenet_256 (29 h to 1 h)", "elastic_srpt", "scaling=imagenet_256"},
  };
  for (const auto& way : kWays) {
    Curve curve{way.name};
    for (const double per_day : {2.0, 6.0, 12.0, 18.0, 24.0}) {
      const std::string features =
          *way.features == '\0'
              ? ""
              : Join("elasticity(min_factor=1,max_factor=32,measured=false,", way.features, ")");
      const RealismRuns runs(options.seeds, way.scheduler, {20, 100}, [&](std::uint64_t seed) {
        return Trainings(256, per_day, 1.0, features, seed);
      });
      const Interval jct_h = runs.JctHours();
      curve.Add(per_day, jct_h);
      result.rows.push_back({way.name, Fixed(per_day, 0), Fixed(jct_h.mean, 2), Brackets(jct_h, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

// The rate of a gang is the group's: ModelParallelGroup's speed over one GPU that could hold the model.
RealismResult RealismModelParallel(const RealismOptions& options) {
  RealismResult result;
  result.title =
      "Models of 8 times a GPU's memory on 64 GPUs: mean JCT by micro-batches, cut into tensors and stages";
  result.shows =
      "A pipeline idles while it fills and empties, less the more micro-batches go through it; cuts within a "
      "layer have no such bubble and pay with traffic instead (0.02 s of all-reduce a second of computing). "
      "More "
      "micro-batches favour more stages.";
  result.columns = {"cut", "micro-batches", "speed of 8 GPUs", "mean JCT h", "95%"};
  result.x_label = "micro-batches in a step";
  result.y_label = "mean JCT, h";
  result.log_x = true;
  for (const int tensor : {1, 2, 4, 8}) {
    Curve curve{Join(tensor, " tensor x ", 8 / tensor, " stages")};
    for (const int micro_batches : {4, 8, 16, 32, 64, 128}) {
      ElasticitySettings settings;
      settings.tensor = tensor, settings.micro_batches = micro_batches;
      const double speed = ModelParallelGroup(settings, 8).speed;
      const RealismRuns runs(options.seeds, "srpt", {20, 100},
                             [&](std::uint64_t seed) { return Trainings(64, 3.0, speed / 8.0, "", seed); });
      const Interval jct_h = runs.JctHours();
      curve.Add(micro_batches, jct_h);
      result.rows.push_back(
          {curve.name, Join(micro_batches), Fixed(speed, 2), Fixed(jct_h.mean, 2), Brackets(jct_h, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
