// What several processes of one training do together: PyTorch's distributed engine (c10d) behind one
// interface without its headers. Gloo for what is on the CPU, and to notice who is lost; NCCL for memory of
// GPUs, where every rank's build has it and every rank has a GPU of its own.
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

#include "agents/gpu/cuda/cuda_library.hpp"
#include "agents/ranks/world.hpp"
#include "env/base/check.hpp"

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
  // Of memory of the rank's learner: of its GPU, or of the host where it has none. Behind what is in the
  // current queue of the GPU, and before what comes into it later; the caller waits in Settle.
  virtual void SumOnDevice(float* values, std::int64_t count) = 0;
  virtual void SumOnDevice(double* values, std::int64_t count) = 0;
  // Sums `figures` and waits for the sums on the device: until a rank is lost, unlike a wait for the device.
  virtual void Settle(std::span<double> figures) = 0;
  // Sums on the device do not cross the host (or are the host's own).
  virtual bool SumsInPlace() const = 0;
  // How: "Gloo", "NCCL", or "Gloo, through the host, since ...".
  virtual std::string Gradients() const = 0;
  // The blocks of all ranks, in their order, equally long.
  virtual std::vector<std::uint8_t> Gather(std::span<const std::uint8_t> block) = 0;

  // Returns on rank 0 at once, on the others when rank 0 has come: however long what it does alone takes, as
  // long as it gives signs of life (without one for the time-out it is lost).
  virtual void AwaitFirst() = 0;

  // Waits until every rank is here: whoever keeps the meeting point may then end.
  virtual void Finish() = 0;
  // This rank ends because of `why`: the others will say so. Never throws.
  virtual void Abandon(const std::string& why) noexcept = 0;
};

// What must be the same on every rank: names and values, compared as they join.
using SharedSettings = std::vector<std::pair<std::string, std::string>>;

// The GPU that a rank learns on, and the library for it (null: none of ours); without one card is -1.
struct RankCard {
  int card = -1;
  const cuda::CudaLibrary* library = nullptr;
};

// Meets the other ranks at the world's address. Throws Error for ranks that did not come within `timeout_s`
// (which then also limits every call but AwaitFirst), for a rank taken twice, and for settings that differ
// from rank 0's.
std::unique_ptr<ProcessGroup> JoinProcessGroup(const World& world, double timeout_s,
                                               const SharedSettings& settings, const RankCard& card = {});

// What each rank says of its GPU, and why the ranks' memory there is not summed by NCCL; "" = it is. The same
// on every rank.
struct CardFacts {
  std::uint8_t nccl = 0;  // its build has it
  cuda::CardId id{};
};
std::string WhyNotNccl(std::span<const CardFacts> ranks);

// "Gloo", or "none: ..." where this build cannot; whether NCCL is there is known when a GPU is.
std::string DescribeProcessGroups();

}  // namespace berth
