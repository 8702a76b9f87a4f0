// Deep Q-learning (Mnih et al. 2015) with double targets (van Hasselt et al. 2016), dueling heads (Wang et
// al. 2016) and n-step returns, as in Rainbow (Hessel et al. 2018); with `quantiles` its distributional form
// by quantile regression (Dabney et al. 2018). Illegal actions are masked in all three
// places: the random choice, the greedy choice and the target's maximum.
// Without `n_step` it is soft: softmax(Q / temperature) plays, and what the buffer holds is learned from by
// lambda-returns (lambda_returns.hpp) in place of a target network.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "agents/dqn/captured_q.hpp"
#include "agents/dqn/lambda_returns.hpp"
#include "agents/dqn/priorities.hpp"
#include "agents/dqn/q_learner.hpp"
#include "agents/dqn/replay.hpp"
#include "agents/learner/acting_cache.hpp"
#include "agents/learner/agent.hpp"
#include "agents/learner/joined_rollout.hpp"
#include "agents/learner/learner_place.hpp"
#include "agents/learner/remembered.hpp"
#include "agents/learner/return_normalizer.hpp"
#include "agents/learner/returns.hpp"
#include "agents/learner/schedule.hpp"
#include "agents/learner/stopwatch.hpp"
#include "agents/nn/adam.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "agents/nn/tensor_io.hpp"
#include "agents/ranks/gradient_sum.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr int kFirstVersion = 5;  // of the checkpoints that Load reads

constexpr ParamInfo kParams[] = {
    {"lr", "0.002", "learning rate of Adam at the start"},
    {"lr_schedule", "linear", "linear (to 0 at the end) | constant"},
    {"buffer", "4096", "environment steps that the replay buffer holds"},
    {"learning_starts", "2000", "environment steps before the first update"},
    {"batch", "1024",
     "transitions an update; without n_step and per_alpha those of one observation follow each other"},
    {"train_freq", "4096", "environment steps between trainings, of all environments together"},
    {"gradient_steps", "16", "updates a training"},
    {"lambda", "0.9", "lambda of the returns, where time passes; within an instant it is 1"},
    {"temperature", "1", "softmax(Q / temperature) plays, and is what the returns are of; at the start"},
    {"temperature_end", "0.1", "... and at the end, falling linearly"},
    {"sequence", "16", "decision points in a row that a network with a memory learns from; with n_step 1"},
    {"gap", "1", "share of an action's advantage that is kept beside what an update finds of it"},
    {"n_step", "0",
     "steps of the return before a target network's bootstrap, played by epsilon; 0: as above"},
    {"target_interval", "2000", "with n_step: environment steps between updates of the target network"},
    {"target_tau", "1", "... share of the online network that an update of the target takes; 1 copies it"},
    {"double", "true", "... the online network chooses the target's action"},
    {"epsilon_start", "1", "... random share of the actions at first"},
    {"epsilon_end", "0.05", "... and at last"},
    {"exploration_fraction", "0.2", "... part of the training over which it falls, linearly"},
    {"dueling", "true", "Q = value + score - mean score: the playing policy's, with n_step of the allowed"},
    {"quantiles", "0", "quantiles of an action's return that are learned (QR-DQN); 0 learns its mean alone"},
    {"per_alpha", "0", "prioritised replay: exponent of the priorities; 0 draws uniformly"},
    {"per_beta", "0.4", "... exponent of the importance weights at first, rising linearly to 1 at the end"},
    {"max_grad_norm", "0.5", "global gradient norm"},
    {"normalize_reward", "true", "by the running deviation of the discounted return"},
    {"adam_eps", "0.00000001", "epsilon of Adam"},
    {"fused", "true", "written-out passes on the CPU where the network has them; false: LibTorch's autograd"},
    {"learner", "auto", "device: captured passes on the device, which a GPU gets by auto | host"},
};

