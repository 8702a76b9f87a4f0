// The source of the CUDA kernels, run on the host against the learners on the CPU; and, where there is a GPU,
// on it against the host, bit for bit.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "agents/dqn/priorities.hpp"
#include "agents/gpu/cuda/cuda_library.hpp"
#include "agents/gpu/cuda/shuffle.hpp"
#include "agents/gpu/device.hpp"
#include "agents/learner/returns.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

using Tensors = std::vector<torch::Tensor>;

// Where a piece of work runs.
struct Place {
  const cuda::KernelTable& kernels;
  torch::Device device;
  torch::Tensor operator()(const torch::Tensor& host) const {
    return host.to(device, /*non_blocking=*/false, /*copy=*/true);
  }
  torch::Tensor Zeros(at::IntArrayRef sizes, at::ScalarType type = torch::kFloat32) const {
    return torch::zeros(sizes, torch::TensorOptions().dtype(type).device(device));
  }
};
const Place kHost = {cuda::HostKernels(), torch::kCPU};

template <class T>
T* Pointer(const torch::Tensor& t) {
  return t.data_ptr<T>();
}
const std::uint8_t* Bytes(const torch::Tensor& t) {
  return t.data_ptr<std::uint8_t>();
}

torch::Tensor Normal(at::IntArrayRef sizes, Stream& draw) {
  torch::Tensor out = torch::empty(sizes);
  for (std::int64_t k = 0; k < out.numel(); ++k) out.data_ptr<float>()[k] = static_cast<float>(draw.Normal());
  return out;
}
// At least one action a row.
torch::Tensor Masks(std::int64_t rows, std::int64_t actions, Stream& draw) {
  torch::Tensor out = torch::zeros({rows, actions}, torch::kUInt8);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t a = 0; a < actions; ++a) out[r][a] = static_cast<std::uint8_t>(draw.Below(3) == 0);
    out[r][static_cast<std::int64_t>(draw.Below(static_cast<std::uint32_t>(actions)))] = 1;
  }
  return out;
}

constexpr std::uint64_t kSeed = 12345678901234567ULL;
cuda::StreamKey KeyOf(Purpose purpose, std::uint32_t env = 0) {
  return {static_cast<std::uint32_t>(kSeed), static_cast<std::uint32_t>(kSeed >> 32),
          static_cast<std::uint32_t>(purpose), env, 0};
}

struct SampleCase {
  int rows, begin, envs, actions, step;
  torch::Tensor scores, value, mask;
};
SampleCase MakeSampleCase(int actions) {
  Stream draw(static_cast<std::uint64_t>(actions), Purpose::kTest);
  SampleCase c = {20, 5, 30, actions, 2, {}, {}, {}};
  c.scores = Normal({c.rows, actions}, draw) * 3.0;
  c.value = Normal({c.rows}, draw);
  c.mask = Masks(c.rows, actions, draw);
  return c;
}
// action [rows], draws [N], and the rollout's mask, action, log-probability, value, entropy.
Tensors RunSample(const SampleCase& c, const Place& at) {
  const torch::Tensor scores = at(c.scores), value = at(c.value), mask = at(c.mask),
                      step = at(torch::full({1}, c.step, torch::kInt64));
  Tensors out = {at.Zeros({c.rows}, torch::kInt32),
                 at(torch::full({c.envs}, 6, torch::kInt64)),
                 at.Zeros({4, c.envs, c.actions}, torch::kUInt8),
                 at.Zeros({4, c.envs}, torch::kInt64),
                 at.Zeros({4, c.envs}),
                 at.Zeros({4, c.envs}),
                 at.Zeros({4, c.envs})};
  at.kernels.sample({.rows = c.rows,
                     .begin = c.begin,
                     .envs = c.envs,
                     .actions = c.actions,
                     .stream = KeyOf(Purpose::kExplore),
                     .scores = Pointer<float>(scores),
                     .value = Pointer<float>(value),
                     .mask = Bytes(mask),
                     .step = Pointer<std::int64_t>(step),
                     .draws = Pointer<std::int64_t>(out[1]),
                     .action = Pointer<std::int32_t>(out[0]),
                     .out_mask = Pointer<std::uint8_t>(out[2]),
                     .out_action = Pointer<std::int64_t>(out[3]),
                     .out_log_prob = Pointer<float>(out[4]),
                     .out_value = Pointer<float>(out[5]),
                     .out_entropy = Pointer<float>(out[6])},
                    nullptr);
  return out;
}

