// Deep Q-learning (Mnih et al. 2015) with double targets (van Hasselt et al. 2016), dueling heads (Wang et
// al. 2016) and n-step returns, as in Rainbow (Hessel et al. 2018). Illegal actions are masked in all three
// places: the random choice, the greedy choice and the target's maximum.
#include <algorithm>
#include <cmath>

#include "agents/actor.hpp"
#include "agents/adam.hpp"
#include "agents/agent.hpp"
#include "agents/dqn_loss.hpp"
#include "agents/masked_categorical.hpp"
#include "agents/replay.hpp"
#include "agents/return_normalizer.hpp"
#include "agents/schedule.hpp"
#include "agents/stopwatch.hpp"
#include "agents/tensor_io.hpp"
#include "env/check.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"lr", "0.0003", "learning rate of Adam at the start"},
    {"lr_schedule", "constant", "linear (to 0 at the end) | constant"},
    {"buffer", "50000", "environment steps that the replay buffer holds"},
    {"learning_starts", "2000", "environment steps before the first update"},
    {"batch", "128", "transitions an update"},
    {"train_freq", "64", "environment steps between trainings"},
    {"gradient_steps", "4", "updates a training"},
    {"target_interval", "2000", "environment steps between updates of the target network"},
    {"target_tau", "1", "share of the online network that an update of the target takes; 1 copies it"},
    {"n_step", "3", "steps of the return before the bootstrap"},
    {"double", "true", "the online network chooses the target's action"},
    {"dueling", "true", "Q = value + score - mean allowed score"},
    {"epsilon_start", "1", "random share of the actions at first"},
    {"epsilon_end", "0.05", "... and at last"},
    {"exploration_fraction", "0.2", "part of the training over which it falls, linearly"},
    {"max_grad_norm", "10", "global gradient norm"},
    {"normalize_reward", "true", "by the running deviation of the discounted return"},
    {"adam_eps", "0.00000001", "epsilon of Adam"},
};

struct Options {
  Schedule lr;
  std::int64_t buffer, learning_starts, batch, train_freq, gradient_steps, target_interval;
  int n_step;
  double target_tau, epsilon_start, epsilon_end, exploration_fraction, max_grad_norm, adam_eps;
  bool double_q, dueling, normalize_reward;
};

Options ReadOptions(Params& params) {
  constexpr long long kMany = 1LL << 40;
  Options o;
  o.lr = {params.Number("lr", 0.0, 10.0), params.Choice("lr_schedule", {"linear", "constant"}) == 0
                                              ? ScheduleKind::kLinear
                                              : ScheduleKind::kConstant};
  o.buffer = params.Integer("buffer", 1, 1LL << 30);
  o.learning_starts = params.Integer("learning_starts", 0, kMany);
  o.batch = params.Integer("batch", 1, 1 << 24);
  o.train_freq = params.Integer("train_freq", 1, kMany);
  o.gradient_steps = params.Integer("gradient_steps", 1, kMany);
  o.target_interval = params.Integer("target_interval", 1, kMany);
  o.n_step = static_cast<int>(params.Integer("n_step", 1, 1000));
  o.target_tau = params.Number("target_tau", 0.0, 1.0);
  o.epsilon_start = params.Number("epsilon_start", 0.0, 1.0);
  o.epsilon_end = params.Number("epsilon_end", 0.0, 1.0);
  o.exploration_fraction = params.Number("exploration_fraction", 0.0, 1.0);
  o.max_grad_norm = params.Number("max_grad_norm", 1e-9, 1e9);
  o.adam_eps = params.Number("adam_eps", 0.0, 1.0);
  o.double_q = params.Bool("double");
  o.dueling = params.Bool("dueling");
  o.normalize_reward = params.Bool("normalize_reward");
  return o;
}

int Capacity(const Options& options, int envs) {
  return static_cast<int>(std::max<std::int64_t>(options.buffer / envs, options.n_step + 1));
}

std::vector<torch::Tensor> OnDevice(Network& network, torch::Device device) {
  network.to(device);
  return network.parameters();
}

