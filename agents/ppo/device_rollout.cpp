#include "agents/ppo/device_rollout.hpp"

#include <algorithm>

#include "agents/learner/stopwatch.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

template <class T>
std::span<T> Row(const torch::Tensor& t, std::int64_t row) {
  const std::int64_t size = t.numel() / t.size(0);
  return {t.data_ptr<T>() + row * size, static_cast<std::size_t>(size)};
}
template <class T>
std::span<T> All(const torch::Tensor& t) {
  return {t.data_ptr<T>(), static_cast<std::size_t>(t.numel())};
}

}  // namespace

DeviceRollout::Half::Half(const OnDevice& on, int first, int last_env, int storages)
    : begin(first), end(last_env), queue(on, /*urgent=*/true), acted(on), step(on.Zeros({1}, torch::kInt64)) {
  for (int s = 0; s < storages; ++s) {
    act.emplace_back(on);
    finals.emplace_back(on);
    last.emplace_back(on);
  }
}

DeviceRollout::DeviceRollout(const OnDevice& on, int n_steps, int storages, const AgentSetup& setup,
                             Network& network, Precision precision, Workers& workers)
    : on_(on),
      n_steps_(n_steps),
      envs_(setup.num_envs),
      actions_(setup.num_actions),
      explore_{static_cast<std::uint32_t>(setup.seed), static_cast<std::uint32_t>(setup.seed >> 32),
               static_cast<std::uint32_t>(Purpose::kExplore), static_cast<std::uint32_t>(setup.first_env()),
               0},
      network_(network),
      precision_(precision),
      workers_(workers),
      draws_(on.Zeros({setup.num_envs}, torch::kInt64)) {
  for (int s = 0; s < storages; ++s) rows_.emplace_back(on, n_steps, setup);
  const int halves = std::min(envs_, 2);
  for (int h = 0; h < halves; ++h) {
    const PartRange range = PartOf(envs_, h, halves);
    halves_.emplace_back(on, static_cast<int>(range.begin), static_cast<int>(range.end), storages);
  }
  const std::int64_t d = setup.layout.size();
  host_observation_ = on.HostZeros({envs_, d});
  host_mask_ = on.HostZeros({envs_, actions_}, torch::kUInt8);
  host_final_ = on.HostZeros({envs_, d});
  host_action_ = on.HostZeros({envs_}, torch::kInt32);
  observation_ = on.Zeros({envs_, d});
  mask_ = on.Zeros({envs_, actions_}, torch::kUInt8);
  final_ = on.Zeros({envs_, d});
  action_ = on.Zeros({envs_}, torch::kInt32);
}

StepBuffers DeviceRollout::First() {
  StepBuffers out;
  out.observation = All<float>(host_observation_);
  out.action_mask = All<std::uint8_t>(host_mask_);
  return out;
}

// To its part of the device's rows.
void DeviceRollout::CopyObservations(const Half& half) {
  const int count = half.end - half.begin;
  observation_.narrow(0, half.begin, count)
      .copy_(host_observation_.narrow(0, half.begin, count), /*non_blocking=*/true);
  mask_.narrow(0, half.begin, count).copy_(host_mask_.narrow(0, half.begin, count), true);
}

void DeviceRollout::Act(Half& half, int storage) {
  const Queue::Use use(half.queue);
  DeviceRows& rows = this->rows(storage);
  half.act[static_cast<std::size_t>(storage)].Run([&] {
    const torch::NoGradGuard no_grad;
    const int count = half.end - half.begin;
    CopyObservations(half);
    const torch::Tensor observation = observation_.narrow(0, half.begin, count);
    const NetworkOutput out = ForwardWith(precision_, network_, observation);
    const torch::Tensor scores = out.scores.contiguous(), value = out.value.contiguous();
    on_.kernels->sample(
        {.rows = count,
         .begin = half.begin,
         .envs = envs_,
         .actions = actions_,
         .stream = explore_,
         .scores = scores.data_ptr<float>(),
         .value = value.data_ptr<float>(),
         .mask = mask_.data_ptr<std::uint8_t>() + static_cast<std::int64_t>(half.begin) * actions_,
         .step = half.step.data_ptr<std::int64_t>(),
         .draws = draws_.data_ptr<std::int64_t>(),
         .action = action_.data_ptr<std::int32_t>() + half.begin,
         .out_mask = rows.mask.data_ptr<std::uint8_t>(),
         .out_action = rows.action.data_ptr<std::int64_t>(),
         .out_log_prob = rows.log_prob.data_ptr<float>(),
         .out_value = rows.value.data_ptr<float>(),
         .out_entropy = rows.entropy.data_ptr<float>()},
        half.queue.handle());
    rows.observation.narrow(1, half.begin, count).index_copy_(0, half.step, observation.unsqueeze(0));
    host_action_.narrow(0, half.begin, count).copy_(action_.narrow(0, half.begin, count), true);
    half.step.add_(1);
  });
  half.acted.Set(half.queue);
}

