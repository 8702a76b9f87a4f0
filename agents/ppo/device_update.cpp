#include "agents/ppo/device_update.hpp"

#include <ATen/ops/_fused_adam.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "agents/nn/flat_parameters.hpp"
#include "agents/nn/tensor_io.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

// sums_: six of the loss kernel's, rows and minibatches that were counted, the first minibatch's largest
// |ratio - 1|, the last gradient norm, sums and sums of squares (about the mean, alone) of returns - value
// and of the returns, the sum of ln(legal actions) and Adam's steps.
enum Sum {
  kLosses = 0,
  kRows = 6,
  kMinibatches = 7,
  kFirstRatio = 8,
  kNorm = 9,
  kError = 10,
  kErrorSquares = 11,
  kReturn = 12,
  kReturnSquares = 13,
  kUniform = 14,
  kSteps = 15,
  kSums = 16
};
constexpr std::int64_t kLossSums = 6;

// From sum and sum of squares of n numbers; what is less than rounding is none.
double VarianceOf(double sum, double squares, double n) {
  const double mean = sum / n, variance = squares / n - mean * mean;
  return variance > 1e-14 * (squares / n) ? variance : 0.0;
}

// This rank's part of a minibatch of all ranks.
std::int64_t RowsOfRank(std::int64_t minibatch, std::int64_t rows, const Ranks& ranks) {
  return std::min(minibatch, rows * ranks.size()) / ranks.size();
}

}  // namespace

DeviceUpdate::DeviceUpdate(const OnDevice& on, const PpoOptions& options, const AgentSetup& setup,
                           int storages, Network& network, Precision precision)
    : on_(on),
      options_(options),
      network_(network),
      precision_(precision),
      ranks_(setup.ranks),
      rows_(static_cast<std::int64_t>(options.n_steps) * setup.num_envs),
      minibatch_rows_(RowsOfRank(options.minibatch, rows_, ranks_)),
      per_epoch_((rows_ + minibatch_rows_ - 1) / minibatch_rows_),
      actions_(setup.num_actions),
      observation_size_(setup.layout.size()),
      shuffle_{static_cast<std::uint32_t>(setup.seed), static_cast<std::uint32_t>(setup.seed >> 32),
               static_cast<std::uint32_t>(Purpose::kShuffle), static_cast<std::uint32_t>(ranks_.rank()), 0},
      parameters_(Flatten(network)),
      first_moment_(torch::zeros_like(parameters_)),
      second_moment_(torch::zeros_like(parameters_)),
      adam_step_(on.Zeros({1})),
      module_parameters_(network.parameters()),
      host_controls_(on.HostZeros({3}, torch::kFloat64)),
      controls_(on.Zeros({3}, torch::kFloat64)),
      lr_(on.Zeros({})),
      minibatch_(on.Zeros({1}, torch::kInt64)),
      epoch_(on.Zeros({1}, torch::kInt64)),
      stopped_(on.Zeros({1})),
      sums_(on.Zeros({kSums}, torch::kFloat64)),
      host_sums_(on.HostZeros({kSums}, torch::kFloat64)),
      row_(on.Zeros({minibatch_rows_}, torch::kInt64)),
      moments_(on.Zeros({2}, torch::kFloat64)),
      losses_(on.Zeros({kLossSums + ranks_.size()}, torch::kFloat64)),
      message_(on.Zeros({parameters_.numel() + losses_.numel()})),
      log_ratio_(on.Zeros({options.v_trace ? rows_ : 0})),
      done_(on) {
  BERTH_CHECK(minibatch_rows_ > 0, options.minibatch, " ", ranks_.size());
  for (int s = 0; s < storages; ++s) {
    prepare_.emplace_back(on);
    minibatch_work_.emplace_back(on);
    short_minibatch_work_.emplace_back(on);
  }
}

void DeviceUpdate::Enqueue(DeviceRows& rows, int storage, double lr, double clip, double ent_coef,
                           const Queue& queue) {
  const Queue::Use use(queue);
  const auto s = static_cast<std::size_t>(storage);
  host_controls_.data_ptr<double>()[0] = lr;
  host_controls_.data_ptr<double>()[1] = clip;
  host_controls_.data_ptr<double>()[2] = ent_coef;
  prepare_[s].Run([&] { Prepare(rows, queue); });
  if (ranks_.many()) ranks_.group().SumOnDevice(sums_.data_ptr<double>() + kError, 5);
  // What is left of an epoch is a minibatch too (so Stable-Baselines3's RolloutBuffer.get).
  const std::int64_t left = rows_ - (per_epoch_ - 1) * minibatch_rows_;
  for (int epoch = 0; epoch < options_.epochs; ++epoch) {
    for (std::int64_t m = 0; m < per_epoch_; ++m) {
      const bool is_short = m + 1 == per_epoch_ && left < minibatch_rows_;
      Minibatch((is_short ? short_minibatch_work_ : minibatch_work_)[s], rows,
                is_short ? left : minibatch_rows_, queue);
    }
  }
  epoch_.add_(options_.epochs);
  sums_.narrow(0, kSteps, 1).copy_(adam_step_);
  host_sums_.copy_(sums_, /*non_blocking=*/true);
  done_.Set(queue);
  settled_ = !ranks_.many();
}