struct Columns {
  int steps, envs;
  torch::Tensor reward, discount, value, final_value, last_value, terminated, truncated, log_ratio;
};
Columns MakeColumns(int steps, int envs) {
  Stream draw(static_cast<std::uint64_t>(steps), Purpose::kTest);
  Columns c = {steps,
               envs,
               Normal({steps, envs}, draw),
               torch::full({steps, envs}, 0.97F),
               Normal({steps, envs}, draw),
               Normal({steps, envs}, draw),
               Normal({envs}, draw),
               torch::zeros({steps, envs}, torch::kUInt8),
               torch::zeros({steps, envs}, torch::kUInt8),
               Normal({steps, envs}, draw) * 0.7};
  for (std::int64_t k = 0; k < c.reward.numel(); ++k) {
    const auto kind = draw.Below(12);
    c.terminated.data_ptr<std::uint8_t>()[k] = kind == 0;
    c.truncated.data_ptr<std::uint8_t>()[k] = kind == 1;
    if (kind < 6 && kind > 2) c.discount.data_ptr<float>()[k] = 1.0F;  // within an instant
  }
  return c;
}
constexpr double kLambda = 0.9, kWithin = 0.99, kRhoBar = 1.2, kCBar = 0.9;
// advantage, returns
Tensors RunReturns(const Columns& c, bool v_trace, const Place& at) {
  const torch::Tensor reward = at(c.reward), discount = at(c.discount), value = at(c.value),
                      terminated = at(c.terminated), truncated = at(c.truncated),
                      final_value = at(c.final_value), last_value = at(c.last_value),
                      log_ratio = at(c.log_ratio);
  Tensors out = {at.Zeros({c.steps, c.envs}), at.Zeros({c.steps, c.envs})};
  at.kernels.returns({{.steps = c.steps,
                       .envs = c.envs,
                       .reward = Pointer<float>(reward),
                       .discount = Pointer<float>(discount),
                       .value = Pointer<float>(value),
                       .terminated = Bytes(terminated),
                       .truncated = Bytes(truncated),
                       .final_value = Pointer<float>(final_value),
                       .last_value = Pointer<float>(last_value),
                       .lambda = kLambda,
                       .lambda_within_instant = kWithin,
                       .log_ratio = v_trace ? Pointer<float>(log_ratio) : nullptr,
                       .rho_bar = kRhoBar,
                       .c_bar = kCBar},
                      v_trace,
                      Pointer<float>(out[0]),
                      Pointer<float>(out[1])},
                     nullptr);
  return out;
}

struct PpoCase {
  std::int64_t rows, all, actions;
  double clip, value_clip;
  torch::Tensor row, scores, value;
  PpoBatch rollout;  // of all rows; the advantage is of the minibatch's
};
PpoCase MakePpoCase(double value_clip) {
  Stream draw(value_clip > 0 ? 1 : 2, Purpose::kTest);
  PpoCase c = {50, 120, 37, 0.2, value_clip, {}, {}, {}, {}};
  c.row = torch::empty({c.rows}, torch::kInt64);
  for (std::int64_t r = 0; r < c.rows; ++r) c.row[r] = static_cast<std::int64_t>(draw.Below(120));
  c.scores = Normal({c.rows, c.actions}, draw);
  c.value = Normal({c.rows}, draw);
  const torch::Tensor mask = Masks(c.all, c.actions, draw);
  torch::Tensor action = torch::empty({c.all}, torch::kInt64);
  for (std::int64_t k = 0; k < c.all; ++k) action[k] = mask[k].argmax();
  // Near what the scores give, so that some ratios are clipped and some are not.
  c.rollout = {mask,
               action,
               torch::zeros({c.all}),
               Normal({c.rows}, draw),
               Normal({c.all}, draw),
               Normal({c.all}, draw)};
  const torch::Tensor now = MakeMaskedDistribution(c.scores, mask.index_select(0, c.row))
                                .log_prob.gather(1, action.index_select(0, c.row).unsqueeze(1));
  c.rollout.old_log_prob.index_copy_(0, c.row, now.squeeze(1) + Normal({c.rows}, draw) * 0.2);
  return c;
}
// d_scores, d_value, sums
Tensors RunPpo(const PpoCase& c, const Place& at) {
  const torch::Tensor row = at(c.row), scores = at(c.scores), value = at(c.value),
                      advantage = at(c.rollout.advantage), mask = at(c.rollout.mask),
                      action = at(c.rollout.action), old = at(c.rollout.old_log_prob),
                      returns = at(c.rollout.returns), old_value = at(c.rollout.old_value),
                      clip = at(torch::full({1}, c.clip, torch::kFloat64)),
                      ent_coef = at(torch::full({1}, 0.01, torch::kFloat64));
  Tensors out = {at.Zeros({c.rows, c.actions}), at.Zeros({c.rows}), at.Zeros({c.rows, cuda::kPpoSums})};
  at.kernels.ppo({.rows = static_cast<int>(c.rows),
                  .actions = static_cast<int>(c.actions),
                  .coefficients = {9.0, c.value_clip, 0.5, 9.0, static_cast<double>(c.rows)},
                  .clip = Pointer<double>(clip),
                  .ent_coef = Pointer<double>(ent_coef),
                  .row = Pointer<std::int64_t>(row),
                  .scores = Pointer<float>(scores),
                  .value = Pointer<float>(value),
                  .advantage = Pointer<float>(advantage),
                  .mask = Bytes(mask),
                  .action = Pointer<std::int64_t>(action),
                  .old_log_prob = Pointer<float>(old),
                  .returns = Pointer<float>(returns),
                  .old_value = Pointer<float>(old_value),
                  .d_scores = Pointer<float>(out[0]),
                  .d_value = Pointer<float>(out[1]),
                  .sums = Pointer<float>(out[2])},
                 nullptr);
  return out;
}

