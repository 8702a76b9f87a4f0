// The fused passes against LibTorch and its autograd: scores, values, the loss and every gradient.
#include <algorithm>
#include <cmath>
#include <vector>

#include "agents/learner/actor.hpp"
#include "env/sim/observation_block.hpp"
#include "agents/nn/fused/ppo_rows.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"

namespace berth {
namespace {

struct LossCase {
  const char* network;
  ObservationLayout layout;
  int actions, rows;
  double value_clip, ent_coef;
};

constexpr ObservationLayout kFlat = {.global_channels = 37};
constexpr ObservationLayout kCluster = {
    .q = 5, .g = 3, .job_channels = 4, .pair_channels = 3, .type_channels = 2, .global_channels = 3};
constexpr ObservationLayout kOneType = {
    .q = 7, .g = 1, .job_channels = 11, .pair_channels = 6, .type_channels = 5, .global_channels = 7};

constexpr ObservationLayout kNamed = {.q = 6,
                                      .g = 2,
                                      .job_channels = 5,
                                      .pair_channels = 2,
                                      .type_channels = 2,
                                      .global_channels = 3,
                                      .edge = 2,
                                      .edges = 2};

// Observations with absent jobs, some rows without any, and twins among the jobs, so that maxima have ties.
torch::Tensor DrawObservations(const ObservationLayout& layout, int rows, Stream& stream) {
  torch::Tensor observation = torch::empty({rows, layout.size()});
  float* x = observation.data_ptr<float>();
  for (std::int64_t k = 0; k < observation.numel(); ++k) x[k] = static_cast<float>(stream.Normal());
  for (int r = 0; r < rows; ++r) {
    for (int q = 0; q < layout.q; ++q) {
      float* job = x + r * layout.size() + layout.jobs_offset() + q * layout.job_channels;
      job[0] = 1.0F;
      if (q > 0 && stream.Below(4) == 0) std::copy_n(job - layout.job_channels, layout.job_channels, job);
      // Rows name rows, absent ones and themselves too, or none.
      for (int e = 0; e < layout.edges && job[0] != 0.0F; ++e)
        job[layout.edge + e] = static_cast<float>(stream.Below(static_cast<std::uint32_t>(layout.q) + 1)) * kEdgeUnit;
      if (r % 5 == 4 || stream.Below(3) == 0) std::fill_n(job, layout.job_channels, 0.0F);
    }
  }
  return observation;
}

double FarthestApart(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

void Check(const LossCase& c, std::uint64_t seed) {
  CAPTURE(c.network, c.layout.q, c.layout.g, c.actions, c.rows, c.value_clip, c.ent_coef, seed);
  AgentSetup setup;
  setup.network = c.network;
  setup.layout = c.layout;
  setup.num_actions = c.actions;
  setup.num_envs = 1;
  setup.seed = seed;
  Replicas replicas(setup, 1, true);
  REQUIRE(replicas.fused(0) != nullptr);
  FusedNetwork& fused = *replicas.fused(0);
  Stream stream(seed, Purpose::kTest);
  {
    // Heads begin near zero: other weights, so that every layer matters.
    const torch::NoGradGuard no_grad;
    for (torch::Tensor parameter : replicas.parameters(0)) {
      float* p = parameter.data_ptr<float>();
      for (std::int64_t k = 0; k < parameter.numel(); ++k) p[k] += static_cast<float>(0.3 * stream.Normal());
    }
  }
  const torch::Tensor observation = DrawObservations(c.layout, c.rows, stream);
  PpoBatch batch;
  batch.mask = torch::zeros({c.rows, c.actions}, torch::kUInt8);
  batch.action = torch::zeros({c.rows}, torch::kInt64);
  for (int r = 0; r < c.rows; ++r) {
    const int action = static_cast<int>(stream.Below(static_cast<std::uint32_t>(c.actions)));
    batch.action[r] = action;
    for (int a = 0; a < c.actions; ++a) {
      batch.mask[r][a] = a == action || (r % 7 != 0 && stream.Below(2) != 0);  // some rows allow one alone
    }
  }
  const auto floats = [&](double low, double high) {
    torch::Tensor column = torch::empty({c.rows});
    for (int r = 0; r < c.rows; ++r) column[r] = static_cast<float>(stream.Uniform(low, high));
    return column;
  };
  constexpr double kClip = 0.2, kVfCoef = 0.5;
  batch.advantage = floats(-2.0, 2.0);
  batch.returns = floats(-3.0, 3.0);

  const NetworkOutput out = replicas[0].Forward(observation);
  batch.old_value = (out.value + floats(-1.0, 1.0)).detach();
  // Ratios from 0.6 to 1.65: both sides of the clip range.
  const torch::Tensor log_prob = torch::log_softmax(out.scores.masked_fill(batch.mask.eq(0), -1e8F), 1)
                                     .gather(1, batch.action.unsqueeze(1));
  batch.old_log_prob = (log_prob.squeeze(1) + floats(-0.5, 0.5)).detach();
  const PpoSums sums = PpoLoss(out.scores, out.value, batch, kClip, c.value_clip);
  const torch::Tensor loss =
      (sums.policy_loss + kVfCoef * sums.value_loss - c.ent_coef * sums.entropy) / c.rows;
  std::vector<torch::Tensor> exact =
      torch::autograd::grad({loss}, replicas.parameters(0), {}, std::nullopt, false, true);

  fused.Refresh();
  std::vector<const float*> rows;
  for (int r = 0; r < c.rows; ++r) rows.push_back(observation.data_ptr<float>() + r * c.layout.size());
  const auto actions = static_cast<std::size_t>(c.actions);
  PpoRows ppo(actions);
  PpoTotals totals;
  const PpoCoefficients coefficients = {kClip, c.value_clip, kVfCoef, c.ent_coef,
                                        static_cast<double>(c.rows)};
  torch::Tensor scores = torch::empty({c.rows, c.actions}), values = torch::empty({c.rows});
  // Three chunks, and each of them as many as the network wants: gradients add up.
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::size_t third = std::min(rows.size() - begin, rows.size() / 3 + 1);
    const auto chunk = std::span<const float* const>(rows).subspan(begin, third);
    const std::size_t count = fused.ChunkOf(chunk);
    REQUIRE(count >= 1);
    REQUIRE(count <= third);
    float* s = scores.data_ptr<float>() + begin * actions;
    fused.Forward(chunk.first(count), s, values.data_ptr<float>() + begin);
    std::vector<float> d_scores(count * actions, 0.0F), d_values(count, 0.0F);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t r = begin + k;
      const PpoRow row = {{batch.mask.data_ptr<std::uint8_t>() + r * actions, actions},
                          batch.action.data_ptr<std::int64_t>()[r],
                          batch.old_log_prob.data_ptr<float>()[r],
                          batch.advantage.data_ptr<float>()[r],
                          batch.returns.data_ptr<float>()[r],
                          batch.old_value.data_ptr<float>()[r]};
      ppo.Add(coefficients, std::span(&row, 1), {s + k * actions, actions}, values.data_ptr<float>()[r],
              std::span<float>(d_scores).subspan(k * actions, actions), d_values[k], totals);
    }
    fused.Backward(d_scores.data(), d_values.data());
    begin += count;
  }
  const double size = std::max(1.0, out.scores.abs().max().item<double>());
  CHECK(FarthestApart(scores, out.scores) < 1e-5 * size);
  CHECK(FarthestApart(values, out.value) < 1e-5 * std::max(1.0, out.value.abs().max().item<double>()));
  // A log-probability errs as the scores do, and sums of them cancel.
  const auto close = [&](double value, const torch::Tensor& other) {
    return value == Approx(other.item<double>()).epsilon(1e-5).margin(1e-5 * size);
  };
  CHECK(close(totals.policy_loss, sums.policy_loss));
  CHECK(close(totals.value_loss, sums.value_loss));
  CHECK(close(totals.entropy, sums.entropy));
  for (int f = 0; f < kPpoFigures; ++f)
    CHECK(close(totals.figures[static_cast<std::size_t>(f)], sums.figures[f]));
  const double clipped = sums.figures[2].item<double>();
  CHECK((clipped > 0.0 && clipped < c.rows));  // the case says something about both

