// The written-out passes of deep Q-learning against autograd: losses, gradients, and whole runs.
#include <cmath>
#include <tuple>

#include "agents/dqn/q_learner.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "agents/nn/fused/fused_network.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"

namespace berth {
namespace {

AgentSetup QSetup(const std::string& network, const ObservationLayout& layout, int actions) {
  AgentSetup setup;
  setup.network = network;
  setup.layout = layout;
  setup.num_actions = actions;
  setup.num_envs = 3;
  return setup;
}

// Random transitions, and the memory that their rows lie in.
struct Random {
  Random(std::size_t rows, std::size_t width, std::size_t actions, std::uint64_t seed)
      : batch(rows), observation(2 * rows * width), mask(2 * rows * actions) {
    Stream draw(seed, Purpose::kTest);
    for (float& x : observation) x = static_cast<float>(draw.Normal());
    for (std::size_t b = 0; b < rows; ++b) {
      batch.observation[b] = observation.data() + (b % 3 == 1 ? b - 1 : b) * width;  // some share theirs
      batch.next_observation[b] = observation.data() + (rows + b) * width;
      std::uint8_t* legal = mask.data() + b * actions;
      std::uint8_t* next_legal = mask.data() + (rows + b) * actions;
      batch.mask[b] = legal;
      batch.next_mask[b] = next_legal;
      const auto n = static_cast<std::uint32_t>(actions);
      batch.action[b] = static_cast<std::int32_t>(draw.Below(n));
      for (std::size_t a = 0; a < actions; ++a) legal[a] = draw.Below(2) == 0;
      for (std::size_t a = 0; a < actions; ++a) next_legal[a] = draw.Below(3) == 0;
      legal[batch.action[b]] = next_legal[draw.Below(n)] = 1;
      batch.reward[b] = static_cast<float>(2.0 * draw.Normal());  // errors within 1 and beyond
      batch.discount[b] = draw.Below(4) == 0 ? 0.0F : 0.9F;
      batch.weight[b] = static_cast<float>(draw.Uniform(0.2, 1.0));
    }
  }
  TdBatch batch;
  std::vector<float> observation;
  std::vector<std::uint8_t> mask;
};

constexpr std::size_t kManyRows = 3300;  // more than one chunk of each network below

// How many of the batch's rows the network's fused form computes together.
std::size_t ChunkOf(const std::string& spec, const ObservationLayout& layout, int actions, Network& network,
                    const TdBatch& batch) {
  std::vector<ParameterView> views;
  for (const auto& item : network.named_parameters()) {
    views.push_back(
        {item.key(), item.value().data_ptr<float>(), static_cast<std::size_t>(item.value().numel())});
  }
  return MakeFused(spec, layout, actions, views)->ChunkOf(batch.observation);
}

// The largest |a - b| / max(1, |b|).
double Excess(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0.0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    const double exact = b[k];
    most = std::max(most, std::abs(a[k] - exact) / std::max(1.0, std::abs(exact)));
  }
  return most;
}

double Largest(const torch::Tensor& x) {
  return x.abs().max().item<double>();
}

}  // namespace

TEST_CASE("written-out Q-learning: loss, errors and gradient are autograd's") {
  const ObservationLayout flat = {.global_channels = 11};
  const ObservationLayout cluster = {
      .q = 4, .g = 2, .job_channels = 3, .pair_channels = 2, .type_channels = 2, .global_channels = 3};
  for (const auto& [network, layout, actions] : {std::tuple("mlp(hidden=24x16,activation=relu)", flat, 5),
                                                 {"mlp(hidden=24x16)", flat, 5},
                                                 {"mlp(hidden=7)", flat, 5},
                                                 {"mlp(hidden=33x8x20)", flat, 5},
                                                 {"pair_scorer(width=16,layers=2)", cluster, 9},
                                                 {"pair_scorer(width=16,skip=true)", cluster, 9}}) {
    const AgentSetup setup = QSetup(network, layout, actions);
    for (const TdOptions options : {TdOptions{false, false},
                                    {true, false},
                                    {false, true},
                                    {true, true},
                                    {.dueling = true, .soft = true},
                                    {.dueling = false, .soft = true}}) {
      CAPTURE(network, options.double_q, options.dueling, options.soft);
      auto online = MakeNetwork(network, layout, actions, 1),
           target = MakeNetwork(network, layout, actions, 2);
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
      for (const std::size_t rows : std::initializer_list<std::size_t>{1, 6, 65, kManyRows}) {
        Random random(rows, static_cast<std::size_t>(layout.size()), static_cast<std::size_t>(actions), rows);
        random.batch.temperature = 0.7F;
        if (rows == kManyRows) REQUIRE(ChunkOf(network, layout, actions, *online, random.batch) < rows);
        std::vector<float> error(rows), expected(rows);
        const TdFigures found = fused->Gradient(random.batch, error);
        const TdFigures truth = plain->Gradient(random.batch, expected);
        CHECK(found.loss == Approx(truth.loss).epsilon(1e-5));
        CHECK(found.mean_q == Approx(truth.mean_q).epsilon(1e-5).margin(1e-5));
        CHECK(Excess(error, expected) <= 1e-5);
        const double largest = Largest(plain->gradient());
        REQUIRE(largest > 0.01);
        CHECK(Largest(fused->gradient() - plain->gradient()) <= 1e-5 * std::max(1.0, largest));
        std::vector<float> scores(rows * static_cast<std::size_t>(actions)), expected_scores(scores.size());
        fused->Scores(random.batch.observation, scores);
        plain->Scores(random.batch.observation, expected_scores);
        CHECK(Excess(scores, expected_scores) <= 1e-5);
      }
    }
  }
}

TEST_CASE("written-out Q-learning: the gradient is that of the loss, by finite differences") {
  const AgentSetup setup = QSetup("mlp(hidden=9x6)", {.global_channels = 11}, 5);
  for (const bool dueling : {false, true}) {
    auto online = MakeNetwork(setup.network, setup.layout, 5, 1),
         target = MakeNetwork(setup.network, setup.layout, 5, 2);
    const torch::Tensor parameters = Flatten(*online);
    const auto fused = MakeFusedQ(setup, *online, *target, {/*double_q=*/false, dueling});
    const Random random(16, 11, 5, 5);
    // Single precision: a step of 0.01 leaves an error of 1e-5 / 0.02 in the quotient, and its square.
    constexpr float kStep = 0.01F;
    std::vector<float> error(16);
    fused->Gradient(random.batch, error);
    const torch::Tensor gradient = fused->gradient().clone();
    float* p = parameters.data_ptr<float>();
    const auto loss = [&](std::int64_t k, float step) {
      const float before = p[k];
      p[k] += step;
      fused->OnlineChanged();
      const double value = fused->Gradient(random.batch, error).loss;
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

TEST_CASE("written-out Q-learning: a whole run is autograd's") {
  for (const std::string variant :
       {"double=false,dueling=false,target_tau=1", "double=true,dueling=true,target_tau=0.5",
        "double=true,dueling=false,target_tau=1,max_grad_norm=0.01"}) {
    CAPTURE(variant);
    std::vector<float> found[2];
    for (const bool fused : {false, true}) {
      CartPole env(2, 0.99, 7);
      // All actions at random: what is learnt cannot change what is seen, so rounding stays rounding.
      auto agent = MakeTestAgent(Join("dqn(lr=0.001,buffer=500,learning_starts=64,batch=32,train_freq=4,"
                                      "target_interval=40,gradient_steps=1,n_step=3,"
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

}  // namespace berth
