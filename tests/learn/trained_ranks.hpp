// Trainings by several ranks, for the tests of them: the ranks are threads of this process, which meet over
// TCP and Gloo as processes do (tests/several_processes_test.cpp starts those). Without Gloo they are
// skipped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agents/train/trainer.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::test {

bool HasGloo();
inline constexpr const char* kNeedsGloo = "needs libgloo-dev when it is built (tools/setup)";

// Fused and autograd, with schedules, an early stop and minibatches that do not divide.
inline constexpr const char* kPpo = "ppo(n_steps=16,minibatch=20,epochs=3,lr=0.01,target_kl=0.005)";
inline constexpr const char* kAutograd = "ppo(n_steps=16,minibatch=20,epochs=2,lr=0.01,fused=false)";
inline constexpr const char* kReinforce = "reinforce(n_steps=16,normalize_advantage=true)";
// What falls with the share of the steps that is done stands still, so that a run may be cut anywhere.
inline constexpr const char* kDqn =
    "dqn(buffer=400,learning_starts=48,batch=16,train_freq=8,gradient_steps=2,target_interval=40,n_step=2,"
    "epsilon_start=0.3,epsilon_end=0.3,lr_schedule=constant)";
inline constexpr const char* kSoftDqn =
    "dqn(buffer=400,learning_starts=48,batch=16,train_freq=8,gradient_steps=2,temperature=1,temperature_end="
    "1,"
    "lr_schedule=constant)";
inline constexpr const char* kPrioritised =
    "dqn(buffer=400,learning_starts=48,batch=16,train_freq=8,gradient_steps=2,n_step=2,epsilon_start=0.3,"
    "epsilon_end=0.3,per_alpha=0.6,per_beta=1,lr_schedule=constant)";

// A small cluster.
std::unique_ptr<BatchEnv> Cluster(int envs, int first_env, int all_envs);
// Every transition is the same, so that it does not matter which are drawn: what DQN learns is comparable.
std::unique_ptr<BatchEnv> SameEverywhere(int envs, int first_env, int all_envs);

using MakeEnv = std::function<std::unique_ptr<BatchEnv>(int envs, int first_env, int all_envs)>;

struct Plan {
  std::string agent = kPpo, network = "mlp(hidden=16)", out, device = "cpu";
  std::int64_t steps = 256;
  int envs = 4;
  bool resume = false;
  MakeEnv env = Cluster;
};

struct Trained {
  TrainOutcome outcome;
  std::map<std::string, double> figures;  // of the last update, as rank 0 reports them
};

Trained TrainAlone(const Plan& plan);
Trained TrainRanks(const Plan& plan, int ranks);  // rethrows what the first rank that failed threw
// Two ranks, in one go (FOLDER/straight), and to half of the steps and on (FOLDER/halves); leaves `plan` as
// that of the last training, which resumes.
void TrainTwice(Plan& plan, std::int64_t steps, const TemporaryFolder& folder);

// To 1e-5 of the larger of 1 and the figure: gradients are added in another order. Both NaN is the same.
void CheckSameFigures(const Trained& a, const Trained& b);
std::vector<float> Parameters(const std::string& checkpoint);
double LargestDifference(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace berth::test
