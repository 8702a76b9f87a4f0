#include "agents/ppo/device_rows.hpp"

namespace berth {

DeviceRows::DeviceRows(const OnDevice& on, int t, const AgentSetup& setup) : steps(t), envs(setup.num_envs) {
  observation = on.Zeros({steps, envs, setup.layout.size()});
  mask = on.Zeros({steps, envs, setup.num_actions}, torch::kUInt8);
  action = on.Zeros({steps, envs}, torch::kInt64);
  for (torch::Tensor* column :
       {&log_prob, &value, &entropy, &final_value, &reward, &discount, &advantage, &returns}) {
    *column = on.Zeros({steps, envs});
  }
  last_value = on.Zeros({envs});
  for (torch::Tensor* column : {&terminated, &truncated}) *column = on.Zeros({steps, envs}, torch::kUInt8);
  for (torch::Tensor* column :
       {&host_reward, &host_discount, &host_new_jobs, &host_new_work, &host_advantage})
    *column = on.HostZeros({steps, envs});
  for (torch::Tensor* column : {&host_terminated, &host_truncated})
    *column = on.HostZeros({steps, envs}, torch::kUInt8);
}

std::int64_t DeviceRows::BytesPerStep(const AgentSetup& setup) {
  const std::int64_t row = 4LL * setup.layout.size() + setup.num_actions + 8 + 8 * 4 + 2;
  return row * setup.num_envs;
}

void DeviceRows::Upload() {
  reward.copy_(host_reward, /*non_blocking=*/true);
  discount.copy_(host_discount, true);
  terminated.copy_(host_terminated, true);
  truncated.copy_(host_truncated, true);
}

cuda::ReturnColumns DeviceRows::Columns(double lambda, double lambda_within_instant) const {
  return {.steps = steps,
          .envs = envs,
          .reward = reward.data_ptr<float>(),
          .discount = discount.data_ptr<float>(),
          .value = value.data_ptr<float>(),
          .terminated = terminated.data_ptr<std::uint8_t>(),
          .truncated = truncated.data_ptr<std::uint8_t>(),
          .final_value = final_value.data_ptr<float>(),
          .last_value = last_value.data_ptr<float>(),
          .lambda = lambda,
          .lambda_within_instant = lambda_within_instant};
}

}  // namespace berth
