// What one warp does of each piece of work in kernels.hpp: the bodies of the kernels on the device and of the
// loops on the host.
#pragma once

#include "agents/gpu/cuda/kernels.hpp"
#include "agents/gpu/cuda/shuffle.hpp"
#include "agents/nn/kernels/sum_tree_search.hpp"

namespace berth::cuda {

// Warps that a piece of work needs.
inline int WarpsOf(const SampleWork& work) {
  return work.rows;
}
inline int WarpsOf(const ReturnsWork& work) {
  return work.columns.envs;
}
inline int WarpsOf(const ShuffleWork& work) {
  return (work.rows + kLanes - 1) / kLanes;
}
inline int WarpsOf(const PpoWork& work) {
  return work.rows;
}
inline int WarpsOf(const DrawWork&) {
  return 1;
}  // the last lane moves the position on when all have read it
inline int WarpsOf(const SetWork&) {
  return 1;
}

BERTH_HOST_DEVICE void RunWarp(const SampleWork& work, const Warp& warp, int r) {
  const int env = work.begin + r;
  const std::int64_t from = static_cast<std::int64_t>(r) * work.actions;
  const std::int64_t to = *work.step * work.envs + env;
  const MaskedRow row = {work.scores + from, work.mask + from, work.actions};
  StreamKey stream = work.stream;
  stream.env += static_cast<std::uint32_t>(env);
  const RowSample sample =
      SampleRow(warp, row, UniformAt(stream, static_cast<std::uint64_t>(work.draws[env])));
  warp.Each([&](int lane) {
    for (int a = lane; a < work.actions; a += kLanes) work.out_mask[to * work.actions + a] = row.mask[a];
    if (lane != 0) return;
    work.draws[env] += 2;
    work.action[r] = sample.action;
    work.out_action[to] = sample.action;
    work.out_log_prob[to] = sample.log_prob;
    work.out_entropy[to] = sample.entropy;
    work.out_value[to] = work.value[r];
  });
}

BERTH_HOST_DEVICE void RunWarp(const ReturnsWork& work, const Warp& warp, int env) {
  if (work.v_trace) {
    ScanBackward(warp, VTraceRule{work.columns}, env, work.advantage, work.returns);
  } else {
    ScanBackward(warp, GaeRule{work.columns}, env, work.advantage, work.returns);
  }
}

BERTH_HOST_DEVICE void RunWarp(const ShuffleWork& work, const Warp& warp, int part) {
  StreamKey key = work.key;
  key.episode += static_cast<std::uint32_t>(*work.epoch + *work.minibatch / work.per_epoch);
  const std::int64_t begin = *work.minibatch % work.per_epoch * work.minibatch_rows;
  warp.Each([&](int lane) {
    const int r = part * kLanes + lane;
    if (r < work.rows) work.out[r] = Shuffled(begin + r, work.all, key);
  });
}

BERTH_HOST_DEVICE void RunWarp(const PpoWork& work, const Warp& warp, int r) {
  const std::int64_t k = work.row[r], actions = work.actions;
  PpoCoefficients c = work.coefficients;
  c.clip = *work.clip;
  c.ent_coef = *work.ent_coef;
  PpoRowOf(warp, {work.scores + r * actions, work.mask + k * actions, work.actions}, c,
           {work.advantage[r], work.returns[k], work.old_value[k]}, static_cast<int>(work.action[k]),
           work.old_log_prob[k], work.value[r], work.d_scores + r * actions, work.d_value + r,
           work.sums + static_cast<std::int64_t>(r) * kPpoSums);
}

BERTH_HOST_DEVICE void RunWarp(const DrawWork& work, const Warp& warp, int) {
  const double total = work.node[1], part = total / static_cast<double>(work.draws);
  const auto begin = static_cast<std::uint64_t>(*work.position);
  warp.Each([&](int lane) {
    for (int b = lane; b < work.draws; b += kLanes) {
      const double uniform = UniformAt(work.stream, begin + 2 * static_cast<std::uint64_t>(b));
      const std::size_t leaf =
          LeafAt(work.node, static_cast<std::size_t>(work.first), (static_cast<double>(b) + uniform) * part);
      work.leaf[b] = static_cast<std::int64_t>(leaf);
      work.probability[b] = work.node[static_cast<std::size_t>(work.first) + leaf] / total;
    }
  });
  warp.Each([&](int lane) {
    if (lane == 0) *work.position += 2 * static_cast<std::int64_t>(work.draws);
  });
}

// Level by level: every sum is that of its two children, whoever of the lanes below it computes it.
BERTH_HOST_DEVICE void RunWarp(const SetWork& work, const Warp& warp, int) {
  warp.Each([&](int lane) {
    for (int k = lane; k < work.leaves; k += kLanes) work.node[work.first + work.leaf[k]] = work.value[k];
  });
  for (std::int64_t below = 2; below <= work.first; below *= 2) {
    warp.Each([&](int lane) {
      for (int k = lane; k < work.leaves; k += kLanes) {
        const std::int64_t at = (work.first + work.leaf[k]) / below;
        work.node[at] = work.node[2 * at] + work.node[2 * at + 1];
      }
    });
  }
}

}  // namespace berth::cuda
