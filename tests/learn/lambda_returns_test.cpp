// The lambda-returns of soft deep Q-learning by hand, and what they learn.
#include "agents/dqn/lambda_returns.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/toy_envs.hpp"

namespace berth {
namespace {

// Two actions; an observation x [1] is worth 10 x, and its scores are 0 and x.
class StubLearner final : public QLearner {
 public:
  void Scores(std::span<const float* const>, std::span<float>) override {}
  void ScoresAndValues(std::span<const float* const> rows, std::span<float> scores,
                       std::span<float> values) override {
    passes += rows.size();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      scores[2 * r] = 0.0F;
      scores[2 * r + 1] = rows[r][0];
      values[r] = 10.0F * rows[r][0];
    }
  }
  TdFigures Gradient(const TdBatch&, std::span<float>) override { return {}; }
  const torch::Tensor& gradient() const override { return gradient_; }
  std::size_t passes = 0;

 private:
  torch::Tensor gradient_;
};

enum class End { kNone, kTerminated, kTruncated, kNothingLeft };

// One environment: where it stands, then a step at a time.
struct History {
  explicit History(float first) { Stand(replay.Now(), first); }
  static void Stand(const StepBuffers& now, float x) {
    now.observation[0] = x;
    now.action_mask[0] = now.action_mask[1] = 1;
  }
  // Action 1; an episode that was cut ended at `last`.
  void Step(float reward, float discount, float next, End end = End::kNone, float last = 0.0F) {
    const StepBuffers out = replay.Outcome(std::vector<std::int32_t>{1});
    out.reward[0] = reward;
    out.discount[0] = discount;
    out.terminated[0] = end == End::kTerminated;
    out.truncated[0] = end == End::kTruncated || end == End::kNothingLeft;
    if (end != End::kNone) out.final_observation[0] = last;
    if (end == End::kTruncated) out.final_mask[0] = 1, out.final_mask[1] = 0;
    Stand(out, next);
    replay.Advance();
  }
  Replay replay{8, 1, 1, 1, 2};
};

// Q - V of action 1 at x under softmax(Q / temperature): x (1 - p), p = 1 / (1 + exp(-x / temperature)).
double Advantage(double x, double temperature) {
  return x - x / (1.0 + std::exp(-x / temperature));
}

}  // namespace

TEST_CASE("lambda-returns by hand: 1 within an instant, advantages kept, values of the policy") {
  // x: 1, 1 (one instant), 2, now 3; rewards times 2.
  History history(1.0F);
  history.Step(0.0F, 1.0F, 1.0F);
  history.Step(1.5F, 0.5F, 2.0F);
  history.Step(0.5F, 0.5F, 3.0F);
  StubLearner learner;
  for (const double gap : {0.0, 0.9}) {
    CAPTURE(gap);
    LambdaReturns returns({.lambda = 0.75, .gap = gap, .dueling = true}, 2);
    returns.Work(history.replay, learner, 2.0, 0.5);
    // G_2 = 1 + 0.5 30 = 16; G_1 = 3 + 0.5 (0.25 20 + 0.75 16) = 11.5; G_0 = G_1, though V there is 10.
    CHECK(returns.Goal(2) == Approx(16.0 + gap * Advantage(2.0, 0.5)));
    CHECK(returns.Goal(1) == Approx(11.5 + gap * Advantage(1.0, 0.5)));
    CHECK(returns.Goal(0) == Approx(11.5 + gap * Advantage(1.0, 0.5)));
  }
  CHECK(learner.passes == 2 * 3);  // an instant's observation once
  // Without a value head V is the policy's mean score: of 3, 3 / (1 + exp(-6)).
  LambdaReturns plain({.lambda = 0.0, .gap = 0.0, .dueling = false}, 2);
  plain.Work(history.replay, learner, 1.0, 0.5);
  CHECK(plain.Goal(2) == Approx(0.5 + 0.5 * 3.0 / (1.0 + std::exp(-6.0))));
}

TEST_CASE("lambda-returns end with the episode, bootstrap where it was cut, and leave out what is unknown") {
  History history(1.0F);
  history.Step(1.0F, 0.5F, 2.0F, End::kTerminated);
  history.Step(1.0F, 0.5F, 3.0F, End::kTruncated, 7.0F);
  history.Step(1.0F, 0.5F, 4.0F);
  history.Step(9.0F, 0.5F, 5.0F, End::kNothingLeft);
  StubLearner learner;
  LambdaReturns returns({.lambda = 0.75, .gap = 0.0, .dueling = true}, 2);
  returns.Work(history.replay, learner, 1.0, 0.5);
  CHECK(returns.Goal(0) == Approx(1.0));               // nothing follows
  CHECK(returns.Goal(1) == Approx(1.0 + 0.5 * 70.0));  // the value of 7
  CHECK(returns.Goal(2) == Approx(1.0 + 0.5 * 40.0));  // of 4, whose own return is unknown
  Stream draws(1, Purpose::kTest);
  std::set<std::int64_t> dealt;
  for (int k = 0; k < 3; ++k) dealt.insert(returns.Next(draws));
  CHECK(dealt == std::set<std::int64_t>{0, 1, 2});
  // Nothing but the last step: an error, no endless loop.
  History nothing(1.0F);
  nothing.Step(9.0F, 0.5F, 5.0F, End::kNothingLeft);
  CHECK_THROWS_WITH(returns.Work(nothing.replay, learner, 1.0, 0.5),
                    Catch::Contains("expected steps that can be learnt from"));
}

TEST_CASE("soft Q-learning: instants are dealt out whole, each once before one comes again") {
  History history(1.0F);
  for (const float next : {1.0F, 1.0F, 2.0F, 3.0F, 3.0F}) history.Step(0.0F, 0.9F, next);
  StubLearner learner;
  LambdaReturns returns({.lambda = 0.9, .gap = 0.0, .dueling = true}, 2);
  returns.Work(history.replay, learner, 1.0, 1.0);
  Stream draws(1, Purpose::kTest);
  for (int pass = 0; pass < 4; ++pass) {
    std::vector<std::int64_t> order;
    for (int k = 0; k < 5; ++k) order.push_back(returns.Next(draws));
    const auto at = [&](std::int64_t step) {
      return std::find(order.begin(), order.end(), step) - order.begin();
    };
    REQUIRE(std::set<std::int64_t>(order.begin(), order.end()).size() == 5);
    CHECK(std::max({at(0), at(1), at(2)}) - std::min({at(0), at(1), at(2)}) == 2);
  }
}

}  // namespace berth
