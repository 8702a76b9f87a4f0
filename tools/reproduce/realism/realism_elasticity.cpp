// Elastic gangs: schedulers that choose widths against one that takes gangs as they are.
#include "env/base/check.hpp"
#include "tools/reproduce/realism/realism_runs.hpp"
#include "tools/table.hpp"

namespace berth {

RealismResult RealismElasticity(const RealismOptions& options) {
  RealismResult result;
  result.title = "Elastic gangs (1 GPU to four times the gang, speed-ups 1.7/3.5/6.2): mean JCT by load";
  result.shows =
      "Idle GPUs are given to whoever is there, and jobs shrink where many wait; the rule that is blind to "
      "sizes "
      "shares equally, the others use remaining times.";
  result.columns = {"scheduler", "jobs per h", "mean JCT h"};
  result.x_label = "load, jobs per hour";
  result.y_label = "mean JCT, h";
  for (const char* scheduler : {"srpt", "equal_share", "optimus", "elastic_srpt"}) {
    Curve curve{Join(scheduler, scheduler == std::string("srpt") ? ", rigid gangs" : "")};
    for (const double rate : {0.2, 0.4, 0.8, 1.2}) {
      const RealismRuns runs(options.seeds, scheduler, {50, 200}, [&](std::uint64_t seed) {
        return RealismScenario(Join("synthetic(rate=", rate, ",jobs=250,gangs=multi)"), "v100=24,p100=24",
                               "rounds(360)", "elasticity(min_factor=0,max_factor=4,measured=false)", seed);
      });
      const Interval jct_h = runs.JctHours();
      curve.Add(rate, jct_h);
      result.rows.push_back({curve.name, Fixed(rate, 1), Fixed(jct_h.mean, 2)});
    }
    result.curves.push_back(std::move(curve));
  }
  return result;
}

}  // namespace berth
