#include "tests/learn/cartpole.hpp"

namespace berth {

double EvaluateCartPole(Agent& agent, int episodes, std::uint64_t seed) {
  CartPole env(episodes, 1.0, seed, Split::kEvaluate);
  StepStorage storage(episodes, 4, 2);
  env.Reset(storage.buffers());
  std::vector<std::int32_t> actions(static_cast<std::size_t>(episodes));
  std::vector<double> length(actions.size(), 0.0);  // of the first episode of each
  std::vector<bool> done(actions.size(), false);
  for (int t = 0; t < CartPole::kTimeLimit; ++t) {
    agent.Greedy(storage.observation, storage.action_mask, actions);
    env.Step(actions, storage.buffers());
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (!done[i]) length[i] += 1.0;
      done[i] = done[i] || storage.terminated[i] || storage.truncated[i];
    }
  }
  double sum = 0.0;
  for (const double l : length) sum += l;
  return sum / episodes;
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

std::vector<float> FlatParameters(Agent& agent) {
  std::vector<float> flat;
  for (const torch::Tensor& parameter : agent.network().parameters()) {
    const torch::Tensor row = parameter.detach().flatten().contiguous();
    flat.insert(flat.end(), row.data_ptr<float>(), row.data_ptr<float>() + row.numel());
  }
  return flat;
}

}  // namespace berth
