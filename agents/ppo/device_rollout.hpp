// Acting on the device, environments on the host's threads. The environments are played in two halves, each
// with a queue of its own: while the threads step one half, the device acts for the other (double-buffered
// sampling, Stooke & Abbeel 2018, "rlpyt", and Sample Factory, Petrenko et al. 2020). A half's step is one
// captured piece of work: observations and masks from pinned memory, forward pass, sampling, storing into the
// rollout, actions back to pinned memory. The host waits once a half-step, for those actions, and for nothing
// else.
#pragma once

#include <vector>

#include "agents/gpu/precision.hpp"
#include "agents/learner/agent.hpp"
#include "agents/learner/workers.hpp"
#include "agents/ppo/device_rows.hpp"

namespace berth {

class DeviceRollout {
 public:
  // `storages` rollouts can be held at a time. `network`, `on` and `workers` must outlive it.
  DeviceRollout(const OnDevice& on, int n_steps, int storages, const AgentSetup& setup, Network& network,
                Precision precision, Workers& workers);

  StepBuffers First();  // observation and mask
  // Plays n_steps into rows(storage), as soon as the queues have passed `ready`; the host's columns are
  // complete when it returns, the device's when the queues that wait for Block(queue) get there.
  Played Collect(BatchEnv& env, int storage, const Mark& ready);
  void Block(const Queue& queue) const;  // until all that acting gave to the device is done

  DeviceRows& rows(int storage) { return rows_[static_cast<std::size_t>(storage)]; }
  const DeviceRows& rows(int storage) const { return rows_[static_cast<std::size_t>(storage)]; }
  // [N] int64: words that each environment's exploring stream has drawn. The device must be idle.
  torch::Tensor& draws() { return draws_; }
  const torch::Tensor& draws() const { return draws_; }

 private:
  struct Half {
    Half(const OnDevice& on, int first, int last, int storages);
    int begin, end;
    Queue queue;
    Mark acted;                               // the actions are on the host
    torch::Tensor step;                       // [1] int64: the next one to act at
    std::vector<Repeated> act, finals, last;  // [storages]
  };
  void Act(Half& half, int storage);
  void ValueFinals(Half& half, int storage);
  void ValueLast(Half& half, int storage);
  void StepHalf(BatchEnv& env, Half& half, DeviceRows& rows, int step);
  void CopyObservations(const Half& half);

  const OnDevice& on_;
  int n_steps_, envs_, actions_;
  cuda::StreamKey explore_;
  Network& network_;
  Precision precision_;
  Workers& workers_;
  std::vector<DeviceRows> rows_;
  std::vector<Half> halves_;
  torch::Tensor draws_;
  // [N, ...] on the host, where environments write and read, and on the device
  torch::Tensor host_observation_, host_mask_, host_final_, host_action_;
  torch::Tensor observation_, mask_, final_, action_;
};

}  // namespace berth
