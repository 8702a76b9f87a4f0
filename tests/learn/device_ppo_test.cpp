// PPO's learner on the device, run on the CPU (the same source, where queues and captures do nothing) against
// the learner on the host; and on a GPU where there is one.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "agents/gpu/device.hpp"
#include "agents/gpu/precision.hpp"
#include "agents/gpu/queue.hpp"
#include "agents/ppo/fitting_batch.hpp"
#include "agents/train/trainer.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tests/learn/cartpole.hpp"
#include "tests/learn/toy_envs.hpp"
#include "tests/learn/wrapped_env.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

// Now and then jobs arrive, and cost what their work is: something for losses/arrivals_share to find.
class WithArrivals final : public WrappedEnv {
 public:
  explicit WithArrivals(std::unique_ptr<BatchEnv> env)
      : WrappedEnv(std::move(env)), step_(static_cast<std::size_t>(num_envs())) {}
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    WrappedEnv::StepRange(begin, end, actions, out);
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const std::size_t key = 7 * step_[i]++ + 3 * i;
      const float jobs = key % 5 == 0 ? 2.0F : key % 3 == 0 ? 1.0F : 0.0F;
      const float work = jobs * static_cast<float>(1 + key % 4);
      out.reward[i] -= 0.1F * work;
      if (out.new_jobs.empty()) continue;
      out.new_jobs[i] = jobs, out.new_work[i] = work;
    }
  }

 private:
  std::vector<std::size_t> step_;
};

std::unique_ptr<BatchEnv> MakeEnv(bool cart_pole) {
  // Lengths that no rollout is a multiple of; CartPole terminates, TwoTypes is truncated.
  if (cart_pole) return std::make_unique<CartPole>(5, 0.98, 3);
  return std::make_unique<WithArrivals>(std::make_unique<TwoTypes>(5));
}

// The figures of the first updates, NaN as 0.
Figures FirstFigures(const std::string& spec, const std::string& network, bool cart_pole, int updates,
                     int threads = 1, torch::Device device = torch::kCPU) {
  const auto env = MakeEnv(cart_pole);
  auto agent = MakeTestAgent(spec, network, *env, 1, threads, device);
  env->Reset(agent->First());
  Figures all;
  for (int update = 1; update <= updates; ++update) {
    agent->Play(*env, 0.1 * update);
    for (const auto& [name, value] : agent->figures())
      all.emplace_back(Join(name, " of update ", update), std::isnan(value) ? 0.0 : value);
  }
  return all;
}

void CheckSame(const Figures& a, const Figures& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(a[k].first);
    CHECK(a[k].first == b[k].first);
    CHECK(a[k].second == Approx(b[k].second).epsilon(tolerance).margin(tolerance));
  }
}

// Whole rollouts as minibatches, so that the order of rows, in which the two learners differ, means nothing.
constexpr const char* kWhole = "n_steps=13,epochs=3,minibatch=100000,value_clip=0.1,ent_coef=0.01,lr=0.003";

// A library whose graphs only say what was asked of them.
std::string asked;
struct SaidGraph final : cuda::Graph {
  void Begin() override { asked += "begin "; }
  void End() override { asked += "end "; }
  void Replay() override { asked += "replay "; }
};

}  // namespace

TEST_CASE("captured work is done twice, captured once, and then replayed alone") {
  const cuda::CudaLibrary library = {
      cuda::kCudaLibraryVersion,
      &cuda::HostKernels(),
      []() -> std::unique_ptr<cuda::Graph> { return std::make_unique<SaidGraph>(); },
      nullptr,
      nullptr,
      nullptr};
  const OnDevice on = {torch::kCPU, library.kernels, &library};
  Repeated repeated(on);
  asked.clear();
  for (int k = 0; k < 5; ++k) repeated.Run([] { asked += "work "; });
  CHECK(asked == "work work begin work end replay replay replay ");
  // What fails while it is captured leaves no open capture, and is tried anew.
  Repeated failing(on);
  bool fail = false;
  const auto work = [&] {
    if (fail) throw Error("out of something");
  };
  failing.Run(work);
  failing.Run(work);
  asked.clear();
  fail = true;
  CHECK_THROWS_AS(failing.Run(work), Error);
  CHECK(asked == "begin end ");
  fail = false;
  failing.Run(work);
  CHECK(asked == "begin end begin end replay ");
}

