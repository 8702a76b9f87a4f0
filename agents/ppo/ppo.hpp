// Proximal policy optimisation as a part of other agents: what `ppo` reads from its spec, set otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "agents/gpu/precision.hpp"
#include "agents/learner/agent.hpp"
#include "agents/learner/learner_place.hpp"
#include "agents/learner/returns.hpp"
#include "agents/learner/schedule.hpp"

namespace berth {

struct PpoOptions {
  // Of every agent that plays rollouts; ReadRolloutOptions reads them.
  Schedule lr, ent_coef{0.0};
  int n_steps = 1;
  double gae_lambda = 1.0, lambda_within_instant = 1.0, vf_coef = 0.5, max_grad_norm = 0.5, adam_eps = 1e-5;
  bool normalize_advantage = false, normalize_reward = false, fused = true;
  LearnerPlace learner = LearnerPlace::kAuto;
  bool overlap = false, v_trace = false;  // of the learner on the device, as the next
  Precision precision = Precision::kFloat32;
  // As they stand here one step on the whole rollout, with every ratio 1: the plain policy gradient.
  Schedule clip{1e9};
  int epochs = 1;
  std::int64_t minibatch = std::int64_t{1} << 40;
  double value_clip = 0.0, target_kl = 0.0;
  int sequence = 16;  // of a network with a memory
};

ScheduleKind ReadScheduleKind(Params& params, std::string_view name);
PpoOptions ReadRolloutOptions(Params& params);

// What several ranks on devices cannot have equally many of; "" = nothing. The learner on the device has
// captured its shapes: every rank the same ones.
std::string WhatDoesNotDivide(const PpoOptions& options, const AgentSetup& setup);

// Thread rule as Agent's: its own workers, the same bits for the same number of them.
std::unique_ptr<Agent> MakePpo(const PpoOptions& options, const AgentSetup& setup);

}  // namespace berth