struct Options {
  Schedule lr;
  std::int64_t buffer, learning_starts, batch, train_freq, gradient_steps, target_interval;
  int n_step, quantiles, sequence;
  double lambda, temperature, temperature_end, gap, target_tau, per_alpha, per_beta, epsilon_start,
      epsilon_end, exploration_fraction, max_grad_norm, adam_eps;
  bool double_q, dueling, normalize_reward, fused;
  LearnerPlace learner;
  bool soft() const { return n_step == 0; }
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
  o.n_step = static_cast<int>(params.Integer("n_step", 0, 1000));
  o.sequence = static_cast<int>(params.Integer("sequence", 1, 1 << 20));
  o.lambda = params.Number("lambda", 0.0, 1.0);
  o.temperature = params.Number("temperature", 1e-9, 1e9);
  o.temperature_end = params.Number("temperature_end", 1e-9, 1e9);
  o.gap = params.Number("gap", 0.0, 1.0);
  o.target_tau = params.Number("target_tau", 0.0, 1.0);
  o.quantiles = static_cast<int>(params.Integer("quantiles", 0, 1000));
  o.per_alpha = params.Number("per_alpha", 0.0, 10.0);
  o.per_beta = params.Number("per_beta", 0.0, 1.0);
  o.epsilon_start = params.Number("epsilon_start", 0.0, 1.0);
  o.epsilon_end = params.Number("epsilon_end", 0.0, 1.0);
  o.exploration_fraction = params.Number("exploration_fraction", 0.0, 1.0);
  o.max_grad_norm = params.Number("max_grad_norm", 1e-9, 1e9);
  o.adam_eps = params.Number("adam_eps", 0.0, 1.0);
  o.double_q = params.Bool("double");
  o.dueling = params.Bool("dueling");
  o.normalize_reward = params.Bool("normalize_reward");
  o.fused = params.Bool("fused");
  o.learner = ReadLearnerPlace(params);
  return o;
}

// Steps until the replay buffer knows a return.
int Window(const Options& options) {
  return std::max(options.n_step, 1);
}

int Capacity(const Options& options, int envs) {
  return static_cast<int>(std::max<std::int64_t>(options.buffer / envs, Window(options) + 1));
}

std::shared_ptr<Network> NetworkOnDevice(const AgentSetup& setup, int quantiles) {
  auto network =
      MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed, std::max(quantiles, 1));
  network->to(setup.device);
  return network;
}

// Options are of all ranks together: each keeps and draws its part, from what its own environments did.
int RowsOfRank(const Options& options, const Ranks& ranks) {
  if (options.batch < ranks.size()) {
    throw Error(
        Join("dqn: batch: expected at least one row a rank (", ranks.size(), "), found ", options.batch));
  }
  const auto [begin, end] = PartOfRank(static_cast<int>(options.batch), ranks.rank(), ranks.size());
  return end - begin;
}

std::unique_ptr<QLearner> MakeLearner(const Options& options, const AgentSetup& setup, Network& online,
                                      Network& target, std::int64_t batch) {
  const TdOptions td = {options.double_q, options.dueling, options.quantiles, options.soft()};
  if (const std::optional<OnDevice> on =
          PlaceLearner(PlaceWithMemory(options.learner, setup, "dqn"), setup, "dqn")) {
    online.FixShapes();
    target.FixShapes();
    return MakeCapturedQ(setup, *on, online, target, td, batch, options.max_grad_norm);
  }
  std::unique_ptr<QLearner> fused = options.fused ? MakeFusedQ(setup, online, target, td) : nullptr;
  return fused ? std::move(fused) : MakeAutogradQ(setup, online, target, td);
}

class QActor final : public ActingCache {
 public:
  QActor(const AgentSetup& setup, QLearner& learner)
      : ActingCache(setup.num_envs, setup.row(), setup.num_actions, learner.RowsApart(), setup.memory),
        learner_(learner) {}

 private:
  void Compute(std::span<const float* const> rows, std::span<float> scores, std::span<float>,
               std::span<float> next) override {
    next.empty() ? learner_.Scores(rows, scores) : learner_.ScoresAndNext(rows, scores, next);
  }
  QLearner& learner_;
};

