// The distributional form of deep Q-learning: targets and losses by hand, quantiles of known distributions,
// and the network of the means.
#include <cmath>

#include "agents/dqn/dqn_loss.hpp"
#include "agents/dqn/q_learner.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"

namespace berth {
namespace {

TdBatch OneState(const std::vector<float>& rewards, float discount) {
  static const float kObservation[1] = {1.0F};
  static const std::uint8_t kMask[2] = {1, 1};
  TdBatch batch(rewards.size());
  for (std::size_t b = 0; b < rewards.size(); ++b) {
    batch.observation[b] = batch.next_observation[b] = kObservation;
    batch.mask[b] = batch.next_mask[b] = kMask;
    batch.action[b] = 0;
    batch.reward[b] = rewards[b];
    batch.discount[b] = discount;
  }
  return batch;
}

AgentSetup OneStateSetup(const std::string& network) {
  AgentSetup setup;
  setup.network = network;
  setup.layout = {.global_channels = 1};
  setup.num_actions = 2;
  setup.num_envs = 1;
  return setup;
}

// Quantiles [A, N] of the one state.
torch::Tensor QuantilesOf(Network& network, int quantiles) {
  const torch::NoGradGuard no_grad;
  return network.Forward(torch::ones({1, 1})).scores.view({2, quantiles});
}

}  // namespace

TEST_CASE("quantile Huber loss by hand") {
  // Two quantiles, midpoints 1/4 and 3/4, at 0 and 2; goals 0.5 and 3.
  //   quantile 0: u = 0.5 and 3, both above: 1/4 (0.125), 1/4 (3 - 0.5); mean 1/4 (0.125 + 2.5) / 2 =
  //   0.328125 quantile 1: u = -1.5 and 1: |3/4 - 1| (1.5 - 0.5), 3/4 (0.5);      mean (0.25 + 0.375) / 2 =
  //   0.3125
  // Slopes, - weight clip(u, -1, 1): quantile 0: - (1/4 0.5 + 1/4 1) / 2; quantile 1: (1/4 1 - 3/4 1) / 2.
  torch::Tensor quantiles = torch::tensor({{0.0F, 2.0F}}).set_requires_grad(true);
  const torch::Tensor loss = QuantileHuberLoss(quantiles, torch::tensor({{0.5F, 3.0F}}));
  CHECK(loss.item<double>() == Approx(0.328125 + 0.3125));
  loss.sum().backward();
  CHECK(quantiles.grad()[0][0].item<double>() == Approx(-0.1875));
  CHECK(quantiles.grad()[0][1].item<double>() == Approx(-0.25));
  // One quantile is the median: half of Huber's loss.
  const torch::Tensor q = torch::tensor({1.0F, -2.0F}), goal = torch::tensor({1.5F, 1.0F});
  CHECK(torch::allclose(QuantileHuberLoss(q.unsqueeze(1), goal.unsqueeze(1)), 0.5 * HuberLoss(q, goal)));
}

TEST_CASE("quantiles: the next action is the best in the mean, legal, and dueling centres the means") {
  // Action 0 has the largest quantile, action 1 the largest mean, action 2 is illegal.
  const torch::Tensor target = torch::tensor({{{-9.0F, 10.0F}, {1.0F, 2.0F}, {50.0F, 50.0F}}});
  const torch::Tensor mask = torch::tensor({{1, 1, 0}}, torch::kUInt8);
  CHECK(NextReturn(target, mask, target.mean(2)).equal(torch::tensor({{1.0F, 2.0F}})));
  CHECK(NextReturn(target, mask, torch::tensor({{1.0F, 0.0F, 9.0F}})).equal(torch::tensor({{-9.0F, 10.0F}})));
  // Means 0.5 and 1.5, of both 1; V = 10: 10 - 1 is added to each.
  const NetworkOutput out = {target.view({1, 6}), torch::tensor({10.0F})};
  const torch::Tensor dueling = ReturnQuantiles(out, mask, true, 2);
  CHECK(torch::allclose(dueling.slice(1, 0, 2), target.slice(1, 0, 2) + 9.0));
  CHECK(dueling.slice(1, 0, 2).mean().item<double>() == Approx(10.0));
}

TEST_CASE("quantiles: targets of a minibatch by hand") {
  // Scores are their biases: quantiles {1, 3} and {0, 10} online, {5, 7} and {2, 4} in the target. The online
  // network chooses action 1 (mean 5 against 2), the target's own choice is action 0 (6 against 3). Reward 1,
  // discount 0.5: goals {2, 3} in double Q-learning, {3.5, 4.5} otherwise; the mean of action 0 is 2.
  const AgentSetup setup = OneStateSetup("mlp(hidden=1)");
  auto online = MakeNetwork(setup.network, setup.layout, 2, 1, 2),
       target = MakeNetwork(setup.network, setup.layout, 2, 1, 2);
  const auto set = [](Network& network, const torch::Tensor& bias) {
    const torch::NoGradGuard no_grad;
    auto all = network.named_parameters();
    all.find("actor_head.weight")->zero_();
    all.find("actor_head.bias")->copy_(bias);
  };
  set(*online, torch::tensor({1.0F, 3.0F, 0.0F, 10.0F}));
  set(*target, torch::tensor({5.0F, 7.0F, 2.0F, 4.0F}));
  Flatten(*online), Flatten(*target);
  for (const bool double_q : {false, true}) {
    CAPTURE(double_q);
    const auto learner = MakeAutogradQ(setup, *online, *target, {double_q, false, 2});
    std::vector<float> error(1);
    const TdFigures figures = learner->Gradient(OneState({1.0F}, 0.5F), error);
    const torch::Tensor goals = double_q ? torch::tensor({{2.0F, 3.0F}}) : torch::tensor({{3.5F, 4.5F}});
    CHECK(figures.mean_q == Approx(2.0));
    CHECK(error[0] == Approx(2.0 - goals.mean().item<double>()));
    CHECK(figures.loss == Approx(QuantileHuberLoss(torch::tensor({{1.0F, 3.0F}}), goals).item<double>()));
    std::vector<float> scores(2);
    const float one = 1.0F;
    const float* row = &one;
    learner->Scores(std::span(&row, 1), scores);
    CHECK(scores == std::vector<float>{2.0F, 5.0F});
  }
}

TEST_CASE("quantiles of a known distribution are found") {
  // Rewards 0, 10, 20, 30 alike, then the end. Quantile i has the midpoint tau = (2 i + 1) / 8; within 1 of
  // its own reward the loss is square, so it rests where d = its distance from it solves, for i = 0, 1:
  //   tau 3/4 = (7/8) d / 4 at i = 0 (three rewards above):              d = (3/32) / (7/32)          = 3/7
  //   3/8 2/4 - 5/8 1/4 = (5/8) d / 4 at i = 1 (two above, one below):   d = (1/32) / (5/32)          = 1/5
  // and i = 2, 3 by symmetry.
  const AgentSetup setup = OneStateSetup("mlp(hidden=1)");
  auto online = MakeNetwork(setup.network, setup.layout, 2, 1, 4),
       target = MakeNetwork(setup.network, setup.layout, 2, 2, 4);
  torch::Tensor parameters = Flatten(*online);
  Flatten(*target);
  const auto learner = MakeAutogradQ(setup, *online, *target, {true, false, 4});
  const TdBatch batch = OneState({0.0F, 10.0F, 20.0F, 30.0F}, 0.0F);
  std::vector<float> error(4);
  for (int k = 0; k < 2000; ++k) {
    learner->Gradient(batch, error);
    const torch::NoGradGuard no_grad;
    parameters.sub_(learner->gradient(), k < 1500 ? 0.5 : 0.1);
  }
  const torch::Tensor found = QuantilesOf(*online, 4)[0];
  const double expected[] = {3.0 / 7.0, 10.2, 19.8, 30.0 - 3.0 / 7.0};
  for (int i = 0; i < 4; ++i) CHECK(found[i].item<double>() == Approx(expected[i]).margin(1e-3));
}

TEST_CASE("quantiles: the network of the means has the means of the scores") {
  const ObservationLayout cluster = ObservationV1::Layout(4, 2);
  std::vector<std::string> specs = {"pair_scorer(skip=true)"};
  for (const ArchitectureInfo& info : Architectures()) specs.emplace_back(info.name);
  for (const std::string& spec : specs) {
    CAPTURE(spec);
    auto wide = MakeNetwork(spec, cluster, 9, 1, 5), mean = MakeNetwork(spec, cluster, 9, 2);
    const torch::NoGradGuard no_grad;
    torch::manual_seed(3);
    for (auto& parameter : wide->parameters()) parameter.add_(torch::randn_like(parameter), 0.2);
    CopyMeanOutputs(*wide, *mean);
    torch::Tensor rows = torch::randn({6, cluster.size()});
    rows.narrow(1, cluster.jobs_offset(), 1).fill_(1.0);  // the first job is there
    const NetworkOutput all = wide->Forward(rows), means = mean->Forward(rows);
    CHECK(torch::allclose(all.scores.view({6, 9, 5}).mean(2), means.scores, 1e-5, 1e-5));
    CHECK(all.value.equal(means.value));
    CHECK(all.scores.view({6, 9, 5}).std(2).max().item<double>() > 0.1);  // quantiles do differ
  }
}

TEST_CASE("Q-learning: what is illegal has no gradient, whatever the form") {
  // One row, four actions, the second and the last illegal, the first taken. With dueling heads the other
  // legal one is moved by the mean, the illegal ones by nothing.
  AgentSetup setup = OneStateSetup("mlp(hidden=3)");
  setup.num_actions = 4;
  const float observation[1] = {1.0F};
  const std::uint8_t mask[4] = {1, 0, 1, 0}, next_mask[4] = {0, 1, 0, 0};
  TdBatch batch(1);
  batch.observation[0] = batch.next_observation[0] = observation;
  batch.mask[0] = mask, batch.next_mask[0] = next_mask;
  batch.action[0] = 0, batch.reward[0] = 3.0F, batch.discount[0] = 0.9F;
  std::vector<float> error(1);
  for (const int quantiles : {0, 3}) {
    for (const bool double_q : {false, true}) {
      for (const bool dueling : {false, true}) {
        CAPTURE(quantiles, double_q, dueling);
        const int outputs = std::max(quantiles, 1);
        auto online = MakeNetwork(setup.network, setup.layout, 4, 1, outputs),
             target = MakeNetwork(setup.network, setup.layout, 4, 2, outputs);
        Flatten(*online), Flatten(*target);
        const TdOptions options = {double_q, dueling, quantiles};
        for (const auto& learner : {MakeAutogradQ(setup, *online, *target, options),
                                    MakeFusedQ(setup, *online, *target, options)}) {
          if (learner == nullptr) continue;
          learner->Gradient(batch, error);
          std::int64_t begin = 0;
          for (const auto& item : online->named_parameters()) {
            const torch::Tensor gradient = learner->gradient().narrow(0, begin, item.value().numel());
            begin += item.value().numel();
            if (item.key() != "actor_head.bias") continue;
            const torch::Tensor of_action = gradient.view({4, outputs}).abs().sum(1);
            CHECK(of_action[0].item<double>() > 0.0);
            CHECK((of_action[2].item<double>() > 0.0) == dueling);
            CHECK(of_action[1].item<double>() == 0.0);
            CHECK(of_action[3].item<double>() == 0.0);
          }
        }
      }
    }
  }
}

}  // namespace berth
