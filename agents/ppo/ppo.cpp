// Proximal policy optimisation (Schulman et al. 2017) with the details of Huang et al. 2022, "The 37
// implementation details of PPO", and invalid action masking (Huang & Ontanon 2020).
#include "agents/ppo/ppo.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "agents/learner/arrivals_share.hpp"
#include "agents/learner/forward_sequences.hpp"
#include "agents/learner/joined_rollout.hpp"
#include "agents/learner/minibatches.hpp"
#include "agents/learner/return_normalizer.hpp"
#include "agents/learner/returns.hpp"
#include "agents/learner/rollout.hpp"
#include "agents/learner/sequences.hpp"
#include "agents/learner/stopwatch.hpp"
#include "agents/learner/workers.hpp"
#include "agents/nn/adam.hpp"
#include "agents/nn/fused/fused_sequences.hpp"
#include "agents/nn/fused/ppo_rows.hpp"
#include "agents/nn/tensor_io.hpp"
#include "agents/ppo/device_ppo.hpp"
#include "agents/ppo/ppo_loss.hpp"
#include "agents/ranks/gradient_sum.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// What one part of a minibatch gives back.
struct Shard {
  std::vector<torch::Tensor> gradients;
  PpoTotals totals;
};

// Memory of one part while it is computed without autograd.
struct Scratch {
  Scratch(std::size_t actions, int memory) : rows(actions), sequences(memory, static_cast<int>(actions)) {}
  PpoRows rows;
  FusedSequences sequences;                               // of a network with a memory, with its
  std::vector<SequenceStep> steps;                        // groups
  std::vector<std::size_t> begin;                         // sequences among them
  std::vector<PpoRow> group;                              // rows of one observation
  std::vector<float> scores, d_scores, values, d_values;  // [chunk, A], [chunk]
  double passes_s = 0.0, loss_s = 0.0;                    // wall clock of the present update
};

// What a portion of a minibatch gives back.
struct PortionResult {
  std::vector<float> gradient;
  PpoTotals totals;
};
constexpr std::size_t kPortionsAPart = 8;  // of which results are kept at once
// A portion is a chunk, but of gradients that are large beside a chunk's work a few of a minibatch have to
// do.
constexpr std::size_t kLarge = 65536, kPortionsOfLarge = 8;
constexpr std::size_t kSequencesAChunk = 32;  // with a memory

class Ppo final : public Agent {
 public:
  // `place`: what there is in place of a learner on the device.
  Ppo(const PpoOptions& options, const AgentSetup& setup, const std::string& place)
      : options_(options),
        setup_(setup),
        place_(place),
        workers_(setup.threads),
        replicas_(setup, setup.device.is_cpu() ? setup.threads : 1, options.fused),
        rollout_(options.n_steps, setup, replicas_, workers_),
        adam_(replicas_.parameters(0), options.adam_eps),
        normalizer_(setup.all_envs()),
        shuffle_(setup.seed, Purpose::kShuffle),
        advantage_(rollout_.value().size()),
        returns_(advantage_.size()),
        shards_(static_cast<std::size_t>(replicas_.count())) {
    for (int part = 0; part < replicas_.count(); ++part) {
      scratch_.emplace_back(static_cast<std::size_t>(setup.num_actions), setup.memory);
    }
  }

  StepBuffers First() override { return rollout_.First(); }
  Network& network() override { return replicas_[0]; }
  Figures figures() const override { return figures_; }
  std::int64_t updates() const override { return adam_.steps(); }
  double multiply_adds() const override { return replicas_.multiply_adds(); }
  std::string Place() const override {
    return setup_.device.is_cuda() ? Join("on the host (found ", place_, ")") : "on the host";
  }

