// Where one episode ends and the next begins (Pardo et al., "Time limits in reinforcement learning", 2018):
// what PPO and the replay buffer make of steps whose every observation tells its episode, on networks that do
// not move (lr = 0), so that all of it is known.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "agents/dqn/replay.hpp"
#include "agents/learner/returns.hpp"
#include "agents/train/trainer.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/gym/vec_env.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"

namespace berth {
namespace {

constexpr int kChannels = 4;
constexpr float kDiscount = 0.9F;

// Environment i has episodes of 3 + i % 2 steps, the even ones truncated, the odd ones terminated. The first
// channel of an observation is the episode's number, the others are random, also in the final observation,
// which is a row of its own. Keeps all that it hands out.
class Episodes final : public BatchEnv {
 public:
  struct Row {
    std::vector<float> observation, final_observation;  // [D] acted on; of the end, or empty
    float reward;
    bool terminated, truncated;
    int episode;
  };

  explicit Episodes(int num_envs)
      : history(static_cast<std::size_t>(num_envs)), at_(history.size()), draw_(1, Purpose::kTest) {}
  int num_envs() const override { return static_cast<int>(at_.size()); }
  int num_actions() const override { return 2; }
  ObservationLayout layout() const override { return {.global_channels = kChannels}; }
  void Reset(const StepBuffers& out) override {
    for (Where& w : at_) w = {0, 0, Observe(0)};
    Write(0, num_envs(), out);
  }
  void StepRange(int begin, int end, std::span<const std::int32_t>, const StepBuffers& out) override {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Where& w = at_[i];
      const bool ends = ++w.step == 3 + static_cast<int>(i % 2);
      const bool cut = w.episode % 2 == 0;
      Row row = {w.observation, {}, static_cast<float>(draw_.Normal()), ends && !cut, ends && cut, w.episode};
      if (ends) {
        row.final_observation = Observe(w.episode);
        std::copy(row.final_observation.begin(), row.final_observation.end(),
                  out.final_observation.begin() + static_cast<std::ptrdiff_t>(i * kChannels));
        for (std::size_t a = 0; cut && !out.final_mask.empty() && a < 2; ++a) out.final_mask[i * 2 + a] = 1;
        w = {w.episode + 1, 0, {}};
      }
      w.observation = Observe(w.episode);
      out.reward[i] = row.reward;
      out.discount[i] = kDiscount;
      out.terminated[i] = row.terminated;
      out.truncated[i] = row.truncated;
      history[i].push_back(std::move(row));
    }
    Write(begin, end, out);
  }
  EpisodeStats TakeStats() override { return {}; }
  std::vector<std::uint8_t> SaveState() const override { throw Error("not saved"); }
  void LoadState(std::span<const std::uint8_t>, const StepBuffers&) override { throw Error("not saved"); }

  const std::vector<float>& now(std::size_t env) const { return at_[env].observation; }
  std::vector<std::vector<Row>> history;  // [N][steps]

 private:
  struct Where {
    int episode = 0, step = 0;
    std::vector<float> observation;
  };
  std::vector<float> Observe(int episode) {
    std::vector<float> row = {static_cast<float>(episode)};
    while (row.size() < kChannels) row.push_back(static_cast<float>(2.0 * draw_.Normal()));
    return row;
  }
  void Write(int begin, int end, const StepBuffers& out) const {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      std::copy(at_[i].observation.begin(), at_[i].observation.end(),
                out.observation.begin() + static_cast<std::ptrdiff_t>(i * kChannels));
    }
    std::fill(out.action_mask.begin(), out.action_mask.end(), std::uint8_t{1});
  }
  std::vector<Where> at_;
  Stream draw_;
};

// What a cut episode is worth: the right one, and the mistakes that others made.
enum class Bootstrap { kFinal, kBeforeTheEnd, kNextEpisode, kNothing, kFinalOfAnother };

