// Replay buffer (Lin 1992; Mnih et al. 2015) over a ring of vector steps. An observation is stored once an
// instant, not once a micro-action, and n-step returns are formed when they are drawn. Host memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/learner/returns.hpp"
#include "agents/learner/row_pool.hpp"
#include "agents/nn/fused/td_batch.hpp"
#include "agents/ranks/ranks.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/rng.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

class Replay {
 public:
  // Holds the last `capacity` vector steps (capacity > n_step).
  Replay(int capacity, int n_step, int envs, int observation_size, int actions);

  // The observations not yet acted on: where Reset writes.
  StepBuffers Now();
  // Where the environments write what follows `actions` [N], taken now; Advance when they have.
  StepBuffers Outcome(std::span<const std::int32_t> actions);
  void Advance();
  bool Ready() const { return stored_ >= n_step_; }

  struct Draw {
    std::int64_t step;                     // of Observation, Mask and Action
    std::int32_t to_observation, to_mask;  // what to bootstrap from: OfSlot, MaskOfSlot
    NStep outcome;                         // of the raw rewards
  };
  // The window that starts at `step`, a flat row * N + env. Its length is 0 where it cannot be used: a
  // truncated step whose final observation leaves nothing to choose.
  Draw Window(std::int64_t step) const;
  // The steps of `env` that the last Advance changed: the one whose n-step return is known since (-1: none
  // yet), and the one that is no longer held.
  std::int64_t Completed(std::int32_t env) const {
    return Ready() ? static_cast<std::int64_t>(Flat((current_ - n_step_ + rows_) % rows_, env)) : -1;
  }
  std::int64_t Replaced(std::int32_t env) const { return static_cast<std::int64_t>(Flat(current_, env)); }
  std::size_t slots() const { return reward_.size(); }  // greater than every step
  static constexpr const char* kNothingToLearnFrom =
      "replay buffer: expected steps that can be learnt from, found only truncated ones that leave nothing "
      "to "
      "choose";
  // Uniform over the steps whose n-step return is known. Throws Error where no step can be used.
  Draw Sample(Stream& stream) const;

  std::span<const float> NowObservation() const { return now_.observation; }  // [N, D]
  std::span<const std::uint8_t> NowMask(std::int32_t env) const {             // [A]
    return std::span(now_.action_mask)
        .subspan(static_cast<std::size_t>(env) * masks_.width(), masks_.width());
  }

  const float* Observation(std::int64_t step) const {
    return observations_[observation_[static_cast<std::size_t>(step)]];
  }
  const std::uint8_t* Mask(std::int64_t step) const { return masks_[mask_[static_cast<std::size_t>(step)]]; }
  std::int32_t Action(std::int64_t step) const { return action_[static_cast<std::size_t>(step)]; }
  const float* OfSlot(std::int32_t slot) const { return observations_[slot]; }
  const std::uint8_t* MaskOfSlot(std::int32_t slot) const { return masks_[slot]; }

  std::int32_t envs() const { return envs_; }
  // Flat steps, oldest first, N of each vector step; the last N are of now, not yet acted on.
  std::vector<std::int64_t> Held() const;
  std::vector<std::int64_t> Drawable() const;  // of these, those that Sample may draw
  // A step as it happened. Slots: OfSlot, MaskOfSlot; those of the end are of a truncated step, and -1 where
  // its final observation leaves nothing to choose.
  struct Step {
    std::int32_t observation, mask, final_observation, final_mask;
    float reward, discount;
    bool terminated, truncated;
  };
  Step At(std::int64_t step) const;
  // How `step` follows `before`, for a network with a memory.
  TdBatch::Joins Follows(std::int64_t before, std::int64_t step) const;

  std::int64_t observations() const { return observations_.used(); }  // different ones that are held
  std::int64_t steps() const { return stored_ * envs_; }
  void Examples(int count, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const;
  // Only what is held: no two equal consecutive observations or masks of one environment.
  // Files are of all ranks' environments; out is null where the rank does not write.
  void Save(h5::Writer* out, const std::string& group, const Ranks& ranks = {}) const;
  void Load(const h5::Reader& in, const std::string& group, const Ranks& ranks = {});

 private:
  enum End : std::uint8_t { kNone, kTerminated, kTruncated };

  std::int32_t Next(std::int32_t row) const { return row + 1 == rows_ ? 0 : row + 1; }
  std::int32_t Oldest() const;
  std::size_t Flat(std::int32_t row, std::int32_t env) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(envs_) + static_cast<std::size_t>(env);
  }
  void Keep(std::int32_t row, std::int32_t before);  // the observations of now, in place of what `row` held
  void Drop(std::size_t flat);
  void CheckHeld(const std::string& where) const;  // throws Error
  // visit(name in checkpoints, the column, what its numbers name), for Save and Load alike.
  enum class Slots { kNone, kObservations, kMasks };
  template <class Self, class Visit>
  static void ForEachColumn(Self& self, const Visit& visit);

  int n_step_;
  std::int32_t rows_, envs_;  // rows_ = capacity + 1: the last is of now
  std::int32_t current_ = 0;
  std::int64_t stored_ = 0;
  RowPool<float> observations_;
  RowPool<std::uint8_t> masks_;
  // [R, N]; slots, -1 = none. `final_*` are of truncated steps.
  std::vector<std::int32_t> observation_, mask_, final_observation_, final_mask_;
  std::vector<std::int32_t> action_;
  std::vector<float> reward_, discount_;
  std::vector<std::uint8_t> end_;
  StepStorage now_;  // what the environments write
};

}  // namespace berth
