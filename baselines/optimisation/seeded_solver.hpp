// What solvers that draw have in common: the objective, and draws that come from the scenario's seed.
#pragma once

#include <optional>

#include "baselines/optimisation/planned.hpp"
#include "env/base/rng.hpp"

namespace berth {

class SeededSolver : public Solver {
 public:
  explicit SeededSolver(Target target) : target_(target) {}
  Target target() const override { return target_; }
  void Reset(std::uint64_t seed) override { stream_.emplace(seed, Purpose::kScheduler); }

 protected:
  // REQUIRES: Reset before.
  int Draw(int n) { return static_cast<int>(stream_->Below(static_cast<std::uint32_t>(n))); }  // 0..n-1
  double Uniform() { return stream_->Uniform(); }

  const Target target_;
  ListSchedule schedule_;

 private:
  std::optional<Stream> stream_;
};

}  // namespace berth
