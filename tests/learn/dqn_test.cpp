// Deep Q-learning: masks in the target, replay, n-step, a table with known Q*, and the published result on
// CartPole.
#include <algorithm>
#include <cmath>
#include <set>

#include "agents/dqn/dqn_loss.hpp"
#include "agents/learner/acting_cache.hpp"
#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/sanitized.hpp"

namespace berth {
namespace {

// rl-zoo3's settings for CartPole-v1 (a plain DQN), but for the epsilon of Adam.
constexpr const char* kZooDqn =
    "dqn(lr=0.0023,buffer=100000,learning_starts=1000,batch=64,train_freq=256,gradient_steps=128,target_"
    "interval=10,"
    "n_step=1,double=false,dueling=false,epsilon_end=0.04,exploration_fraction=0.16,normalize_reward=false,"
    "lr_schedule=constant,max_grad_norm=10)";

// Q of every state of a one-hot table.
torch::Tensor TableQ(Agent& agent, int states, const torch::Tensor& mask, bool dueling) {
  const torch::NoGradGuard no_grad;
  return QValues(agent.network().Forward(torch::eye(states)), mask, dueling);
}

}  // namespace

TEST_CASE("the target takes its maximum over allowed actions, online choice under double Q-learning") {
  const torch::Tensor target = torch::tensor({{1.0F, 5.0F, 3.0F}, {-4.0F, -2.0F, -3.0F}});
  const torch::Tensor mask = torch::tensor({{1, 0, 1}, {1, 0, 1}}, torch::kUInt8);
  const auto next = [&](const torch::Tensor& chooser) {
    return NextReturn(target.unsqueeze(2), mask, chooser).squeeze(1);
  };
  CHECK(next(target).equal(torch::tensor({3.0F, -3.0F})));
  const torch::Tensor online = torch::tensor({{2.0F, 9.0F, 1.0F}, {8.0F, 9.0F, 7.0F}});
  CHECK(next(online).equal(torch::tensor({1.0F, -4.0F})));
}

TEST_CASE("dueling subtracts the mean over allowed actions alone") {
  const NetworkOutput out = {torch::tensor({{1.0F, 50.0F, 3.0F}}), torch::tensor({10.0F})};
  const torch::Tensor mask = torch::tensor({{1, 0, 1}}, torch::kUInt8);
  const torch::Tensor q = QValues(out, mask, true);
  CHECK(q[0][0].item<double>() == Approx(9.0));
  CHECK(q[0][2].item<double>() == Approx(11.0));
  CHECK(QValues(out, mask, false).equal(out.scores));
}

TEST_CASE("DQN finds Q* of a table, with masks where they matter") {
  // Every reward is negative, so an unmasked maximum would take the untrained illegal actions, whose Q stays
  // near 0.
  Table table;
  table.reward = {{-1.0F, -0.2F, 5.0F}, {-2.0F, 5.0F, -1.0F}, {-0.5F, -3.0F, 5.0F}};
  table.next = {{1, 2, 0}, {2, 0, 0}, {0, -1, 0}};
  table.mask = {{1, 1, 0}, {1, 0, 1}, {1, 1, 0}};
  table.limit = 11;
  std::vector<std::vector<double>> best(3, std::vector<double>(3, 0.0));
  for (int sweep = 0; sweep < 500; ++sweep) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t a = 0; a < 3; ++a) {
        double value = 0.0;
        if (const int next = table.next[s][a]; next >= 0) {
          value = -1e9;
          for (std::size_t b = 0; b < 3; ++b) {
            if (table.mask[static_cast<std::size_t>(next)][b]) {
              value = std::max(value, best[static_cast<std::size_t>(next)][b]);
            }
          }
        }
        best[s][a] = table.reward[s][a] + 0.9 * value;
      }
    }
  }
  const torch::Tensor mask = torch::tensor({{1, 1, 0}, {1, 0, 1}, {1, 1, 0}}, torch::kUInt8);
  for (const std::string variant :
       {"double=true,dueling=true", "double=false,dueling=false", "double=false,dueling=true",
        "double=true,dueling=false", "double=true,dueling=true,fused=false",
        "double=false,dueling=true,per_alpha=0.6", "quantiles=4,double=true,dueling=true",
        "quantiles=4,double=false,dueling=false,per_alpha=0.6"}) {
    CAPTURE(variant);
    TableEnv env(table, 4);
    auto agent = MakeTestAgent(
        "dqn(lr=0.003,buffer=4000,learning_starts=400,batch=64,train_freq=8,gradient_steps=4,"
        "target_interval=200,n_step=1,epsilon_end=1,normalize_reward=false,lr_schedule=constant,max_grad_"
        "norm=10," +
            variant + ")",
        "mlp(hidden=32x32)", env, 1);
    env.Reset(agent->First());
    TrainFor(*agent, env, 8000, 0.5);
    const torch::Tensor q = TableQ(*agent, 3, mask, variant.find("dueling=true") != std::string::npos);
    for (int s = 0; s < 3; ++s) {
      for (int a = 0; a < 3; ++a) {
        const auto row = static_cast<std::size_t>(s), column = static_cast<std::size_t>(a);
        if (table.mask[row][column]) {
          CHECK(std::abs(q[s][a].item<double>() - best[row][column]) < 0.05);
        }
      }
    }
  }
}

