// PPO's loss and update (Huang et al., "The 37 implementation details", 2022); its published CartPole result.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "agents/learner/minibatches.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/sanitized.hpp"

namespace berth {
namespace {

// rl-zoo3's settings for CartPole-v1.
constexpr const char* kZooPpo =
    "ppo(lr=0.001,lr_schedule=linear,clip=0.2,clip_schedule=linear,n_steps=32,minibatch=256,epochs=20,gae_"
    "lambda=0.8,"
    "ent_coef=0,vf_coef=0.5,target_kl=0,normalize_reward=false)";

// One row: two actions, chosen the first, old probability 1/2, ratio = 2 sigmoid(logit difference).
PpoSums OneRow(double logit, double advantage, double clip, bool gradient, torch::Tensor* leaf = nullptr) {
  torch::Tensor scores = torch::tensor({{static_cast<float>(logit), 0.0F}}).set_requires_grad(gradient);
  if (leaf != nullptr) *leaf = scores;
  const PpoBatch batch = {torch::ones({1, 2}, torch::kUInt8),
                          torch::zeros({1}, torch::kInt64),
                          torch::full({1}, std::log(0.5F)),
                          torch::full({1}, static_cast<float>(advantage)),
                          torch::zeros({1}),
                          torch::zeros({1})};
  return PpoLoss(scores, torch::zeros({1}), batch, clip, 0.0);
}

}  // namespace

TEST_CASE("clipped surrogate: gradient by finite differences, zero exactly where it is clipped") {
  constexpr double kClip = 0.2, kStep = 1e-2;
  // ratio = 2 / (1 + e^-x): x = 0.6 gives 1.29 (above), -0.6 gives 0.71 (below), 0.1 gives 1.05 (inside).
  for (const double x : {0.6, -0.6, 0.1, -0.1}) {
    for (const double advantage : {1.5, -1.5}) {
      CAPTURE(x, advantage);
      torch::Tensor leaf;
      OneRow(x, advantage, kClip, true, &leaf).policy_loss.backward();
      const double gradient = leaf.grad()[0][0].item<double>();
      const double up = OneRow(x + kStep, advantage, kClip, false).policy_loss.item<double>();
      const double down = OneRow(x - kStep, advantage, kClip, false).policy_loss.item<double>();
      CHECK(gradient == Approx((up - down) / (2 * kStep)).margin(2e-4));
      const double ratio = 2.0 / (1.0 + std::exp(-x));
      const bool clipped = (advantage > 0 && ratio > 1 + kClip) || (advantage < 0 && ratio < 1 - kClip);
      if (clipped) {
        CHECK(gradient == 0.0);
      } else {
        CHECK(std::abs(gradient) > 0.1);
      }
    }
  }
}

TEST_CASE("approx_kl is the k3 estimator and clipfrac counts clipped rows") {
  // ratios 1.29.. and 1.05: one of two is beyond 0.2.
  const auto k3 = [](double x) {
    const double ratio = 2.0 / (1.0 + std::exp(-x));
    return ratio - 1.0 - std::log(ratio);
  };
  for (const double x : {0.6, 0.1, -0.6}) {
    const torch::Tensor figures = OneRow(x, 1.0, 0.2, false).figures;
    CHECK(figures[0].item<double>() == Approx(k3(x)).epsilon(1e-4));
    CHECK(figures[1].item<double>() == Approx(-std::log(2.0 / (1.0 + std::exp(-x)))).epsilon(1e-4));
    CHECK(figures[2].item<double>() == (std::abs(x) > 0.5 ? 1.0 : 0.0));
  }
}

TEST_CASE("value loss: plain and clipped") {
  const auto loss = [](double clip) {
    // Errors now: 3 - 1 = 2 and 0 - 1 = -1. Clipped values: 0 + 0.5 and 1 - 0.5, errors -0.5 and -0.5.
    const PpoBatch batch = {torch::ones({2, 2}, torch::kUInt8),
                            torch::zeros({2}, torch::kInt64),
                            torch::full({2}, std::log(0.5F)),
                            torch::zeros({2}),
                            torch::ones({2}),
                            torch::tensor({0.0F, 1.0F})};
    return PpoLoss(torch::zeros({2, 2}), torch::tensor({3.0F, 0.0F}), batch, 0.2, clip)
        .value_loss.item<double>();
  };
  CHECK(loss(0.0) == Approx(0.5 * (4.0 + 1.0)));
  CHECK(loss(0.5) == Approx(0.5 * (4.0 + 1.0)));  // the larger error counts: unclipped here
  // Value 0 + 3 clipped to 0.5 while the return is 3: the clipped error 2.5 is the larger one.
  const PpoBatch batch = {torch::ones({1, 2}, torch::kUInt8),
                          torch::zeros({1}, torch::kInt64),
                          torch::full({1}, std::log(0.5F)),
                          torch::zeros({1}),
                          torch::full({1}, 3.0F),
                          torch::zeros({1})};
  const auto value = torch::full({1}, 3.0F);
  CHECK(PpoLoss(torch::zeros({1, 2}), value, batch, 0.2, 0.5).value_loss.item<double>() ==
        Approx(0.5 * 6.25));
  CHECK(PpoLoss(torch::zeros({1, 2}), value, batch, 0.2, 0.0).value_loss.item<double>() == 0.0);
}

TEST_CASE("the first minibatch sees the very policy that drew the actions") {
  CartPole env(4, 0.98, 3);
  for (const int threads : {1, 2}) {
    auto agent =
        MakeTestAgent("ppo(n_steps=16,minibatch=16,epochs=2,normalize_reward=false)", "mlp", env, 3, threads);
    env.Reset(agent->First());
    for (int update = 0; update < 3; ++update) {
      TrainOnce(*agent, env, 0.0);
      CHECK(Figure(*agent, "losses/first_ratio_error") < 1e-6);
    }
  }
}

TEST_CASE("minibatches of one row and a short last minibatch give finite parameters") {
  CartPole env(1, 0.98, 3);
  for (const char* spec : {"ppo(n_steps=3,minibatch=1,epochs=1)", "ppo(n_steps=5,minibatch=4,epochs=1)"}) {
    auto agent = MakeTestAgent(spec, "mlp", env, 3);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    for (const float p : FlatParameters(*agent)) REQUIRE(std::isfinite(p));
    CHECK(Figure(*agent, "losses/minibatches") ==
          (std::string(spec).find("=1,") != std::string::npos ? 3.0 : 2.0));
  }
}

TEST_CASE("schedules: linear ones reach 0 at the end, and stand still within a rollout") {
  CartPole env(2, 0.98, 3);
  auto agent = MakeTestAgent("ppo(lr=0.001,n_steps=4,minibatch=8,clip_schedule=linear)", "mlp", env, 3);
  env.Reset(agent->First());
  // Ten updates of one rollout of 8 steps each: the last is made at fraction 0.9, that of its first step.
  TrainFor(*agent, env, 80);
  CHECK(Figure(*agent, "charts/learning_rate") == Approx(0.001 * 0.1));
  CHECK(Figure(*agent, "charts/clip_range") == Approx(0.2 * 0.1));
}

TEST_CASE("the target KL stops an update at 1.5 times") {
  CartPole env(2, 0.98, 3);
  const auto minibatches = [&](const std::string& kl) {
    auto agent =
        MakeTestAgent("ppo(lr=0.05,n_steps=32,minibatch=16,epochs=10,target_kl=" + kl + ")", "mlp", env, 3);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    // The minibatch that exceeds it is looked at, but not learnt from.
    const auto seen = static_cast<std::int64_t>(Figure(*agent, "losses/minibatches"));
    if (kl != "0") CHECK(agent->updates() == seen - 1);
    return seen;
  };
  CHECK(minibatches("0") == 40);
  CHECK(minibatches("0.0001") < 10);
}

TEST_CASE("1.5 times the target KL, neither 1 nor 3 times") {
  CartPole env(2, 0.98, 3);
  const auto train = [&](double target, double& kl) {
    // Two minibatches of the whole rollout: the first at KL 0, the second at that of one step.
    auto agent = MakeTestAgent(Join("ppo(lr=0.01,n_steps=32,minibatch=64,epochs=2,target_kl=", target, ")"),
                               "mlp", env, 3);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    CHECK(Figure(*agent, "losses/minibatches") == 2.0);
    kl = 2.0 * Figure(*agent, "losses/approx_kl");
    return agent->updates();
  };
  double kl = 0.0, again = 0.0;
  CHECK(train(0.0, kl) == 2);
  REQUIRE(kl > 1e-4);
  CHECK(train(kl / 1.4, again) == 2);  // 1.4 times the target goes on
  CHECK(train(kl / 1.6, again) == 1);  // 1.6 times stops
  CHECK(again == Approx(kl));
}

TEST_CASE("shuffling visits every row once an epoch, and groups stay whole") {
  constexpr int kSteps = 7, kEnvs = 3;
  Stream draw(5, Purpose::kTest);
  std::vector<std::uint8_t> starts;
  for (int k = 0; k < kSteps * kEnvs; ++k) starts.push_back(draw.Below(2) == 0);
  const RowGroups groups = MakeRowGroups(starts, kSteps, kEnvs);
  Stream shuffle(5, Purpose::kShuffle);
  for (int epoch = 0; epoch < 20; ++epoch) {
    const auto order = Permutation(groups.size(), shuffle);
    const auto cuts = CutMinibatches(groups, order, 4);
    CHECK(cuts.front() == 0);
    CHECK(cuts.back() == groups.size());
    std::vector<int> visits(kSteps * kEnvs, 0);
    for (std::size_t m = 0; m + 1 < cuts.size(); ++m) {
      CHECK(cuts[m] < cuts[m + 1]);
      for (std::int64_t k = cuts[m]; k < cuts[m + 1]; ++k) {
        const auto g = static_cast<std::size_t>(order[static_cast<std::size_t>(k)]);
        for (std::int64_t r = groups.begin[g]; r < groups.begin[g + 1]; ++r) {
          const std::int64_t row = groups.rows[static_cast<std::size_t>(r)];
          ++visits[static_cast<std::size_t>(row)];
          const bool first = r == groups.begin[g];
          // Inside a group: the same environment, consecutive steps that start nothing.
          if (!first) CHECK(row == groups.rows[static_cast<std::size_t>(r) - 1] + kEnvs);
          if (!first) CHECK(starts[static_cast<std::size_t>(row)] == 0);
        }
      }
    }
    CHECK(std::accumulate(visits.begin(), visits.end(), 0) == kSteps * kEnvs);
    for (const int v : visits) CHECK(v == 1);
  }
}

TEST_CASE("a permutation is uniform") {
  // 3! = 6 orders, 6000 draws: chi-square with 5 degrees of freedom exceeds 25.7 with probability 1e-4.
  Stream shuffle(11, Purpose::kShuffle);
  std::array<int, 27> counts{};
  for (int k = 0; k < 6000; ++k) {
    const auto p = Permutation(3, shuffle);
    ++counts[static_cast<std::size_t>(p[0] * 9 + p[1] * 3 + p[2])];
  }
  double chi = 0.0;
  for (const int index : {5, 7, 11, 15, 19, 21}) {
    const double d = counts[static_cast<std::size_t>(index)] - 1000.0;
    chi += d * d / 1000.0;
  }
  CHECK(chi < 25.7);
}

TEST_CASE("PPO on CartPole: 475 by 50 k steps and 500 at 100 k on 5 of 5 seeds", "[learn]") {
  for (std::uint64_t seed = 1; seed <= test::kTrainingSeeds; ++seed) {
    CAPTURE(seed);
    CartPole env(8, 0.98, seed);
    auto agent = MakeTestAgent(kZooPpo, "mlp(hidden=64x64)", env, seed);
    env.Reset(agent->First());
    double best = 0.0;
    constexpr int kTotal = 100000, kEvery = 5000;
    int next = kEvery;
    for (std::int64_t steps = 0; steps < kTotal;) {
      steps += agent->Play(env, static_cast<double>(steps) / kTotal).steps;
      if (steps >= next && steps <= 50000 && best < 475.0) {
        next += kEvery;
        best = std::max(best, EvaluateCartPole(*agent, 20, seed));
      }
    }
    CHECK(best >= 475.0);
    CHECK(EvaluateCartPole(*agent, 20, seed) == 500.0);
  }
}

}  // namespace berth