void DeviceUpdate::Prepare(DeviceRows& rows, const Queue& queue) {
  const torch::NoGradGuard no_grad;
  controls_.copy_(host_controls_, /*non_blocking=*/true);
  lr_.copy_(controls_[0]);
  minibatch_.zero_();
  stopped_.zero_();
  sums_.zero_();
  rows.Upload();
  cuda::ReturnColumns columns = rows.Columns(options_.gae_lambda, options_.lambda_within_instant);
  if (options_.v_trace) {
    Reconsider(rows);
    columns.log_ratio = log_ratio_.data_ptr<float>();
  }
  on_.kernels->returns(
      {columns, options_.v_trace, rows.advantage.data_ptr<float>(), rows.returns.data_ptr<float>()},
      queue.handle());
  rows.host_advantage.copy_(rows.advantage, /*non_blocking=*/true);
  const torch::Tensor legal = rows.mask.sum(/*dim=*/2).to(torch::kFloat64);
  sums_.narrow(0, kUniform, 1).copy_(legal.clamp_min(1.0).log().sum());
  const torch::Tensor returns = rows.returns.to(torch::kFloat64);
  const torch::Tensor errors = returns - rows.value;
  for (const auto& [place, x] : {std::pair(kError, errors), {kReturn, returns}}) {
    sums_.narrow(0, place, 1).copy_(ranks_.many() ? x.sum() : torch::zeros_like(x.sum()));
    sums_.narrow(0, place + 1, 1).copy_((ranks_.many() ? x : x - x.mean()).square().sum());
  }
}

// Of rows that were played by the policy before the last update: what the present one says of them. It is
// what the update goes on from: the loss's ratio is to it, and V-trace's to the policy that played (what
// Hilton et al. 2022 call the proximal and the behaviour policy). Values of where rollouts and episodes were
// cut stay those of the policy that played: their observations are not kept.
void DeviceUpdate::Reconsider(DeviceRows& rows) {
  const torch::Tensor observation = rows.observation.flatten(0, 1), mask = rows.mask.flatten(0, 1),
                      action = rows.action.flatten().unsqueeze(1);
  torch::Tensor log_prob = rows.log_prob.flatten(), value = rows.value.flatten();
  for (std::int64_t begin = 0; begin < rows_; begin += minibatch_rows_) {
    const std::int64_t count = std::min(minibatch_rows_, rows_ - begin);
    const auto part = [&](const torch::Tensor& all) { return all.narrow(0, begin, count); };
    const NetworkOutput out = ForwardWith(precision_, network_, part(observation));
    const torch::Tensor logits =
        out.scores.masked_fill(part(mask).eq(0), -std::numeric_limits<float>::infinity());
    const torch::Tensor now = logits.log_softmax(1).gather(1, part(action)).squeeze(1);
    part(log_ratio_).copy_(now - part(log_prob));
    part(log_prob).copy_(now);
    part(value).copy_(out.value);
  }
}

std::vector<torch::Tensor> DeviceUpdate::Gradients(const NetworkOutput& out, const torch::Tensor& d_scores,
                                                   const torch::Tensor& d_value) {
  std::vector<torch::Tensor> gradients =
      torch::autograd::grad({out.scores, out.value}, module_parameters_, {d_scores, d_value}, std::nullopt,
                            /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    gradients[k] =
        gradients[k].defined() ? gradients[k].flatten() : torch::zeros_like(module_parameters_[k]).flatten();
  }
  return gradients;
}

void DeviceUpdate::Minibatch(Work& work, DeviceRows& rows, std::int64_t count, const Queue& queue) {
  if (!ranks_.many()) {
    work.learn.Run([&] {
      Choose(rows, count, queue);
      Learn(rows, count, queue);
      Apply(count);
    });
    return;
  }
  ProcessGroup& group = ranks_.group();
  work.choose.Run([&] { Choose(rows, count, queue); });
  if (options_.normalize_advantage) group.SumOnDevice(moments_.data_ptr<double>(), moments_.numel());
  work.learn.Run([&] { Learn(rows, count, queue); });
  group.SumOnDevice(message_.data_ptr<float>(), message_.numel());
  work.apply.Run([&] { Apply(count); });
}

