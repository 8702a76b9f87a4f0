#include "agents/dqn/captured_q.hpp"

#include <algorithm>

#include "agents/dqn/td_step.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// A tensor on the device and its place on the host, pinned for a GPU.
struct Pair {
  torch::Tensor host, device;
  void Up() { device.copy_(host, /*non_blocking=*/true); }
  void Down() { host.copy_(device, /*non_blocking=*/true); }
  template <class T>
  std::span<T> Host() {
    return {host.data_ptr<T>(), static_cast<std::size_t>(host.numel())};
  }
};

template <class T>
void Gather(std::span<const T* const> rows, Pair& to) {
  const auto width = static_cast<std::size_t>(to.host.size(1));
  T* out = to.host.data_ptr<T>();
  for (const T* row : rows) out = std::copy_n(row, width, out);
}
template <class T>
void Copy(const std::vector<T>& column, Pair& to) {
  std::copy(column.begin(), column.end(), to.host.data_ptr<T>());
}

class CapturedQ final : public QLearner {
 public:
  CapturedQ(const AgentSetup& setup, const OnDevice& on, Network& online, Network& target,
            const TdOptions& options, std::int64_t batch, double max_grad_norm)
      : options_(options),
        on_(on),
        batch_(batch),
        clips_(!setup.ranks.many()),
        max_grad_norm_(max_grad_norm),
        size_(setup.layout.size()),
        online_(online),
        target_(target),
        queue_(on_),
        done_(on_),
        changed_(on_),
        act_(on_),
        learn_(on_),
        acted_on_(Make({setup.num_envs, size_})),
        scores_(Make({setup.num_envs, setup.num_actions})),
        observation_(Make({batch, size_})),
        next_observation_(Make({batch, size_})),
        mask_(Make({batch, setup.num_actions}, torch::kUInt8)),
        next_mask_(Make({batch, setup.num_actions}, torch::kUInt8)),
        action_(Make({batch}, torch::kInt32)),
        reward_(Make({batch})),
        discount_(Make({batch})),
        weight_(Make({batch})),
        temperature_(Make({1})),
        error_(Make({batch})),
        figures_(Make({2})) {
    std::int64_t parameters = 0;
    for (const torch::Tensor& parameter : online.parameters()) parameters += parameter.numel();
    gradient_ = on_.Zeros({parameters});
    on_.Synchronize();
  }

  void Scores(std::span<const float* const> rows, std::span<float> scores) override {
    const Queue::Use use(queue_);
    const torch::NoGradGuard no_grad;
    if (static_cast<std::int64_t>(rows.size()) != acted_on_.host.size(0)) return ScoresOf(rows, scores, {});
    Gather(rows, acted_on_);
    act_.Run([&] {
      const torch::NoGradGuard no_grad_while_captured;
      acted_on_.Up();
      scores_.device.copy_(MeanOutputs(online_.Forward(acted_on_.device).scores, options_));
      scores_.Down();
    });
    Wait();
    std::copy(scores_.Host<float>().begin(), scores_.Host<float>().end(), scores.begin());
  }

  void ScoresAndValues(std::span<const float* const> rows, std::span<float> scores,
                       std::span<float> values) override {
    const Queue::Use use(queue_);
    const torch::NoGradGuard no_grad;
    ScoresOf(rows, scores, values);
  }

  TdFigures Gradient(const TdBatch& batch, std::span<float> error) override {
    BERTH_CHECK(static_cast<std::int64_t>(batch.rows()) == batch_, batch.rows(), " ", batch_);
    const Queue::Use use(queue_);
    Gather<float>(batch.observation, observation_);
    Gather<std::uint8_t>(batch.mask, mask_);
    if (!options_.soft) {
      Gather<float>(batch.next_observation, next_observation_);
      Gather<std::uint8_t>(batch.next_mask, next_mask_);
    }
    Copy(batch.action, action_);
    Copy(batch.reward, reward_);
    Copy(batch.discount, discount_);
    Copy(batch.weight, weight_);
    temperature_.Host<float>()[0] = batch.temperature;
    learn_.Run([&] { Learn(); });
    Wait();
    std::copy(error_.Host<float>().begin(), error_.Host<float>().end(), error.begin());
    return {figures_.Host<float>()[0], figures_.Host<float>()[1]};
  }

