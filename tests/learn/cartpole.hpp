// What the learners' tests share: agents made, trained and evaluated on CartPole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/learner/agent.hpp"
#include "agents/tasks/classic_control.hpp"

namespace berth {

// Mean undiscounted return of the first greedy episode of each copy.
double MeanGreedyReturn(Agent& agent, BatchEnv& env);
// The same of `episodes` episodes of CartPole, on starts that training cannot draw.
double EvaluateCartPole(Agent& agent, int episodes, std::uint64_t seed);

// An agent for `env`.
std::unique_ptr<Agent> MakeTestAgent(const std::string& agent, const std::string& network,
                                     const BatchEnv& env, std::uint64_t seed, int threads = 1,
                                     torch::Device device = torch::kCPU);
// Plays until it has learnt once more.
void TrainOnce(Agent& agent, BatchEnv& env, double fraction);
// Plays `steps` steps of all environments together, the fraction rising from 0 to 1 or standing still.
void TrainFor(Agent& agent, BatchEnv& env, std::int64_t steps);
void TrainFor(Agent& agent, BatchEnv& env, std::int64_t steps, double fraction);
// The figure of this name of the last update; a failure where there is none.
double Figure(const Agent& agent, const std::string& name);
// All parameters in one row.
std::vector<float> FlatParameters(Agent& agent);

}  // namespace berth
