// One objective of gavel(objective=...,packed=true): as Objective, over combos.
#pragma once

#include <cstdint>
#include <memory>

#include "baselines/gavel/combos.hpp"
#include "baselines/gavel/objective.hpp"

namespace berth::gavel {

// Thread rule: as Scheduler, one instance serves one simulation at a time.
class PackedObjective {
 public:
  virtual ~PackedObjective() = default;
  virtual bool reads_future() const { return false; }  // fills Problem::remaining and since
  virtual void Reset(std::uint64_t seed) { (void)seed; }
  // False when no solver gives an answer that passes its check; x is then untouched. REQUIRES: at least one
  // job.
  [[nodiscard]] virtual bool Allocate(const PackedProblem& problem, PackedAllocation& x) = 0;
  virtual const char* failure() const { return "no answer"; }
};

// The packed forms, one file each; an objective's row in its own file names its own.
using MakePacked = std::unique_ptr<PackedObjective>(const ObjectiveOptions& options, Params& params);
MakePacked MakePackedMaxMin, MakePackedMakespan, MakePackedFinishTimeFairness, MakePackedThroughputPerCost,
    MakePackedFifo, MakePackedWaterFilling;

}  // namespace berth::gavel
