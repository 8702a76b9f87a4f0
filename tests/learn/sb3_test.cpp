// Losses and gradients of PPO, A2C, DQN, double DQN and QR-DQN against those that Stable-Baselines3's own
// train() computes on the same minibatch with the same weights (sb3/losses.py): recorded, and computed anew
// where it is installed.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "agents/dqn/q_learner.hpp"
#include "agents/learner/returns.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "agents/nn/fused/fused_network.hpp"
#include "agents/nn/fused/ppo_rows.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

const std::string kFolder = BERTH_SOURCE_DIR "/tests/learn/sb3/";

// What losses.py printed of one case, by key.
struct Case {
  std::string name;
  std::map<std::string, std::vector<float>> values;
  const std::vector<float>& operator[](const std::string& key) const {
    const auto found = values.find(key);
    if (found == values.end()) FAIL(name << " has no " << key);
    return found->second;
  }
  double number(const std::string& key) const { return static_cast<double>((*this)[key].at(0)); }
  std::int64_t whole(const std::string& key) const { return static_cast<std::int64_t>(number(key)); }
  torch::Tensor tensor(const std::string& key) const { return torch::tensor((*this)[key]); }
};

std::vector<Case> ReadCases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string key;
    line >> key;
    if (key.empty() || key[0] == '#') continue;
    if (key == "case") {
      cases.emplace_back();
      line >> cases.back().name;
      continue;
    }
    REQUIRE(!cases.empty());
    std::vector<float>& row = cases.back().values[key];
    for (float x; line >> x;) row.push_back(x);
  }
  return cases;
}

std::string NetworkSpec(const Case& c, const char* activation) {
  std::string hidden;
  for (const float units : c["hidden"]) hidden += Join(hidden.empty() ? "" : "x", static_cast<int>(units));
  return Join("mlp(hidden=", hidden, ",activation=", activation, ")");
}

AgentSetup Setup(const Case& c, const char* activation) {
  AgentSetup setup;
  setup.network = NetworkSpec(c, activation);
  setup.layout = {.global_channels = static_cast<int>(c.whole("inputs"))};
  setup.num_actions = static_cast<int>(c.whole("actions"));
  setup.num_envs = 1;
  return setup;
}

// A network with the recorded weights; what Q-learning has no use for (the critic) stays as it is.
std::shared_ptr<Network> NetworkOf(const Case& c, const AgentSetup& setup, const std::string& prefix,
                                   int outputs = 1) {
  auto network = MakeNetwork(setup.network, setup.layout, setup.num_actions, 1, outputs);
  const torch::NoGradGuard no_grad;
  for (auto& item : network->named_parameters()) {
    if (c.values.count(prefix + item.key()) == 0) continue;
    const torch::Tensor values = c.tensor(prefix + item.key());
    REQUIRE(values.numel() == item.value().numel());
    item.value().copy_(values.view(item.value().sizes()));
  }
  return network;
}

// `flat` [P], in the order of the network's parameters, against the recorded gradient: to 1e-5 of its
// largest element.
void CheckGradient(const Case& c, Network& network, const torch::Tensor& flat) {
  double largest = 0.0, worst = 0.0;
  std::int64_t begin = 0, compared = 0;
  for (const auto& item : network.named_parameters()) {
    const torch::Tensor found = flat.narrow(0, begin, item.value().numel());
    begin += item.value().numel();
    const bool recorded = c.values.count(Join("gradient.", item.key())) > 0;
    const torch::Tensor expected =
        recorded ? c.tensor(Join("gradient.", item.key())) : torch::zeros({item.value().numel()});
    compared += recorded ? expected.numel() : 0;
    largest = std::max(largest, expected.abs().max().item<double>());
    worst = std::max(worst, (found - expected).abs().max().item<double>());
  }
  CAPTURE(compared, largest, worst);
  REQUIRE(compared > 20);
  REQUIRE(largest > 0.01);
  CHECK(worst <= 1e-5 * largest);
}