class Dqn final : public Agent {
 public:
  Dqn(const Options& options, const AgentSetup& setup)
      : options_(options),
        setup_(setup),
        network_(NetworkOnDevice(setup, options.quantiles)),
        target_(NetworkOnDevice(setup, options.quantiles)),
        mean_network_(options.quantiles > 0 ? NetworkOnDevice(setup, 0) : nullptr),
        parameters_(Flatten(*network_)),
        target_parameters_(Flatten(*target_)),
        learner_(MakeLearner(options, setup, *network_, *target_, RowsOfRank(options, setup.ranks))),
        adam_({parameters_}, options.adam_eps),
        actor_(setup, *learner_),
        replay_(Capacity(options, setup.all_envs()), Window(options), setup.num_envs, setup.row(),
                setup.num_actions),
        remembered_(setup.num_envs, setup.layout.size(), setup.memory),
        batch_(static_cast<std::size_t>(RowsOfRank(options, setup.ranks))),
        step_(batch_.action.size()),
        error_(batch_.action.size()),
        returns_({options.lambda, options.gap, options.dueling, setup.memory > 0 ? options.sequence : 0},
                 setup.num_actions),
        normalizer_(setup.all_envs()),
        draws_(setup.seed, Purpose::kReplay, Split::kTrain, static_cast<std::uint32_t>(setup.ranks.rank())),
        actions_(static_cast<std::size_t>(setup.num_envs)) {
    if (options.per_alpha > 0.0) priorities_.emplace(replay_.slots(), options.per_alpha);
    for (int i = 0; i < setup.num_envs; ++i) {
      explore_.emplace_back(setup.seed, Purpose::kExplore, Split::kTrain,
                            static_cast<std::uint32_t>(setup.first_env() + i));
    }
  }

  StepBuffers First() override {
    begun_ = false;
    return remembered_.any() ? remembered_.Observed(replay_.Now()) : replay_.Now();
  }
  Network& network() override { return Mean(); }
  std::int64_t updates() const override { return adam_.steps(); }
  double multiply_adds() const override { return learner_->multiply_adds(); }
  std::string Place() const override { return learner_->Place(); }

  Figures figures() const override {
    if (learnt_at_ < 0.0) return {};
    Figures figures = {{"losses/td_loss", mean_.loss},
                       {"losses/q_values", mean_.mean_q},
                       {"charts/learning_rate", options_.lr.At(learnt_at_)}};
    figures.emplace_back(options_.soft() ? "charts/temperature" : "charts/epsilon",
                         options_.soft() ? Temperature(learnt_at_) : Epsilon(learnt_at_));
    return figures;
  }

  Played Play(BatchEnv& env, double fraction) override {
    Played played;
    Stopwatch watch;
    MakeFirstRows();
    begun_ = true;
    if (options_.soft()) {
      ActSoftly(fraction);
    } else {
      Act(fraction);
    }
    played.act_s = watch.Lap();
    const StepBuffers outcome = replay_.Outcome(actions_);
    if (remembered_.any()) {
      const StepBuffers observed = remembered_.Observed(outcome);
      env.Step(actions_, observed);
      for (int i = 0; i < setup_.num_envs; ++i)
        remembered_.Follow(i, actor_.state(i), actor_.next(i), observed, outcome);
    } else {
      env.Step(actions_, outcome);
    }
    played.env_s = watch.Lap();
    if (options_.normalize_reward) {
      unsettled_.Add(outcome);
      if (!setup_.ranks.many()) Settle();
    }
    replay_.Advance();
    if (priorities_) Prioritise();
    played.steps = setup_.all_envs();
    played.learnt = Learn(fraction);
    played.learn_s = watch.Lap();
    return played;
  }

  void Save(h5::Writer* out) override {
    const Ranks& ranks = setup_.ranks;
    Settle();
    MakeFirstRows();
    remembered_.Save(out, "memory/state", ranks);
    replay_.Save(out, "replay", ranks);
    if (priorities_) priorities_->Save(out, "replay", ranks);
    const auto explore = ranks.JoinColumns<std::uint64_t>(Positions(explore_));
    std::vector<std::uint64_t> draws;
    for (const auto& of_rank : ranks.JoinRows<std::uint64_t>(Positions(std::span(&draws_, 1))))
      draws.push_back(of_rank[0]);
    if (out == nullptr) return;
    WriteModule(*out, "network", Mean());
    if (mean_network_) WriteModule(*out, "quantiles", *network_);
    WriteModule(*out, "target", *target_);
    adam_.Save(*out, "adam");
    normalizer_.Save(*out, "return_normalizer");
    out->Array<std::uint64_t>("streams/explore", explore);
    out->Array<std::uint64_t>("streams/replay", draws);
    out->Array<std::int64_t>("counters/agent_steps", std::vector<std::int64_t>{steps_});
  }