// Row numbers of every minibatch of two epochs of 1,000 rows, 300 a minibatch.
Tensors RunShuffle(const Place& at) {
  Tensors out;
  for (std::int64_t m = 0; m < 8; ++m) {
    const int rows = m % 4 == 3 ? 100 : 300;
    const torch::Tensor minibatch = at(torch::full({1}, m, torch::kInt64)),
                        epoch = at(torch::full({1}, 7, torch::kInt64));
    out.push_back(at.Zeros({rows}, torch::kInt64));
    at.kernels.shuffle({rows, 1000, 300, 4, KeyOf(Purpose::kShuffle), Pointer<std::int64_t>(minibatch),
                        Pointer<std::int64_t>(epoch), Pointer<std::int64_t>(out.back())},
                       nullptr);
  }
  return out;
}

constexpr std::int64_t kLeaves = 37, kFirst = 64;  // in a tree of 64
// Sets leaves, draws, sets others, draws again: nodes, then leaf and probability of each round.
Tensors RunTree(const Place& at) {
  Tensors out = {at.Zeros({2 * kFirst}, torch::kFloat64)};
  const torch::Tensor position = at(torch::zeros({1}, torch::kInt64));
  Stream draw(3, Purpose::kTest);
  for (int round = 0; round < 2; ++round) {
    torch::Tensor leaf = torch::empty({round == 0 ? kLeaves : 9}, torch::kInt64);
    torch::Tensor value = torch::empty({leaf.numel()}, torch::kFloat64);
    for (std::int64_t k = 0; k < leaf.numel(); ++k) {
      leaf[k] = round == 0 ? k : 4 * k;
      value[k] = k % 5 == 0 ? 0.0 : draw.Uniform();
    }
    const torch::Tensor leaf_there = at(leaf), value_there = at(value);
    at.kernels.set({static_cast<int>(leaf.numel()), Pointer<double>(out[0]), kFirst,
                    Pointer<std::int64_t>(leaf_there), Pointer<double>(value_there)},
                   nullptr);
    out.push_back(at.Zeros({50}, torch::kInt64));
    out.push_back(at.Zeros({50}, torch::kFloat64));
    at.kernels.draw(
        {50, Pointer<double>(out[0]), kFirst, KeyOf(Purpose::kReplay), Pointer<std::int64_t>(position),
         Pointer<std::int64_t>(out[out.size() - 2]), Pointer<double>(out.back())},
        nullptr);
  }
  return out;
}

double LargestGap(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

}  // namespace

TEST_CASE("cuda numbers: exp and log to 3e-7, Philox and uniform draws those of Stream to the bit") {
  for (float x = -87.0F; x < 88.0F; x += 0.0371F)
    CHECK(cuda::Exp(x) == Approx(std::exp(static_cast<double>(x))).epsilon(3e-7));
  CHECK(cuda::Exp(0.0F) == 1.0F);
  CHECK(cuda::Log(1.0F) == 0.0F);
  for (double x = 1e-30; x < 1e30; x *= 1.37) {
    const auto f = static_cast<float>(x);
    const double exact = std::log(static_cast<double>(f));
    CHECK(std::abs(cuda::Log(f) - exact) < 3e-7 * (1.0 + std::abs(exact)));
  }
  Stream stream(kSeed, Purpose::kExplore, Split::kTrain, 9);
  for (std::uint64_t k = 0; k < 50; ++k)
    CHECK(cuda::UniformAt(KeyOf(Purpose::kExplore, 9), 2 * k) == stream.Uniform());
}

