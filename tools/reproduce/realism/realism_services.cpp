// Inference services beside training on one cluster: replicas fixed for the mean, fixed for the peak, and
// scaled with the load of the day.
#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

struct ServiceWay {
  const char* name;
  const char* scheduler;
  int replicas;
};

// 2 services of at least 160 ms a request: the mean load is worth about 0.18 x rate replicas each.
std::string FeatureText(double rate, int replicas) {
  return Join("services(rate_per_s=", rate, ":", rate,
              ",pattern=diurnal,base_s=0.16,item_s=0.16,max_batch=8,",
              "slo_s=2,interval_s=360,replicas=", replicas, ")");
}

}  // namespace

RealismResult RealismServices(const RealismOptions& options) {
  RealismResult result;
  result.title = "Two inference services (diurnal) beside training (srpt) on 36 GPUs: p99 latency by load";
  result.shows =
      "Few fixed replicas miss the daily peak once the load grows, many take GPUs from training all day; "
      "scaled ones follow the load and give the rest back. Where there is no point, more than one "
      "request in 100 of some seed waited for over 10,000 s or found no answer at all.";
  result.log_y = true;
  result.columns = {"replicas", "requests/s", "p99 s", "in time", "replica GPU h", "training JCT h"};
  result.x_label = "requests per second of each service";
  result.y_label = "99th percentile of latency, s";
  for (const ServiceWay& way :
       {ServiceWay{"fixed: 2 each", "srpt", 2}, ServiceWay{"fixed: 6 each", "srpt", 6},
        ServiceWay{"scaled", "autoscale(inner=srpt)", 2}}) {
    Curve curve{way.name};
    for (const double rate : {2.5, 5.0, 7.5, 10.0}) {
      const RealismRuns runs(options.seeds, way.scheduler, {10, 50}, [&](std::uint64_t seed) {
        return RealismScenario("synthetic(rate=1.2,jobs=60)", "v100=12,p100=12,k80=12", "rounds(360)",
                               FeatureText(rate, way.replicas), seed);
      });
      const bool overloaded = std::any_of(runs.runs().begin(), runs.runs().end(), [](const RunResult& run) {
        return std::isinf(run.metrics.Of("service_p99_s"));
      });
      const Interval p99 = overloaded ? Interval{} : runs.Estimate("service_p99_s");
      if (!overloaded) curve.Add(rate, p99);
      result.rows.push_back({way.name, Fixed(rate, 1), overloaded ? ">10,000" : Fixed(p99.mean, 3),
                             Fixed(runs.Mean("service_attainment"), 4),
                             Fixed(runs.Mean("service_gpu_hours"), 0), Fixed(runs.JctHours().mean, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