// Advantages [env][step] of everything in `env.history`, as the definition says: a sum over the rest of the
// episode.
std::vector<std::vector<double>> Advantages(const Episodes& env, Agent& agent, double lambda, Bootstrap how) {
  const auto value = [&](std::vector<float> row) {
    const torch::NoGradGuard no_grad;
    return agent.network().Forward(torch::from_blob(row.data(), {1, kChannels})).value.item<double>();
  };
  const std::size_t n = env.history.size();
  std::vector<std::vector<double>> all(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& rows = env.history[i];
    for (std::size_t t = 0; t < rows.size(); ++t) {
      double sum = 0.0, decay = 1.0;
      for (std::size_t s = t; s < rows.size() && rows[s].episode == rows[t].episode; ++s) {
        const auto& after = s + 1 < rows.size() ? rows[s + 1].observation : env.now(i);
        double next = value(after);
        if (rows[s].terminated || (rows[s].truncated && how == Bootstrap::kNothing)) next = 0.0;
        if (rows[s].truncated && how == Bootstrap::kFinal) next = value(rows[s].final_observation);
        if (rows[s].truncated && how == Bootstrap::kBeforeTheEnd) next = value(rows[s].observation);
        if (rows[s].truncated && how == Bootstrap::kFinalOfAnother) {
          next = value(env.history[(i + 2) % n][s].final_observation);  // cut at the same step
        }
        sum += decay * (rows[s].reward + kDiscount * next - value(rows[s].observation));
        decay *= kDiscount * lambda;
      }
      all[i].push_back(sum);
    }
  }
  return all;
}

double FigureOf(const Agent& agent, const std::string& name) {
  for (const auto& [key, value] : agent.figures()) {
    if (key == name) return value;
  }
  FAIL("no figure " << name);
  return 0.0;
}

}  // namespace

TEST_CASE("PPO's returns bootstrap a cut episode from its own final observation") {
  for (const double lambda : {0.0, 0.7}) {
    CAPTURE(lambda);
    Episodes env(4);  // 0 and 2 are cut at the same steps, 1 and 3 at others: the final rows are gathered and
                      // dealt out
    auto agent =
        MakeTestAgent(Join("ppo(lr=0,n_steps=11,minibatch=1000,epochs=1,target_kl=0,normalize_reward=false,"
                           "gae_lambda=",
                           lambda, ")"),
                      "mlp(hidden=32)", env, 1);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    // returns - value is the advantage, and the network is that of the rollout: the value loss is half its
    // mean square.
    const auto loss = [&](Bootstrap how) {
      double sum = 0.0;
      for (const auto& row : Advantages(env, *agent, lambda, how)) {
        for (const double a : row) sum += 0.5 * a * a / 44.0;
      }
      return sum;
    };
    const double found = FigureOf(*agent, "losses/value_loss");
    CHECK(found == Approx(loss(Bootstrap::kFinal)).epsilon(1e-5));
    for (const Bootstrap wrong : {Bootstrap::kBeforeTheEnd, Bootstrap::kNextEpisode, Bootstrap::kNothing,
                                  Bootstrap::kFinalOfAnother}) {
      CAPTURE(static_cast<int>(wrong));
      CHECK(found != Approx(loss(wrong)).epsilon(2e-4));
    }
  }
}

TEST_CASE(
    "no transition of the replay buffer crosses episodes; a cut one bootstraps from its final observation") {
  constexpr int kEnvs = 3, kCapacity = 25;
  for (const int n_step : {1, 3}) {
    CAPTURE(n_step);
    Episodes env(kEnvs);
    Replay replay(kCapacity, n_step, kEnvs, kChannels, 2);
    env.Reset(replay.Now());
    Stream draws(1, Purpose::kReplay);
    const std::vector<std::int32_t> actions(kEnvs, 0);
    int bootstrapped = 0, ended = 0, cut = 0;
    for (int step = 1; step <= 80; ++step) {
      env.Step(actions, replay.Outcome(actions));
      replay.Advance();
      if (!replay.Ready() || step < n_step + 2) continue;
      for (int k = 0; k < 50; ++k) {
        const Replay::Draw draw = replay.Sample(draws);
        const auto i = static_cast<std::size_t>(draw.step % kEnvs);
        const auto row = [](const float* first) { return std::vector<float>(first, first + kChannels); };
        const std::vector<float> first = row(replay.Observation(draw.step));
        const std::vector<float> next = row(replay.OfSlot(draw.to_observation));
        const auto& rows = env.history[i];
        const auto from =
            std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.observation == first; });
        REQUIRE(from != rows.end());
        // All that the return sums up is of one episode, and what it bootstraps from is too.
        double reward = 0.0;
        for (int s = 0; s < draw.outcome.length; ++s) {
          REQUIRE(from[s].episode == from->episode);
          REQUIRE(from[s].truncated <= (s + 1 == draw.outcome.length));
          reward += std::pow(kDiscount, s) * from[s].reward;
        }
        REQUIRE(draw.outcome.reward == Approx(reward).margin(1e-5));
        const auto& last = from[draw.outcome.length - 1];
        REQUIRE((draw.outcome.length == n_step || last.terminated || last.truncated));
        if (draw.outcome.discount > 0.0) {
          REQUIRE(next[0] == first[0]);
          ++bootstrapped;
          cut += last.truncated;
          if (last.truncated) REQUIRE(next == last.final_observation);
        } else {
          REQUIRE(last.terminated);
          ++ended;
        }
      }
    }
    CHECK(bootstrapped > 500);
    CHECK(ended > 500);
    CHECK(cut > 300);
  }
}

