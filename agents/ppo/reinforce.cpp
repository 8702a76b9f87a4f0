// Policy gradient with a learned baseline: REINFORCE (Williams 1992, §5) with the state's value as baseline
// and n-step returns that bootstrap from it, one step on every rollout, as the synchronous form of Mnih et
// al. 2016 (A2C; algorithm S3 there): the gradient is that of
//
//   - mean log pi(a_t | s_t) A_t  +  vf_coef mean 1/2 (V(s_t) - R_t)^2  -  ent_coef mean H(pi(. | s_t))
//
// with A_t = R_t - V(s_t) held fixed (Sutton et al. 2000). It is the first step of proximal policy
// optimisation on a rollout: there the ratio to the old policy is 1, so the gradient of ratio * A is A times
// that of log pi and nothing is clipped (Huang et al. 2022, "A2C is a special case of PPO"). So it is made of
// PPO's parts, and its figure policy_loss is that of PPO, - mean A.
#include "agents/ppo/ppo.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"lr", "0.001", "learning rate of Adam at the start"},
    {"lr_schedule", "linear", "linear (to 0 at the end) | constant"},
    {"n_steps", "32", "steps of each environment between updates"},
    {"gae_lambda", "1", "1: n-step returns; less: generalised advantages, where time passes"},
    {"lambda_within_instant", "1", "lambda between micro-actions of one instant"},
    {"ent_coef", "0.003", "weight of the entropy bonus"},
    {"ent_schedule", "constant", "linear (to 0 at the end) | constant"},
    {"vf_coef", "0.5", "weight of the value loss"},
    {"max_grad_norm", "0.5", "global gradient norm"},
    {"normalize_advantage", "false", "over the rollout"},
    {"normalize_reward", "true", "by the running deviation of the discounted return"},
    {"adam_eps", "0.00001", "epsilon of Adam"},
    {"fused", "true", "written-out passes where the network has them and runs on the CPU; false: autograd"},
};

}  // namespace

AgentInfo ReinforceInfo() {
  return {"reinforce",
          "policy gradient with a learned baseline, masked (advantage actor-critic)",
          "Williams 1992; Sutton et al. 2000; Mnih et al. 2016; Huang et al. 2022",
          kParams,
          /*draws_by_scores=*/true,
          [](Params& params, const AgentSetup& setup) { return MakePpo(ReadRolloutOptions(params), setup); }};
}

}  // namespace berth
