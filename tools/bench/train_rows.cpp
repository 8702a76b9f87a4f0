// Training end to end.
#include "tools/bench/bench_rows.hpp"

namespace berth::bench {
namespace {

Measured NotYet(const BenchSetup&) {
  throw CannotRun("libberth_learn.so has no entry for measuring training");
}

constexpr BenchRow kRows[] = {
    {"train/ppo_a", "synthetic task, PPO, 64x64, 8 environments, minibatches of 256, 4 epochs", "steps/CPU-s",
     Bound::kAtLeast, 75e3, 0, NotYet},
};

}  // namespace

std::span<const BenchRow> TrainRows() {
  return kRows;
}

}  // namespace berth::bench
