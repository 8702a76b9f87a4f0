// The learners on a GPU, against the same learners on the CPU.
#include <cmath>
#include <string>
#include <vector>

#include "agents/gpu/device.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

// The figures of the first three updates, NaN as 0.
Figures FiguresOn(const std::string& spec, const std::string& network, torch::Device device) {
  TwoTypes env(8);
  auto agent = MakeTestAgent(spec, network, env, 1, 1, device);
  CHECK(agent->network().parameters().front().device().type() == device.type());
  env.Reset(agent->First());
  Figures all;
  for (int update = 1; update <= 3; ++update) {
    TrainOnce(*agent, env, 0.1);
    for (const auto& [name, value] : agent->figures()) {
      all.emplace_back(Join(name, " of update ", update), std::isnan(value) ? 0.0 : value);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("on a GPU the first updates are those of the CPU to 0.1%") {
  const std::string build = DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  CHECK(build.find(", CUDA") != std::string::npos);
  const ChosenDevice chosen = ChooseDevice("auto");
  CHECK(chosen.device.is_cuda());
  CHECK(chosen.description.rfind("cuda:0", 0) == 0);
  for (const char* spec :
       {"ppo(learner=host,n_steps=16,minibatch=64,epochs=2)",
        "dqn(learner=host,buffer=400,learning_starts=64,batch=32,train_freq=16,gradient_steps=2)"}) {
    for (const ArchitectureInfo& network : Architectures()) {
      CAPTURE(spec, network.name);
      const Figures cpu = FiguresOn(spec, network.name, torch::kCPU);
      const Figures cuda = FiguresOn(spec, network.name, chosen.device);
      REQUIRE(cpu.size() == cuda.size());
      for (std::size_t k = 0; k < cpu.size(); ++k) {
        CAPTURE(cpu[k].first);
        CHECK(cuda[k].second == Approx(cpu[k].second).epsilon(1e-3).margin(1e-4));
      }
    }
  }
}

}  // namespace berth