TEST_CASE("cuda sampling: the actions of the CPU's sampler, log-probability and entropy to 1e-5") {
  for (const int actions : {1, 3, 31, 32, 33, 97, 300}) {
    CAPTURE(actions);
    const SampleCase c = MakeSampleCase(actions);
    const Tensors out = RunSample(c, kHost);
    const MaskedDistribution policy = MakeMaskedDistribution(c.scores, c.mask);
    for (int r = 0; r < c.rows; ++r) {
      const int env = c.begin + r;
      Stream stream(kSeed, Purpose::kExplore, Split::kTrain, static_cast<std::uint32_t>(env));
      stream.Seek(6);
      const torch::Tensor row = c.scores[r].contiguous(), mask = c.mask[r].contiguous();
      const auto n = static_cast<std::size_t>(actions);
      const MaskedSample sample = SampleMasked({Pointer<float>(row), n}, {Bytes(mask), n}, stream);
      CHECK(out[0][r].item<int>() == sample.action);
      CHECK(out[3][c.step][env].item<int>() == sample.action);
      CHECK(out[4][c.step][env].item<float>() == Approx(sample.log_prob).margin(1e-5));
      CHECK(out[6][c.step][env].item<float>() == Approx(policy.entropy[r].item<float>()).margin(1e-5));
      CHECK(out[5][c.step][env].item<float>() == c.value[r].item<float>());
      CHECK(out[2][c.step][env].equal(mask));
      CHECK(out[1][env].item<std::int64_t>() == static_cast<std::int64_t>(stream.position()));
    }
    // What belongs to others is left alone.
    CHECK(out[2].sum().item<std::int64_t>() == c.mask.sum().item<std::int64_t>());
    CHECK(out[1].sum().item<std::int64_t>() == 6 * c.envs + 2 * c.rows);
  }
}

TEST_CASE("cuda sampling: how often an action is drawn is its probability") {
  // Legal scores 0, log 2, log 5: probabilities 1/8, 2/8, 5/8.
  const float scores[] = {0.0F, 50.0F, std::log(2.0F), std::log(5.0F)};
  const std::uint8_t mask[] = {1, 0, 1, 1};
  const int n = 8000;
  double count[4] = {};
  for (int k = 0; k < n; ++k) {
    const double u = cuda::UniformAt(KeyOf(Purpose::kTest), static_cast<std::uint64_t>(2 * k));
    count[cuda::SampleRow(cuda::Warp{}, {scores, mask, 4}, u).action] += 1.0;
  }
  const double expected[] = {n / 8.0, 0.0, n / 4.0, 5.0 * n / 8.0};
  CHECK(count[1] == 0.0);
  double chi2 = 0.0;
  for (const int a : {0, 2, 3}) chi2 += (count[a] - expected[a]) * (count[a] - expected[a]) / expected[a];
  CHECK(chi2 < 13.8);  // 99.9% of two degrees of freedom
}

TEST_CASE("cuda GAE: the scan gives the sequential advantages to 1e-6") {
  for (const int steps : {1, 2, 31, 32, 33, 64, 300}) {
    CAPTURE(steps);
    const Columns c = MakeColumns(steps, 7);
    const Tensors out = RunReturns(c, false, kHost);
    std::vector<float> advantage(static_cast<std::size_t>(steps * 7)), returns(advantage.size());
    const auto floats = [](const torch::Tensor& t) {
      return std::span<const float>(t.data_ptr<float>(), static_cast<std::size_t>(t.numel()));
    };
    const auto bytes = [](const torch::Tensor& t) {
      return std::span<const std::uint8_t>(Bytes(t), static_cast<std::size_t>(t.numel()));
    };
    Gae({steps, 7, floats(c.reward), floats(c.discount), floats(c.value), bytes(c.terminated),
         bytes(c.truncated), floats(c.final_value), floats(c.last_value)},
        kLambda, kWithin, advantage, returns);
    for (std::size_t k = 0; k < advantage.size(); ++k) {
      CHECK(Pointer<float>(out[0])[k] == Approx(advantage[k]).epsilon(1e-6).margin(1e-6));
      CHECK(Pointer<float>(out[1])[k] == Approx(returns[k]).epsilon(1e-6).margin(1e-6));
    }
  }
}

