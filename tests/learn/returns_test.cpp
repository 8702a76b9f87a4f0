// What PPO and DQN are made of (Huang et al., "The 37 implementation details of PPO", 2022): returns, the
// masked categorical, Adam, normalisation; and the event file.
#include "agents/learner/returns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "agents/learner/return_normalizer.hpp"
#include "agents/nn/adam.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "agents/train/progress_log.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// A rollout of one or more environments with everything random; discounts are `gamma`, or 1 now and then.
struct Rollout {
  Rollout(int steps, int envs, double gamma, bool instants, std::uint64_t seed) : t(steps), n(envs) {
    Stream draw(seed, Purpose::kTest);
    for (int k = 0; k < steps * envs; ++k) {
      reward.push_back(static_cast<float>(draw.Normal()));
      value.push_back(static_cast<float>(draw.Normal()));
      final_value.push_back(static_cast<float>(draw.Normal()));
      const auto kind = draw.Below(10);
      terminated.push_back(kind == 0);
      truncated.push_back(kind == 1);
      discount.push_back(instants && draw.Below(2) == 0 ? 1.0F : static_cast<float>(gamma));
    }
    for (int i = 0; i < envs; ++i) last_value.push_back(static_cast<float>(draw.Normal()));
    advantage.resize(reward.size());
    returns.resize(reward.size());
  }
  void Run(double lambda, double within) {
    Gae({t, n, reward, discount, value, terminated, truncated, final_value, last_value}, lambda, within,
        advantage, returns);
  }
  std::size_t At(int step, int env) const { return static_cast<std::size_t>(step * n + env); }
  double Next(int step, int env) const {
    const std::size_t k = At(step, env);
    if (terminated[k]) return 0.0;
    if (truncated[k]) return final_value[k];
    return step + 1 == t ? last_value[static_cast<std::size_t>(env)] : value[At(step + 1, env)];
  }
  int t, n;
  std::vector<float> reward, discount, value, final_value, last_value, advantage, returns;
  std::vector<std::uint8_t> terminated, truncated;
};

// The definition: a sum over all later steps of the episode, each with the product of the decays before it.
double ReferenceAdvantage(const Rollout& r, int step, int env, double lambda, double within) {
  double sum = 0.0, decay = 1.0;
  for (int s = step; s < r.t; ++s) {
    const std::size_t k = r.At(s, env);
    sum += decay * (r.reward[k] + static_cast<double>(r.discount[k]) * r.Next(s, env) - r.value[k]);
    if (r.terminated[k] || r.truncated[k]) break;
    decay *= static_cast<double>(r.discount[k]) * (r.discount[k] < 1.0F ? lambda : within);
  }
  return sum;
}

}  // namespace

TEST_CASE("generalised advantages of three steps by hand") {
  // gamma 0.5, lambda 0.5, V = 1, 2, 3, then 4; r = 1, 0, 2.
  // delta = 1 + 0.5*2 - 1 = 1;  0 + 0.5*3 - 2 = -0.5;  2 + 0.5*4 - 3 = 1.
  // A2 = 1;  A1 = -0.5 + 0.25*1 = -0.25;  A0 = 1 + 0.25*(-0.25) = 0.9375.
  Rollout r(3, 1, 0.5, false, 1);
  r.reward = {1, 0, 2}, r.value = {1, 2, 3}, r.last_value = {4};
  r.terminated = r.truncated = {0, 0, 0};
  r.Run(0.5, 1.0);
  CHECK(r.advantage == std::vector<float>{0.9375F, -0.25F, 1.0F});
  CHECK(r.returns == std::vector<float>{1.9375F, 1.75F, 4.0F});

  // The middle step ends the episode: delta1 = 0 - 2 when terminated; 0 + 0.5*6 - 2 = 1 with V(final) = 6
  // when truncated; A0 = 1 + 0.25 * delta1, and A2 starts anew.
  r.terminated = {0, 1, 0}, r.final_value = {0, 6, 0};
  r.Run(0.5, 1.0);
  CHECK(r.advantage == std::vector<float>{0.5F, -2.0F, 1.0F});
  r.terminated = {0, 0, 0}, r.truncated = {0, 1, 0};
  r.Run(0.5, 1.0);
  CHECK(r.advantage == std::vector<float>{1.25F, 1.0F, 1.0F});
}

TEST_CASE("generalised advantages equal their definition on random rollouts") {
  for (const bool instants : {false, true}) {
    for (const double within : {0.5, 1.0}) {
      Rollout r(40, 3, 0.9, instants, 7);
      r.Run(0.8, within);
      for (int env = 0; env < r.n; ++env) {
        for (int step = 0; step < r.t; ++step) {
          const double expected = ReferenceAdvantage(r, step, env, 0.8, within);
          CHECK(r.advantage[r.At(step, env)] == Approx(expected).margin(1e-6).epsilon(1e-6));
        }
      }
    }
  }
}

