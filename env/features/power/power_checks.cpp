// What must hold of power at any moment (env/sim/invariants.hpp), from the devices, the jobs and the settings
// alone.
#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {
namespace {

std::string OfGpu(const Scenario& scenario, const SimState& s, int gpu) {
  const PowerState& p = *s.power;
  const PowerSettings& settings = *scenario.data().features.power;
  const std::size_t type = p.type[U(gpu)];
  if (p.level[U(gpu)] > p.asked[U(gpu)])
    return Join("GPU ", gpu, " runs at level ", int{p.level[U(gpu)]}, ", asked was ", int{p.asked[U(gpu)]});
  if (p.throttled[U(gpu)] != 0 && p.level[U(gpu)] > settings.throttle_level)
    return Join("GPU ", gpu, " throttles at level ", int{p.level[U(gpu)]});
  if (!(p.duty[U(gpu)] > 0.0 && p.duty[U(gpu)] <= 1.0))
    return Join("GPU ", gpu, " is clocked ", p.duty[U(gpu)], " of the time");
  const double watts = WattsAt(p, gpu, p.level[U(gpu)], p.duty[U(gpu)]);
  if (p.watts[U(gpu)] != watts)
    return Join("GPU ", gpu, " draws ", p.watts[U(gpu)], " W, its jobs and clock give ", watts);
  const double joules = p.joules[U(gpu)] + p.watts[U(gpu)] * (s.now - p.since[U(gpu)]), slack = 1.0 + 1e-9;
  if (joules * slack < p.idle_w[type] * s.now || joules > p.peak_w[type] * s.now * slack)
    return Join("GPU ", gpu, " has used ", joules, " J in ", s.now, " s, outside of idle and peak");
  if (!settings.heat) return "";
  const double t = TemperatureC(settings, p, gpu, s.now);
  const bool throttled = p.throttled[U(gpu)] != 0;
  if (throttled ? t < settings.throttle_c - settings.hysteresis_c - 2.0 * kThereC
                : t > settings.throttle_c + 2.0 * kThereC)
    return Join("GPU ", gpu, throttled ? " throttles at " : " does not throttle at ", t, " C");
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
    for (int gpu = p.first_gpu[U(node)]; gpu < p.first_gpu[U(node) + 1]; ++gpu) {
      if (load[U(gpu)] != p.load[U(gpu)])
        return Join("GPU ", gpu, ": jobs use ", load[U(gpu)], " parts, counted are ", p.load[U(gpu)]);
      if (const std::string violation = OfGpu(scenario, s, gpu); !violation.empty()) return violation;
      sum += p.watts[U(gpu)];
    }
    if (sum > p.node_cap_w[U(node)] * (1.0 + 1e-9))
      return Join("node ", node, " draws ", sum, " W, its cap is ", p.node_cap_w[U(node)]);
    total += sum;
  }
  if (total > p.cap_w * (1.0 + 1e-9)) return Join("the cluster draws ", total, " W, its cap is ", p.cap_w);
  return "";
}

}  // namespace berth