TEST_CASE("cuda V-trace: the sum of its definition") {
  const int steps = 45, envs = 3;
  const Columns c = MakeColumns(steps, envs);
  const Tensors out = RunReturns(c, true, kHost);
  const auto at = [&](const torch::Tensor& column, int t, int i) {
    return static_cast<double>(column[t][i].item<float>());
  };
  for (int i = 0; i < envs; ++i) {
    std::vector<double> v(static_cast<std::size_t>(steps) + 1);
    // Espeholt et al. 2018, eq. 1: v_s = V(x_s) + sum over t >= s of (products of discount_j c_j, j from s to
    // t - 1) times rho_t (r_t + discount_t V(x_(t+1)) - V(x_t)), up to the end of the episode.
    for (int s = 0; s < steps; ++s) {
      double sum = 0.0, product = 1.0;
      for (int t = s; t < steps; ++t) {
        const bool terminated = c.terminated[t][i].item<bool>(), truncated = c.truncated[t][i].item<bool>();
        const double next = terminated       ? 0.0
                            : truncated      ? at(c.final_value, t, i)
                            : t + 1 == steps ? static_cast<double>(c.last_value[i].item<float>())
                                             : at(c.value, t + 1, i);
        const double ratio = std::exp(at(c.log_ratio, t, i)), discount = at(c.discount, t, i);
        sum +=
            product * std::min(kRhoBar, ratio) * (at(c.reward, t, i) + discount * next - at(c.value, t, i));
        if (terminated || truncated) break;
        product *= discount * (discount < 1.0 ? kLambda : kWithin) * std::min(kCBar, ratio);
      }
      v[static_cast<std::size_t>(s)] = at(c.value, s, i) + sum;
      CHECK(at(out[1], s, i) == Approx(v[static_cast<std::size_t>(s)]).epsilon(2e-6).margin(2e-6));
    }
    v[static_cast<std::size_t>(steps)] = c.last_value[i].item<float>();
    for (int s = 0; s < steps; ++s) {
      const bool terminated = c.terminated[s][i].item<bool>(), truncated = c.truncated[s][i].item<bool>();
      const double next = terminated  ? 0.0
                          : truncated ? at(c.final_value, s, i)
                                      : v[static_cast<std::size_t>(s) + 1];
      const double rho = std::min(kRhoBar, std::exp(at(c.log_ratio, s, i)));
      CHECK(at(out[0], s, i) ==
            Approx(rho * (at(c.reward, s, i) + at(c.discount, s, i) * next - at(c.value, s, i)))
                .epsilon(2e-6)
                .margin(2e-6));
    }
  }
}

TEST_CASE("cuda PPO rows: losses and gradients of autograd to 1e-5") {
  for (const double value_clip : {0.0, 0.3}) {
    CAPTURE(value_clip);
    const PpoCase c = MakePpoCase(value_clip);
    const Tensors out = RunPpo(c, kHost);
    const torch::Tensor scores = c.scores.clone().set_requires_grad(true),
                        value = c.value.clone().set_requires_grad(true);
    const auto of = [&](const torch::Tensor& column) { return column.index_select(0, c.row); };
    const PpoSums sums = PpoLoss(scores, value,
                                 {of(c.rollout.mask), of(c.rollout.action), of(c.rollout.old_log_prob),
                                  c.rollout.advantage, of(c.rollout.returns), of(c.rollout.old_value)},
                                 c.clip, value_clip);
    ((sums.policy_loss + 0.5 * sums.value_loss - 0.01 * sums.entropy) / static_cast<double>(c.rows))
        .backward();
    CHECK(LargestGap(out[0], scores.grad()) < 1e-5 * scores.grad().abs().max().item<double>());
    CHECK(LargestGap(out[1], value.grad()) < 1e-5 * value.grad().abs().max().item<double>());
    const torch::Tensor mine = out[2].sum(0);
    CHECK(mine[0].item<float>() == Approx(sums.policy_loss.item<float>()).epsilon(1e-5));
    CHECK(mine[1].item<float>() == Approx(sums.value_loss.item<float>()).epsilon(1e-5));
    CHECK(mine[2].item<float>() == Approx(sums.entropy.item<float>()).epsilon(1e-5));
    CHECK(mine[3].item<float>() == Approx(sums.figures[0].item<float>()).epsilon(1e-4));
    CHECK(mine[4].item<float>() == Approx(sums.figures[1].item<float>()).epsilon(1e-4));
    CHECK(mine[5].item<float>() == sums.figures[2].item<float>());
    CHECK(mine[5].item<float>() > 5.0F);  // some are clipped, some are not
    CHECK(mine[5].item<float>() < 45.0F);
    CHECK(out[2].amax(0)[6].item<float>() == Approx(sums.figures[3].item<float>()).epsilon(1e-5));
  }
}