// Which rows, and of several ranks what the standardised advantages need of the others.
void DeviceUpdate::Choose(DeviceRows& rows, std::int64_t count, const Queue& queue) {
  const torch::NoGradGuard no_grad;
  on_.kernels->shuffle({.rows = static_cast<int>(count),
                        .all = rows_,
                        .minibatch_rows = minibatch_rows_,
                        .per_epoch = per_epoch_,
                        .key = shuffle_,
                        .minibatch = minibatch_.data_ptr<std::int64_t>(),
                        .epoch = epoch_.data_ptr<std::int64_t>(),
                        .out = row_.data_ptr<std::int64_t>()},
                       queue.handle());
  if (!ranks_.many() || !options_.normalize_advantage) return;
  const torch::Tensor wide =
      rows.advantage.flatten().index_select(0, row_.narrow(0, 0, count)).to(torch::kFloat64);
  moments_.copy_(torch::stack({wide.sum(), wide.square().sum()}));
}

torch::Tensor DeviceUpdate::Standardized(const torch::Tensor& advantage) const {
  const std::int64_t count = advantage.numel() * ranks_.size();
  if (!options_.normalize_advantage || count == 1) return advantage;
  const torch::Tensor wide = advantage.to(torch::kFloat64);
  if (!ranks_.many()) return ((wide - wide.mean()) / (wide.std() + 1e-8)).to(torch::kFloat32);
  const auto n = static_cast<double>(count);
  const torch::Tensor mean = moments_[0] / n;
  const torch::Tensor deviation = ((moments_[1] - moments_[0] * mean) / (n - 1.0)).clamp_min(0.0).sqrt();
  return ((wide - mean) / (deviation + 1e-8)).to(torch::kFloat32);
}

// Gradient and losses of this rank's rows, over the rows of all.
void DeviceUpdate::Learn(DeviceRows& rows, std::int64_t count, const Queue& queue) {
  const torch::Tensor row = row_.narrow(0, 0, count);
  const NetworkOutput out =
      ForwardWith(precision_, network_, rows.observation.flatten(0, 1).index_select(0, row));
  const torch::Tensor d_scores = on_.Empty({count, actions_}), d_value = on_.Empty({count}),
                      losses = on_.Empty({count, cuda::kPpoSums});
  {
    const torch::NoGradGuard no_grad;
    const torch::Tensor scores = out.scores.contiguous(), value = out.value.contiguous();
    const torch::Tensor advantage = Standardized(rows.advantage.flatten().index_select(0, row));
    on_.kernels->ppo({.rows = static_cast<int>(count),
                      .actions = static_cast<int>(actions_),
                      .coefficients = {0.0, options_.value_clip, options_.vf_coef, 0.0,
                                       static_cast<double>(count * ranks_.size())},
                      .clip = controls_.data_ptr<double>() + 1,
                      .ent_coef = controls_.data_ptr<double>() + 2,
                      .row = row.data_ptr<std::int64_t>(),
                      .scores = scores.data_ptr<float>(),
                      .value = value.data_ptr<float>(),
                      .advantage = advantage.data_ptr<float>(),
                      .mask = rows.mask.data_ptr<std::uint8_t>(),
                      .action = rows.action.data_ptr<std::int64_t>(),
                      .old_log_prob = rows.log_prob.data_ptr<float>(),
                      .returns = rows.returns.data_ptr<float>(),
                      .old_value = rows.value.data_ptr<float>(),
                      .d_scores = d_scores.data_ptr<float>(),
                      .d_value = d_value.data_ptr<float>(),
                      .sums = losses.data_ptr<float>()},
                     queue.handle());
  }
  const std::vector<torch::Tensor> gradients = Gradients(out, d_scores, d_value);

  const torch::NoGradGuard no_grad;
  const std::int64_t p = parameters_.numel();
  message_.narrow(0, 0, p).copy_(torch::cat(gradients));
  losses_.zero_();
  losses_.narrow(0, 0, kLossSums).copy_(losses.to(torch::kFloat64).sum(0).narrow(0, 0, kLossSums));
  losses_.narrow(0, kLossSums + ranks_.rank(), 1).copy_(losses.select(1, 6).amax());
  if (ranks_.many()) message_.narrow(0, p, losses_.numel()).copy_(losses_);
}

