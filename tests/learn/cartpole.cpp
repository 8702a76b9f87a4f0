#include "tests/learn/cartpole.hpp"

#include "tests/catch.hpp"

namespace berth {

double MeanGreedyReturn(Agent& agent, BatchEnv& env) {
  const auto n = static_cast<std::size_t>(env.num_envs());
  StepStorage storage(env.num_envs(), env.layout().size(), env.num_actions());
  env.Reset(storage.buffers());
  std::vector<std::int32_t> actions(n);
  std::vector<bool> done(n, false);  // the first episode of each counts
  double sum = 0.0;
  for (std::size_t left = n; left > 0;) {
    agent.Greedy(storage.observation, storage.action_mask, actions);
    env.Step(actions, storage.buffers());
    for (std::size_t i = 0; i < n; ++i) {
      if (done[i]) continue;
      sum += static_cast<double>(storage.reward[i]);
      done[i] = storage.terminated[i] || storage.truncated[i];
      left -= done[i];
    }
  }
  return sum / static_cast<double>(n);
}

double EvaluateCartPole(Agent& agent, int episodes, std::uint64_t seed) {
  CartPole env(episodes, 1.0, seed, Split::kEvaluate);
  return MeanGreedyReturn(agent, env);
}

std::unique_ptr<Agent> MakeTestAgent(const std::string& agent, const std::string& network,
                                     const BatchEnv& env, std::uint64_t seed, int threads,
                                     torch::Device device) {
  AgentSetup setup;
  setup.network = network;
  setup.layout = env.layout();
  setup.num_actions = env.num_actions();
  setup.num_envs = env.num_envs();
  setup.seed = seed;
  setup.threads = threads;
  setup.device = device;
  return MakeAgent(agent, setup);
}

void TrainOnce(Agent& agent, BatchEnv& env, double fraction) {
  while (!agent.Play(env, fraction).learnt) {
  }
}

void TrainFor(Agent& agent, BatchEnv& env, std::int64_t steps) {
  for (std::int64_t done = 0; done < steps;) {
    done += agent.Play(env, static_cast<double>(done) / static_cast<double>(steps)).steps;
  }
}

void TrainFor(Agent& agent, BatchEnv& env, std::int64_t steps, double fraction) {
  for (std::int64_t done = 0; done < steps;) done += agent.Play(env, fraction).steps;
}

double Figure(const Agent& agent, const std::string& name) {
  for (const auto& [key, value] : agent.figures()) {
    if (key == name) return value;
  }
  FAIL("no figure " << name);
  return 0.0;
}

std::vector<float> FlatParameters(Agent& agent) {
  std::vector<float> flat;
  for (const torch::Tensor& parameter : agent.network().parameters()) {
    const torch::Tensor row = parameter.detach().flatten().to(torch::kCPU).contiguous();
    flat.insert(flat.end(), row.data_ptr<float>(), row.data_ptr<float>() + row.numel());
  }
  return flat;
}

}  // namespace berth