  double largest = 0.0;
  for (const torch::Tensor& g : exact) {
    if (g.defined()) largest = std::max(largest, g.abs().max().item<double>());
  }
  REQUIRE(largest > 1e-3);
  const auto names = replicas[0].named_parameters();
  for (std::size_t k = 0; k < exact.size(); ++k) {
    CAPTURE(names[k].key());
    if (!exact[k].defined()) exact[k] = torch::zeros_like(replicas.parameters(0)[k]);
    const double difference = FarthestApart(replicas.fused_gradients(0)[k], exact[k]);
    CHECK(difference < 1e-5 * largest);
    // What is added to all keys alike changes no weight: that gradient is 0, and both sides are rounding.
    if (names[k].key().ends_with("_k.bias")) continue;
    // A tensor whose gradients are small beside the others': its own largest counts. Terms that cancel leave
    // less than they round to, so the bound is wider: 1e-4, and 1e-9 of all where everything cancels.
    CHECK(difference <= 1e-4 * exact[k].abs().max().item<double>() + 1e-9 * largest);
  }
  CHECK(fused.multiply_adds() > 0.0);
}

}  // namespace

TEST_CASE("fused passes: scores, losses and all gradients are autograd's to 1e-5") {
  const LossCase cases[] = {
      {"mlp(hidden=64x64)", kFlat, 9, 300, 0.0, 0.0},
      {"mlp(hidden=33x17x5,activation=relu)", kFlat, 40, 61, 0.3, 0.01},
      {"mlp(hidden=48)", kCluster, 16, 31, 0.0, 0.1},
      {"mlp(hidden=1)", kFlat, 9, 40, 0.0, 0.01},
      {"mlp(hidden=1x4)", kFlat, 9, 40, 0.0, 0.01},
      {"pair_scorer", kCluster, 16, 64, 0.0, 0.01},
      {"pair_scorer", kCluster, 15, 64, 0.3, 0.0},
      {"pair_scorer(width=17,layers=1,activation=tanh)", kCluster, 16, 40, 0.3, 0.01},
      {"pair_scorer(width=40,layers=3)", kOneType, 8, 50, 0.0, 0.01},
      {"pair_scorer(width=1,activation=tanh)", kCluster, 16, 40, 0.0, 0.01},
      {"pair_scorer(skip=true)", kCluster, 16, 64, 0.0, 0.01},
      {"pair_scorer(width=17,layers=1,activation=tanh,skip=true)", kCluster, 15, 40, 0.3, 0.01},
      {"pair_scorer(width=8,skip=true)", kOneType, 8, 50, 0.0, 0.01},
      {"set_attention", kCluster, 16, 40, 0.0, 0.01},
      {"set_attention(width=24,head=4,points=3,blocks=1,skip=false)", kCluster, 15, 40, 0.3, 0.01},
      {"set_attention(width=40,head=5,towers=2,layers=2,activation=tanh)", kOneType, 8, 50, 0.0, 0.01},
      {"set_attention(blocks=0,width=8,head=8)", kCluster, 16, 40, 0.0, 0.01},
      {"messages(width=8)", kNamed, 13, 64, 0.0, 0.01},
      {"messages(width=17,rounds=1,layers=1,activation=tanh,skip=true)", kNamed, 12, 40, 0.3, 0.01},
      {"messages(width=16,rounds=2)", kCluster, 16, 40, 0.0, 0.01},
      {"toy", kCluster, 16, 64, 0.0, 0.01},
      {"toy(units=17)", kCluster, 15, 40, 0.3, 0.01},
      {"toy(units=1)", kOneType, 8, 50, 0.0, 0.01},
  };
  for (const LossCase& c : cases) {
    for (const std::uint64_t seed : {1, 2}) Check(c, seed);
  }
}