TEST_CASE("a time limit does not end the world: constant reward 1 is worth 1 / (1 - gamma)") {
  // gamma 0.8: 1 / 0.2 = 5. Terminated after 3 steps instead: 1 + 0.8 + 0.64 = 2.44 from state 0.
  const auto value = [](const std::string& spec, Table table, bool dqn) {
    TableEnv env(std::move(table), 4);
    auto agent = MakeTestAgent(spec, "mlp(hidden=32)", env, 1);
    env.Reset(agent->First());
    TrainFor(*agent, env, 12000, 0.5);
    const torch::NoGradGuard no_grad;
    const NetworkOutput out = agent->network().Forward(torch::eye(env.layout().size()));
    return dqn ? out.scores[0][0].item<double>() : out.value[0].item<double>();
  };
  Table cut = Ring(2, 0.8);  // three steps, two states: every state is also seen before a cut
  cut.limit = 3;
  Table ends = Ring(3, 0.8);
  ends.next[2][0] = -1;
  const std::string ppo =
      "ppo(lr=0.01,lr_schedule=constant,n_steps=15,minibatch=60,normalize_reward=false,target_kl=0)";
  CHECK(value(ppo, cut, false) == Approx(5.0).epsilon(0.02));
  CHECK(value(ppo, ends, false) == Approx(2.44).epsilon(0.02));
  // The last state of every episode is followed by the cut alone: its value comes from the final observation.
  Table only_cut = Ring(3, 0.8);
  only_cut.limit = 3;
  for (const std::string n : {"1", "3"}) {
    const std::string dqn =
        "dqn(lr=0.003,buffer=2000,learning_starts=100,batch=32,train_freq=4,gradient_steps=1,"
        "target_interval=100,normalize_reward=false,dueling=false,lr_schedule=constant,max_grad_norm=10,n_"
        "step=" +
        n + ")";
    CHECK(value(dqn, cut, true) == Approx(5.0).epsilon(0.02));
    CHECK(value(dqn, only_cut, true) == Approx(5.0).epsilon(0.02));
    CHECK(value(dqn, ends, true) == Approx(2.44).epsilon(0.02));
  }
}

TEST_CASE("exploration falls linearly over its part of the training") {
  CartPole env(1, 0.99, 1);
  auto agent = MakeTestAgent(
      "dqn(learning_starts=0,train_freq=1,gradient_steps=1,batch=2,n_step=1,epsilon_start=0.9,"
      "epsilon_end=0.1,exploration_fraction=0.5)",
      "mlp(hidden=4)", env, 1);
  env.Reset(agent->First());
  for (const auto& [fraction, expected] : {std::pair{0.0, 0.9}, {0.25, 0.5}, {0.5, 0.1}, {0.9, 0.1}}) {
    REQUIRE(agent->Play(env, fraction).learnt);
    for (const auto& [name, value] : agent->figures()) {
      if (name == "charts/epsilon") CHECK(value == Approx(expected));
    }
  }
}

namespace {

double HuberLoss(double error) {
  return std::abs(error) < 1.0 ? 0.5 * error * error : std::abs(error) - 0.5;
}

// Q of the only state and legal action of Ring(1).
double RingQ(Network& network) {
  const torch::NoGradGuard no_grad;
  return network.Forward(torch::ones({1, 1})).scores[0][0].item<double>();
}

}  // namespace