// Stable-Baselines3 does not halve the squared error of the value: its weight is twice ours.
void CheckPolicyGradient(const Case& c) {
  const bool a2c = c.name == "a2c";
  const AgentSetup setup = Setup(c, "tanh");
  auto network = NetworkOf(c, setup, "parameter.");
  const std::int64_t rows = c.whole("rows"), actions = c.whole("actions");
  std::vector<float> advantage = c["advantage"];
  if (!a2c) Standardize(advantage);
  const double clip = a2c ? 1e9 : c.number("clip"), vf = 2.0 * c.number("vf"), ent = c.number("ent");
  const torch::Tensor observation = c.tensor("observation").view({rows, -1});
  const NetworkOutput out = network->Forward(observation);
  PpoBatch batch = {c.tensor("mask").view({rows, actions}).to(torch::kUInt8),
                    c.tensor("action").to(torch::kInt64),
                    c.tensor("old_log_prob"),
                    torch::tensor(advantage),
                    c.tensor("returns"),
                    c.tensor("old_value")};
  if (a2c) {
    // What `reinforce` does: the policy that drew the actions is still the one that learns from them.
    batch.old_log_prob = MakeMaskedDistribution(out.scores, batch.mask)
                             .log_prob.gather(1, batch.action.unsqueeze(1))
                             .squeeze(1)
                             .detach();
  }
  const PpoSums sums = PpoLoss(out.scores, out.value, batch, clip, 0.0);
  const auto n = static_cast<double>(rows);
  CHECK(2.0 * sums.value_loss.item<double>() / n == Approx(c.number("value_loss")).epsilon(1e-5));
  CHECK(sums.entropy.item<double>() / n == Approx(c.number("entropy")).epsilon(1e-5));
  if (!a2c) {
    CHECK(sums.policy_loss.item<double>() / n == Approx(c.number("policy_loss")).epsilon(1e-5).margin(1e-6));
    CHECK(sums.figures[0].item<double>() / n == Approx(c.number("approx_kl")).epsilon(1e-5));
    CHECK(sums.figures[2].item<double>() / n == Approx(c.number("clip_fraction")).epsilon(1e-5));
    REQUIRE(c.number("clip_fraction") > 0.0);
  }
  const torch::Tensor loss = (sums.policy_loss + vf * sums.value_loss - ent * sums.entropy) / n;
  std::vector<torch::Tensor> gradients = torch::autograd::grad({loss}, network->parameters());
  for (torch::Tensor& gradient : gradients) gradient = gradient.flatten();
  CheckGradient(c, *network, torch::cat(gradients));

  // The written-out passes, a row at a time.
  std::vector<ParameterView> views;
  for (const auto& item : network->named_parameters()) {
    views.push_back(
        {item.key(), item.value().data_ptr<float>(), static_cast<std::size_t>(item.value().numel())});
  }
  const auto fused = MakeFused(setup.network, setup.layout, setup.num_actions, views);
  REQUIRE(fused != nullptr);
  fused->Refresh();
  PpoRows passes(static_cast<std::size_t>(actions));
  const PpoCoefficients coefficients = {clip, 0.0, vf, ent, n};
  const auto width = static_cast<std::size_t>(actions);
  PpoTotals totals;
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* row = observation[r].data_ptr<float>();
    std::vector<float> scores(width), d_scores(width, 0.0F);
    float value = 0.0F, d_value = 0.0F;
    fused->Forward(std::span(&row, 1), scores.data(), &value);
    const PpoRow one = {{batch.mask[r].data_ptr<std::uint8_t>(), width},
                        batch.action[r].item<std::int64_t>(),
                        batch.old_log_prob[r].item<float>(),
                        advantage[static_cast<std::size_t>(r)],
                        c["returns"][static_cast<std::size_t>(r)],
                        c["old_value"][static_cast<std::size_t>(r)]};
    passes.Add(coefficients, std::span(&one, 1), scores, value, d_scores, d_value, totals);
    fused->Backward(d_scores.data(), &d_value);
  }
  CHECK(totals.policy_loss == Approx(sums.policy_loss.item<double>()).epsilon(1e-5).margin(1e-5));
  CheckGradient(
      c, *network,
      torch::from_blob(fused->gradient().data(), {static_cast<std::int64_t>(fused->gradient().size())}));
}

void CheckQLearning(const Case& c) {
  const AgentSetup setup = Setup(c, "relu");
  const int quantiles = static_cast<int>(c.whole("quantiles")), outputs = std::max(quantiles, 1);
  auto online = NetworkOf(c, setup, "parameter.", outputs), target = NetworkOf(c, setup, "target.", outputs);
  Flatten(*online), Flatten(*target);
  const auto rows = static_cast<std::size_t>(c.whole("rows"));
  const std::vector<std::uint8_t> mask(static_cast<std::size_t>(setup.num_actions), 1);
  const auto width = static_cast<std::size_t>(setup.layout.size());
  TdBatch batch(rows);
  for (std::size_t b = 0; b < rows; ++b) {
    batch.observation[b] = c["observation"].data() + b * width;
    batch.next_observation[b] = c["next_observation"].data() + b * width;
    batch.mask[b] = batch.next_mask[b] = mask.data();
    batch.action[b] = static_cast<std::int32_t>(c["action"][b]);
    batch.reward[b] = c["reward"][b];
    batch.discount[b] = c["discount"][b];
  }
  const TdOptions options = {c.name == "double_dqn", false, quantiles};
  for (const auto& learner :
       {MakeAutogradQ(setup, *online, *target, options), MakeFusedQ(setup, *online, *target, options)}) {
    if (learner == nullptr) {
      CHECK(quantiles > 0);  // alone without a written-out form
      continue;
    }
    std::vector<float> error(rows);
    CHECK(learner->Gradient(batch, error).loss == Approx(c.number("loss")).epsilon(1e-5));
    CheckGradient(c, *online, learner->gradient());
  }
}

void CheckCases(const std::string& path) {
  std::vector<std::string> names;
  for (const Case& c : ReadCases(path)) {
    CAPTURE(c.name);
    names.push_back(c.name);
    if (c.values.count("old_log_prob") > 0) {
      CheckPolicyGradient(c);
    } else {
      CheckQLearning(c);
    }
  }
  CHECK(names == std::vector<std::string>{"ppo", "maskable_ppo", "a2c", "dqn", "double_dqn", "qrdqn"});
}

}  // namespace

TEST_CASE("losses and gradients are those that Stable-Baselines3 computed") {
  CheckCases(kFolder + "losses.txt");
}

TEST_CASE("losses and gradients are those of the installed Stable-Baselines3 on larger minibatches") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "stable_baselines3, sb3_contrib");
  if (python.empty())
    return test::Skip(
        "needs Python with stable-baselines3 and sb3-contrib (berth bench --peers installs them)");
  const test::TemporaryFolder folder;
  const std::string found = folder / "losses.txt";
  const std::string command = Join("OMP_NUM_THREADS=1 '", python, "' -B -W ignore '", kFolder,
                                   "losses.py' --seed 7 --rows 64 --hidden 32,16 > '", found, "'");
  REQUIRE(std::system(command.c_str()) == 0);
  CheckCases(found);
}

}  // namespace berth