TEST_CASE("lambda 1 gives the Monte Carlo return, lambda 0 the TD error") {
  Rollout r(20, 2, 0.9, false, 3);
  r.Run(0.0, 0.0);
  for (int env = 0; env < 2; ++env) {
    for (int step = 0; step < r.t; ++step) {
      const std::size_t k = r.At(step, env);
      CHECK(r.advantage[k] == Approx(r.reward[k] + 0.9F * r.Next(step, env) - r.value[k]).margin(1e-6));
    }
  }
  r.Run(1.0, 1.0);
  for (int env = 0; env < 2; ++env) {
    for (int step = r.t - 1; step >= 0; --step) {
      // The return follows r + gamma * (what follows), whatever V says in between.
      const std::size_t k = r.At(step, env);
      const bool bootstraps = r.terminated[k] || r.truncated[k] || step + 1 == r.t;
      const double next = bootstraps ? r.Next(step, env) : r.returns[r.At(step + 1, env)];
      CHECK(r.returns[k] == Approx(r.reward[k] + 0.9F * next).margin(1e-5));
    }
  }
}

TEST_CASE("credit does not decay within an instant") {
  // Four micro-actions of one instant (discount 1, reward 0), then a reward of 8; V is 0 everywhere.
  Rollout r(5, 1, 0.5, false, 1);
  r.reward = {0, 0, 0, 0, 8}, r.discount = {1, 1, 1, 1, 0.5F};
  std::fill(r.value.begin(), r.value.end(), 0.0F);
  r.terminated = r.truncated = {0, 0, 0, 0, 0}, r.last_value = {0};
  r.Run(0.5, 1.0);
  CHECK(r.advantage == std::vector<float>{8, 8, 8, 8, 8});
  r.Run(0.5, 0.5);
  CHECK(r.advantage == std::vector<float>{0.5F, 1, 2, 4, 8});
}

TEST_CASE("nothing of the next episode reaches the last one") {
  Rollout r(12, 1, 0.9, false, 5);
  for (const bool terminates : {true, false}) {
    std::fill(r.terminated.begin(), r.terminated.end(), std::uint8_t{0});
    r.truncated = r.terminated;
    (terminates ? r.terminated : r.truncated)[5] = 1;
    r.Run(0.95, 1.0);
    const std::vector<float> before(r.advantage.begin(), r.advantage.begin() + 6);
    const float after = r.advantage[6];
    Rollout other = r;
    for (std::size_t k = 6; k < 12; ++k) other.reward[k] += 100.0F, other.value[k] -= 50.0F;
    other.Run(0.95, 1.0);
    CHECK(std::vector<float>(other.advantage.begin(), other.advantage.begin() + 6) == before);
    CHECK(other.advantage[6] != after);
  }
}

TEST_CASE("n-step returns: rewards by the discounts before them, nothing after a termination") {
  NStep r;
  CHECK(r.length == 0);
  r.Add(1.0F, 0.5F, false);
  r.Add(2.0F, 0.25F, false);
  // 1 + 0.5*2, then 0.125 V.
  CHECK(r.reward == 2.0);
  CHECK(r.discount == 0.125);
  CHECK(r.length == 2);
  r.Add(4.0F, 0.5F, true);  // 1 + 0.5*2 + 0.125*4, nothing follows
  CHECK(r.reward == 2.5);
  CHECK(r.discount == 0.0);
  CHECK(r.length == 3);
}

TEST_CASE("explained variance: 1 for the truth, 0 for a constant, negative for worse") {
  const std::vector<float> truth = {1, 2, 3, 6};
  CHECK(ExplainedVariance(truth, truth) == Approx(1.0));
  CHECK(ExplainedVariance(std::vector<float>{5, 5, 5, 5}, truth) == Approx(0.0).margin(1e-12));
  CHECK(ExplainedVariance(std::vector<float>{-1, -2, -3, -6}, truth) == Approx(-3.0));
  CHECK(std::isnan(ExplainedVariance(truth, std::vector<float>{2, 2, 2, 2})));
}

