// The hand-written passes of deep Q-learning against autograd: losses, gradients, and whole runs.
#include <cmath>

#include "agents/flat_parameters.hpp"
#include "agents/q_learner.hpp"
#include "env/check.hpp"
#include "env/rng.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"

namespace berth {
namespace {

constexpr int kWidth = 11, kActions = 5;

AgentSetup Setup(const std::string& network) {
  AgentSetup setup;
  setup.network = network;
  setup.layout = {.global_channels = kWidth};
  setup.num_actions = kActions;
  setup.num_envs = 3;
  return setup;
}

TdBatch RandomBatch(int rows, std::uint64_t seed) {
  Stream draw(seed, Purpose::kTest);
  TdBatch batch(rows, kWidth, kActions);
  for (float& x : batch.observation) x = static_cast<float>(draw.Normal());
  for (float& x : batch.next_observation) x = static_cast<float>(draw.Normal());
  for (std::size_t b = 0; b < batch.action.size(); ++b) {
    batch.action[b] = static_cast<std::int32_t>(draw.Below(kActions));
    const auto legal = draw.Below(kActions);
    for (std::size_t a = 0; a < kActions; ++a) {
      batch.mask[b * kActions + a] = draw.Below(2) == 0 || static_cast<int>(a) == batch.action[b];
      batch.next_mask[b * kActions + a] = draw.Below(3) == 0 || a == legal;
    }
    batch.reward[b] = static_cast<float>(2.0 * draw.Normal());  // errors within 1 and beyond
    batch.discount[b] = draw.Below(4) == 0 ? 0.0F : 0.9F;
    batch.weight[b] = static_cast<float>(draw.Uniform(0.2, 1.0));
  }
  return batch;
}

double Largest(const torch::Tensor& x) {
  return x.abs().max().item<double>();
}

}  // namespace

TEST_CASE("hand-written Q-learning: loss, errors and gradient are autograd's") {
  for (const std::string network :
       {"mlp(hidden=24x16,activation=relu)", "mlp(hidden=24x16)", "mlp(hidden=7)", "mlp(hidden=33x8x20)"}) {
    const AgentSetup setup = Setup(network);
    for (const TdOptions options : {TdOptions{false, false}, {true, false}, {false, true}, {true, true}}) {
      CAPTURE(network, options.double_q, options.dueling);
      auto online = MakeNetwork(network, setup.layout, kActions, 1);
      auto target = MakeNetwork(network, setup.layout, kActions, 2);
      const torch::Tensor parameters = Flatten(*online), other = Flatten(*target);
      {
        // Away from the start, where the heads' weights are small and biases 0.
        const torch::NoGradGuard no_grad;
        torch::manual_seed(3);
        parameters.add_(torch::randn_like(parameters), 0.3);
        other.add_(torch::randn_like(other), 0.3);
      }
      const auto fused = MakeFusedQ(setup, *online, *target, options);
      const auto plain = MakeAutogradQ(setup, *online, *target, options);
      REQUIRE(fused != nullptr);
      for (const int rows : {1, 6, 65}) {
        const TdBatch batch = RandomBatch(rows, static_cast<std::uint64_t>(rows));
        torch::Tensor a = torch::full({fused->used()}, 7.0F), b = torch::full({plain->used()}, 7.0F);
        std::vector<float> error(batch.action.size()), expected(batch.action.size());
        const TdFigures found = fused->Gradient(batch, a, error), truth = plain->Gradient(batch, b, expected);
        CHECK(found.loss == Approx(truth.loss).epsilon(1e-5));
        CHECK(found.mean_q == Approx(truth.mean_q).epsilon(1e-5).margin(1e-5));
        for (std::size_t k = 0; k < error.size(); ++k) {
          REQUIRE(error[k] == Approx(expected[k]).epsilon(1e-5).margin(1e-5));
        }
        REQUIRE(Largest(b) > 0.01);
        CHECK(Largest(a - b.narrow(0, 0, a.numel())) <= 1e-5 * std::max(1.0, Largest(b)));
        CHECK((a.numel() == b.numel()) == options.dueling);
        if (!options.dueling) CHECK(Largest(b.narrow(0, a.numel(), b.numel() - a.numel())) == 0.0);
        std::vector<float> scores(batch.mask.size()), expected_scores(batch.mask.size());
        fused->Scores(batch.observation, scores);
        plain->Scores(batch.observation, expected_scores);
        for (std::size_t k = 0; k < scores.size(); ++k) {
          REQUIRE(scores[k] == Approx(expected_scores[k]).epsilon(1e-5).margin(1e-5));
        }
      }
    }
  }
}

TEST_CASE("hand-written Q-learning: the gradient is that of the loss, by finite differences") {
  const AgentSetup setup = Setup("mlp(hidden=9x6)");
  for (const bool dueling : {false, true}) {
    auto online = MakeNetwork(setup.network, setup.layout, kActions, 1);
    auto target = MakeNetwork(setup.network, setup.layout, kActions, 2);
    torch::Tensor parameters = Flatten(*online);
    Flatten(*target);
    const auto fused = MakeFusedQ(setup, *online, *target, {/*double_q=*/false, dueling});
    TdBatch batch = RandomBatch(16, 5);
    // Single precision: a step of 0.01 leaves an error of 1e-5 / 0.02 in the quotient, and its square.
    constexpr float kStep = 0.01F;
    torch::Tensor gradient = torch::empty({fused->used()}), unused = torch::empty({fused->used()});
    std::vector<float> error(16);
    fused->Gradient(batch, gradient, error);
    float* p = parameters.data_ptr<float>();
    const auto loss = [&](std::int64_t k, float step) {
      const float before = p[k];
      p[k] += step;
      fused->OnlineChanged();
      const double value = fused->Gradient(batch, unused, error).loss;
      p[k] = before;
      return value;
    };
    for (std::int64_t k = 0; k < gradient.numel(); k += 5) {
      CAPTURE(dueling, k);
      const double slope = (loss(k, kStep) - loss(k, -kStep)) / (2.0 * static_cast<double>(kStep));
      CHECK(gradient[k].item<double>() == Approx(slope).epsilon(0.02).margin(1e-3));
    }
  }
}

TEST_CASE("hand-written Q-learning: a whole run is autograd's") {
  for (const std::string variant :
       {"double=false,dueling=false,target_tau=1", "double=true,dueling=true,target_tau=0.5",
        "double=true,dueling=false,target_tau=1,max_grad_norm=0.01"}) {
    CAPTURE(variant);
    std::vector<float> found[2];
    for (const bool fused : {false, true}) {
      CartPole env(2, 0.99, 7);
      // All actions at random: what is learnt cannot change what is seen, so rounding stays rounding.
      auto agent = MakeTestAgent(Join("dqn(lr=0.001,buffer=500,learning_starts=64,batch=32,train_freq=4,"
                                      "target_interval=40,gradient_steps=1,"
                                      "epsilon_end=1,fused=",
                                      fused ? "true," : "false,", variant, ")"),
                                 "mlp(hidden=32x32,activation=relu)", env, 7);
      env.Reset(agent->First());
      const std::vector<float> before = FlatParameters(*agent);
      TrainFor(*agent, env, 64 + 4 * 25);
      CHECK(agent->updates() >= 25);
      found[fused] = FlatParameters(*agent);
      CHECK(found[fused] != before);
    }
    REQUIRE(found[0].size() == found[1].size());
    double most = 0.0;
    for (std::size_t k = 0; k < found[0].size(); ++k) {
      most = std::max(most, static_cast<double>(std::abs(found[0][k] - found[1][k])));
    }
    CHECK(most <= 1e-5);
  }
}

TEST_CASE("networks without hand-written passes learn by autograd") {
  AgentSetup setup = Setup("pair_scorer");
  setup.layout = TwoTypes(1).layout();
  setup.num_actions = 3;
  auto online = MakeNetwork(setup.network, setup.layout, 3, 1),
       target = MakeNetwork(setup.network, setup.layout, 3, 1);
  CHECK(MakeFusedQ(setup, *online, *target, {true, true}) == nullptr);
}

}  // namespace berth
