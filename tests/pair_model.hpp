// A second simulator that knows packing: it walks from instant to instant, takes every job forward by hand
// and knows nothing of env/sim/core.cpp. Rates are powers of two, so both compute exactly and must agree
// to the bit.
#pragma once

#include <functional>
#include <vector>

#include "env/sim/decision.hpp"
#include "env/sim/scenario.hpp"

namespace berth::test {

// What a rule sees of one job in the system.
struct SeatedJob {
  int index;
  int gang;
  int on;       // GPU type, -1 = waiting
  int partner;  // on the same GPU, -1 = none
  double weight;
};

// Fills the decision from the jobs present, in arrival order.
using SeatRule = std::function<void(const Scenario&, const std::vector<SeatedJob>&, Decision&)>;

// Preemptive and packing: heaviest first from an empty cluster, on the first type with room, else beside the
// first job placed that can share its GPU. A job stays on its GPU when it stays on the type, but for the
// later of two that part. A pair that stays as it is costs nothing.
void PackingRule(const Scenario& scenario, const std::vector<SeatedJob>& present, Decision& decision);

struct PairModelResult {
  std::vector<double> completion;  // [J] s
  std::vector<double> busy;        // [G] GPU-seconds, a shared GPU's once
  int packs = 0, moved_packs = 0, stops = 0;
};
// Clocks event, rounds and reference_rounds; costs of stopping and moving.
PairModelResult PairSimulate(const Scenario& scenario, const SeatRule& rule);

}  // namespace berth::test
