// What must hold of power at any moment (env/invariants.hpp), from the devices, the jobs and the settings
// alone.
#include <algorithm>
#include <vector>

#include "env/check.hpp"
#include "env/features/heat.hpp"
#include "env/features/power.hpp"
#include "env/features/services.hpp"
#include "env/index.hpp"
#include "env/scenario.hpp"
#include "env/sim_state.hpp"

namespace berth {
namespace {

std::string OfGpu(const Scenario& scenario, const SimState& s, int d) {
  const PowerState& p = *s.power;
  const PowerSettings& settings = *scenario.data().features.power;
  const std::size_t type = p.type[U(d)];
  if (p.level[U(d)] > p.asked[U(d)])
    return Join("GPU ", d, " runs at level ", int{p.level[U(d)]}, ", asked was ", int{p.asked[U(d)]});
  if (p.throttled[U(d)] != 0 && p.level[U(d)] > settings.throttle_level)
    return Join("GPU ", d, " throttles at level ", int{p.level[U(d)]});
  if (!(p.duty[U(d)] > 0.0 && p.duty[U(d)] <= 1.0))
    return Join("GPU ", d, " is clocked ", p.duty[U(d)], " of the time");
  const double watts = WattsAt(p, d, p.level[U(d)], p.duty[U(d)]);
  if (p.watts[U(d)] != watts)
    return Join("GPU ", d, " draws ", p.watts[U(d)], " W, its jobs and clock give ", watts);
  const double joules = p.joules[U(d)] + p.watts[U(d)] * (s.now - p.since[U(d)]), slack = 1.0 + 1e-9;
  if (joules * slack < p.idle_w[type] * s.now || joules > p.peak_w[type] * s.now * slack)
    return Join("GPU ", d, " has used ", joules, " J in ", s.now, " s, outside of idle and peak");
  if (!settings.heat) return "";
  const double t = TemperatureC(settings, p, d, s.now);
  const bool throttled = p.throttled[U(d)] != 0;
  if (throttled ? t < settings.throttle_c - settings.hysteresis_c - 2.0 * kThereC
                : t > settings.throttle_c + 2.0 * kThereC)
    return Join("GPU ", d, throttled ? " throttles at " : " does not throttle at ", t, " C");
  return "";
}

}  // namespace

std::string PowerViolation(const Scenario& scenario, const SimState& s) {
  const PowerState& p = *s.power;
  if (!p.dirty_nodes.empty()) return "what changed has not taken effect";
  std::vector<std::int64_t> load(p.load.size(), 0);
  for (std::size_t d = 0; d < p.replica_load.size(); ++d) {
    const std::int64_t own = s.services ? ReplicaLoad(scenario, s, static_cast<int>(d)) : 0;
    if (own != p.replica_load[d])
      return Join("device ", d, ": its replica uses ", own, " parts, counted are ", p.replica_load[d]);
    load[U(p.gpus->gpu_of[d])] += own;
  }
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;
    const std::int64_t own = LoadOf(scenario, s, job);
    for (int d : s.Devices(job)) load[U(p.GpuOf(d))] += own;
  }
  double total = 0.0;
  for (int node = 0; node < scenario.num_nodes(); ++node) {
    double sum = 0.0;
    for (int d = p.first_gpu[U(node)]; d < p.first_gpu[U(node) + 1]; ++d) {
      if (load[U(d)] != p.load[U(d)])
        return Join("GPU ", d, ": jobs use ", load[U(d)], " parts, counted are ", p.load[U(d)]);
      if (const std::string violation = OfGpu(scenario, s, d); !violation.empty()) return violation;
      sum += p.watts[U(d)];
    }
    if (sum > p.node_cap_w[U(node)] * (1.0 + 1e-9))
      return Join("node ", node, " draws ", sum, " W, its cap is ", p.node_cap_w[U(node)]);
    total += sum;
  }
  if (total > p.cap_w * (1.0 + 1e-9)) return Join("the cluster draws ", total, " W, its cap is ", p.cap_w);
  return "";
}

}  // namespace berth
