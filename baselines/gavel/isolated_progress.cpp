#include "baselines/gavel/isolated_progress.hpp"

#include "env/base/check.hpp"

namespace berth::gavel {

std::vector<double> IsolatedProgress::Advance(const Problem& problem) {
  const std::vector<double> isolated = EffectiveThroughput(problem, IsolatedAllocation(problem));
  std::vector<double> alone;
  for (std::size_t i = 0; i < problem.key.size(); ++i) {
    const auto key = static_cast<std::size_t>(problem.key[i]);
    if (key >= memory_.size()) memory_.resize(key + 1);
    BERTH_CHECK(problem.remaining[i] > 0.0, "job ", key, " has nothing left to do");
    Memory& memory = memory_[key];
    if (memory.seen) memory.cumulative += (memory.remaining - problem.remaining[i]) / memory.isolated;
    memory.remaining = problem.remaining[i];
    memory.isolated = isolated[i];
    memory.seen = true;
    alone.push_back(memory.cumulative + problem.remaining[i] / isolated[i]);
  }
  return alone;
}

}  // namespace berth::gavel