  // The schedules stand still during a rollout and its update.
  Played Play(BatchEnv& env, double fraction) override {
    Played played = rollout_.Collect(env);
    Stopwatch watch;
    optimise_s_ = 0.0;
    for (Scratch& scratch : scratch_) scratch.passes_s = scratch.loss_s = 0.0;
    if (options_.normalize_reward) {
      NormalizeSteps(setup_.ranks,
                     {rollout_.reward(), rollout_.discount(), rollout_.terminated(), rollout_.truncated()},
                     joined_, normalizer_, rollout_.reward());
    }
    const GaeInput input = {.steps = options_.n_steps,
                            .envs = setup_.num_envs,
                            .reward = rollout_.reward(),
                            .discount = rollout_.discount(),
                            .value = rollout_.value(),
                            .terminated = rollout_.terminated(),
                            .truncated = rollout_.truncated(),
                            .final_value = rollout_.final_value(),
                            .last_value = rollout_.last_value()};
    Gae(input, options_.gae_lambda, options_.lambda_within_instant, advantage_, returns_);
    Update(fraction);
    figures_.emplace_back(
        "losses/arrivals_share",
        ArrivalsShare(input, options_.gae_lambda, options_.lambda_within_instant,
                      {rollout_.new_jobs(), rollout_.new_work()}, advantage_, setup_.ranks));
    rollout_.Continue();
    played.learnt = true;
    played.learn_s = watch.Lap();
    played.optimise_s = optimise_s_;
    for (const Scratch& scratch : scratch_) {
      played.passes_s += scratch.passes_s / static_cast<double>(scratch_.size());
      played.loss_s += scratch.loss_s / static_cast<double>(scratch_.size());
    }
    return played;
  }

  void Save(h5::Writer* out) override {
    const auto explore = setup_.ranks.JoinColumns<std::uint64_t>(Positions(rollout_.explore()));
    rollout_.MakeFirstRows();
    rollout_.remembered().Save(out, "memory/state", setup_.ranks);
    if (out == nullptr) return;
    WriteModule(*out, "network", replicas_[0]);
    adam_.Save(*out, "adam");
    normalizer_.Save(*out, "return_normalizer");
    out->Array<std::uint64_t>("streams/explore", explore);
    WritePositions(*out, "streams/shuffle", std::span(&shuffle_, 1));
  }

