#include "agents/train/joint_training.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "agents/nn/kernels/kernel_table.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

// A message takes some 50 us on one machine and more between several, as long as DQN plays hundreds of steps.
constexpr std::int64_t kStepsBetweenTurns = 1024;

SharedSettings SharedSettingsOf(const TrainRequest& request, const RunIdentity& run,
                                const std::string& device) {
  return {{"--agent", run.agent},
          {"--members", std::to_string(run.members)},
          {"--network", run.network},
          {"decision process", run.mdp.ToString()},
          {"workload", run.workload},
          {"environment", run.environment},
          {"actions", std::to_string(run.num_actions)},
          {"observation", std::to_string(run.layout.size())},
          {"--envs", std::to_string(run.num_envs)},
          {"--seed", std::to_string(run.seed)},
          {"--steps", std::to_string(request.steps)},
          {"--seconds", Join(request.seconds)},
          {"--resume", request.resume ? "true" : "false"},
          {"--validate", std::to_string(request.validate_every)},  // steps between: ranks save together
          {"--dist-timeout", Join(request.dist_timeout_s)},
          {"device", device.substr(0, device.find_first_of(": ("))},  // "cpu", "cuda"
          {"kernels (instruction set)", kernels::Kernels().name},     // which round differently
          {"source commit", run.commit}};
}

// FNV-1a over the bytes.
std::uint64_t HashOf(Network& network) {
  const torch::NoGradGuard no_grad;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const torch::Tensor& parameter : network.parameters()) {
    const torch::Tensor plain = parameter.detach().cpu().contiguous();
    const auto* bytes = static_cast<const std::uint8_t*>(plain.data_ptr());
    for (std::size_t k = 0; k < plain.nbytes(); ++k) hash = (hash ^ bytes[k]) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace

JointTraining::JointTraining(const TrainRequest& request, const RunIdentity& run,
                             const ChosenDevice& device) {
  if (!request.world.many()) return;
  BERTH_CHECK(request.all_envs > 0, request.all_envs);
  RankCard card;
  if (device.device.is_cuda()) card = {device.device.index(), cuda::OpenCudaLibrary()};
  group_ = JoinProcessGroup(request.world, request.dist_timeout_s,
                            SharedSettingsOf(request, run, device.description), card);
  ranks_ = Ranks(*group_, request.all_envs);
  BERTH_CHECK(request.env->num_envs() == ranks_.envs(), request.env->num_envs(), " ", ranks_.envs());
}

Turn JointTraining::Agree(const Turn& own, std::int64_t steps) {
  if (!ranks_.many()) return own;
  Turn turn;
  if (steps >= next_steps_) {
    next_steps_ = steps + kStepsBetweenTurns;
    std::array<double, 5> said = {own.interrupted ? 1.0 : 0.0, 0.0, 0.0, 0.0, 0.0};
    if (ranks_.rank() == 0) {
      said = {said[0], own.out_of_time ? 1.0 : 0.0, own.save ? 1.0 : 0.0, own.report ? 1.0 : 0.0, own.wall_s};
    }
    group_->Sum(std::span<double>(said));
    turn = {said[0] > 0.0, said[1] > 0.0, said[2] > 0.0, said[3] > 0.0, said[4]};
    wall_s_ = turn.wall_s;
  }
  turn.wall_s = wall_s_;
  return turn;
}

EpisodeStats JointTraining::Sum(const EpisodeStats& own) const {
  if (!ranks_.many()) return own;
  std::array<double, 9> sums = {static_cast<double>(own.episodes),
                                own.return_sum,
                                static_cast<double>(own.measured),
                                own.metric_sum,
                                static_cast<double>(own.running),
                                own.running_return_sum,
                                own.running_metric_sum,
                                own.backlog_begin_sum,
                                own.backlog_end_sum};
  group_->Sum(std::span<double>(sums));
  return {static_cast<std::int64_t>(sums[0]),
          sums[1],
          static_cast<std::int64_t>(sums[2]),
          sums[3],
          static_cast<std::int64_t>(sums[4]),
          sums[5],
          sums[6],
          sums[7],
          sums[8]};
}

void JointTraining::CheckSame(Network& network) const {
  if (!ranks_.many()) return;
  const std::uint64_t own = HashOf(network);
  const auto all = ranks_.JoinRows(std::span(&own, 1));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank][0] == all[0][0]) continue;
    throw Error(Join("rank ", rank,
                     ": expected the parameters of rank 0, found others; all ranks need the same ",
                     "build on processors and GPUs of one kind"));
  }
}

void JointTraining::AwaitFirst() {
  if (group_) group_->AwaitFirst();
}

void JointTraining::Finish() {
  if (group_) group_->Finish();
}

void JointTraining::Abandon(const std::string& why) noexcept {
  if (group_) group_->Abandon(why);
}

}  // namespace berth