TEST_CASE("device PPO: losses and figures of the host's autograd to 1e-5") {
  for (const bool cart_pole : {true, false}) {
    for (const std::string network : {"mlp(hidden=16x16)", "pair_scorer(width=8)"}) {
      if (cart_pole && network[0] == 'p') continue;  // has no jobs
      for (const std::string more :
           {"", ",normalize_reward=false,normalize_advantage=false", ",target_kl=0.0005"}) {
        CAPTURE(cart_pole, network, more);
        const Figures host =
            FirstFigures(Join("ppo(learner=host,fused=false,", kWhole, more, ")"), network, cart_pole, 4);
        const Figures device =
            FirstFigures(Join("ppo(learner=device,", kWhole, more, ")"), network, cart_pole, 4);
        CheckSame(device, host, 1e-5);
        const auto share = std::find_if(device.begin(), device.end(), [](const auto& figure) {
          return figure.first == "losses/arrivals_share of update 1";
        });
        REQUIRE(share != device.end());
        CHECK((share->second > 0.01) != cart_pole);  // nobody arrives there
      }
    }
  }
}

TEST_CASE("device PPO: the KL stop leaves out the minibatches after it") {
  const auto minibatches = [](double target) {
    const Figures figures = FirstFigures(
        Join("ppo(learner=device,n_steps=16,minibatch=32,epochs=4,lr=0.05,target_kl=", target, ")"),
        "mlp(hidden=16)", true, 1);
    for (const auto& [name, value] : figures) {
      if (name == "losses/minibatches of update 1") return value;
    }
    return -1.0;
  };
  CHECK(minibatches(0.0) == 12.0);  // 80 rows: 32, 32, 16
  const double stopped = minibatches(0.001);
  CHECK(stopped >= 2.0);  // the first has a ratio of 1
  CHECK(stopped < 12.0);
}

TEST_CASE("device PPO: any number of threads gives the same bits") {
  const std::string spec = "ppo(learner=device,n_steps=8,minibatch=16,epochs=2)";
  CHECK(FirstFigures(spec, "mlp(hidden=16)", true, 3, 1) == FirstFigures(spec, "mlp(hidden=16)", true, 3, 3));
}

TEST_CASE("device PPO: it learns, with and without overlap") {
  for (const std::string overlap : {"false", "true"}) {
    CAPTURE(overlap);
    TwoTypes env(8);
    const std::string spec =
        Join("ppo(learner=device,overlap=", overlap, ",n_steps=16,minibatch=64,lr=0.01,ent_coef=0.001)");
    auto agent = MakeTestAgent(spec, "mlp(hidden=16)", env, 1);
    env.Reset(agent->First());
    TrainFor(*agent, env, 6000);
    TwoTypes test(2);
    CHECK(MeanGreedyReturn(*agent, test) == Approx(TwoTypes::kBestReturn));
  }
}

TEST_CASE("device PPO: with overlap a rollout is of the policy before the update that it overlaps with") {
  const auto ratio_error = [](const char* overlap, int update) {
    CartPole env(4, 0.98, 3);
    auto agent = MakeTestAgent(
        Join("ppo(learner=device,lr=0.01,n_steps=16,minibatch=64,epochs=2,overlap=", overlap, ")"),
        "mlp(hidden=16)", env, 1);
    env.Reset(agent->First());
    for (int k = 0; k < update; ++k) agent->Play(env, 0.1);
    return Figure(*agent, "losses/first_ratio_error");
  };
  CHECK(ratio_error("false", 1) < 1e-6);
  CHECK(ratio_error("false", 4) < 1e-6);
  CHECK(ratio_error("true", 2) < 1e-6);  // the figures of update 1, which nothing came before
  CHECK(ratio_error("true", 3) > 1e-4);  // update 2 learns from what was played before update 1
}

TEST_CASE("device PPO: the host waits once a half-step and once an update, nowhere else") {
  for (const std::string overlap : {"false", "true"}) {
    CartPole env(6, 0.98, 3);
    auto agent = MakeTestAgent(Join("ppo(learner=device,n_steps=10,minibatch=30,overlap=", overlap, ")"),
                               "mlp(hidden=8)", env, 1);
    env.Reset(agent->First());
    agent->Play(env, 0.0);
    const std::int64_t before = DeviceWaits();
    for (int k = 0; k < 3; ++k) agent->Play(env, 0.1);
    CHECK(DeviceWaits() - before == 3 * (10 * 2 + 1));
  }
}

