// A100s that may be in MIG slices, and a plain scheduler under the invariants: for tests of what holds of
// GPUs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/tiny.hpp"

namespace berth::test {

// `gpus` A100s of 80 GB, one a node, 50 W idle and 400 W at peak, 7 currency units an hour; job type t can
// use utilization[t] of one and makes 1 step/s on the whole.
inline ScenarioData A100s(int gpus, const std::vector<TinyJob>& jobs, const std::vector<double>& utilization,
                          const std::string& features) {
  ScenarioData data =
      TinyData({{"a100", gpus}}, std::vector<std::vector<double>>(utilization.size(), {1.0}), jobs);
  GpuType& type = data.cluster.types[0];
  type.memory_gb = 80.0, type.idle_power_w = 50.0, type.peak_power_w = 400.0, type.price_per_hour = 7.0;
  data.traits.utilization = utilization;
  data.features = ParseFeatures(features);
  return data;
}

using Decide = std::function<void(const Simulator&, Decision&)>;

// Every waiting job in order on the first type where it runs and has room; then what `more` adds.
inline Simulator Finish(const ScenarioData& data, const Decide& more = {}) {
  Simulator sim{Scenario(data)};
  while (sim.AdvanceToDecision()) {
    Decision decision;
    std::vector<int> room = sim.state().free_gpus;
    for (int job : sim.state().waiting) {
      for (int type = 0; type < sim.scenario().num_types(); ++type) {
        const int gang = data.jobs.gang[U(job)];
        if (room[U(type)] < gang || sim.scenario().Rate(job, type) <= 0.0) continue;
        room[U(type)] -= gang;
        decision.Start(job, type);
        break;
      }
    }
    if (more) more(sim, decision);
    INFO(sim.now() << " s");
    REQUIRE(CheckInvariants(sim) == "");
    const ApplyResult applied = sim.Apply(decision);
    INFO(Explain(applied, decision, sim));
    REQUIRE(applied.ok());
    REQUIRE(CheckInvariants(sim) == "");
  }
  REQUIRE(sim.finished());
  return sim;
}

}  // namespace berth::test
