// Whether an agent learns on the device: the parameter `learner` of agents that can.
#pragma once

#include <optional>
#include <string>

#include "agents/gpu/queue.hpp"
#include "agents/learner/agent.hpp"
#include "env/base/spec.hpp"

namespace berth {

enum class LearnerPlace { kAuto, kHost, kDevice };

// "auto" (the device where it is a GPU for which this build has kernels), "host", "device".
LearnerPlace ReadLearnerPlace(Params& params);

// Null: the learner on the host; then `found` says what there is in place of a learner on the device. Throws
// Error for kDevice where there can be none: on a GPU for which this build has no kernels, for ranks whose
// gradients would cross the host after every minibatch, and where `obstacle` says why this agent has none;
// `agent` is named there.
std::optional<OnDevice> PlaceLearner(LearnerPlace place, const AgentSetup& setup, const std::string& agent,
                                     std::string* found = nullptr, const std::string& obstacle = "");

// The learners on the device have none for networks with a memory: the host's for auto. Throws Error for
// kDevice.
LearnerPlace PlaceWithMemory(LearnerPlace place, const AgentSetup& setup, const std::string& agent);

}  // namespace berth
