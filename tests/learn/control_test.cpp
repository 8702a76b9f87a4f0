// Acrobot and MountainCar against published figures: returns of rl-zoo3's trained agents over evaluation
// episodes, and CleanRL's over training.
#include <algorithm>

#include "agents/tasks/classic_control.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/wrapped_env.hpp"
#include "tests/sanitized.hpp"

namespace berth {
namespace {

// Observations as they were, but each channel moved and scaled: what Stable-Baselines3's VecNormalize does,
// with numbers that are known beforehand.
class Rescaled final : public WrappedEnv {
 public:
  Rescaled(std::unique_ptr<BatchEnv> env, std::vector<float> centre, std::vector<float> scale)
      : WrappedEnv(std::move(env)), centre_(std::move(centre)), scale_(std::move(scale)) {}
  void Reset(const StepBuffers& out) override {
    WrappedEnv::Reset(out);
    Rescale(out.observation, 0, num_envs());
  }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    WrappedEnv::StepRange(begin, end, actions, out);
    Rescale(out.observation, begin, end);
    for (int i = begin; i < end; ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (out.terminated[k] || out.truncated[k]) Rescale(out.final_observation, i, i + 1);
    }
  }
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
    WrappedEnv::LoadState(state, out);
    Rescale(out.observation, 0, num_envs());
  }

 private:
  void Rescale(std::span<float> rows, int begin, int end) const {
    const std::size_t width = centre_.size();
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      for (std::size_t c = 0; c < width; ++c)
        rows[i * width + c] = (rows[i * width + c] - centre_[c]) * scale_[c];
    }
  }
  std::vector<float> centre_, scale_;
};

std::unique_ptr<BatchEnv> MakeAcrobot(int envs, double gamma, std::uint64_t seed, Split split) {
  return std::make_unique<Acrobot>(envs, gamma, seed, split);
}
// Positions about the valley's, velocities of size 1.
std::unique_ptr<BatchEnv> MakeMountainCar(int envs, double gamma, std::uint64_t seed, Split split) {
  return std::make_unique<Rescaled>(std::make_unique<MountainCar>(envs, gamma, seed, split),
                                    std::vector<float>{-0.5F, 0.0F}, std::vector<float>{5.0F, 50.0F});
}

struct Training {
  std::unique_ptr<BatchEnv> (*make)(int envs, double gamma, std::uint64_t seed, Split split);
  const char *agent, *network;
  int envs;
  double gamma;
  std::int64_t steps, evaluate_every;
  double enough;  // mean greedy return of 20 episodes at which training stops
};

// The best mean greedy return of 20 episodes up to there, and over 100 further episodes at the end.
struct Reached {
  double best, at_end;
  std::int64_t steps;
};
Reached Reach(const Training& t, std::uint64_t seed) {
  auto env = t.make(t.envs, t.gamma, seed, Split::kTrain);
  auto agent = MakeTestAgent(t.agent, t.network, *env, seed);
  env->Reset(agent->First());
  Reached reached = {-1e9, 0.0, 0};
  std::int64_t next = t.evaluate_every;
  while (reached.steps < t.steps && reached.best < t.enough) {
    const double fraction = static_cast<double>(reached.steps) / static_cast<double>(t.steps);
    reached.steps += agent->Play(*env, fraction).steps;
    if (reached.steps < next) continue;
    next += t.evaluate_every;
    const auto episodes = t.make(20, 1.0, seed, Split::kEvaluate);
    reached.best = std::max(reached.best, MeanGreedyReturn(*agent, *episodes));
  }
  const auto episodes = t.make(100, 1.0, seed + 1000, Split::kEvaluate);
  reached.at_end = MeanGreedyReturn(*agent, *episodes);
  return reached;
}

// On every of five seeds. The last value of DQN is not asked for: it comes and goes, as that of
// Stable-Baselines3 does on CartPole.
void CheckReached(const Training& training, double at_end) {
  for (std::uint64_t seed = 1; seed <= test::kTrainingSeeds; ++seed) {
    const Reached reached = Reach(training, seed);
    CAPTURE(seed, reached.best, reached.at_end, reached.steps);
    CHECK(reached.best >= training.enough);
    CHECK(reached.at_end >= at_end);
  }
}

constexpr double kNone = -1e9;

}  // namespace

TEST_CASE("PPO on Acrobot reaches the published return on 5 of 5 seeds", "[learn]") {
  // Settings after rl-zoo3's; CleanRL's mean, and Gymnasium's threshold on further episodes. Measured: -82.8
  // to -85.9 within 53 k to 102 k steps, -83 to -88 on the further episodes.
  CheckReached({MakeAcrobot,
                "ppo(lr=0.0003,lr_schedule=constant,n_steps=256,minibatch=64,epochs=4,gae_lambda=0.94,"
                "ent_coef=0,vf_coef=1,target_kl=0)",
                "mlp(hidden=64x64)", 16, 0.99, 1000000, 50000, -86.36},
               -100.0);
}

TEST_CASE("PPO on MountainCar reaches the published return on 5 of 5 seeds", "[learn]") {
  // Settings after rl-zoo3's, and its mean (its observations are normalised too; CleanRL and openai/baselines
  // stay at -200). Measured: -106 to -108 within 300 k to 800 k steps, and the same on the further episodes.
  CheckReached({MakeMountainCar,
                "ppo(lr=0.0003,lr_schedule=constant,n_steps=16,minibatch=64,epochs=4,gae_lambda=0.98,"
                "ent_coef=0,vf_coef=1,target_kl=0)",
                "mlp(hidden=64x64)", 16, 0.99, 1000000, 50000, -110.4},
               -120.0);
}

TEST_CASE("double DQN on Acrobot reaches the published return on 5 of 5 seeds", "[learn]") {
  // Settings after rl-zoo3's, but smaller batches and layers and the double target; CleanRL's mean. Measured:
  // -81 to -91.5 within 20 k to 50 k steps. Without the double target 4 of 5.
  CheckReached({MakeAcrobot,
                "dqn(lr=0.00063,buffer=50000,learning_starts=128,batch=128,train_freq=4,gradient_steps=4,"
                "target_interval=250,n_step=1,double=true,dueling=false,epsilon_end=0.1,"
                "exploration_fraction=0.12,normalize_reward=false,lr_schedule=constant,max_grad_norm=10)",
                "mlp(hidden=64x64,activation=relu)", 1, 0.99, 100000, 5000, -91.54},
               kNone);
}

TEST_CASE("double DQN on MountainCar reaches the published return on 5 of 5 seeds", "[learn]") {
  // Settings after rl-zoo3's, but smaller layers, the double target and five-step returns; Gymnasium's
  // threshold (rl-zoo3's one run has -100.8, CleanRL's -188.9 and -195.0). Measured: -97.8 to -107.9 within
  // 90 k to 135 k steps, -98 to -108 on the further episodes. With one-step returns 1 of 3.
  CheckReached({MakeMountainCar,
                "dqn(lr=0.004,buffer=10000,learning_starts=1000,batch=128,train_freq=16,gradient_steps=8,"
                "target_interval=600,n_step=5,double=true,dueling=false,epsilon_end=0.07,"
                "exploration_fraction=0.1,normalize_reward=false,lr_schedule=constant,max_grad_norm=10)",
                "mlp(hidden=64x64,activation=relu)", 1, 0.98, 240000, 5000, -110.0},
               kNone);
}

}  // namespace berth
