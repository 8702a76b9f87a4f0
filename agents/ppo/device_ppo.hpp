// PPO with the rollout, returns, shuffles and updates on the device and the environments on the host's
// threads.
#pragma once

#include <memory>

#include "agents/gpu/queue.hpp"
#include "agents/ppo/ppo.hpp"

namespace berth {

// Ordinary PPO as MakePpo's, to rounding, where every step changes the observation; where several steps see
// one observation (micro-actions of an instant), each is a row of its own here. Thread rule as Agent's.
// Throws OutOfDeviceMemory.
std::unique_ptr<Agent> MakeDevicePpo(const PpoOptions& options, const AgentSetup& setup, const OnDevice& on);

}  // namespace berth
