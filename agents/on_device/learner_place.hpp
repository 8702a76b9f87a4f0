// Whether an agent learns on the device: the parameter `learner` of agents that can.
#pragma once

#include <optional>
#include <string>

#include "agents/agent.hpp"
#include "agents/on_device/queue.hpp"
#include "env/spec.hpp"

namespace berth {

enum class LearnerPlace { kAuto, kHost, kDevice };

// "auto" (the device where it is a GPU for which this build has kernels), "host", "device".
LearnerPlace ReadLearnerPlace(Params& params);

// Null: the learner on the host, as always where several ranks train together (it alone joins what they
// play); then `found` says what there is in place of a learner on the device. Throws Error for kDevice on a
// GPU for which this build has no kernels; `agent` is named there.
std::optional<OnDevice> PlaceLearner(LearnerPlace place, const AgentSetup& setup, const std::string& agent,
                                     std::string* found = nullptr);

}  // namespace berth