  void BeginWith(const PolicyBundle&) override {
    throw Error(
        "--from: expected --agent ppo or reinforce with it, which learn a policy's scores, found dqn, whose "
        "network estimates returns");
  }

  void Load(const h5::Reader& in) override {
    if (in.version() < kFirstVersion) {
      throw Error(Join(in.path(), ": --resume of dqn: expected a checkpoint of format version ",
                       kFirstVersion, " or later, found ", in.version(),
                       ", whose replay buffer is laid out otherwise; train anew or export it"));
    }
    ReadModule(in, mean_network_ ? "quantiles" : "network", *network_);
    ReadModule(in, "target", *target_);
    adam_.Load(in, "adam");
    normalizer_.Load(in, "return_normalizer");
    unsettled_ = {};
    const Ranks& ranks = setup_.ranks;
    remembered_.Load(in, "memory/state", ranks);
    replay_.Load(in, "replay", ranks);
    if (priorities_) {
      priorities_->Load(in, "replay", ranks);
      std::vector<bool> drawable(replay_.slots());
      for (const std::int64_t step : replay_.Drawable()) drawable[static_cast<std::size_t>(step)] = true;
      for (std::size_t step = 0; step < drawable.size(); ++step) {
        if (!drawable[step] && priorities_->Probability(step) > 0.0)
          throw Error(Join(in.path(), ": replay/priority: expected 0 for step ", step,
                           ", of which no return is known"));
      }
    }
    Seek(explore_,
         ranks.OwnColumns<std::uint64_t>(in.Array<std::uint64_t>("streams/explore", setup_.all_envs())));
    // A rank that the saved run had not begins its stream.
    const auto draws = in.Array<std::uint64_t>("streams/replay");
    const auto rank = static_cast<std::size_t>(ranks.rank());
    draws_.Seek(rank < draws.size() ? draws[rank] : 0);
    steps_ = in.Array<std::int64_t>("counters/agent_steps", 1)[0];
    if (steps_ < 0 || steps_ > (std::int64_t{1} << 60))
      throw Error(Join(in.path(), ": counters/agent_steps: expected 0 to 2^60, found ", steps_));
    learner_->OnlineChanged();
    learner_->TargetChanged();
    actor_.Invalidate();
  }

  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions) override {
    const auto width = static_cast<std::size_t>(setup_.num_actions);
    std::vector<const float*> rows;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      rows.push_back(observation.data() + i * static_cast<std::size_t>(setup_.row()));
    }
    std::vector<float> scores(actions.size() * width);
    learner_->Scores(rows, scores);
    for (std::size_t i = 0; i < actions.size(); ++i) {
      actions[i] = ArgmaxMasked(std::span<const float>(scores).subspan(i * width, width),
                                mask.subspan(i * width, width));
    }
  }

  void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const override {
    replay_.Examples(rows, observation, mask);
  }

 private:
  // What is exported: the network, or that of its quantiles' means.
  Network& Mean() const {
    if (!mean_network_) return *network_;
    CopyMeanOutputs(*network_, *mean_network_);
    return *mean_network_;
  }

  double Epsilon(double fraction) const {
    const double part = options_.exploration_fraction > 0.0 ? fraction / options_.exploration_fraction : 1.0;
    return options_.epsilon_start + (options_.epsilon_end - options_.epsilon_start) * std::min(part, 1.0);
  }

  double Temperature(double fraction) const {
    return options_.temperature + (options_.temperature_end - options_.temperature) * fraction;
  }

  // What First was given, as rows.
  void MakeFirstRows() {
    if (remembered_.any() && !begun_) remembered_.Begin(replay_.Now().observation);
  }

  void ActSoftly(double fraction) {
    actor_.Evaluate(replay_.NowObservation());
    const auto scale = static_cast<float>(1.0 / Temperature(fraction));
    for (int i = 0; i < setup_.num_envs; ++i) {
      const std::span<const float> scores = actor_.scores(i);
      logits_.assign(scores.begin(), scores.end());
      for (float& logit : logits_) logit *= scale;
      const auto e = static_cast<std::size_t>(i);
      actions_[e] = SampleMasked(logits_, replay_.NowMask(i), explore_[e]).action;
    }
  }

  void Act(double fraction) {
    const double epsilon = Epsilon(fraction);
    bool greedy = false;
    for (std::size_t i = 0; i < actions_.size(); ++i) {
      const bool explores = explore_[i].Uniform() < epsilon;
      actions_[i] =
          explores ? UniformMasked(replay_.NowMask(static_cast<std::int32_t>(i)), explore_[i]) : kGreedy;
      greedy = greedy || !explores;
    }
    if (!greedy && !remembered_.any()) return;  // a memory sees every point
    actor_.Evaluate(replay_.NowObservation());
    for (int i = 0; i < setup_.num_envs; ++i) {
      // The dueling value and mean are the same for all actions of a row: the best score is the best Q.
      std::int32_t& action = actions_[static_cast<std::size_t>(i)];
      if (action == kGreedy) action = ArgmaxMasked(actor_.scores(i), replay_.NowMask(i));
    }
  }

  void Prioritise() {
    for (int i = 0; i < setup_.num_envs; ++i) {
      priorities_->Remove(static_cast<std::size_t>(replay_.Replaced(i)));
      const std::int64_t step = replay_.Completed(i);
      if (step >= 0 && replay_.Window(step).outcome.length > 0) {
        priorities_->Add(static_cast<std::size_t>(step));
      }
    }
  }

  // Step by step, as in one process with all environments, though later: the scale is asked for when there is
  // something to learn.
  void Settle() {
    const JoinedOutcomes all = joined_.Join(setup_.ranks, unsettled_.view());
    const auto n = static_cast<std::size_t>(setup_.all_envs());
    for (std::size_t k = 0; k < all.reward.size(); k += n) {
      normalizer_.Update(all.reward.subspan(k, n), all.discount.subspan(k, n), all.terminated.subspan(k, n),
                         all.truncated.subspan(k, n));
    }
    unsettled_.clear();
  }

  // Whether every rank can; ranks agree on what they do together.
  bool CanTrain() {
    const bool own = priorities_ ? priorities_->count() > 0 : replay_.Ready();
    if (!setup_.ranks.many()) return own;
    Settle();
    double ranks = own ? 1.0 : 0.0;
    setup_.ranks.group().Sum(std::span(&ranks, 1));
    return ranks == setup_.ranks.size();
  }

  // What the steps just made are due, one after the other: many environments may pass an interval more than
  // once in one step of theirs.
  bool Learn(double fraction) {
    TdFigures sum;
    std::int64_t updates = 0;
    for (int i = 0; i < setup_.all_envs(); ++i) {
      ++steps_;
      if (!options_.soft() && steps_ % options_.target_interval == 0) UpdateTarget();
      if (steps_ < options_.learning_starts || steps_ % options_.train_freq != 0 || !CanTrain()) continue;
      Train(fraction, sum);
      updates += options_.gradient_steps;
    }
    if (updates == 0) return false;
    actor_.Invalidate();
    const auto n = static_cast<double>(updates);
    mean_ = {sum.loss / n, sum.mean_q / n};
    learnt_at_ = fraction;
    return true;
  }

  void Train(double fraction, TdFigures& sum) {
    const double scale = options_.normalize_reward ? normalizer_.Scale() : 1.0;
    if (options_.soft()) {
      batch_.temperature = static_cast<float>(Temperature(fraction));
      returns_.Work(replay_, *learner_, scale, batch_.temperature);
    }
    for (std::int64_t g = 0; g < options_.gradient_steps; ++g) {
      FillBatch(fraction, scale);
      TdFigures figures = learner_->Gradient(batch_, error_);
      gradients_[0] = learner_->gradient();
      if (setup_.ranks.many()) Average(figures);
      adam_.Step(gradients_, options_.lr.At(fraction),
                 learner_->Clips() ? 1.0 : ClipScale(GradientNorm(gradients_), options_.max_grad_norm));
      learner_->OnlineChanged();
      if (priorities_) priorities_->Update(step_, error_);
      sum.loss += figures.loss;
      sum.mean_q += figures.mean_q;
    }
  }

  // Means over this rank's rows into means over the batch.
  void Average(TdFigures& figures) {
    const torch::NoGradGuard no_grad;
    const double share = static_cast<double>(batch_.rows()) / static_cast<double>(options_.batch);
    gradients_[0].mul_(share);
    std::array<double, 2> means = {figures.loss * share, figures.mean_q * share};
    gradient_sum_.Add(setup_.ranks, gradients_, means);
    figures.loss = means[0], figures.mean_q = means[1];
  }

  void UpdateTarget() {
    const torch::NoGradGuard no_grad;
    if (options_.target_tau == 1.0) {
      target_parameters_.copy_(parameters_);
    } else {
      target_parameters_.lerp_(parameters_, options_.target_tau);
    }
    learner_->TargetChanged();
  }

  void FillBatch(double fraction, double scale) {
    if (priorities_) {
      const double beta = options_.per_beta + (1.0 - options_.per_beta) * fraction;
      priorities_->Draw(draws_, beta, step_, batch_.weight);
    }
    std::int64_t last = -1;
    for (std::size_t b = 0; b < batch_.rows(); ++b) {
      if (options_.soft()) {
        const std::int64_t step = priorities_ ? step_[b] : returns_.Next(draws_);
        batch_.observation[b] = replay_.Observation(step);
        batch_.mask[b] = replay_.Mask(step);
        batch_.action[b] = replay_.Action(step);
        batch_.reward[b] = returns_.Goal(step);
        if (remembered_.any() && !priorities_) {
          batch_.joins.resize(batch_.rows());
          batch_.joins[b] = b > 0 ? replay_.Follows(last, step) : TdBatch::Joins::kNot;
          last = step;
        }
        continue;
      }
      const Replay::Draw draw = priorities_ ? replay_.Window(step_[b]) : replay_.Sample(draws_);
      batch_.observation[b] = replay_.Observation(draw.step);
      batch_.next_observation[b] = replay_.OfSlot(draw.to_observation);
      batch_.mask[b] = replay_.Mask(draw.step);
      batch_.next_mask[b] = replay_.MaskOfSlot(draw.to_mask);
      batch_.action[b] = replay_.Action(draw.step);
      batch_.reward[b] = static_cast<float>(draw.outcome.reward * scale);
      batch_.discount[b] = static_cast<float>(draw.outcome.discount);
    }
  }

  static constexpr std::int32_t kGreedy = -1;

  Options options_;
  AgentSetup setup_;
  std::shared_ptr<Network> network_, target_;
  std::shared_ptr<Network> mean_network_;         // null without quantiles; Mean() brings it up to date
  torch::Tensor parameters_, target_parameters_;  // [P]
  std::unique_ptr<QLearner> learner_;
  Adam adam_;
  std::vector<torch::Tensor> gradients_ = std::vector<torch::Tensor>(1);  // all in one row
  QActor actor_;
  Replay replay_;
  Remembered remembered_;  // of a network with a memory
  bool begun_ = false;     // what First was given stands among the rows
  TdBatch batch_;
  std::optional<Priorities> priorities_;
  std::vector<std::int64_t> step_;  // [B] as drawn by priority
  std::vector<float> error_;        // [B]
  LambdaReturns returns_;           // where soft
  ReturnNormalizer normalizer_;
  OutcomeRows unsettled_;  // what the normalizer has not seen
  JoinedRollout joined_;
  GradientSum gradient_sum_;
  std::vector<Stream> explore_;  // [N]
  Stream draws_;
  std::int64_t steps_ = 0;             // environment steps
  std::vector<std::int32_t> actions_;  // [N]
  std::vector<float> logits_;          // [A] of the environment that acts
  TdFigures mean_;                     // over the updates of the last Learn that had any
  double learnt_at_ = -1.0;            // the fraction then
};

}  // namespace

AgentInfo DqnInfo() {
  return {"dqn",
          "deep Q-learning, masked: soft by lambda-returns, or by a target network; dueling, distributional",
          "Mnih et al. 2015; van Hasselt et al. 2016; Wang et al. 2016; Bellemare et al. 2016; Dabney et al. "
          "2018; "
          "Gallici et al. 2024",
          kParams,
          /*draws_by_scores=*/false,
          [](Params& params, const AgentSetup& setup) -> std::unique_ptr<Agent> {
            return std::make_unique<Dqn>(ReadOptions(params), setup);
          }};
}

}  // namespace berth