// The values of the final observations of a step that cut episodes: of all of the half, since shapes are
// fixed.
void DeviceRollout::ValueFinals(Half& half, int storage) {
  const Queue::Use use(half.queue);
  half.finals[static_cast<std::size_t>(storage)].Run([&] {
    const torch::NoGradGuard no_grad;
    const int count = half.end - half.begin;
    const torch::Tensor final = final_.narrow(0, half.begin, count);
    final.copy_(host_final_.narrow(0, half.begin, count), true);
    const torch::Tensor value = ForwardWith(precision_, network_, final).value;
    rows(storage).final_value.narrow(1, half.begin, count).index_copy_(0, half.step - 1, value.unsqueeze(0));
  });
}

void DeviceRollout::ValueLast(Half& half, int storage) {
  const Queue::Use use(half.queue);
  half.last[static_cast<std::size_t>(storage)].Run([&] {
    const torch::NoGradGuard no_grad;
    const int count = half.end - half.begin;
    CopyObservations(half);
    const torch::Tensor value =
        ForwardWith(precision_, network_, observation_.narrow(0, half.begin, count)).value;
    rows(storage).last_value.narrow(0, half.begin, count).copy_(value);
  });
  half.acted.Set(half.queue);
}

void DeviceRollout::StepHalf(BatchEnv& env, Half& half, DeviceRows& rows, int step) {
  StepBuffers out = First();
  out.reward = out.signal = Row<float>(rows.host_reward, step);
  out.discount = Row<float>(rows.host_discount, step);
  out.new_jobs = Row<float>(rows.host_new_jobs, step);
  out.new_work = Row<float>(rows.host_new_work, step);
  out.terminated = Row<std::uint8_t>(rows.host_terminated, step);
  out.truncated = Row<std::uint8_t>(rows.host_truncated, step);
  out.final_observation = All<float>(host_final_);
  const std::span<const std::int32_t> actions = All<std::int32_t>(host_action_);
  const int count = half.end - half.begin, parts = std::min(workers_.count(), count);
  workers_.Run(parts, [&](int part) {
    const PartRange range = PartOf(count, part, parts);
    env.StepRange(half.begin + static_cast<int>(range.begin), half.begin + static_cast<int>(range.end),
                  actions, out);
  });
}

Played DeviceRollout::Collect(BatchEnv& env, int storage, const Mark& ready) {
  Played played;
  Stopwatch watch;
  DeviceRows& rows = this->rows(storage);
  for (Half& half : halves_) {
    ready.Block(half.queue);
    const Queue::Use use(half.queue);
    half.step.zero_();
    Act(half, storage);
  }
  for (int step = 0; step < n_steps_; ++step) {
    for (Half& half : halves_) {
      half.acted.Wait();
      played.act_s += watch.Lap();
      StepHalf(env, half, rows, step);
      played.env_s += watch.Lap();
      const auto truncated =
          Row<std::uint8_t>(rows.host_truncated, step)
              .subspan(static_cast<std::size_t>(half.begin), static_cast<std::size_t>(half.end - half.begin));
      if (std::any_of(truncated.begin(), truncated.end(), [](std::uint8_t t) { return t != 0; }))
        ValueFinals(half, storage);
      if (step + 1 < n_steps_) {
        Act(half, storage);
      } else {
        ValueLast(half, storage);
      }
    }
  }
  played.act_s += watch.Lap();
  played.steps = static_cast<std::int64_t>(n_steps_) * envs_;
  return played;
}

void DeviceRollout::Block(const Queue& queue) const {
  for (const Half& half : halves_) half.acted.Block(queue);
}

}  // namespace berth
