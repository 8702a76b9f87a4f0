// V-trace in the update of the learner on the device, against its definition worked out here.
#include <cmath>
#include <vector>

#include "agents/ppo/device_update.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"

namespace berth {
namespace {

constexpr int kSteps = 4, kActions = 3;

}  // namespace

TEST_CASE(
    "V-trace: what another policy has played is valued by the present one (Espeholt et al. 2018, eq. 1)") {
  AgentSetup setup;
  setup.network = "mlp(hidden=8)";
  setup.layout = {.global_channels = 2};
  setup.num_actions = kActions;
  setup.num_envs = 1;
  PpoOptions options;
  options.n_steps = kSteps;
  options.minibatch = 3;  // a forward pass of three rows and one of the last
  options.gae_lambda = 0.8;
  options.v_trace = true;
  const OnDevice on = *MakeOnDevice(torch::kCPU);
  auto network = MakeNetwork(setup.network, setup.layout, setup.num_actions, 7);
  network->FixShapes();
  DeviceRows rows(on, kSteps, setup);
  rows.observation.copy_(
      torch::tensor({0.3F, -1.0F, 0.5F, 2.0F, -0.7F, 0.1F, 1.5F, -0.2F}).view({kSteps, 1, 2}));
  rows.mask.fill_(1);
  rows.mask[1][0][2] = 0;
  const std::vector<std::int64_t> action = {0, 1, 2, 1};
  const std::vector<double> behaviour = {0.9, 0.2, 0.05, 0.6}, reward = {1.0, -0.5, 2.0, 0.25};
  const double discount = 0.9, last_value = 0.4;
  for (int t = 0; t < kSteps; ++t) {
    const auto k = static_cast<std::size_t>(t);
    rows.action[t][0] = action[k];
    rows.log_prob[t][0] = std::log(behaviour[k]);
    rows.value[t][0] = 100.0;  // of the policy that played: replaced
    rows.host_reward[t][0] = reward[k];
    rows.host_discount[t][0] = discount;
  }
  rows.last_value[0] = last_value;
  // What the network says itself.
  torch::NoGradGuard no_grad;
  const NetworkOutput out = network->Forward(rows.observation.flatten(0, 1));
  std::vector<double> value, log_pi, rho, c;
  for (int t = 0; t < kSteps; ++t) {
    const auto k = static_cast<std::size_t>(t);
    double sum = 0.0;
    for (int a = 0; a < kActions; ++a) {
      if (t != 1 || a != 2) sum += std::exp(out.scores[t][a].item<double>());
    }
    log_pi.push_back(out.scores[t][action[k]].item<double>() - std::log(sum));
    const double ratio = std::exp(log_pi[k]) / behaviour[k];
    rho.push_back(std::min(1.0, ratio));
    c.push_back(0.8 * std::min(1.0, ratio));
    value.push_back(out.value[t].item<double>());
  }
  CHECK(*std::min_element(rho.begin(), rho.end()) < 0.6);  // both sides of the cut
  CHECK(*std::max_element(rho.begin(), rho.end()) == 1.0);
  value.push_back(last_value);

  DeviceUpdate update(on, options, setup, 1, *network, Precision::kFloat32);
  {
    const torch::AutoGradMode grad(true);
    update.Enqueue(rows, 0, /*lr=*/0.0, /*clip=*/0.2, /*ent_coef=*/0.0, Queue(on));
  }
  const PpoUpdateFigures figures = update.Read();
  std::vector<double> target(kSteps + 1, last_value);
  for (std::size_t s = 0; s < kSteps; ++s) {
    double weight = 1.0;
    target[s] = value[s];
    for (std::size_t t = s; t < kSteps; ++t) {
      target[s] += weight * rho[t] * (reward[t] + discount * value[t + 1] - value[t]);
      weight *= discount * c[t];
    }
  }
  for (std::size_t s = 0; s < kSteps; ++s) {
    CAPTURE(s);
    const auto t = static_cast<int>(s);
    CHECK(rows.returns[t][0].item<double>() == Approx(target[s]).margin(2e-6));
    const double advantage = rho[s] * (reward[s] + discount * target[s + 1] - value[s]);
    CHECK(rows.advantage[t][0].item<double>() == Approx(advantage).margin(2e-6));
    CHECK(rows.log_prob[t][0].item<double>() == Approx(log_pi[s]).margin(2e-6));
    CHECK(rows.value[t][0].item<double>() == Approx(value[s]).margin(2e-6));
  }
  CHECK(figures.first_ratio_error <= 1e-6);  // the update goes on from the present policy
}

TEST_CASE("V-trace: a learner that plays ahead learns by it; one on the host has no use for it") {
  TwoTypes env(8);
  const std::string spec =
      "ppo(learner=device,overlap=true,returns=vtrace,n_steps=16,minibatch=64,lr=0.01,ent_coef=0.001)";
  auto agent = MakeTestAgent(spec, "mlp(hidden=16)", env, 1);
  env.Reset(agent->First());
  TrainFor(*agent, env, 6000);
  TwoTypes test(2);
  CHECK(MeanGreedyReturn(*agent, test) == Approx(TwoTypes::kBestReturn));
  CHECK_THROWS_WITH(
      MakeTestAgent("ppo(returns=vtrace)", "mlp(hidden=16)", env, 1),
      Catch::Contains("ppo: returns=vtrace: expected a learner on the device (learner=device)"));
}

}  // namespace berth
