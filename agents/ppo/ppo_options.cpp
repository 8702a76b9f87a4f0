// What `ppo` and agents that are made of its parts read from their specs.
#include <algorithm>

#include "agents/ppo/ppo.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPpoParams[] = {
    {"lr", "0.002", "learning rate of Adam at the start"},
    {"lr_schedule", "linear", "linear (to 0 at the end) | constant"},
    {"clip", "0.2", "clip range of the probability ratio"},
    {"clip_schedule", "constant", "linear | constant"},
    {"n_steps", "128", "steps of each environment between updates"},
    {"minibatch", "1024", "rows of a minibatch; rows of one observation stay together"},
    {"epochs", "4", "passes over the rollout"},
    {"sequence", "16", "decision points in a row that a network with a memory learns from together"},
    {"gae_lambda", "0.9", "lambda of generalised advantage estimation, where time passes"},
    {"lambda_within_instant", "1", "lambda between micro-actions of one instant"},
    {"ent_coef", "0.001", "weight of the entropy bonus"},
    {"ent_schedule", "linear", "linear (to 0 at the end) | constant"},
    {"vf_coef", "0.5", "weight of the value loss"},
    {"value_clip", "0", "clip range of the value, 0 = off"},
    {"max_grad_norm", "0.5", "global gradient norm"},
    {"target_kl", "0.02", "an update stops when approx_kl exceeds 1.5 times this, 0 = off"},
    {"normalize_advantage", "true", "per minibatch"},
    {"normalize_reward", "true", "by the running deviation of the discounted return"},
    {"adam_eps", "0.00001", "epsilon of Adam"},
    {"fused", "true", "written-out passes where the network has them and runs on the CPU; false: autograd"},
    {"learner", "auto", "device: rollout and update on the device, which a GPU gets by auto | host"},
    {"overlap", "false", "device: play the next rollout during an update, by the policy before it"},
    {"returns", "gae", "gae | vtrace: device: for what a policy older by an update has played (overlap)"},
    {"precision", "float32", "device: products of the network in float32 | tf32 | bf16"},
};

PpoOptions ReadOptions(Params& params) {
  PpoOptions o = ReadRolloutOptions(params);
  o.clip = {params.Number("clip", 0.0, 10.0), ReadScheduleKind(params, "clip_schedule")};
  o.minibatch = params.Integer("minibatch", 1, 1LL << 40);
  o.epochs = static_cast<int>(params.Integer("epochs", 1, 10000));
  o.sequence = static_cast<int>(params.Integer("sequence", 1, 1 << 20));
  o.value_clip = params.Number("value_clip", 0.0, 1e9);
  o.target_kl = params.Number("target_kl", 0.0, 1e3);
  o.learner = ReadLearnerPlace(params);
  o.overlap = params.Bool("overlap");
  o.v_trace = params.Choice("returns", {"gae", "vtrace"}) == 1;
  constexpr Precision kPrecisions[] = {Precision::kFloat32, Precision::kTf32, Precision::kBf16};
  o.precision = kPrecisions[params.Choice("precision", {"float32", "tf32", "bf16"})];
  return o;
}

}  // namespace

std::string WhatDoesNotDivide(const PpoOptions& options, const AgentSetup& setup) {
  if (!setup.ranks.many()) return "";
  const std::int64_t ranks = setup.ranks.size(), envs = setup.all_envs();
  const std::int64_t minibatch = std::min(options.minibatch, envs * options.n_steps);
  if (envs % ranks != 0) return Join(envs, " environments (--envs), no multiple of ", ranks, " processes");
  if (minibatch % ranks != 0) return Join("minibatch=", minibatch, ", no multiple of ", ranks, " processes");
  return "";
}

ScheduleKind ReadScheduleKind(Params& params, std::string_view name) {
  return params.Choice(name, {"linear", "constant"}) == 0 ? ScheduleKind::kLinear : ScheduleKind::kConstant;
}

PpoOptions ReadRolloutOptions(Params& params) {
  PpoOptions o;
  o.lr = {params.Number("lr", 0.0, 10.0), ReadScheduleKind(params, "lr_schedule")};
  o.n_steps = static_cast<int>(params.Integer("n_steps", 1, 1 << 20));
  o.gae_lambda = params.Number("gae_lambda", 0.0, 1.0);
  o.lambda_within_instant = params.Number("lambda_within_instant", 0.0, 1.0);
  o.ent_coef = {params.Number("ent_coef", 0.0, 1e3), ReadScheduleKind(params, "ent_schedule")};
  o.vf_coef = params.Number("vf_coef", 0.0, 1e3);
  o.max_grad_norm = params.Number("max_grad_norm", 1e-9, 1e9);
  o.normalize_advantage = params.Bool("normalize_advantage");
  o.normalize_reward = params.Bool("normalize_reward");
  o.adam_eps = params.Number("adam_eps", 0.0, 1.0);
  o.fused = params.Bool("fused");
  return o;
}

AgentInfo PpoInfo() {
  return {"ppo",
          "proximal policy optimisation, masked, generalised advantages",
          "Schulman et al. 2017; Huang et al. 2022; Huang & Ontanon 2020",
          kPpoParams,
          /*draws_by_scores=*/true,
          [](Params& params, const AgentSetup& setup) -> std::unique_ptr<Agent> {
            return MakePpo(ReadOptions(params), setup);
          }};
}

}  // namespace berth