TEST_CASE("device PPO: bf16 products change losses by less than 2%") {
  const auto figures = [](const char* precision) {
    return FirstFigures(Join("ppo(learner=device,precision=", precision, ",", kWhole, ")"),
                        "mlp(hidden=32x32)", true, 1);
  };
  const Figures exact = figures("float32"), rounded = figures("bf16");
  CHECK(exact != rounded);
  for (std::size_t k = 0; k < exact.size(); ++k) {
    CAPTURE(exact[k].first);
    for (const char* loss : {"value_loss", "entropy", "explained_variance"}) {
      if (exact[k].first.find(loss) != std::string::npos)
        CHECK(rounded[k].second == Approx(exact[k].second).epsilon(0.02).margin(0.02));
    }
  }
}

TEST_CASE("networks: with fixed shapes the same scores, values and gradients") {
  const ObservationLayout layout = {
      .q = 5, .g = 3, .job_channels = 4, .pair_channels = 2, .type_channels = 3, .global_channels = 2};
  for (const ArchitectureInfo& info : Architectures()) {
    CAPTURE(info.name);
    auto plain = MakeNetwork(info.name, layout, 16, 1), fixed = MakeNetwork(info.name, layout, 16, 1);
    fixed->FixShapes();
    torch::Tensor observation =
        torch::sin(torch::arange(7 * layout.size()).to(torch::kFloat)).view({7, layout.size()});
    // Absent jobs: the first channel is 0. One queue is empty.
    for (std::int64_t b = 0; b < 7; ++b) {
      for (std::int64_t q = 0; q < 5; ++q)
        observation[b][layout.jobs_offset() + q * 4] = b == 3 || (b + q) % 3 == 0 ? 0.0F : 1.0F;
    }
    const NetworkOutput a = plain->Forward(observation), b = fixed->Forward(observation);
    CHECK(torch::allclose(a.scores, b.scores, 1e-6, 1e-6));
    CHECK(torch::allclose(a.value, b.value, 1e-6, 1e-6));
    (a.scores.square().sum() + a.value.sum()).backward();
    (b.scores.square().sum() + b.value.sum()).backward();
    for (std::size_t k = 0; k < plain->parameters().size(); ++k) {
      if (plain->parameters()[k].grad().defined())
        CHECK(torch::allclose(plain->parameters()[k].grad(), fixed->parameters()[k].grad(), 1e-5, 1e-5));
    }
  }
}

TEST_CASE("device PPO: what needs a learner on the device says so") {
  CartPole env(2, 0.98, 3);
  CHECK_THROWS_WITH(MakeTestAgent("ppo(overlap=true)", "mlp", env, 1),
                    Catch::Contains("ppo: overlap=true: expected a learner on the device"));
  CHECK_THROWS_WITH(MakeTestAgent("ppo(precision=bf16,learner=host)", "mlp", env, 1),
                    Catch::Contains("learner=device"));
  CHECK_THROWS_WITH(MakeTestAgent("ppo(precision=tf32,learner=device)", "mlp", env, 1),
                    Catch::Contains("on a GPU"));
}

TEST_CASE("out of memory on the device: the batch that fits, and the checkpoint stays") {
  CHECK(FittingBatch(1000, [](std::int64_t rows) { return rows <= 130; }) == 125);
  CHECK(FittingBatch(1000, [](std::int64_t rows) { return rows <= 1; }) == 1);
  CHECK(FittingBatch(1000, [](std::int64_t) { return false; }) == 0);

  // An environment after whose 300th step there is no memory: LibTorch's error, as an allocation on a GPU
  // throws it.
  WatchedEnv env(std::make_unique<CartPole>(4, 0.98, 3));
  env.on_step = [&] {
    if (env.chosen > 300)
      TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 9.99 GiB");
  };
  const test::TemporaryFolder folder;
  TrainRequest request;
  request.agent = "ppo(learner=device,n_steps=8,minibatch=32)";
  request.network = "mlp(hidden=8)";
  request.env = &env;
  request.steps = 10000;
  request.device = "cpu";
  request.out_dir = folder.path();
  request.checkpoint_every_s = 0.0;  // before every rollout
  std::string said;
  try {
    Train(request);
  } catch (const Error& error) {
    said = error.what();
  }
  // Rollouts of 32 steps: the tenth meets the end of memory, and the checkpoint before it is of step 288.
  CHECK_THAT(said, Catch::Contains("out of memory on the device: expected room for minibatch=32"));
  CHECK_THAT(said, Catch::Contains("room for minibatch=16"));
  CHECK_THAT(said, Catch::Contains("checkpoint.h5 holds step 288"));
  CHECK(std::filesystem::exists(folder / "checkpoint.h5"));
}

