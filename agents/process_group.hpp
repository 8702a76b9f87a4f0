// What several processes of one training do together: PyTorch's distributed engine (c10d) behind one
// interface without its headers. Gloo on the CPU; NCCL for memory of GPUs where the build has it.
//
//   std::unique_ptr<ProcessGroup> group = JoinProcessGroup(world, timeout_s, {{"--seed", "7"}, ...});
//   group->Sum(gradients);     // of all ranks, the same bits on each
//   group->Finish();           // at the end, on every rank
//
// Every rank makes the same calls in the same order. Thread rule: one thread at a time. A rank that ended,
// crashed or does not come in time makes every other rank's call throw LostRank, which names it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/world/world.hpp"
#include "env/check.hpp"

namespace berth {

class LostRank : public Error {
 public:
  using Error::Error;
};

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual const World& world() const = 0;
  int rank() const { return world().rank; }
  int size() const { return world().size; }

  // Sums over the ranks, in place.
  virtual void Sum(std::span<float> values) = 0;
  virtual void Sum(std::span<double> values) = 0;
  virtual void SumOnDevice(float* values, std::int64_t count) = 0;  // memory of this rank's GPU
  // The blocks of all ranks, in their order, equally long.
  virtual std::vector<std::uint8_t> Gather(std::span<const std::uint8_t> block) = 0;

  // Waits until every rank is here: whoever keeps the meeting point may then end.
  virtual void Finish() = 0;
  // This rank ends because of `why`: the others will say so. Never throws.
  virtual void Abandon(const std::string& why) noexcept = 0;
};

// What must be the same on every rank: names and values, compared as they join.
using SharedSettings = std::vector<std::pair<std::string, std::string>>;

// Meets the other ranks at the world's address. Throws Error for ranks that did not come within `timeout_s`
// (which then also limits every call), for a rank taken twice, and for settings that differ from rank 0's.
std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double timeout_s,
                                               const SharedSettings& settings);

// "Gloo", "Gloo and NCCL", or "none: ..." where this build cannot.
std::string DescribeProcessGroups();

}  // namespace berth