TEST_CASE("standardised values have mean 0 and deviation 1, and one alone stays as it is") {
  for (const std::size_t size : {2U, 3U, 100U}) {
    Stream draw(size, Purpose::kTest);
    std::vector<float> values;
    for (std::size_t k = 0; k < size; ++k) values.push_back(static_cast<float>(50.0 + 7.0 * draw.Normal()));
    Standardize(values);
    double mean = 0.0, squares = 0.0;
    for (const float x : values) mean += x / static_cast<double>(size);
    for (const float x : values) squares += (x - mean) * (x - mean);
    CHECK(mean == Approx(0.0).margin(1e-5));
    CHECK(squares / (static_cast<double>(size) - 1.0) == Approx(1.0).epsilon(1e-4));
  }
  std::vector<float> alone = {3.5F}, none, same = {2.0F, 2.0F};
  Standardize(alone);
  Standardize(none);
  Standardize(same);
  CHECK(alone == std::vector<float>{3.5F});
  CHECK(same == std::vector<float>{0.0F, 0.0F});
}

TEST_CASE("PPO standardises the advantages of each minibatch by itself, and leaves a single row alone") {
  // At ratio 1 the policy loss is minus the advantages' mean. Of five rows, the four of the first minibatch
  // add up to 0 when they are standardised among themselves; the fifth is alone and counts as it is.
  const auto loss_sum = [](const std::string& settings, std::vector<double>& raw) {
    Episodes env(1);
    auto agent = MakeTestAgent(
        "ppo(lr=0,n_steps=5,epochs=1,gae_lambda=0.95,target_kl=0,normalize_reward=false," + settings + ")",
        "mlp(hidden=32)", env, 1);
    env.Reset(agent->First());
    TrainOnce(*agent, env, 0.0);
    for (const float p : FlatParameters(*agent)) REQUIRE(std::isfinite(p));
    raw = Advantages(env, *agent, 0.95, Bootstrap::kFinal)[0];
    return -5.0 * FigureOf(*agent, "losses/policy_loss");
  };
  std::vector<double> raw;
  const double found = loss_sum("minibatch=4", raw);
  int equal = 0;
  for (const double a : raw) equal += std::abs(found - a) < 1e-4;
  CHECK(equal == 1);
  for (const double a : raw) CHECK(std::abs(a) > 1e-3);  // or 0, the whole rollout standardised, would pass
  double sum = 0.0;
  const double singles = loss_sum("minibatch=1", raw);
  for (const double a : raw) sum += a;
  CHECK(singles == Approx(sum).epsilon(1e-4));
  CHECK(loss_sum("minibatch=5", raw) == Approx(0.0).margin(1e-4));
  CHECK(loss_sum("minibatch=5,normalize_advantage=false", raw) == Approx(sum).epsilon(1e-4));
}

TEST_CASE("a training whose episodes end before any job has a mean return and no mean JCT") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4");
  SchedEnvOptions options;
  options.mdp.visible = 3;
  options.warmup_jobs = 0;
  options.episode_jobs = 3;
  const auto env = MakeVecEnv(MakeWorkload("toy(rate=60,size=1e9)", settings), options, /*num_envs=*/2, 1);
  TrainRequest request;
  request.agent = "ppo(n_steps=8,minibatch=16,epochs=1)", request.network = "mlp(hidden=4)";
  request.env = env.get();
  request.steps = 256;
  request.device = "cpu";
  request.gpu_types = {"v100"};
  TrainProgress last;
  request.on_progress = [&](const TrainProgress& now) { last = now; };
  const TrainOutcome outcome = Train(request);
  CHECK(outcome.mean_return < 0.0);
  CHECK(std::isnan(outcome.mean_metric));
  CHECK(last.recent_return == outcome.mean_return);
  CHECK(std::isnan(last.recent_metric));
}

}  // namespace berth