TEST_CASE("the loss is Huber's: linear beyond 1, square within") {
  for (const float reward : {100.0F, -100.0F, 0.3F}) {
    CAPTURE(reward);
    Table table = Ring(1, 0.9);
    table.reward[0][0] = reward;
    table.next[0][0] = -1;
    TableEnv env(table, 2);
    auto agent = MakeTestAgent(
        "dqn(lr=0,learning_starts=2,train_freq=2,batch=4,n_step=1,dueling=false,normalize_reward=false)",
        "mlp(hidden=8)", env, 1);
    env.Reset(agent->First());
    REQUIRE(agent->Play(env, 0.0).learnt);
    const double error = RingQ(agent->network()) - static_cast<double>(reward);
    CHECK((std::abs(error) > 1.0) == (std::abs(reward) > 1.0F));
    CHECK(Figure(*agent, "losses/td_loss") == Approx(HuberLoss(error)).epsilon(1e-4));
  }
}

TEST_CASE("the target network takes its share of the online one every target_interval steps") {
  for (const auto& [tau, interval] : {std::pair{1.0, 6}, {0.25, 2}, {0.25, 6}}) {
    CAPTURE(tau, interval);
    TableEnv env(Ring(1, 0.9), 2);
    auto agent = MakeTestAgent(
        Join("dqn(lr=0.02,learning_starts=2,train_freq=2,gradient_steps=1,batch=4,n_step=1,dueling=false,"
             "normalize_reward=false,target_tau=",
             tau, ",target_interval=", interval, ")"),
        "mlp(hidden=8)", env, 1);
    // The same network, moved here as the target should be.
    const auto target = MakeNetwork("mlp(hidden=8)", env.layout(), env.num_actions(), 1);
    env.Reset(agent->First());
    double copied_every_step = 0.0;
    for (int steps = 2; steps <= 40; steps += 2) {
      const torch::NoGradGuard no_grad;
      if (steps % interval == 0) {
        const auto online = agent->network().parameters();
        auto own = target->parameters();
        for (std::size_t k = 0; k < own.size(); ++k) own[k].copy_(own[k] + tau * (online[k] - own[k]));
      }
      const double q = RingQ(agent->network()), goal = 1.0 + 0.9 * RingQ(*target);
      {
        const torch::AutoGradMode with_gradients(true);
        REQUIRE(agent->Play(env, 0.0).learnt);
      }
      CHECK(Figure(*agent, "losses/td_loss") == Approx(HuberLoss(q - goal)).epsilon(1e-3).margin(1e-6));
      copied_every_step = std::max(copied_every_step, std::abs(goal - (1.0 + 0.9 * q)));
    }
    CHECK(copied_every_step > 0.05);  // copying at every step would show
  }
}

TEST_CASE("as many trainings as the steps of all environments together make due") {
  for (const auto& [envs, frequency] : {std::pair{16, 4}, {16, 16}, {16, 24}, {1, 4}}) {
    CAPTURE(envs, frequency);
    CartPole env(envs, 0.99, 1);
    auto agent = MakeTestAgent(
        Join("dqn(learning_starts=96,batch=2,n_step=1,gradient_steps=3,train_freq=", frequency, ")"),
        "mlp(hidden=4)", env, 1);
    env.Reset(agent->First());
    TrainFor(*agent, env, 480, 0.5);
    // At 96, 96 + f, ..., 480.
    CHECK(agent->updates() == 3 * ((480 - 96) / frequency + 1));
  }
}

TEST_CASE("a greedy action is that of the observation of now, after steps at random as well") {
  // Three of the last observations are held, so slots are soon given again; every action leads elsewhere.
  Table table;
  for (int s = 0; s < 9; ++s) {
    table.reward.emplace_back(5, 0.0F);
    table.mask.emplace_back(5, std::uint8_t{1});
    table.next.emplace_back();
    for (int a = 0; a < 5; ++a) table.next.back().push_back((2 * s + a + 1) % 9);
  }
  TableEnv env(table, 1);
  auto agent = MakeTestAgent(
      "dqn(buffer=2,learning_starts=100000,n_step=1,epsilon_end=0,exploration_fraction=1)", "mlp", env, 1);
  const StepBuffers now = agent->First();
  env.Reset(now);
  const auto state = [&] {
    return static_cast<int>(std::max_element(now.observation.begin(), now.observation.end()) -
                            now.observation.begin());
  };
  std::set<std::int32_t> chosen;
  for (int round = 0; round < 400; ++round) {
    std::int32_t best = -1;
    agent->Greedy(now.observation, now.action_mask, std::span(&best, 1));
    const int before = state();
    agent->Play(env, /*fraction=*/1.0);  // epsilon 0
    REQUIRE(state() == table.next[static_cast<std::size_t>(before)][static_cast<std::size_t>(best)]);
    chosen.insert(best);
    for (int k = 0; k < round % 5; ++k) agent->Play(env, /*fraction=*/0.0);  // epsilon 1
  }
  CHECK(chosen.size() > 1);
}

