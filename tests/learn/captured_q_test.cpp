// Deep Q-learning on the device, run on the CPU, against LibTorch's operations one by one; and on a GPU where
// there is one.
#include <cmath>

#include "agents/gpu/device.hpp"
#include "agents/gpu/queue.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

constexpr const char* kSettings =
    "buffer=400,learning_starts=40,batch=16,train_freq=10,gradient_steps=2,target_interval=50,per_alpha=0.6,"
    "lr=0.003";

// Parameters after 50 steps of five environments.
std::vector<float> TrainedQ(const std::string& more, const std::string& network, torch::Device device,
                           Figures* figures) {
  TwoTypes env(5);
  auto agent = MakeTestAgent(Join("dqn(", kSettings, ",", more, ")"), network, env, 1, 1, device);
  env.Reset(agent->First());
  TrainFor(*agent, env, 250);
  *figures = agent->figures();
  return FlatParameters(*agent);
}

}  // namespace

TEST_CASE("device DQN: parameters and losses of autograd's to 1e-5 after a run") {
  for (const std::string network : {"mlp(hidden=16x16)", "pair_scorer(width=8)"}) {
    for (const std::string more : {"max_grad_norm=10", "max_grad_norm=0.1,double=false,dueling=false",
                                   "quantiles=3", "n_step=3", "n_step=2,quantiles=3"}) {
      CAPTURE(network, more);
      Figures host_figures, device_figures;
      const std::vector<float> host =
          TrainedQ(more + ",learner=host,fused=false", network, torch::kCPU, &host_figures);
      const std::vector<float> device =
          TrainedQ(more + ",learner=device", network, torch::kCPU, &device_figures);
      REQUIRE(host.size() == device.size());
      double largest = 0.0;
      for (std::size_t k = 0; k < host.size(); ++k)
        largest = std::max(largest, std::abs(static_cast<double>(host[k]) - device[k]));
      CHECK(largest < 1e-5);
      REQUIRE(host_figures.size() == device_figures.size());
      for (std::size_t k = 0; k < host_figures.size(); ++k)
        CHECK(device_figures[k].second == Approx(host_figures[k].second).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("device DQN: the host waits once a step for scores and once an update") {
  TwoTypes env(5);
  // Every step changes some observation, so that every step has scores; epsilon leaves them to be computed.
  auto agent =
      MakeTestAgent("dqn(buffer=400,learning_starts=5,batch=8,train_freq=5,gradient_steps=3,learner=device)",
                    "mlp(hidden=8)", env, 1);
  env.Reset(agent->First());
  for (int k = 0; k < 5; ++k) agent->Play(env, 0.5);
  const std::int64_t before = DeviceWaits(), updates = agent->updates();
  for (int k = 0; k < 10; ++k) agent->Play(env, 0.5);
  const std::int64_t waits = DeviceWaits() - before;
  CHECK(agent->updates() - updates == 30);
  CHECK(waits >= 30);
  CHECK(waits <= 30 + 10);
}

TEST_CASE("on a GPU device DQN gives the CPU's parameters to 1e-3, captured too") {
  DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  if (cuda::OpenCudaLibrary(&why) == nullptr) return test::Skip("needs the preset cuda: " + why);
  for (const std::string network : {"mlp(hidden=16x16)", "pair_scorer(width=8)"}) {
    CAPTURE(network);
    Figures ignored;
    const std::vector<float> cpu = TrainedQ("learner=device", network, torch::kCPU, &ignored);
    const std::vector<float> gpu =
        TrainedQ("learner=device", network, torch::Device(torch::kCUDA, 0), &ignored);
    for (std::size_t k = 0; k < cpu.size(); ++k) CHECK(gpu[k] == Approx(cpu[k]).margin(1e-3));
  }
}

}  // namespace berth
