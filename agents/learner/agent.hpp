// A learner: plays in a batch of environments, learns from what follows, saves, loads. The trainer drives it:
//
//   env.Reset(agent.First());
//   while (...) agent.Play(env, fraction);
//
// The environment writes straight into the learner's storage. Discounts come with the steps (gamma included):
// agents have no gamma of their own. Thread rule: one thread at a time; an agent may use its own workers. On
// the CPU the same setup (thread count included) gives the same bits.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/ranks/ranks.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/spec.hpp"
#include "env/gym/batch_env.hpp"
#include "policies/bundle.hpp"
#include "policies/learn/networks.hpp"

namespace berth {

struct AgentSetup {
  std::string network;  // spec
  ObservationLayout layout;
  int num_actions = 0;
  int num_envs = 0;
  std::uint64_t seed = 0;
  torch::Device device = torch::kCPU;
  int threads = 1;  // own workers on the CPU, each with one intra-op thread
  // Where several processes train together: num_envs are this one's, and what options and figures mean is of
  // all_envs().
  Ranks ranks = {};
  // Numbers that the network carries from one decision point to the next; MakeAgent sets it.
  int memory = 0;
  int row() const { return layout.size() + memory; }  // floats of an observation and the state behind it
  int all_envs() const { return ranks.many() ? ranks.all_envs() : num_envs; }
  int first_env() const { return ranks.many() ? ranks.first_env() : 0; }
};

using Figures = std::vector<std::pair<std::string, double>>;  // CleanRL's names: "losses/policy_loss", ...

// What one call of Play did.
struct Played {
  std::int64_t steps = 0;  // of all environments together, those of other ranks included
  bool learnt = false;
  double act_s = 0.0, env_s = 0.0, learn_s = 0.0;  // wall clock
  // Parts of learn_s, 0 where the agent does not tell them apart; means over threads.
  double passes_s = 0.0, loss_s = 0.0, optimise_s = 0.0;
};

class Agent {
 public:
  virtual ~Agent() = default;
  // Where Reset or LoadState writes observation and mask (the other spans are empty).
  virtual StepBuffers First() = 0;
  // Plays on in `env`, whose observations were written last, to where it may be saved: one step of every
  // environment, or a rollout and the update from it. `fraction` of the training that is done, 0 to 1, moves
  // the schedules.
  virtual Played Play(BatchEnv& env, double fraction) = 0;
  // With several ranks on each of them: null where the rank only gives what rank 0 writes. Load reads a file
  // of any number of ranks.
  virtual void Save(h5::Writer* out) = 0;
  virtual void Load(const h5::Reader& in) = 0;
  // Begins with the weights of a policy that is of its network, before the first Play. Throws Error: an agent
  // whose network does not answer with a policy's scores.
  virtual void BeginWith(const PolicyBundle& policy);

  // Best actions for rows [B, D] and [B, A], of a network with a memory at the states behind them; draws
  // nothing, changes nothing.
  virtual void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
                      std::span<std::int32_t> actions) = 0;
  virtual Network& network() = 0;
  virtual std::string Place() const { return "on the host"; }  // where it learns
  virtual Figures figures() const = 0;                         // of the last update
  virtual std::int64_t updates() const = 0;                    // optimiser steps so far
  // Of the network's layers in all passes so far; 0 where nobody counts (autograd).
  virtual double multiply_adds() const { return 0.0; }
  // Up to `rows` recent observations [rows, D], the states of a memory behind them, and their masks [rows,
  // A], for a bundle's examples.
  virtual void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const = 0;
};

struct AgentInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
  bool draws_by_scores;  // they are logits of what it draws from; else values of actions
  std::unique_ptr<Agent> (*make)(Params& params, const AgentSetup& setup);
};

// The one list: X(function that gives the AgentInfo, defined in the agent's own file).
#define BERTH_AGENTS(X) \
  X(PpoInfo)            \
  X(DqnInfo)            \
  X(ReinforceInfo)

#define BERTH_DECLARE(function) AgentInfo function();
BERTH_AGENTS(BERTH_DECLARE)
#undef BERTH_DECLARE

std::span<const AgentInfo> Agents();
const AgentInfo& FindAgent(const std::string& name);  // Error with the nearest name
std::unique_ptr<Agent> MakeAgent(const std::string& spec, const AgentSetup& setup);
// "ppo(lr=0.001,...)" with every parameter; the checkpoint keeps it.
std::string ResolveAgent(const std::string& spec);

}  // namespace berth
