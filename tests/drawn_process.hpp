// Random decision processes: small clusters with random features, and all that policies may do with them.
#pragma once

#include <cstdint>
#include <span>

#include "env/base/rng.hpp"
#include "env/gym/mdp.hpp"
#include "env/sim/scenario.hpp"

namespace berth::test {

struct DrawnProcess {
  Scenario scenario;
  MdpSpec mdp;
  int visible;  // 0 = all
};

int Below(Stream& stream, int n);
// About 25 jobs on a dozen GPUs of two or three types.
DrawnProcess DrawProcess(Stream& stream, std::uint64_t seed);

// One of those that the mask allows; REQUIREs one.
std::int32_t DrawLegal(std::span<const std::uint8_t> mask, Stream& stream);

}  // namespace berth::test