// One step of Adam by what all ranks have found, and the figures.
void DeviceUpdate::Apply(std::int64_t count) {
  const torch::NoGradGuard no_grad;
  const std::int64_t p = parameters_.numel();
  const auto all = static_cast<double>(count * ranks_.size());
  if (ranks_.many()) losses_.copy_(message_.narrow(0, p, losses_.numel()));
  // Figures: what comes after the KL stop is not counted, the minibatch that brought it is.
  const torch::Tensor counted = 1.0 - stopped_.to(torch::kFloat64);
  sums_.narrow(0, kLosses, kLossSums).add_(losses_.narrow(0, 0, kLossSums) * counted);
  sums_.narrow(0, kRows, 1).add_(counted, all);
  sums_.narrow(0, kMinibatches, 1).add_(counted);
  torch::Tensor first_ratio = sums_.narrow(0, kFirstRatio, 1);
  first_ratio.copy_(
      torch::where(minibatch_.eq(0), losses_.narrow(0, kLossSums, ranks_.size()).amax(), first_ratio));
  if (options_.target_kl > 0.0) {
    const torch::Tensor kl = losses_.narrow(0, 3, 1) / all;
    stopped_.copy_(torch::maximum(stopped_, kl.gt(1.5 * options_.target_kl).to(torch::kFloat32)));
  }

  torch::Tensor gradient = message_.narrow(0, 0, p);
  const torch::Tensor norm = gradient.norm();
  torch::Tensor last_norm = sums_.narrow(0, kNorm, 1);
  last_norm.copy_(torch::where(stopped_.eq(0), norm.to(torch::kFloat64), last_norm));
  gradient.mul_((options_.max_grad_norm / (norm + 1e-6)).clamp_max(1.0));
  adam_step_.add_(1.0 - stopped_);
  // Where it stopped Adam is told of an infinite gradient and leaves everything as it is.
  at::_fused_adam_({parameters_}, {gradient}, {first_moment_}, {second_moment_}, {}, {adam_step_}, lr_,
                   /*beta1=*/0.9, /*beta2=*/0.999, /*weight_decay=*/0.0, options_.adam_eps, /*amsgrad=*/false,
                   /*maximize=*/false, /*grad_scale=*/{}, /*found_inf=*/stopped_);
  minibatch_.add_(1);
}

void DeviceUpdate::Settle() {
  if (settled_) return;
  double nothing = 0.0;
  ranks_.group().Settle(std::span(&nothing, 1));
  settled_ = true;
}

PpoUpdateFigures DeviceUpdate::Read() {
  Settle();
  done_.Wait();
  const double* s = host_sums_.data_ptr<double>();
  const double rows = s[kRows], played = static_cast<double>(rows_ * ranks_.size());
  return {.policy_loss = s[0] / rows,
          .value_loss = s[1] / rows,
          .entropy = s[2] / rows,
          .entropy_share = s[2] / rows / (s[kUniform] / played),
          .approx_kl = s[3] / rows,
          .old_approx_kl = s[4] / rows,
          .clipfrac = s[5] / rows,
          .minibatches = s[kMinibatches],
          .first_ratio_error = s[kFirstRatio],
          .gradient_norm = s[kNorm],
          .explained_variance = 1.0 - VarianceOf(s[kError], s[kErrorSquares], played) /
                                          VarianceOf(s[kReturn], s[kReturnSquares], played),
          .optimiser_steps = static_cast<std::int64_t>(s[kSteps])};
}

void DeviceUpdate::Try(std::int64_t rows) {
  const NetworkOutput out = ForwardWith(precision_, network_, on_.Zeros({rows, observation_size_}));
  Gradients(out, torch::zeros_like(out.scores), torch::zeros_like(out.value));
}

// The datasets are those of the learner on the host: a run may go on there.
void DeviceUpdate::Save(h5::Writer& out) const {
  out.Array<std::int64_t>("adam/steps",
                          std::vector<std::int64_t>{static_cast<std::int64_t>(adam_step_.item<float>())});
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < module_parameters_.size(); ++k) {
    const torch::Tensor& parameter = module_parameters_[k];
    const auto view = [&](const torch::Tensor& flat) {
      return flat.narrow(0, begin, parameter.numel()).view_as(parameter);
    };
    WriteTensor(out, Join("adam/first_moment_", k), view(first_moment_));
    WriteTensor(out, Join("adam/second_moment_", k), view(second_moment_));
    begin += parameter.numel();
  }
  out.Array<std::uint64_t>(
      "streams/shuffle", std::vector<std::uint64_t>{static_cast<std::uint64_t>(epoch_.item<std::int64_t>())});
}

void DeviceUpdate::Load(const h5::Reader& in) {
  adam_step_.fill_(static_cast<double>(in.Array<std::int64_t>("adam/steps", 1)[0]));
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < module_parameters_.size(); ++k) {
    const torch::Tensor& parameter = module_parameters_[k];
    for (const auto& [name, flat] :
         {std::pair("adam/first_moment_", first_moment_), {"adam/second_moment_", second_moment_}}) {
      torch::Tensor view = flat.narrow(0, begin, parameter.numel()).view_as(parameter);
      ReadTensor(in, Join(name, k), view);
    }
    begin += parameter.numel();
  }
  epoch_.fill_(static_cast<std::int64_t>(in.Array<std::uint64_t>("streams/shuffle", 1)[0]));
}

}  // namespace berth
