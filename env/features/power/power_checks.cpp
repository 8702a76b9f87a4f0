// What must hold of power at any moment (env/sim/invariants.hpp), from the devices, the jobs and the settings
// alone.
#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/power/heat.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/invariants.hpp"

namespace berth {

std::string PowerState::ViolationOf(int gpu, double now) const {
  const std::size_t of_type = type[U(gpu)];
  if (level[U(gpu)] > asked[U(gpu)])
    return Join("GPU ", gpu, " runs at level ", int{level[U(gpu)]}, ", asked was ", int{asked[U(gpu)]});
  if (throttled[U(gpu)] != 0 && level[U(gpu)] > settings_->throttle_level)
    return Join("GPU ", gpu, " throttles at level ", int{level[U(gpu)]});
  if (!(duty[U(gpu)] > 0.0 && duty[U(gpu)] <= 1.0))
    return Join("GPU ", gpu, " is clocked ", duty[U(gpu)], " of the time");
  const double draw = WattsAt(*this, gpu, level[U(gpu)], duty[U(gpu)]);
  if (watts[U(gpu)] != draw)
    return Join("GPU ", gpu, " draws ", watts[U(gpu)], " W, its jobs and clock give ", draw);
  const double used = joules[U(gpu)] + watts[U(gpu)] * (now - since[U(gpu)]), slack = 1.0 + 1e-9;
  if (used * slack < idle_w[of_type] * now || used > peak_w[of_type] * now * slack)
    return Join("GPU ", gpu, " has used ", used, " J in ", now, " s, outside of idle and peak");
  if (!settings_->heat) return "";
  const double t = TemperatureC(*settings_, *this, gpu, now);
  const bool throttles_now = throttled[U(gpu)] != 0;
  if (throttles_now ? t < settings_->throttle_c - settings_->hysteresis_c - 2.0 * kThereC
                    : t > settings_->throttle_c + 2.0 * kThereC)
    return Join("GPU ", gpu, throttles_now ? " throttles at " : " does not throttle at ", t, " C");
  return "";
}

std::string PowerState::Violation(const InvariantInput& in) const {
  const Scenario& scenario = in.scenario;
  const SimState& s = in.state;
  if (!dirty_nodes.empty()) return "what changed has not taken effect";
  std::vector<std::int64_t> counted(load.size(), 0);
  for (std::size_t d = 0; d < other_load.size(); ++d) {
    const std::int64_t own = OtherLoadOn(scenario, s, static_cast<int>(d));
    if (own != other_load[d])
      return Join("device ", d, ": what is not a job there uses ", own, " parts, counted are ",
                  other_load[d]);
    counted[U(gpus->gpu_of[d])] += own;
  }
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    if (s.phase[U(job)] != JobPhase::kRunning) continue;
    const std::int64_t own = LoadOf(scenario, s, job);
    for (int d : s.Devices(job)) counted[U(GpuOf(d))] += own;
  }
  double total = 0.0;
  for (int n = 0; n < scenario.num_nodes(); ++n) {
    double sum = 0.0;
    for (int gpu = first_gpu[U(n)]; gpu < first_gpu[U(n) + 1]; ++gpu) {
      if (counted[U(gpu)] != load[U(gpu)])
        return Join("GPU ", gpu, ": jobs use ", counted[U(gpu)], " parts, counted are ", load[U(gpu)]);
      if (const std::string violation = ViolationOf(gpu, s.now); !violation.empty()) return violation;
      sum += watts[U(gpu)];
    }
    if (sum > node_cap_w[U(n)] * (1.0 + 1e-9))
      return Join("node ", n, " draws ", sum, " W, its cap is ", node_cap_w[U(n)]);
    total += sum;
  }
  if (total > cap_w * (1.0 + 1e-9)) return Join("the cluster draws ", total, " W, its cap is ", cap_w);
  return "";
}

}  // namespace berth