  const torch::Tensor& gradient() const override { return gradient_; }
  bool Clips() const override { return clips_; }
  std::string Place() const override { return "on the device"; }

  // Optimiser and copies of the target run on the queue of whoever called: what is given to ours from now on
  // waits for them.
  void OnlineChanged() override {
    changed_.Set(Queue::Current(on_));
    changed_.Block(queue_);
  }
  void TargetChanged() override { OnlineChanged(); }

 private:
  Pair Make(at::IntArrayRef sizes, at::ScalarType type = torch::kFloat32) const {
    return {on_.HostZeros(sizes, type), on_.Zeros(sizes, type)};
  }

  void Wait() {
    done_.Set(queue_);
    done_.Wait();
  }

  void Learn() {
    for (Pair* pair : {&observation_, &next_observation_, &mask_, &next_mask_, &action_, &reward_, &discount_,
                       &weight_, &temperature_})
      pair->Up();
    const TdStep step = StepOf(online_, target_,
                               {observation_.device, next_observation_.device, mask_.device,
                                next_mask_.device, action_.device, reward_.device, discount_.device,
                                weight_.device, options_.soft ? temperature_.device : torch::Tensor()},
                               options_);
    const torch::NoGradGuard no_grad;
    if (clips_) {
      gradient_.copy_(step.gradient * (max_grad_norm_ / (step.gradient.norm() + 1e-6)).clamp_max(1.0));
    } else {
      gradient_.copy_(step.gradient);
    }
    error_.device.copy_(step.error);
    figures_.device.copy_(torch::stack({step.loss, step.mean_q}));
    error_.Down();
    figures_.Down();
  }

  // Of another number of rows than environments: not captured.
  void ScoresOf(std::span<const float* const> rows, std::span<float> scores, std::span<float> values) {
    torch::Tensor observation = torch::empty({static_cast<std::int64_t>(rows.size()), size_});
    float* out = observation.data_ptr<float>();
    for (const float* row : rows) out = std::copy_n(row, size_, out);
    const NetworkOutput found = online_.Forward(observation.to(on_.device));
    const torch::Tensor host = MeanOutputs(found.scores, options_).to(torch::kCPU).contiguous();
    std::copy_n(host.data_ptr<float>(), scores.size(), scores.data());
    if (values.empty()) return;
    const torch::Tensor host_values = found.value.to(torch::kCPU).contiguous();
    std::copy_n(host_values.data_ptr<float>(), values.size(), values.data());
  }

  TdOptions options_;
  OnDevice on_;
  std::int64_t batch_;
  bool clips_;  // of several ranks it is their sum that is clipped
  double max_grad_norm_;
  std::int64_t size_;
  Network &online_, &target_;
  Queue queue_;
  Mark done_, changed_;
  Repeated act_, learn_;
  Pair acted_on_, scores_;  // [N, D], [N, A]
  Pair observation_, next_observation_, mask_, next_mask_, action_, reward_, discount_, weight_, temperature_,
      error_;               // [B, ...]
  Pair figures_;            // loss, mean Q
  torch::Tensor gradient_;  // [P]
};

}  // namespace

std::unique_ptr<QLearner> MakeCapturedQ(const AgentSetup& setup, const OnDevice& on, Network& online,
                                        Network& target, const TdOptions& options, std::int64_t batch,
                                        double max_grad_norm) {
  return std::make_unique<CapturedQ>(setup, on, online, target, options, batch, max_grad_norm);
}

}  // namespace berth