// One row far below the others is computed alone; one allows a single action.
TEST_CASE("fused passes: rows of one state together have the losses and gradients of each alone") {
  constexpr std::size_t kActions = 37, kRows = 9;
  Stream stream(3, Purpose::kTest);
  for (const double value_clip : {0.0, 0.3}) {
    const PpoCoefficients c = {0.2, value_clip, 0.5, 0.02, 20.0};
    std::vector<float> scores(kActions);
    for (float& score : scores) score = static_cast<float>(3.0 * stream.Normal());
    for (std::size_t a = 0; a < 4; ++a) scores[a] -= 40.0F;
    std::vector<std::vector<std::uint8_t>> masks(kRows, std::vector<std::uint8_t>(kActions));
    std::vector<PpoRow> rows;
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t action = r == 0 ? 2 : stream.Below(kActions);
      for (std::size_t a = 0; a < kActions; ++a)
        masks[r][a] = a == action || (r == 0 ? a < 4 : r > 1 && stream.Below(3) == 0);
      rows.push_back({masks[r], static_cast<std::int64_t>(action),
                      static_cast<float>(-stream.Uniform(0.1, 3.0)), static_cast<float>(stream.Normal()),
                      static_cast<float>(stream.Normal()), static_cast<float>(stream.Normal())});
    }
    PpoRows ppo(kActions);
    std::vector<float> together(kActions), alone(kActions);
    float d_together = 0.0F, d_alone = 0.0F;
    PpoTotals sum, each;
    ppo.Add(c, rows, scores, 0.4F, together, d_together, sum);
    for (const PpoRow& row : rows) ppo.Add(c, std::span(&row, 1), scores, 0.4F, alone, d_alone, each);
    CHECK(d_together == d_alone);
    CHECK(sum.policy_loss == Approx(each.policy_loss).epsilon(1e-5));
    CHECK(sum.value_loss == each.value_loss);
    CHECK(sum.entropy == Approx(each.entropy).epsilon(1e-5));
    for (std::size_t f = 0; f < 4; ++f)
      CHECK(sum.figures[f] == Approx(each.figures[f]).epsilon(1e-5).margin(1e-5));
    for (std::size_t a = 0; a < kActions; ++a)
      CHECK(together[a] == Approx(alone[a]).epsilon(1e-5).margin(2e-7));
  }
}