TEST_CASE("cuda shuffle: every row once an epoch, another order in the next") {
  const Tensors out = RunShuffle(kHost);
  const torch::Tensor first = torch::cat({out[0], out[1], out[2], out[3]}),
                      second = torch::cat({out[4], out[5], out[6], out[7]});
  for (const torch::Tensor& epoch : {first, second})
    CHECK(std::get<0>(epoch.sort()).equal(torch::arange(1000)));
  CHECK(first.eq(second).sum().item<int>() < 10);
  for (const std::int64_t n : {1, 2, 3, 5, 64, 65, 1000, 4096}) {
    std::set<std::int64_t> seen;
    for (std::int64_t k = 0; k < n; ++k) seen.insert(cuda::Shuffled(k, n, KeyOf(Purpose::kShuffle)));
    CHECK(static_cast<std::int64_t>(seen.size()) == n);
    CHECK(*seen.rbegin() == n - 1);
  }
}

TEST_CASE("cuda shuffle: every order of three, and every place, is as likely") {
  const int n = 6000;
  double orders[6] = {}, places[10] = {};
  cuda::StreamKey key = KeyOf(Purpose::kShuffle);
  for (int k = 0; k < n; ++k) {
    key.episode = static_cast<std::uint32_t>(k);
    const auto a = cuda::Shuffled(0, 3, key), b = cuda::Shuffled(1, 3, key);
    orders[2 * a + (b > 3 - a - b)] += 1.0;
    places[cuda::Shuffled(4, 10, key)] += 1.0;
  }
  double of_orders = 0.0, of_places = 0.0;
  for (const double x : orders) of_orders += (x - n / 6.0) * (x - n / 6.0) / (n / 6.0);
  for (const double x : places) of_places += (x - n / 10.0) * (x - n / 10.0) / (n / 10.0);
  CHECK(of_orders < 20.5);  // 99.9% of 5 degrees of freedom
  CHECK(of_places < 27.9);  // ... of 9
}

TEST_CASE("cuda priorities: the draws and sums of the CPU's tree to the bit") {
  const Tensors out = RunTree(kHost);
  SumTree tree(static_cast<std::size_t>(kLeaves));
  Stream draw(3, Purpose::kTest), uniform(kSeed, Purpose::kReplay);
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t k = 0; k < (round == 0 ? static_cast<std::size_t>(kLeaves) : 9); ++k)
      tree.Set(round == 0 ? k : 4 * k, k % 5 == 0 ? 0.0 : draw.Uniform());
    const double part = tree.total() / 50.0;
    for (std::int64_t b = 0; b < 50; ++b) {
      const std::size_t leaf = tree.Find((static_cast<double>(b) + uniform.Uniform()) * part);
      CHECK(out[1 + 2 * round][b].item<std::int64_t>() == static_cast<std::int64_t>(leaf));
      CHECK(out[2 + 2 * round][b].item<double>() == tree[leaf] / tree.total());
    }
  }
  CHECK(out[0][1].item<double>() == tree.total());
}

TEST_CASE("on a GPU the kernels give the host's bits") {
  DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  const cuda::CudaLibrary* library = cuda::OpenCudaLibrary(&why);
  if (library == nullptr) return test::Skip("needs the preset cuda: " + why);
  const Place gpu = {*library->kernels, torch::Device(torch::kCUDA, 0)};
  const auto same = [&](const auto& run) {
    const Tensors host = run(kHost), device = run(gpu);
    for (std::size_t k = 0; k < host.size(); ++k) {
      CAPTURE(k);
      CHECK(device[k].cpu().equal(host[k]));
    }
  };
  for (const int actions : {1, 33, 97})
    same([&](const Place& at) { return RunSample(MakeSampleCase(actions), at); });
  for (const bool v_trace : {false, true})
    same([&](const Place& at) { return RunReturns(MakeColumns(45, 7), v_trace, at); });
  for (const double clip : {0.0, 0.3}) same([&](const Place& at) { return RunPpo(MakePpoCase(clip), at); });
  same(RunShuffle);
  same(RunTree);
}

}  // namespace berth