class Dqn final : public Agent {
 public:
  Dqn(const Options& options, const AgentSetup& setup)
      : options_(options),
        setup_(setup),
        network_(MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed)),
        target_(MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed)),
        actor_(setup, *network_, setup.num_envs),
        replay_(Capacity(options, setup.num_envs), options.n_step, setup.num_envs, setup.layout.size(),
                setup.num_actions, setup.device.is_cuda()),
        adam_(OnDevice(*network_, setup.device), options.adam_eps),
        normalizer_(setup.num_envs),
        draws_(setup.seed, Purpose::kReplay),
        actions_(static_cast<std::size_t>(setup.num_envs)) {
    target_->to(setup.device);
    for (int i = 0; i < setup.num_envs; ++i) {
      explore_.emplace_back(setup.seed, Purpose::kExplore, Split::kTrain, static_cast<std::uint32_t>(i));
    }
  }

  StepBuffers First() override { return replay_.rows().First(replay_.current()); }
  Network& network() override { return *network_; }
  Figures figures() const override { return figures_; }
  std::int64_t updates() const override { return adam_.steps(); }

  Played Play(BatchEnv& env, double fraction) override {
    fraction_ = fraction;
    Played played;
    Stopwatch watch;
    Act();
    played.act_s = watch.Lap();
    const StepBuffers outcome = replay_.Outcome();
    env.Step(actions_, outcome);
    played.env_s = watch.Lap();
    if (options_.normalize_reward) {
      normalizer_.Update(outcome.reward, outcome.discount, outcome.terminated, outcome.truncated);
    }
    replay_.Advance();
    steps_ += setup_.num_envs;
    if (Passed(options_.target_interval)) UpdateTarget();
    played.steps = setup_.num_envs;
    played.learnt = Learn();
    played.learn_s = watch.Lap();
    return played;
  }

  void Save(h5::Writer& out) const override {
    WriteModule(out, "network", *network_);
    WriteModule(out, "target", *target_);
    adam_.Save(out, "adam");
    normalizer_.Save(out, "return_normalizer");
    replay_.Save(out, "replay");
    WritePositions(out, "streams/explore", explore_);
    WritePositions(out, "streams/replay", std::span(&draws_, 1));
    out.Array<std::int64_t>("counters/agent_steps", std::vector<std::int64_t>{steps_});
  }

  void Load(const h5::Reader& in) override {
    ReadModule(in, "network", *network_);
    ReadModule(in, "target", *target_);
    adam_.Load(in, "adam");
    normalizer_.Load(in, "return_normalizer");
    replay_.Load(in, "replay");
    ReadPositions(in, "streams/explore", explore_);
    ReadPositions(in, "streams/replay", std::span(&draws_, 1));
    steps_ = in.Array<std::int64_t>("counters/agent_steps", 1)[0];
    actor_.Invalidate();
  }

  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions) override {
    actor_.Greedy(observation, mask, actions);
  }

  void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const override {
    replay_.Examples(rows, observation, mask);
  }

 private:
  double Epsilon() const {
    const double part = options_.exploration_fraction > 0.0 ? fraction_ / options_.exploration_fraction : 1.0;
    return options_.epsilon_start + (options_.epsilon_end - options_.epsilon_start) * std::min(part, 1.0);
  }

  // Did the last step of all environments pass a multiple of `interval`?
  bool Passed(std::int64_t interval) const {
    return steps_ / interval != (steps_ - setup_.num_envs) / interval;
  }

  void Act() {
    const double epsilon = Epsilon();
    const int row = replay_.current();
    explore_now_.clear();
    bool greedy = false;
    for (Stream& stream : explore_) {
      explore_now_.push_back(stream.Uniform() < epsilon);
      greedy = greedy || !explore_now_.back();
    }
    if (greedy) actor_.Evaluate(replay_.rows().ObservationRow(row));
    for (int i = 0; i < setup_.num_envs; ++i) {
      const auto e = static_cast<std::size_t>(i);
      const auto mask = replay_.rows().Mask(row, i);
      // The dueling value and mean are the same for all actions of a row: the best score is the best Q.
      actions_[e] = explore_now_[e] ? UniformMasked(mask, explore_[e]) : ArgmaxMasked(actor_.scores(i), mask);
      replay_.rows().action()[static_cast<std::size_t>(row) * explore_.size() + e] = actions_[e];
    }
  }

  bool Learn() {
    if (steps_ < options_.learning_starts || !replay_.Ready() || !Passed(options_.train_freq)) return false;
    loss_sum_ = q_sum_ = 0.0;
    for (std::int64_t g = 0; g < options_.gradient_steps; ++g) Update();
    actor_.Invalidate();
    const auto updates = static_cast<double>(options_.gradient_steps);
    figures_ = {{"losses/td_loss", loss_sum_ / updates},
                {"losses/q_values", q_sum_ / updates},
                {"charts/learning_rate", options_.lr.At(fraction_)},
                {"charts/epsilon", Epsilon()}};
    return true;
  }

  void UpdateTarget() {
    const torch::NoGradGuard no_grad;
    const std::vector<torch::Tensor> online = network_->parameters(), target = target_->parameters();
    for (std::size_t k = 0; k < target.size(); ++k) {
      if (options_.target_tau == 1.0) {
        torch::Tensor(target[k]).copy_(online[k]);
      } else {
        torch::Tensor(target[k]).lerp_(online[k], options_.target_tau);
      }
    }
  }

  void Update() {
    from_.clear(), to_.clear(), reward_.clear(), discount_.clear();
    const double scale = options_.normalize_reward ? normalizer_.Scale() : 1.0;
    for (std::int64_t b = 0; b < options_.batch; ++b) {
      const Replay::Draw draw = replay_.Sample(draws_);
      from_.push_back(draw.from);
      to_.push_back(draw.to);
      reward_.push_back(static_cast<float>(draw.outcome.reward * scale));
      discount_.push_back(static_cast<float>(draw.outcome.discount));
    }
    const StepRows& rows = replay_.rows();
    const auto gather = [&](const torch::Tensor& all, std::vector<std::int64_t>& index) {
      return all.index_select(0, torch::from_blob(index.data(), {options_.batch}, torch::kInt64))
          .to(setup_.device);
    };
    const auto column = [&](std::vector<float>& values) {
      return torch::from_blob(values.data(), {options_.batch}).to(setup_.device);
    };
    torch::Tensor goal;
    {
      const torch::NoGradGuard no_grad;
      const torch::Tensor next = gather(rows.FlatObservations(), to_);
      const torch::Tensor mask = gather(rows.FlatMasks(), to_);
      const torch::Tensor target = QValues(target_->Forward(next), mask, options_.dueling);
      const torch::Tensor value = options_.double_q ? NextValue(target, mask, network_->Forward(next).scores)
                                                    : NextValue(target, mask);
      goal = column(reward_) + column(discount_) * value;
    }
    const NetworkOutput out = network_->Forward(gather(rows.FlatObservations(), from_));
    const torch::Tensor q = QValues(out, gather(rows.FlatMasks(), from_), options_.dueling)
                                .gather(1, gather(rows.FlatActions(), from_).unsqueeze(1))
                                .squeeze(1);
    const torch::Tensor loss = torch::smooth_l1_loss(q, goal);
    const std::vector<torch::Tensor> parameters = network_->parameters();
    std::vector<torch::Tensor> gradients =
        torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (!gradients[k].defined()) gradients[k] = torch::zeros_like(parameters[k]);
    }
    ClipGradients(gradients, options_.max_grad_norm);
    adam_.Step(gradients, options_.lr.At(fraction_));
    loss_sum_ += loss.item<double>();
    q_sum_ += q.mean().item<double>();
  }

  Options options_;
  AgentSetup setup_;
  std::shared_ptr<Network> network_, target_;
  Actor actor_;
  Replay replay_;
  Adam adam_;
  ReturnNormalizer normalizer_;
  std::vector<Stream> explore_;  // [N]
  Stream draws_;
  std::int64_t steps_ = 0;  // environment steps
  double fraction_ = 0.0, loss_sum_ = 0.0, q_sum_ = 0.0;
  std::vector<std::uint8_t> explore_now_;
  std::vector<std::int32_t> actions_;  // [N]
  std::vector<std::int64_t> from_, to_;
  std::vector<float> reward_, discount_;
  Figures figures_;
};

}  // namespace

AgentInfo DqnInfo() {
  return {"dqn", "deep Q-learning, masked: replay, target network, double, dueling, n-step",
          "Mnih et al. 2015; van Hasselt et al. 2016; Wang et al. 2016; Hessel et al. 2018", kParams,
          [](Params& params, const AgentSetup& setup) -> std::unique_ptr<Agent> {
            return std::make_unique<Dqn>(ReadOptions(params), setup);
          }};
}

}  // namespace berth