  void Load(const h5::Reader& in) override {
    ReadModule(in, "network", replicas_[0]);
    adam_.Load(in, "adam");
    normalizer_.Load(in, "return_normalizer");
    Seek(rollout_.explore(), setup_.ranks.OwnColumns<std::uint64_t>(
                                 in.Array<std::uint64_t>("streams/explore", setup_.all_envs())));
    ReadPositions(in, "streams/shuffle", std::span(&shuffle_, 1));
    rollout_.remembered().Load(in, "memory/state", setup_.ranks);
    rollout_.Restart();
  }

  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions) override {
    rollout_.actor().Greedy(observation, mask, actions);
  }

  void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const override {
    rollout_.Examples(rows, observation, mask);
  }

 private:
  torch::Tensor ToDevice(const std::vector<float>& column) const {
    return torch::from_blob(const_cast<float*>(column.data()), {static_cast<std::int64_t>(column.size())})
        .to(setup_.device);
  }

  void GatherAdvantages(std::span<const float> advantage) {
    minibatch_advantage_.clear();
    for (const std::int64_t row : minibatch_rows_)
      minibatch_advantage_.push_back(advantage[static_cast<std::size_t>(row)]);
    if (options_.normalize_advantage) Standardize(minibatch_advantage_);
  }

  void Update(double fraction) {
    const JoinedEstimates all =
        joined_.Join(setup_.ranks, {advantage_, rollout_.value(), returns_, rollout_.starts()});
    const RowGroups groups = MakeRowGroups(rollout_.remembered().any() ? Sequences(all.starts) : all.starts,
                                           options_.n_steps, setup_.all_envs());
    if (replicas_.fused(0) == nullptr) CopyToDevice(static_cast<std::int64_t>(advantage_.size()));
    const double lr = options_.lr.At(fraction);
    clip_ = options_.clip.At(fraction);
    ent_coef_ = options_.ent_coef.At(fraction);
    PpoTotals sums;
    double minibatches = 0.0, rows_seen = 0.0, first_ratio_error = 0.0, gradient_norm = 0.0;
    bool go_on = true;
    for (int epoch = 0; epoch < options_.epochs && go_on; ++epoch) {
      const std::vector<std::int64_t> order = Permutation(groups.size(), shuffle_);
      const std::vector<std::int64_t> cuts = CutMinibatches(groups, order, options_.minibatch);
      for (std::size_t m = 0; m + 1 < cuts.size() && go_on; ++m) {
        const auto part = std::span(order).subspan(static_cast<std::size_t>(cuts[m]),
                                                   static_cast<std::size_t>(cuts[m + 1] - cuts[m]));
        const std::int64_t rows = RunMinibatch(groups, part, all.advantage);
        Stopwatch watch;
        Shard total = Reduce();
        const double kl = total.totals.figures[0] / static_cast<double>(rows);
        if (minibatches == 0.0) first_ratio_error = total.totals.figures[3];
        minibatches += 1.0;
        rows_seen += static_cast<double>(rows);
        sums.Add(total.totals);
        if (options_.target_kl > 0.0 && kl > 1.5 * options_.target_kl) {
          go_on = false;
          break;
        }
        gradient_norm = GradientNorm(total.gradients);
        adam_.Step(total.gradients, lr, ClipScale(gradient_norm, options_.max_grad_norm));
        optimise_s_ += watch.Lap();
      }
    }
    figures_ = {{"losses/policy_loss", sums.policy_loss / rows_seen},
                {"losses/value_loss", sums.value_loss / rows_seen},
                {"losses/entropy", sums.entropy / rows_seen},
                {"losses/entropy_share", sums.entropy / rows_seen / rollout_.UniformEntropy(setup_.ranks)},
                {"losses/approx_kl", sums.figures[0] / rows_seen},
                {"losses/old_approx_kl", sums.figures[1] / rows_seen},
                {"losses/clipfrac", sums.figures[2] / rows_seen},
                {"losses/explained_variance", ExplainedVariance(all.value, all.returns)},
                {"losses/gradient_norm", gradient_norm},
                {"losses/first_ratio_error", first_ratio_error},
                {"losses/minibatches", minibatches},
                {"charts/learning_rate", lr},
                {"charts/clip_range", clip_},
                {"charts/ent_coef", ent_coef_}};
  }

  // With a memory sequences take the place of groups: what is dealt out and stays together. Groups are then
  // cut within each (CutSequences).
  std::span<const std::uint8_t> Sequences(std::span<const std::uint8_t> starts) {
    const JoinedOutcomes all = joined_.Join(
        setup_.ranks,
        JoinedOutcomes{rollout_.reward(), rollout_.discount(), rollout_.terminated(), rollout_.truncated()});
    sequence_starts_ = SequenceStarts(starts, all.terminated, all.truncated, options_.n_steps,
                                      setup_.all_envs(), options_.sequence);
    return sequence_starts_;
  }

  bool Remembers() const { return setup_.memory > 0; }
  // Does time pass with the last row of the group?
  bool Passes(std::int64_t group) const {
    return rollout_.discount()[static_cast<std::size_t>(
               minibatch_rows_[static_cast<std::size_t>(Begin(group + 1) - 1)])] != 1.0F;
  }

  // Gradients and figures of one minibatch, of this rank's part of it, into shards_; gives back its number of
  // rows.
  std::int64_t RunMinibatch(const RowGroups& groups, std::span<const std::int64_t> order,
                            std::span<const float> advantage) {
    minibatch_rows_.clear();
    minibatch_begin_.clear();
    for (const std::int64_t group : order) {
      minibatch_begin_.push_back(static_cast<std::int64_t>(minibatch_rows_.size()));
      const auto g = static_cast<std::size_t>(group);
      for (std::int64_t k = groups.begin[g]; k < groups.begin[g + 1]; ++k) {
        minibatch_rows_.push_back(groups.rows[static_cast<std::size_t>(k)]);
      }
    }
    minibatch_begin_.push_back(static_cast<std::int64_t>(minibatch_rows_.size()));
    GatherAdvantages(advantage);
    minibatch_size_ = static_cast<std::int64_t>(minibatch_rows_.size());
    if (setup_.ranks.many())
      KeepOwnRows(setup_.ranks, minibatch_rows_, minibatch_begin_, minibatch_advantage_);
    if (Remembers()) sequence_begin_ = CutSequences(rollout_.starts(), minibatch_rows_, minibatch_begin_);
    const auto own_groups = static_cast<std::int64_t>(minibatch_begin_.size()) - 1;
    const int parts = replicas_.count();
    std::fill(shards_.begin(), shards_.end(), Shard{});
    if (own_groups > 0 && replicas_.fused(0) != nullptr) {
      RunFused(own_groups);
    } else {
      workers_.Run(parts, [&](int part) {
        if (Remembers()) {
          const PartRange range = PartOf(static_cast<std::int64_t>(sequence_begin_.size()) - 1, part, parts);
          if (range.begin < range.end) RunShardOfSequences(part, range);
          return;
        }
        const PartRange range = PartOf(own_groups, part, parts);
        if (range.begin < range.end) RunShard(part, range);
      });
    }
    return minibatch_size_;
  }

  // The minibatch through the fused network, chunk by chunk. Gradients and figures of portions of it are
  // added up in their order, and what is a portion does not depend on the number of threads: so the sum's
  // bits do not either.
  void RunFused(std::int64_t groups) {
    heads_.clear();
    for (std::int64_t g = 0; g < groups; ++g)
      heads_.push_back(
          rollout_.rows().Observation(minibatch_rows_[static_cast<std::size_t>(Begin(g))]).data());
    CutChunks();
    const std::size_t chunks = chunks_.size() - 1;
    const std::span<float> gradient = replicas_.fused(0)->gradient();
    const std::size_t each =
        gradient.size() > kLarge ? (chunks + kPortionsOfLarge - 1) / kPortionsOfLarge : 1;
    const std::size_t portions = (chunks + each - 1) / each;
    const int parts = replicas_.count();
    const std::size_t at_once = parts == 1 ? 1 : kPortionsAPart * static_cast<std::size_t>(parts);
    results_.resize(std::max(results_.size(), std::min(portions, at_once)));
    sum_.assign(gradient.size(), 0.0F);
    for (std::size_t first = 0; first < portions; first += at_once) {
      const std::size_t count = std::min(portions - first, at_once);
      workers_.Run(parts, [&](int part) {
        Stopwatch watch;
        if (first == 0) replicas_.fused(part)->Refresh();
        scratch_[static_cast<std::size_t>(part)].passes_s += watch.Lap();
        const PartRange range = PartOf(static_cast<std::int64_t>(count), part, parts);
        for (auto k = static_cast<std::size_t>(range.begin); k < static_cast<std::size_t>(range.end); ++k) {
          const std::size_t begin = (first + k) * each;
          RunPortion(part, begin, std::min(begin + each, chunks), results_[k]);
        }
      });
      for (std::size_t k = 0; k < count; ++k) {
        const float* const own = parts == 1 ? gradient.data() : results_[k].gradient.data();
        for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += own[i];
        shards_[0].totals.Add(results_[k].totals);
      }
    }
    std::copy(sum_.begin(), sum_.end(), gradient.begin());
    shards_[0].gradients = replicas_.fused_gradients(0);
  }

  // Of groups, or with a memory of sequences.
  void CutChunks() {
    chunks_.assign(1, 0);
    if (Remembers()) {
      const std::size_t sequences = sequence_begin_.size() - 1;
      while (chunks_.back() < sequences)
        chunks_.push_back(std::min(chunks_.back() + kSequencesAChunk, sequences));
      return;
    }
    for (std::span<const float* const> left = heads_; !left.empty();
         left = left.subspan(chunks_.back() - chunks_.end()[-2]))
      chunks_.push_back(chunks_.back() + replicas_.fused(0)->ChunkOf(left));
  }

  // The chunks [begin, end). With one part the gradient stays in its network.
  void RunPortion(int part, std::size_t begin, std::size_t end, PortionResult& result) {
    FusedNetwork& network = *replicas_.fused(part);
    const PpoCoefficients coefficients = {clip_, options_.value_clip, options_.vf_coef, ent_coef_,
                                          static_cast<double>(minibatch_size_)};
    const std::span<float> gradient = network.gradient();
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    result.totals = {};
    for (std::size_t chunk = begin; chunk < end; ++chunk) {
      if (Remembers()) {
        RunSequences(network, chunks_[chunk], chunks_[chunk + 1], coefficients,
                     scratch_[static_cast<std::size_t>(part)], result.totals);
        continue;
      }
      const auto heads =
          std::span<const float* const>(heads_).subspan(chunks_[chunk], chunks_[chunk + 1] - chunks_[chunk]);
      RunChunk(network, heads, static_cast<std::int64_t>(chunks_[chunk]), coefficients,
               scratch_[static_cast<std::size_t>(part)], result.totals);
    }
    if (replicas_.count() > 1) result.gradient.assign(gradient.begin(), gradient.end());
  }

  // The groups from `group` on whose observations are `heads`.
  void RunChunk(FusedNetwork& network, std::span<const float* const> heads, std::int64_t group,
                const PpoCoefficients& coefficients, Scratch& scratch, PpoTotals& totals) {
    const auto actions = static_cast<std::size_t>(setup_.num_actions);
    scratch.scores.resize(heads.size() * actions);
    scratch.values.resize(heads.size());
    scratch.d_scores.assign(heads.size() * actions, 0.0F);
    scratch.d_values.assign(heads.size(), 0.0F);
    Stopwatch watch;
    network.Forward(heads, scratch.scores.data(), scratch.values.data());
    scratch.passes_s += watch.Lap();
    for (std::size_t h = 0; h < heads.size(); ++h, ++group) {
      AddLosses(group, {scratch.scores.data() + h * actions, actions}, scratch.values[h],
                {scratch.d_scores.data() + h * actions, actions}, scratch.d_values[h], coefficients, scratch,
                totals);
    }
    scratch.loss_s += watch.Lap();
    network.Backward(scratch.d_scores.data(), scratch.d_values.data());
    scratch.passes_s += watch.Lap();
  }

  // Of the rows of a group, which share their scores and value.
  void AddLosses(std::int64_t group, std::span<const float> scores, float value, std::span<float> d_scores,
                 float& d_value, const PpoCoefficients& coefficients, Scratch& scratch, PpoTotals& totals) {
    const std::size_t actions = scores.size();
    const std::uint8_t* masks = rollout_.rows().Mask(0).data();
    const std::int64_t* taken = rollout_.rows().action().data();
    scratch.group.clear();
    for (std::int64_t k = Begin(group); k < Begin(group + 1); ++k) {
      const std::int64_t row = minibatch_rows_[static_cast<std::size_t>(k)];
      Prefetch(masks, actions, k + kAhead);
      const auto r = static_cast<std::size_t>(row);
      scratch.group.push_back({.mask = {masks + r * actions, actions},
                               .action = taken[r],
                               .old_log_prob = rollout_.log_prob()[r],
                               .advantage = minibatch_advantage_[static_cast<std::size_t>(k)],
                               .returns = returns_[r],
                               .old_value = rollout_.value()[r]});
    }
    scratch.rows.Add(coefficients, scratch.group, scores, value, d_scores, d_value, totals);
  }

  // The sequences [first, last) of the minibatch, through time.
  void RunSequences(FusedNetwork& network, std::size_t first, std::size_t last,
                    const PpoCoefficients& coefficients, Scratch& scratch, PpoTotals& totals) {
    const auto actions = static_cast<std::size_t>(setup_.num_actions);
    const std::size_t group = sequence_begin_[first];
    scratch.steps.clear();
    scratch.begin.clear();
    for (std::size_t s = first; s <= last; ++s) scratch.begin.push_back(sequence_begin_[s] - group);
    for (std::size_t g = group; g < sequence_begin_[last]; ++g)
      scratch.steps.push_back({heads_[g], Passes(static_cast<std::int64_t>(g))});
    Stopwatch watch;
    double loss_s = 0.0;
    scratch.sequences.AddGradient(
        network, scratch.steps, scratch.begin,
        [&](std::span<const std::size_t> which, const float* scores, const float* values, float* d_scores,
            float* d_values) {
          Stopwatch of_loss;
          for (std::size_t h = 0; h < which.size(); ++h) {
            AddLosses(static_cast<std::int64_t>(group + which[h]), {scores + h * actions, actions}, values[h],
                      {d_scores + h * actions, actions}, d_values[h], coefficients, scratch, totals);
          }
          loss_s += of_loss.Lap();
        });
    scratch.loss_s += loss_s;
    scratch.passes_s += watch.Lap() - loss_s;
  }

  // Observations come in random order: the mask of the k-th row is asked for before it is its turn.
  static constexpr std::int64_t kAhead = 16;
  void Prefetch(const std::uint8_t* masks, std::size_t actions, std::int64_t k) const {
    if (k >= static_cast<std::int64_t>(minibatch_rows_.size())) return;
    const std::uint8_t* mask =
        masks + static_cast<std::size_t>(minibatch_rows_[static_cast<std::size_t>(k)]) * actions;
    __builtin_prefetch(mask);
    __builtin_prefetch(mask + actions - 1);
  }

  // Of group g of the minibatch in minibatch_rows_.
  std::int64_t Begin(std::int64_t g) const { return minibatch_begin_[static_cast<std::size_t>(g)]; }

  void CopyToDevice(std::int64_t count) {
    observations_ = rollout_.rows().FlatObservations().narrow(0, 0, count).to(setup_.device);
    masks_ = rollout_.rows().FlatMasks().narrow(0, 0, count).to(setup_.device);
    actions_ = rollout_.rows().FlatActions().narrow(0, 0, count).to(setup_.device);
    old_log_prob_ = ToDevice(rollout_.log_prob());
    old_value_ = ToDevice(rollout_.value());
    target_ = ToDevice(returns_);
  }

  // The same by LibTorch's operations and autograd: what the fused passes are checked against.
  // `forward`: of the groups' first rows, where it is not one pass over all of them.
  void RunShard(int part, PartRange groups,
                const std::function<NetworkOutput(const torch::Tensor& rows)>& forward = nullptr) {
    Shard& shard = shards_[static_cast<std::size_t>(part)];
    const std::int64_t first = minibatch_begin_[static_cast<std::size_t>(groups.begin)];
    const std::int64_t count = minibatch_begin_[static_cast<std::size_t>(groups.end)] - first;
    std::vector<std::int64_t> heads, group_of_row;
    for (std::int64_t g = groups.begin; g < groups.end; ++g) {
      const std::int64_t begin = minibatch_begin_[static_cast<std::size_t>(g)];
      heads.push_back(minibatch_rows_[static_cast<std::size_t>(begin)]);
      group_of_row.insert(group_of_row.end(),
                          static_cast<std::size_t>(minibatch_begin_[static_cast<std::size_t>(g) + 1] - begin),
                          g - groups.begin);
    }
    const torch::Tensor rows =
        torch::from_blob(minibatch_rows_.data() + first, {count}, torch::kInt64).to(setup_.device);
    const torch::Tensor head_rows =
        torch::from_blob(heads.data(), {groups.end - groups.begin}, torch::kInt64);
    NetworkOutput out =
        forward ? forward(head_rows)
                : replicas_[part].Forward(observations_.index_select(0, head_rows.to(setup_.device)));
    if (count != groups.end - groups.begin) {
      const torch::Tensor index =
          torch::from_blob(group_of_row.data(), {count}, torch::kInt64).to(setup_.device);
      out.scores = out.scores.index_select(0, index);
      out.value = out.value.index_select(0, index);
    }
    const PpoBatch batch = {
        masks_.index_select(0, rows),
        actions_.index_select(0, rows),
        old_log_prob_.index_select(0, rows),
        torch::from_blob(minibatch_advantage_.data() + first, {count}).to(setup_.device),
        target_.index_select(0, rows),
        old_value_.index_select(0, rows),
    };
    const PpoSums sums = PpoLoss(out.scores, out.value, batch, clip_, options_.value_clip);
    const auto all = static_cast<double>(minibatch_size_);
    const torch::Tensor loss =
        (sums.policy_loss + options_.vf_coef * sums.value_loss - ent_coef_ * sums.entropy) / all;
    const std::vector<torch::Tensor>& parameters = replicas_.parameters(part);
    shard.gradients =
        torch::autograd::grad({loss}, parameters, {}, std::nullopt, false, /*allow_unused=*/true);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      if (!shard.gradients[k].defined()) shard.gradients[k] = torch::zeros_like(parameters[k]);
    }
    shard.totals.policy_loss = sums.policy_loss.item<double>();
    shard.totals.value_loss = sums.value_loss.item<double>();
    shard.totals.entropy = sums.entropy.item<double>();
    const torch::Tensor figures = sums.figures.to(torch::kCPU);
    for (int f = 0; f < kPpoFigures; ++f)
      shard.totals.figures[static_cast<std::size_t>(f)] = figures[f].item<double>();
  }

  void RunShardOfSequences(int part, PartRange sequences) {
    const auto first = static_cast<std::size_t>(sequences.begin),
               last = static_cast<std::size_t>(sequences.end);
    const std::size_t group = sequence_begin_[first];
    std::vector<std::size_t> begin;
    std::vector<std::uint8_t> passes;
    for (std::size_t s = first; s <= last; ++s) begin.push_back(sequence_begin_[s] - group);
    for (std::size_t g = group; g < sequence_begin_[last]; ++g)
      passes.push_back(Passes(static_cast<std::int64_t>(g)));
    RunShard(part, {static_cast<std::int64_t>(group), static_cast<std::int64_t>(sequence_begin_[last])},
             [&](const torch::Tensor& rows) {
               return ForwardSequences(replicas_[part], observations_.index_select(0, rows.to(setup_.device)),
                                       begin, passes);
             });
  }

  // Joins the shards in the order of the parts, so that the sum's bits depend on their number alone.
  Shard Reduce() {
    Shard total;
    for (Shard& shard : shards_) {
      if (shard.gradients.empty()) continue;
      if (total.gradients.empty()) {
        total = std::move(shard);
        continue;
      }
      const torch::NoGradGuard no_grad;
      for (std::size_t k = 0; k < total.gradients.size(); ++k) total.gradients[k].add_(shard.gradients[k]);
      total.totals.Add(shard.totals);
    }
    if (setup_.ranks.many()) AddOtherRanks(total);
    return total;
  }

  // Losses are over the rows of the whole minibatch, so its gradient is the sum of the ranks'.
  void AddOtherRanks(Shard& total) {
    if (total.gradients.empty()) {  // none of its rows is this rank's
      for (const torch::Tensor& parameter : replicas_.parameters(0))
        total.gradients.push_back(torch::zeros_like(parameter));
    }
    PpoTotals& t = total.totals;
    std::vector<double> figures = {t.policy_loss, t.value_loss, t.entropy,
                                   t.figures[0],  t.figures[1], t.figures[2]};
    const std::size_t sums = figures.size();
    figures.resize(sums + static_cast<std::size_t>(setup_.ranks.size()));  // the maximum of each rank
    figures[sums + static_cast<std::size_t>(setup_.ranks.rank())] = t.figures[3];
    gradient_sum_.Add(setup_.ranks, total.gradients, figures);
    t = {figures[0], figures[1], figures[2], {figures[3], figures[4], figures[5], 0.0}};
    t.figures[3] = *std::max_element(figures.begin() + static_cast<std::ptrdiff_t>(sums), figures.end());
  }

  PpoOptions options_;
  AgentSetup setup_;
  std::string place_;
  Workers workers_;
  Replicas replicas_;
  Rollout rollout_;
  Adam adam_;
  ReturnNormalizer normalizer_;
  Stream shuffle_;
  std::vector<float> advantage_, returns_;  // [T, N]
  torch::Tensor observations_, masks_, actions_, old_log_prob_, old_value_,
      target_;  // [T * N, ...] on the device
  std::vector<std::int64_t> minibatch_rows_, minibatch_begin_;
  std::vector<std::uint8_t> sequence_starts_;  // [T, N of all ranks], with a memory, as the next
  std::vector<std::size_t> sequence_begin_;    // of the minibatch: among its groups
  std::int64_t minibatch_size_ = 0;            // rows of all ranks
  std::vector<float> minibatch_advantage_;
  std::vector<Shard> shards_;
  JoinedRollout joined_;
  GradientSum gradient_sum_;
  std::vector<Scratch> scratch_;     // [parts]
  std::vector<const float*> heads_;  // of the minibatch: its observations
  std::vector<std::size_t> chunks_;  // where they begin among those, and the end
  std::vector<PortionResult> results_;
  std::vector<float> sum_;              // of their gradients
  double optimise_s_ = 0.0;             // wall clock of the present update
  double clip_ = 0.0, ent_coef_ = 0.0;  // of the present update
  Figures figures_;
};

}  // namespace

std::unique_ptr<Agent> MakePpo(const PpoOptions& options, const AgentSetup& setup) {
  std::string found;
  const LearnerPlace place = PlaceWithMemory(options.learner, setup, "ppo");
  const std::optional<OnDevice> on =
      PlaceLearner(place, setup, "ppo", &found, WhatDoesNotDivide(options, setup));
  if (on) return MakeDevicePpo(options, setup, *on);
  if (options.overlap || options.v_trace || options.precision != Precision::kFloat32) {
    throw Error(Join("ppo: ",
                     options.overlap   ? "overlap=true"
                     : options.v_trace ? "returns=vtrace"
                                       : "precision other than float32",
                     ": expected a learner on the device (learner=device), found ", found));
  }
  return std::make_unique<Ppo>(options, setup, found);
}

}  // namespace berth
