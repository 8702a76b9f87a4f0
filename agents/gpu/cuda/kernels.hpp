// The learners' own kernels, as a table of functions: on the host they run the device's source warp after
// warp (HostKernels), on a GPU they launch it (libberth_cuda.so, cuda_library.hpp). Pointers are to memory of
// that device; every call only enqueues work on `queue` (a cudaStream_t; ignored on the host) and reads
// nothing back.
#pragma once

#include <cstdint>

#include "agents/gpu/cuda/backward_scan.hpp"
#include "agents/gpu/cuda/masked_rows.hpp"

namespace berth::cuda {

// Acts for `rows` environments from `begin` on at step *step: draws an action a row and writes the step's row
// of the rollout. Environment i draws as Stream(seed, kExplore, kTrain, stream.env + i) does at draws[i],
// which moves on by one Uniform.
struct SampleWork {
  int rows = 0, begin = 0, envs = 0, actions = 0;
  StreamKey stream{};                               // env: that of the first of all
  const float *scores = nullptr, *value = nullptr;  // [rows, A], [rows]
  const std::uint8_t* mask = nullptr;               // [rows, A]
  const std::int64_t* step = nullptr;               // [1] t
  std::int64_t* draws = nullptr;                    // [N]
  std::int32_t* action = nullptr;                   // [rows] for the environments
  // The rollout, [T, N, ...]; written at t, begin ...
  std::uint8_t* out_mask = nullptr;    // [T, N, A]
  std::int64_t* out_action = nullptr;  // [T, N], as the two below
  float *out_log_prob = nullptr, *out_value = nullptr, *out_entropy = nullptr;
};

struct ReturnsWork {
  ReturnColumns columns;
  bool v_trace = false;
  float *advantage = nullptr, *returns = nullptr;  // [T, N]
};

// Rows of minibatch *minibatch of an epoch's shuffled order; `per_epoch` minibatches of `minibatch_rows` make
// an epoch, the last of which may have fewer. Epoch e is shuffled by the key with episode *epoch + e.
struct ShuffleWork {
  int rows = 0;  // of this minibatch
  std::int64_t all = 0, minibatch_rows = 0, per_epoch = 0;
  StreamKey key{};
  const std::int64_t *minibatch = nullptr, *epoch = nullptr;  // [1]
  std::int64_t* out = nullptr;                                // [rows]
};

// PPO's loss and gradient on rows of a rollout.
struct PpoWork {
  int rows = 0, actions = 0;
  PpoCoefficients coefficients;       // its clip is *clip, its ent_coef *ent_coef
  const double* clip = nullptr;       // [1]
  const double* ent_coef = nullptr;   // [1]
  const std::int64_t* row = nullptr;  // [rows] of the rollout
  const float *scores = nullptr, *value = nullptr,
              *advantage = nullptr;  // [rows, A], [rows], [rows] normalised
  // Of the rollout, [T * N, ...]:
  const std::uint8_t* mask = nullptr;
  const std::int64_t* action = nullptr;
  const float *old_log_prob = nullptr, *returns = nullptr, *old_value = nullptr;
  float *d_scores = nullptr, *d_value = nullptr;  // [rows, A], [rows]
  float* sums = nullptr;                          // [rows, kPpoSums]
};

// Proportional draws from a sum tree: draw b takes the b-th of `draws` equal parts of the mass
// (agents/dqn/priorities.hpp).
struct DrawWork {
  int draws = 0;
  const double* node = nullptr;  // [2 first]
  std::int64_t first = 0;        // a power of two
  StreamKey stream{};
  std::int64_t* position = nullptr;  // [1] moves on by as many Uniforms
  std::int64_t* leaf = nullptr;      // [draws]
  double* probability = nullptr;     // [draws]
};
// Sets leaves and all sums above them; a leaf that is named twice gets either value.
struct SetWork {
  int leaves = 0;
  double* node = nullptr;
  std::int64_t first = 0;
  const std::int64_t* leaf = nullptr;  // [leaves]
  const double* value = nullptr;       // [leaves]
};

struct KernelTable {
  void (*sample)(const SampleWork& work, void* queue);
  void (*returns)(const ReturnsWork& work, void* queue);
  void (*shuffle)(const ShuffleWork& work, void* queue);
  void (*ppo)(const PpoWork& work, void* queue);
  void (*draw)(const DrawWork& work, void* queue);
  void (*set)(const SetWork& work, void* queue);
};
const KernelTable& HostKernels();

}  // namespace berth::cuda
