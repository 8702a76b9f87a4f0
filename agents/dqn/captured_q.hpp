// Deep Q-learning on the device: one captured piece of work acts, one learns.
#pragma once

#include <memory>

#include "agents/dqn/q_learner.hpp"
#include "agents/gpu/queue.hpp"

namespace berth {

// The networks must be on the device with their shapes fixed, and outlive it; minibatches have `batch` rows.
// gradient() is clipped to the norm `max_grad_norm` already. The replay buffer stays on the host, where its
// rows are kept once: a minibatch goes up from pinned memory, errors and figures come back, and the host
// waits once an update and once for a step's scores.
std::unique_ptr<QLearner> MakeCapturedQ(const AgentSetup& setup, const OnDevice& on, Network& online,
                                        Network& target, const TdOptions& options, std::int64_t batch,
                                        double max_grad_norm);

}  // namespace berth
