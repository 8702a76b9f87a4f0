#include "tools/reproduce/realism/realism_points.hpp"

namespace berth {

RealismPoint MeasurePoint(const RealismOptions& options, const std::string& scheduler, Window window,
                          const std::function<Scenario(std::uint64_t seed)>& scenario) {
  RealismPoint point;
  std::vector<double> jct;
  for (int seed = 0; seed < options.seeds; ++seed) {
    const Metrics m = RealismRun(scenario(static_cast<std::uint64_t>(seed)), scheduler, window).metrics;
    jct.push_back(m.mean_jct_s / 3600.0);
    point.interruptions += m.interruptions_per_job / options.seeds;
    point.lost_h += m.lost_work_h / options.seeds;
    point.dropped += m.dropped_entries / options.seeds;
  }
  point.mean_jct_h = BootstrapMean(jct, 1);
  return point;
}

}  // namespace berth