TEST_CASE("--device cuda without a GPU: which of driver, LibTorch and build is missing") {
  const CudaFindings nothing = {"", "there, not loaded without a driver",
                                "without CUDA kernels (the preset cuda builds them)", false};
  CHECK_THAT(DescribeMissing(nothing),
             Catch::Contains("driver: none (no /proc/driver/nvidia/version)") &&
                 Catch::Contains("without CUDA kernels (the preset cuda builds them)"));
  const CudaFindings no_library = {"NVRM version: 580", "does not load: libcudnn.so.9: cannot open",
                                   "with CUDA kernels", false};
  CHECK_THAT(DescribeMissing(no_library), Catch::Contains("driver: NVRM version: 580;") &&
                                              Catch::Contains("libcudnn.so.9") &&
                                              Catch::Contains("this build: with CUDA kernels"));
  CHECK_THAT(DescribeMissing({"NVRM version: 580", "loaded", "with CUDA kernels", false}),
             Catch::Contains("NVRM version: 580, but no GPU"));
  if (LookForCuda().gpu) return;  // what follows is of a machine without one
  CHECK_THROWS_WITH(ChooseDevice("cuda"),
                    Catch::Contains("--device cuda: expected a CUDA GPU, found none; driver: ") &&
                        Catch::Contains("; this build: "));
  CHECK(ChooseDevice("auto").device.is_cpu());
}

TEST_CASE("on a GPU device PPO gives the CPU's losses to 0.1%, captured too, and never waits unseen") {
  DescribeLibTorch();  // loads LibTorch's CUDA library where there is a driver
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  const auto* library = cuda::OpenCudaLibrary(&why);
  if (library == nullptr) return test::Skip("needs the preset cuda: " + why);
  const torch::Device gpu(torch::kCUDA, 0);
  const std::string spec = "ppo(learner=device,n_steps=16,minibatch=40,epochs=2,lr=0.0003)";
  for (const std::string network : {"mlp(hidden=16x16)", "pair_scorer(width=8)"}) {
    CAPTURE(network);
    // Five updates: the first two plainly, then captured and replayed.
    CheckSame(FirstFigures(spec, network, false, 5, 2, gpu), FirstFigures(spec, network, false, 5), 1e-3);
  }
  for (const std::string overlap : {"false", "true"}) {
    CAPTURE(overlap);
    TwoTypes env(8);
    auto agent = MakeTestAgent(Join("ppo(learner=device,n_steps=16,minibatch=64,overlap=", overlap, ")"),
                               "pair_scorer", env, 1, 2, gpu);
    env.Reset(agent->First());
    for (int k = 0; k < 8; ++k) agent->Play(env, 0.1);
    library->refuse_synchronisation(true);
    CHECK_NOTHROW(agent->Play(env, 0.1));
    CHECK_NOTHROW(agent->Play(env, 0.1));
    library->refuse_synchronisation(false);
  }
}

TEST_CASE("on a GPU products in TF32 and bf16 are those of float32 but for their rounding") {
  DescribeLibTorch();
  if (!torch::cuda::is_available()) return test::Skip("needs a CUDA GPU");
  std::string why;
  if (cuda::OpenCudaLibrary(&why) == nullptr) return test::Skip("needs the preset cuda: " + why);
  const torch::Device gpu(torch::kCUDA, 0);
  const torch::NoGradGuard no_grad;
  const ObservationLayout layout = {.global_channels = 24};
  const auto network = MakeNetwork("mlp(hidden=64x64)", layout, 8, 1);
  network->to(gpu);
  torch::manual_seed(1);
  const torch::Tensor observation = torch::randn({256, 24}).to(gpu);
  const auto scores = [&](Precision precision) {
    at::globalContext().setAllowTF32CuBLAS(precision == Precision::kTf32);
    const torch::Tensor found = ForwardWith(precision, *network, observation).scores.clone();
    at::globalContext().setAllowTF32CuBLAS(false);
    return found;
  };
  const torch::Tensor exact = scores(Precision::kFloat32);
  for (const auto& [precision, share] : {std::pair(Precision::kTf32, 2e-3), {Precision::kBf16, 2e-2}}) {
    const auto error = ((scores(precision) - exact).abs().max() / exact.abs().max()).item<double>();
    CHECK(error > 0.0);
    CHECK(error < share);
  }
}

}  // namespace berth
