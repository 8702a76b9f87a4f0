#include "tools/bench/train_work.hpp"

#include <utility>

#include "tools/bench/bench_rows.hpp"
#include "tools/learn_library.hpp"

namespace berth::bench {
namespace {

// What Stable-Baselines3 2.9.2 does where the spec does not say: constant learning rate 3e-4, no early stop,
// rewards as they are; DQN single, not dueling, one step, target copied every 10,000 steps. Its buffer and
// learning_starts are what the peers' program sets, and not the library's 1,000,000 and 100.
#define BERTH_PPO(steps, minibatch)                                                  \
  "ppo(n_steps=" #steps ",minibatch=" #minibatch                                     \
  ",epochs=4,lr=0.0003,lr_schedule=constant,target_kl=0,lambda_within_instant=0.95," \
  "normalize_reward=false)"
#define BERTH_DQN(batch, train_freq)                                                                 \
  "dqn(batch=" #batch ",train_freq=" #train_freq                                                     \
  ",gradient_steps=1,lr=0.0001,buffer=50000,learning_starts=1000,target_interval=10000,n_step=1,"    \
  "double=false,dueling=false,exploration_fraction=0.1,normalize_reward=false,lr_schedule=constant," \
  "max_grad_norm=10)"

constexpr TrainCase kTrainCases[] = {
    {"ppo_a", "masked PPO, synthetic task, 64x64, 8 environments, minibatches of 256, 4 epochs",
     BERTH_PPO(256, 256), "mlp(hidden=64x64)", "synthetic", 8, 16384,
     "--algo maskppo --env sched63 --net 64,64 --n-envs 8 --n-steps 256 --batch 256 --epochs 4", 0},
    {"ppo_b", "the same with 256 environments, batched, minibatches of 2,048", BERTH_PPO(32, 2048),
     "mlp(hidden=64x64)", "synthetic", 256, 131072,
     "--algo maskppo --env sched63 --net 64,64 --vec native --n-envs 256 --n-steps 32 --batch 2048 --epochs "
     "4",
     0},
    {"ppo_c", "as ppo_a with 256x256", BERTH_PPO(256, 256), "mlp(hidden=256x256)", "synthetic", 8, 16384,
     "--algo maskppo --env sched63 --net 256,256 --n-envs 8 --n-steps 256 --batch 256 --epochs 4", 0},
    {"ppo_d", "as ppo_b with 256x256", BERTH_PPO(32, 2048), "mlp(hidden=256x256)", "synthetic", 256, 65536,
     "--algo maskppo --env sched63 --net 256,256 --vec native --n-envs 256 --n-steps 32 --batch 2048 "
     "--epochs 4",
     0},
    {"dqn_cartpole", "DQN, CartPole, 64x64 relu, batch 32, an update every 4 steps", BERTH_DQN(32, 4),
     "mlp(hidden=64x64,activation=relu)", "cartpole", 1, 20000,
     "--algo dqn --env CartPole-v1 --net 64,64 --act relu --n-envs 1 --batch 32", 50},
    // Stable-Baselines3 counts a step of all 8 environments as one: an update every 4 of them is one
    // every 32.
    {"dqn_synthetic",
     "DQN, synthetic task, 256x256 relu, 8 environments, batch 256, an update every 4 rounds",
     BERTH_DQN(256, 32), "mlp(hidden=256x256,activation=relu)", "synthetic", 8, 20000,
     "--algo dqn --env sched63 --net 256,256 --act relu --n-envs 8 --train-freq 4 --grad-steps 1 --batch 256",
     2},
};
#undef BERTH_PPO
#undef BERTH_DQN

}  // namespace

std::span<const TrainCase> TrainCases() {
  return kTrainCases;
}

const TrainCase& FindTrainCase(const std::string& name) {
  for (const TrainCase& row : kTrainCases) {
    if (name == row.name) return row;
  }
  BERTH_CHECK(false, "no training case ", name);
  return kTrainCases[0];
}

const LearnApi& Learners() {
  try {
    return OpenLearnLibrary();
  } catch (const Error& error) {
    throw CannotRun(error.what());
  }
}

BenchTrainOutcome Train(const TrainCase& of, std::int64_t steps, int threads, std::uint64_t seed,
                        std::function<void()> on_clock) {
  BenchTrainRequest request;
  request.agent = of.agent;
  request.network = of.network;
  request.task = of.task;
  request.num_envs = of.num_envs;
  request.steps = steps;
  request.threads = threads;
  request.seed = seed;
  request.on_clock = std::move(on_clock);
  return Learners().bench_training(request);
}

}  // namespace berth::bench
