// PPO's update on the device: returns, shuffles, minibatches, gradients, clipping, Adam and the KL stop
// without the host. What changes from update to update (learning rate, clip range, weight of the entropy) and from minibatch to
// minibatch (which one it is, how many steps Adam has made, whether the KL stop came) lies in memory of the
// device, so that a minibatch is one captured piece of work, replayed as often as there are minibatches; a
// host scalar would be frozen at capture. The network's backward pass is LibTorch's autograd from the
// gradients at its outputs, which one kernel computes (agents/gpu/cuda/kernels.hpp).
//
// Several ranks each take their own rows in an order of their own, minibatch / W of them at a time; what is
// of the whole minibatch (the advantages' moments; gradient, losses and KL) is summed between captured pieces
// (ProcessGroup::SumOnDevice), so that every rank takes the same step, without the host.
#pragma once

#include <vector>

#include "agents/gpu/precision.hpp"
#include "agents/ppo/device_rows.hpp"
#include "agents/ppo/ppo.hpp"

namespace berth {

struct PpoUpdateFigures {
  double policy_loss, value_loss, entropy;  // means over rows
  double entropy_share;  // of what drawing uniformly from the legal actions has
  double approx_kl, old_approx_kl, clipfrac;
  double minibatches, first_ratio_error, gradient_norm, explained_variance;
  std::int64_t optimiser_steps;  // since the start
};

class DeviceUpdate {
 public:
  // `network` is on the device; its parameters become one row. `on` and `network` must outlive it.
  DeviceUpdate(const OnDevice& on, const PpoOptions& options, const AgentSetup& setup, int storages,
               Network& network, Precision precision);

  // Gives the update from `rows`, which were collected in `storage`, to `queue`.
  void Enqueue(DeviceRows& rows, int storage, double lr, double clip, double ent_coef, const Queue& queue);
  // Waits for the last one. REQUIRES: one was enqueued since.
  PpoUpdateFigures Read();
  // Of several ranks, all together: until the last one is done, or a rank is lost, which a wait for the
  // device would not notice. Then any wait is short.
  void Settle();

  const torch::Tensor& parameters() const { return parameters_; }  // [P]
  // The forward and backward pass of `rows` rows that mean nothing, to see whether memory suffices.
  void Try(std::int64_t rows);
  void Save(h5::Writer& out) const;  // the device must be idle
  void Load(const h5::Reader& in);

 private:
  // A minibatch: alone one captured piece, of several ranks three.
  struct Work {
    explicit Work(const OnDevice& on) : choose(on), learn(on), apply(on) {}
    Repeated choose, learn, apply;
  };
  void Prepare(DeviceRows& rows, const Queue& queue);
  void Reconsider(DeviceRows& rows);
  void Minibatch(Work& work, DeviceRows& rows, std::int64_t count, const Queue& queue);
  void Choose(DeviceRows& rows, std::int64_t count, const Queue& queue);
  void Learn(DeviceRows& rows, std::int64_t count, const Queue& queue);
  void Apply(std::int64_t count);
  torch::Tensor Standardized(const torch::Tensor& advantage) const;
  std::vector<torch::Tensor> Gradients(const NetworkOutput& out, const torch::Tensor& d_scores,
                                       const torch::Tensor& d_value);

  const OnDevice& on_;
  PpoOptions options_;
  Network& network_;
  Precision precision_;
  Ranks ranks_;
  std::int64_t rows_, minibatch_rows_, per_epoch_, actions_, observation_size_;  // rows: this rank's
  cuda::StreamKey shuffle_;
  torch::Tensor parameters_, first_moment_, second_moment_, adam_step_;  // [P], [P], [P], [1]
  std::vector<torch::Tensor> module_parameters_;
  torch::Tensor host_controls_, controls_;  // [3] double: learning rate, clip range, ent_coef
  torch::Tensor lr_;                        // [] float, for Adam
  torch::Tensor minibatch_, epoch_;         // [1] int64: of this update; of all so far, when it began
  torch::Tensor stopped_;                   // [1] float: 1 after the KL stop
  torch::Tensor sums_, host_sums_;          // [kSums] double
  torch::Tensor row_;                       // [minibatch rows] int64: those of the present minibatch
  torch::Tensor moments_;                   // [2] double: its advantages' sum and sum of squares
  torch::Tensor losses_;                    // [6 + W] double: its sums, and each rank's largest |ratio - 1|
  torch::Tensor message_;                   // [P + 6 + W] float: its gradient, and losses_ of several ranks
  torch::Tensor log_ratio_;                 // V-trace: [T * N]
  bool settled_ = true;
  Mark done_;
  std::vector<Repeated> prepare_;  // [storages]
  std::vector<Work> minibatch_work_, short_minibatch_work_;
};

}  // namespace berth
