// Replay buffer (Lin 1992; Mnih et al. 2015) over a ring of vector steps: every observation is stored once,
// and n-step returns are formed when they are drawn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agents/returns.hpp"
#include "agents/step_rows.hpp"
#include "data/hdf5_file.hpp"
#include "env/rng.hpp"

namespace berth {

class Replay {
 public:
  // Holds the last `capacity` vector steps (capacity > n_step).
  Replay(int capacity, int n_step, int envs, int observation_size, int actions, bool pinned);

  int current() const { return current_; }  // row of the observations not yet acted on
  StepRows& rows() { return rows_; }
  const StepRows& rows() const { return rows_; }
  StepBuffers Outcome() { return rows_.Outcome(current_, Next(current_)); }
  void Advance();  // the outcome has been written
  bool Ready() const { return stored_ >= n_step_; }

  struct Draw {
    std::int64_t from,
        to;         // flat rows (row * envs + env): of the observation, and of the one to bootstrap from
    NStep outcome;  // of the raw rewards
  };
  // Uniform over the steps whose n-step return is known. Throws Error where no step can be used.
  Draw Sample(Stream& stream);

  void Examples(int count, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const;
  void Save(h5::Writer& out, const std::string& group) const;
  void Load(const h5::Reader& in, const std::string& group);

 private:
  int Next(int row) const { return row + 1 == rows_.rows() ? 0 : row + 1; }
  int Oldest() const;

  int n_step_;
  StepRows rows_;
  int current_ = 0;
  std::int64_t stored_ = 0;
  std::vector<float> reward_, discount_;  // [n] of one window
  std::vector<std::uint8_t> terminated_, truncated_;
};

}  // namespace berth
