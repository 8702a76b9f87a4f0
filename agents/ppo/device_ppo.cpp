// Proximal policy optimisation (Schulman et al. 2017) on the device. With `overlap` the rollout k + 1 is
// played while the update from rollout k is computed: its actions are of the parameters before that update,
// and since their log-probabilities are stored with them, the ratio of the loss is to the policy that acted
// (as in asynchronous PPO: Petrenko et al. 2020, section 3.4). Without it the order is that of the learner on
// the host.
#include "agents/ppo/device_ppo.hpp"

#include <algorithm>
#include <optional>

#include "agents/gpu/device.hpp"
#include "agents/learner/arrivals_share.hpp"
#include "agents/learner/joined_rollout.hpp"
#include "agents/learner/return_normalizer.hpp"
#include "agents/learner/stopwatch.hpp"
#include "agents/nn/flat_parameters.hpp"
#include "agents/nn/masked_categorical.hpp"
#include "agents/nn/tensor_io.hpp"
#include "agents/ppo/device_rollout.hpp"
#include "agents/ppo/device_update.hpp"
#include "agents/ppo/fitting_batch.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

std::shared_ptr<Network> NetworkOn(const OnDevice& on, const AgentSetup& setup) {
  auto network = MakeNetwork(setup.network, setup.layout, setup.num_actions, setup.seed);
  network->to(on.device);
  network->FixShapes();
  return network;
}

class DevicePpo final : public Agent {
 public:
  DevicePpo(const PpoOptions& options, const AgentSetup& setup, const OnDevice& on)
      : options_(options),
        setup_(setup),
        on_(on),
        workers_(setup.threads),
        network_(NetworkOn(on, setup)),
        acting_(NetworkOn(on, setup)),
        acting_parameters_(Flatten(*acting_)),
        rollout_(on_, options.n_steps, Storages(), setup, *acting_, options.precision, workers_),
        update_(on_, options, setup, Storages(), *network_, options.precision),
        queue_(on_),
        snapshot_(on_),
        normalizer_(setup.all_envs()) {
    at::globalContext().setAllowTF32CuBLAS(options.precision == Precision::kTf32);
    on_.Synchronize();  // what was set up on the default queue
    snapshot_.Set(queue_);
  }

  StepBuffers First() override { return rollout_.First(); }
  Figures figures() const override { return figures_; }
  std::int64_t updates() const override { return updates_; }
  std::string Place() const override { return "on the device"; }

  // Of several ranks on all together, while an update may be under way: as the trainer asks before it saves.
  Network& network() override {
    if (enqueued_) update_.Settle();
    on_.Synchronize();
    return *network_;
  }

  Played Play(BatchEnv& env, double fraction) override {
    try {
      return PlayOnce(env, fraction);
    } catch (const c10::OutOfMemoryError& error) {
      throw OutOfDeviceMemory(Describe(error));
    }
  }

  void Save(h5::Writer* file) override {
    if (enqueued_) update_.Settle();
    on_.Synchronize();
    const torch::Tensor draws = rollout_.draws().to(torch::kCPU);
    std::vector<std::uint64_t> positions;
    for (std::int64_t i = 0; i < draws.numel(); ++i)
      positions.push_back(static_cast<std::uint64_t>(draws.data_ptr<std::int64_t>()[i]));
    positions = setup_.ranks.JoinColumns<std::uint64_t>(positions);
    if (file == nullptr) return;
    h5::Writer& out = *file;
    WriteModule(out, "network", *network_);
    if (options_.overlap) WriteTensor(out, "acting_parameters", acting_parameters_);
    update_.Save(out);
    normalizer_.Save(out, "return_normalizer");
    out.Array<std::uint64_t>("streams/explore", positions);
  }

  void Load(const h5::Reader& in) override {
    on_.Synchronize();
    ReadModule(in, "network", *network_);
    // A run of the learner on the host, or without overlap, has one policy.
    ReadModule(in, "network", *acting_);
    if (options_.overlap && in.Has("acting_parameters"))
      ReadTensor(in, "acting_parameters", acting_parameters_);
    update_.Load(in);
    normalizer_.Load(in, "return_normalizer");
    const auto positions =
        setup_.ranks.OwnColumns<std::uint64_t>(in.Array<std::uint64_t>("streams/explore", setup_.all_envs()));
    const torch::Tensor draws = torch::empty({setup_.num_envs}, torch::kInt64);
    for (std::size_t i = 0; i < positions.size(); ++i)
      draws.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(positions[i]);
    rollout_.draws().copy_(draws);
    on_.Synchronize();
    enqueued_ = collected_ = false;
  }