TEST_CASE("masked categorical: frequencies, log-probabilities, entropy") {
  const std::vector<float> logits = {0.5F, 9.0F, -1.0F, 2.0F, 0.0F};
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 0};
  const torch::Tensor scores = torch::tensor(logits).unsqueeze(0);
  const torch::Tensor allowed = torch::tensor(std::vector<int>{1, 0, 1, 1, 0}, torch::kUInt8).unsqueeze(0);
  const MaskedDistribution policy = MakeMaskedDistribution(scores, allowed);
  double total = 0.0, entropy = 0.0;
  for (const float l : {0.5F, -1.0F, 2.0F}) total += std::exp(l);
  for (const float l : {0.5F, -1.0F, 2.0F}) entropy -= std::exp(l) / total * std::log(std::exp(l) / total);
  CHECK(policy.entropy[0].item<double>() == Approx(entropy).epsilon(1e-5));

  constexpr int kDraws = 30000;
  std::array<int, 5> counts{};
  Stream stream(1, Purpose::kTest);
  for (int k = 0; k < kDraws; ++k) {
    const MaskedSample sample = SampleMasked(logits, mask, stream);
    const auto a = static_cast<std::size_t>(sample.action);
    REQUIRE(mask[a] == 1);
    ++counts[a];
    REQUIRE(sample.log_prob == Approx(policy.log_prob[0][sample.action].item<double>()).margin(1e-6));
  }
  CHECK(stream.position() == 2 * kDraws);  // one double a sample
  // Two degrees of freedom: beyond 18.4 with probability 1e-4.
  double chi = 0.0;
  for (const std::size_t a : {0U, 2U, 3U}) {
    const double expected = kDraws * std::exp(logits[a]) / total;
    chi += (counts[a] - expected) * (counts[a] - expected) / expected;
  }
  CHECK(chi < 18.4);
}

TEST_CASE(
    "masked categorical: gradients at masked logits are exactly 0, and one allowed action gives no NaN") {
  torch::Tensor scores = torch::tensor({{0.5F, 9.0F, -1.0F}, {1.0F, 2.0F, 3.0F}}).set_requires_grad(true);
  const torch::Tensor mask = torch::tensor({{1, 0, 1}, {0, 1, 0}}, torch::kUInt8);
  const MaskedDistribution policy = MakeMaskedDistribution(scores, mask);
  (policy.log_prob.gather(1, torch::tensor({{2}, {1}}, torch::kInt64)).sum() + policy.entropy.sum())
      .backward();
  CHECK(torch::isfinite(scores.grad()).all().item<bool>());
  CHECK(scores.grad()[0][1].item<double>() == 0.0);
  CHECK(scores.grad()[0][0].item<double>() != 0.0);
  CHECK(scores.grad()[1].abs().sum().item<double>() == 0.0);
  CHECK(policy.entropy[1].item<double>() == 0.0);
  CHECK(policy.log_prob[1][1].item<double>() == 0.0);
  CHECK(policy.log_prob[0][1].exp().item<double>() == 0.0);
  Stream stream(1, Purpose::kTest);
  const MaskedSample only = SampleMasked(std::array{1.0F, 2.0F}, std::array<std::uint8_t, 2>{0, 1}, stream);
  CHECK(only.action == 1);
  CHECK(only.log_prob == 0.0F);
}

TEST_CASE("the best and the uniform allowed action") {
  const std::array<float, 4> scores = {3, 7, 5, 5};
  CHECK(ArgmaxMasked(scores, std::array<std::uint8_t, 4>{1, 1, 1, 1}) == 1);
  CHECK(ArgmaxMasked(scores, std::array<std::uint8_t, 4>{1, 0, 1, 1}) == 2);
  Stream stream(1, Purpose::kTest);
  std::array<int, 4> counts{};
  for (int k = 0; k < 3000; ++k) {
    ++counts[static_cast<std::size_t>(UniformMasked(std::array<std::uint8_t, 4>{1, 0, 1, 1}, stream))];
  }
  CHECK(counts[1] == 0);
  for (const std::size_t a : {0U, 2U, 3U}) CHECK(std::abs(counts[a] - 1000) < 130);  // five deviations
}

TEST_CASE("Adam: two steps against the closed form") {
  const double lr = 0.1, eps = 1e-5;
  torch::Tensor parameter = torch::tensor({1.0F, -2.0F});
  Adam adam({parameter}, eps);
  adam.Step({torch::tensor({0.5F, -3.0F})}, lr);
  // Step 1: the moments' corrections cancel their decay: p -= lr g / (|g| + eps).
  CHECK(parameter[0].item<double>() == Approx(1.0 - lr * 0.5 / (0.5 + eps)).epsilon(1e-6));
  CHECK(parameter[1].item<double>() == Approx(-2.0 + lr * 3.0 / (3.0 + eps)).epsilon(1e-6));
  const double before = parameter[0].item<double>();
  adam.Step({torch::tensor({-1.0F, 0.0F})}, 0.05);
  const double m = (0.9 * 0.1 * 0.5 + 0.1 * -1.0) / (1 - 0.81);
  const double v = (0.999 * 0.001 * 0.25 + 0.001 * 1.0) / (1 - 0.999 * 0.999);
  CHECK(parameter[0].item<double>() == Approx(before - 0.05 * m / (std::sqrt(v) + eps)).epsilon(1e-6));
  CHECK(adam.steps() == 2);
}