namespace {

// Scores a row by its number and by how many rows are scored with it.
class CountsRows final : public ActingCache {
 public:
  CountsRows(int envs, bool apart) : ActingCache(envs, 1, 1, apart) {}

 private:
  void Compute(std::span<const float* const> rows, std::span<float> scores,
               std::span<float> values, std::span<float>) override {
    for (std::size_t r = 0; r < rows.size(); ++r) {
      scores[r] = rows[r][0] + 100.0F * static_cast<float>(rows.size());
      values[r] = -rows[r][0];
    }
  }
};

}  // namespace

TEST_CASE("cached scores do not depend on which rows changed, or only those that did are computed") {
  for (const bool apart : {false, true}) {
    CAPTURE(apart);
    CountsRows cache(2, apart);
    std::vector<float> now = {1.0F, 2.0F};
    for (int step = 0; step < 8; ++step) {
      now[1] += 1.0F;  // that of environment 0 stays
      cache.Evaluate(now);
      CHECK(cache.scores(0)[0] == 201.0F);  // as when both were computed
      CHECK(cache.scores(1)[0] == (apart && step > 0 ? 100.0F : 200.0F) + now[1]);
      CHECK(cache.values()[1] == -now[1]);
      CHECK(cache.changed(0) == (step == 0));
      CHECK(cache.changed(1));
    }
    // A row that is said not to be fresh is not read; one that is said to be is compared.
    cache.Evaluate(std::vector<float>{50.0F, now[1]}, std::vector<std::uint8_t>{0, 1});
    CHECK(!cache.changed(0));
    CHECK(!cache.changed(1));
    CHECK(cache.observation(0)[0] == 1.0F);
    cache.Invalidate();
    cache.Evaluate(now, std::vector<std::uint8_t>{0, 0});
    CHECK(cache.changed(0));
    CHECK(cache.scores(1)[0] == 200.0F + now[1]);
  }
}

TEST_CASE("exploration follows the steps of all environments together") {
  // Four environments, 400 steps in all: the last action is chosen at step 396, at 0.01 of a fall from 1 to
  // 0. Counted in steps of the batch it would be at 1 - 99 / 400.
  CartPole env(4, 0.99, 1);
  TrainRequest request;
  request.agent =
      "dqn(learning_starts=4,train_freq=4,gradient_steps=1,batch=2,n_step=1,epsilon_start=1,epsilon_end=0,"
      "exploration_fraction=1)";
  request.network = "mlp(hidden=4)";
  request.env = &env;
  request.steps = 400;
  request.device = "cpu";
  double epsilon = -1.0;
  request.on_progress = [&](const TrainProgress& progress) {
    for (const auto& [name, value] : progress.losses) {
      if (name == "charts/epsilon") epsilon = value;
    }
  };
  CHECK(Train(request).steps == 400);
  CHECK(epsilon == Approx(0.01));
}

TEST_CASE("DQN on CartPole: 475 at least once by 50 k steps on every seed", "[learn]") {
  for (std::uint64_t seed = 1; seed <= test::kTrainingSeeds; ++seed) {
    CAPTURE(seed);
    CartPole env(1, 0.99, seed);
    auto agent = MakeTestAgent(kZooDqn, "mlp(hidden=256x256,activation=relu)", env, seed);
    env.Reset(agent->First());
    double best = 0.0;
    constexpr int kTotal = 50000;
    for (int step = 1; step <= kTotal && best < 475.0; ++step) {
      const bool learnt = agent->Play(env, static_cast<double>(step - 1) / kTotal).learnt;
      if (learnt && step % 1024 == 0) best = std::max(best, EvaluateCartPole(*agent, 20, seed));
    }
    CHECK(best >= 475.0);
  }
}

}  // namespace berth