  void BeginWith(const PolicyBundle& policy) override {
    Agent::BeginWith(policy);
    SetParameters(*acting_, policy);
    on_.Synchronize();
  }

  void Greedy(std::span<const float> observation, std::span<const std::uint8_t> mask,
              std::span<std::int32_t> actions) override {
    on_.Synchronize();
    const torch::NoGradGuard no_grad;
    const auto rows = static_cast<std::int64_t>(actions.size());
    const torch::Tensor host =
        torch::from_blob(const_cast<float*>(observation.data()), {rows, setup_.layout.size()});
    const torch::Tensor scores = network_->Forward(host.to(on_.device)).scores.to(torch::kCPU).contiguous();
    const auto width = static_cast<std::size_t>(setup_.num_actions);
    const std::span<const float> all(scores.data_ptr<float>(), actions.size() * width);
    for (std::size_t i = 0; i < actions.size(); ++i)
      actions[i] = ArgmaxMasked(all.subspan(i * width, width), mask.subspan(i * width, width));
  }

  void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const override {
    on_.Synchronize();
    const DeviceRows& last = rollout_.rows(last_storage_);
    const std::int64_t all = collected_ ? static_cast<std::int64_t>(last.steps) * last.envs : 0;
    if (all == 0) return FirstExamples(rows, observation, mask);
    const std::int64_t count = std::min<std::int64_t>(rows, all);
    const torch::Tensor row = (torch::arange(count) * all).div(count, "floor").to(on_.device);
    Append(last.observation.flatten(0, 1).index_select(0, row), observation);
    Append(last.mask.flatten(0, 1).index_select(0, row), mask);
  }

 private:
  int Storages() const { return options_.overlap ? 2 : 1; }

  template <class T>
  static void Append(const torch::Tensor& rows, std::vector<T>& out) {
    const torch::Tensor host = rows.to(torch::kCPU).contiguous();
    out.assign(host.data_ptr<T>(), host.data_ptr<T>() + host.numel());
  }
  void FirstExamples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const {
    const StepBuffers first = const_cast<DeviceRollout&>(rollout_).First();
    const auto count = static_cast<std::ptrdiff_t>(std::min(rows, setup_.num_envs));
    observation.assign(first.observation.begin(), first.observation.begin() + count * setup_.layout.size());
    mask.assign(first.action_mask.begin(), first.action_mask.begin() + count * setup_.num_actions);
  }

  Played PlayOnce(BatchEnv& env, double fraction) {
    const int storage = options_.overlap ? 1 - last_storage_ : 0;
    Played played = rollout_.Collect(env, storage, snapshot_);
    Stopwatch watch;
    last_storage_ = storage;
    collected_ = true;
    DeviceRows& rows = rollout_.rows(storage);
    if (options_.normalize_reward) NormalizeRewards(rows);
    if (enqueued_) Read();  // of the rollout before, which overlapped with this one
    rollout_.Block(queue_);
    lr_ = options_.lr.At(fraction);
    clip_ = options_.clip.At(fraction);
    ent_coef_ = options_.ent_coef.At(fraction);
    if (options_.overlap) Snapshot();
    update_.Enqueue(rows, storage, lr_, clip_, ent_coef_, queue_);
    enqueued_ = true;
    last_update_ = storage;
    if (!options_.overlap) {
      Snapshot();
      Read();
    }
    played.steps = static_cast<std::int64_t>(options_.n_steps) * setup_.all_envs();
    played.learnt = true;
    played.learn_s = watch.Lap();
    return played;
  }

  // The policy that acts next is that of now.
  void Snapshot() {
    const Queue::Use use(queue_);
    const torch::NoGradGuard no_grad;
    acting_parameters_.copy_(update_.parameters());
    snapshot_.Set(queue_);
  }

  void Read() {
    const PpoUpdateFigures f = update_.Read();
    enqueued_ = false;
    updates_ = f.optimiser_steps;
    figures_ = {{"losses/policy_loss", f.policy_loss},
                {"losses/value_loss", f.value_loss},
                {"losses/entropy", f.entropy},
                {"losses/entropy_share", f.entropy_share},
                {"losses/approx_kl", f.approx_kl},
                {"losses/old_approx_kl", f.old_approx_kl},
                {"losses/clipfrac", f.clipfrac},
                {"losses/explained_variance", f.explained_variance},
                {"losses/gradient_norm", f.gradient_norm},
                {"losses/first_ratio_error", f.first_ratio_error},
                {"losses/minibatches", f.minibatches},
                {"charts/learning_rate", lr_},
                {"charts/clip_range", clip_},
                {"charts/ent_coef", ent_coef_},
                {"losses/arrivals_share", ShareOfArrivals()}};
  }