TEST_CASE("gradients are clipped by their joint norm") {
  const double norm = GradientNorm({torch::tensor({3.0F}), torch::tensor({0.0F, 4.0F})});
  CHECK(norm == Approx(5.0));
  CHECK(ClipScale(norm, 10.0) == 1.0);
  CHECK(ClipScale(norm, 1.0) == Approx(0.2).epsilon(1e-5));
  // A step with the scale is the step with the gradient scaled.
  torch::Tensor scaled = torch::tensor({1.0F}), other = scaled.clone();
  Adam a({scaled}, 0.1), b({other}, 0.1);
  a.Step({torch::tensor({3.0F})}, 0.1, 0.25);
  b.Step({torch::tensor({0.75F})}, 0.1);
  CHECK(scaled.equal(other));
  CHECK(scaled[0].item<double>() == Approx(1.0 - 0.1 * 0.75 / 0.85));
}

TEST_CASE("the return normaliser finds the deviation of the discounted return and is saved") {
  ReturnNormalizer normalizer(2);
  const std::array<std::uint8_t, 2> no = {0, 0}, second = {0, 1};
  const std::array<float, 2> discount = {0.5F, 0.5F};
  std::vector<double> seen;
  std::array<double, 2> running = {0, 0};
  Stream draw(1, Purpose::kTest);
  for (int t = 0; t < 200; ++t) {
    const std::array<float, 2> reward = {static_cast<float>(draw.Normal() * 30.0),
                                         static_cast<float>(draw.Normal())};
    for (std::size_t i = 0; i < 2; ++i) seen.push_back(running[i] = 0.5 * running[i] + reward[i]);
    const bool ends = t % 7 == 0;
    normalizer.Update(reward, discount, no, ends ? second : no);
    if (ends) running[1] = 0.0;
  }
  double mean = 0.0, variance = 0.0;
  for (const double s : seen) mean += s / 400.0;
  for (const double s : seen) variance += (s - mean) * (s - mean) / 400.0;
  CHECK(normalizer.variance() == Approx(variance).epsilon(1e-4));
  CHECK(normalizer.Normalize(10.0F) == Approx(10.0 / std::sqrt(variance)).epsilon(1e-4));
  CHECK(normalizer.Normalize(1e6F) == ReturnNormalizer::kClip);

  const auto path = (std::filesystem::temp_directory_path() / "berth_normalizer.h5").string();
  h5::Writer out(path, "test", 1);
  normalizer.Save(out, "normalizer");
  out.Commit();
  ReturnNormalizer loaded(2);
  const h5::Reader in(path, "test", 1);
  loaded.Load(in, "normalizer");
  const std::array<float, 2> reward = {3, 4};
  loaded.Update(reward, discount, no, no);
  normalizer.Update(reward, discount, no, no);
  CHECK(loaded.variance() == normalizer.variance());
  std::filesystem::remove(path);
}

TEST_CASE("event files: CRC-32C and TFRecord frames") {
  CHECK(Crc32c("123456789") == 0xe3069283U);  // the check value of the polynomial
  const auto path = (std::filesystem::temp_directory_path() / "berth_events").string();
  {
    EventWriter events(path);
    events.Scalar("losses/entropy", 300, 1.5, 0.25F);
  }
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> records;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t size = 0;
    REQUIRE(at + 12 <= bytes.size());
    std::memcpy(&size, bytes.data() + at, 8);
    REQUIRE(at + 16 + size <= bytes.size());
    for (const auto& [begin, length] :
         {std::pair{at, std::size_t{8}}, std::pair{at + 12, std::size_t{size}}}) {
      std::uint32_t stored = 0;
      std::memcpy(&stored, bytes.data() + begin + length, 4);
      const std::uint32_t crc = Crc32c(std::string_view(bytes).substr(begin, length));
      CHECK(stored == ((crc >> 15) | (crc << 17)) + 0xa282ead8U);
    }
    records.push_back(bytes.substr(at + 12, size));
    at += 16 + size;
  }
  REQUIRE(records.size() == 2);
  CHECK(records[0].find("brain.Event:2") != std::string::npos);
  // wall_time 1.5 as field 1; step 300 = 0xac 0x02 as field 2; then summary { value { tag, simple_value 0.25
  // } }.
  const std::string expected = std::string("\x09\0\0\0\0\0\0\xf8\x3f", 9) + "\x10\xac\x02" +
                               "\x2a\x17\x0a\x15\x0a\x0e" + "losses/entropy" +
                               std::string("\x15\0\0\x80\x3e", 5);
  CHECK(records[1] == expected);
  std::filesystem::remove(path);
}

}  // namespace berth