TEST_CASE("fused training and training by autograd part by rounding alone at first") {
  // The same draws, minibatches and steps: parameters after one update differ by rounding. CartPole's rows
  // all differ; on a cluster several rows share an observation, and with it a pass.
  struct Setting {
    const char* network;
    bool cluster;
  };
  for (const Setting setting : {Setting{"mlp", false},
                                {"mlp(hidden=16)", true},
                                {"pair_scorer", true},
                                {"pair_scorer(skip=true)", true}}) {
    for (const int threads : {1, 2}) {
      CAPTURE(setting.network, setting.cluster, threads);
      const auto train = [&](const std::string& fused) {
        const std::unique_ptr<BatchEnv> env =
            setting.cluster ? ToyEnv(SmallMdp(), 4, 3) : std::make_unique<CartPole>(4, 0.98, 3);
        auto agent = MakeTestAgent("ppo(n_steps=16,minibatch=16,epochs=2,target_kl=0,fused=" + fused + ")",
                                   setting.network, *env, 3, threads);
        env->Reset(agent->First());
        TrainOnce(*agent, *env, 0.0);
        CHECK((agent->multiply_adds() > 0.0) == (fused == "true"));
        return FlatParameters(*agent);
      };
      const std::vector<float> a = train("true"), b = train("false");
      REQUIRE(a.size() == b.size());
      double largest = 0.0;
      for (std::size_t k = 0; k < a.size(); ++k)
        largest = std::max(largest, std::abs(static_cast<double>(a[k]) - b[k]));
      // 8 steps of Adam move a parameter by up to 8e-3; where a gradient is near zero, Adam magnifies its
      // rounding.
      CHECK(largest < 1e-4);
      CHECK(largest > 0.0);
    }
  }
}

TEST_CASE("fused training has the same bits on any number of threads") {
  // Minibatches of one chunk or two, of many with a large gradient, and of more than are kept at once.
  const std::pair<std::string, std::string> settings[] = {
      {"pair_scorer(width=128)", "ppo(n_steps=32,minibatch=128,epochs=2)"},
      {"mlp(hidden=512x512)", "ppo(n_steps=512,minibatch=4096,epochs=1)"},
      {"mlp(hidden=128)", "ppo(n_steps=2048,minibatch=16384,epochs=1)"}};
  for (const auto& [network, ppo] : settings) {
    std::vector<std::vector<float>> parameters;
    for (const int threads : {1, 2, 3}) {
      const std::unique_ptr<BatchEnv> env = ToyEnv(SmallMdp(), 8, 3);
      auto agent = MakeTestAgent(ppo, network, *env, 3, threads);
      env->Reset(agent->First());
      TrainOnce(*agent, *env, 0.0);
      parameters.push_back(FlatParameters(*agent));
    }
    CAPTURE(network);
    CHECK(parameters[0] == parameters[1]);
    CHECK(parameters[0] == parameters[2]);
  }
}

}  // namespace berth