  // Of the rollout whose update was read last.
  double ShareOfArrivals() {
    DeviceRows& rows = rollout_.rows(last_update_);
    const auto size = static_cast<std::size_t>(rows.host_reward.numel());
    const auto floats = [&](const torch::Tensor& column) {
      return std::span<const float>(column.data_ptr<float>(), size);
    };
    GaeInput input;  // what sums over steps ask for
    input.steps = rows.steps, input.envs = rows.envs;
    input.discount = floats(rows.host_discount);
    input.terminated = {rows.host_terminated.data_ptr<std::uint8_t>(), size};
    input.truncated = {rows.host_truncated.data_ptr<std::uint8_t>(), size};
    return ArrivalsShare(input, options_.gae_lambda, options_.lambda_within_instant,
                         {floats(rows.host_new_jobs), floats(rows.host_new_work)}, floats(rows.host_advantage),
                         setup_.ranks);
  }

  void NormalizeRewards(DeviceRows& rows) {
    const auto size = static_cast<std::size_t>(rows.steps) * static_cast<std::size_t>(rows.envs);
    const JoinedOutcomes own = {{rows.host_reward.data_ptr<float>(), size},
                                {rows.host_discount.data_ptr<float>(), size},
                                {rows.host_terminated.data_ptr<std::uint8_t>(), size},
                                {rows.host_truncated.data_ptr<std::uint8_t>(), size}};
    NormalizeSteps(setup_.ranks, own, joined_, normalizer_, {rows.host_reward.data_ptr<float>(), size});
  }

  // Which minibatch would have fitted, found by trying.
  std::string Describe(const c10::OutOfMemoryError& error) {
    const std::int64_t all = static_cast<std::int64_t>(options_.n_steps) * setup_.num_envs;
    const std::int64_t wanted = std::min(options_.minibatch, all);
    const std::int64_t fits = FittingBatch(wanted, [&](std::int64_t rows) {
      try {
        update_.Try(rows);
        on_.Synchronize();
        return true;
      } catch (const c10::OutOfMemoryError&) {
        return false;
      }
    });
    const std::string text = error.what_without_backtrace();
    return Join("out of memory on the device: expected room for minibatch=", wanted,
                " (of n_steps x environments = ", all, "), found ",
                fits > 0 ? Join("room for minibatch=", fits) : "none for a single row",
                "; LibTorch: ", text.substr(0, text.find('\n')));
  }

  PpoOptions options_;
  AgentSetup setup_;
  OnDevice on_;
  Workers workers_;
  std::shared_ptr<Network> network_, acting_;
  torch::Tensor acting_parameters_;  // [P], those of acting_
  DeviceRollout rollout_;
  DeviceUpdate update_;
  Queue queue_;    // the learner's
  Mark snapshot_;  // acting_ has the parameters that the next rollout acts by
  ReturnNormalizer normalizer_;
  JoinedRollout joined_;
  int last_storage_ = 0, last_update_ = 0;  // of the rollout played last, of the update enqueued last
  bool collected_ = false, enqueued_ = false;
  double lr_ = 0.0, clip_ = 0.0, ent_coef_ = 0.0;  // of the update that was enqueued last
  std::int64_t updates_ = 0;
  Figures figures_;
};

}  // namespace

std::unique_ptr<Agent> MakeDevicePpo(const PpoOptions& options, const AgentSetup& setup, const OnDevice& on) {
  if (options.precision == Precision::kTf32 && on.library == nullptr)
    throw Error(
        "ppo: precision=tf32: expected a learner on a GPU, found one on the CPU, which has no such mode");
  try {
    return std::make_unique<DevicePpo>(options, setup, on);
  } catch (const c10::OutOfMemoryError&) {
    const double step = static_cast<double>(DeviceRows::BytesPerStep(setup)) * (options.overlap ? 2.0 : 1.0);
    throw OutOfDeviceMemory(
        Join("out of memory on the device: expected room for a rollout of n_steps=", options.n_steps, " (",
             step * options.n_steps / 0x1p30, " GiB at ", step / 0x1p20,
             " MiB a step of all environments), found less; a smaller n_steps or fewer environments"));
  }
}

}  // namespace berth
