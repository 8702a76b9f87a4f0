// What a network's memory (policies/networks/memory.hpp) holds of every environment's episode while an agent
// plays. Environments write observations [N, D] here; what the learner keeps are rows [N, D + M], an
// observation and behind it the state that was there with it. So whoever keeps rows keeps the states. Within
// an instant (discount exactly 1) the state stands still, and an episode begins with zeros. Thread rule:
// Follow of different environments from different threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/ranks/ranks.hpp"
#include "data/hdf5_file.hpp"
#include "env/gym/batch_env.hpp"

namespace berth {

class Remembered {
 public:
  // `memory` 0: there is none, and nobody calls anything but any(), Save and Load, which do nothing.
  Remembered(int envs, int observation_size, int memory);
  bool any() const { return memory_ > 0; }

  // `rows` with the observations' memory in place of the rows'.
  StepBuffers Observed(StepBuffers rows);
  // Rows [N, D + M] of what was observed last, at the states of now.
  void Begin(std::span<float> rows) const;
  // After a step of `env` that was taken at `state`, with which the network gave `next`: `observed` is what
  // Observed gave for `rows` and the environment has written. Moves the state and writes the row, and the
  // final one of an episode that ended, unless both are the last ones (observed.fresh is 0).
  void Follow(int env, std::span<const float> state, std::span<const float> next, const StepBuffers& observed,
              const StepBuffers& rows);

  // The states, of all ranks' environments; `out` is null where the rank does not write.
  void Save(h5::Writer* out, const std::string& dataset, const Ranks& ranks) const;
  void Load(const h5::Reader& in, const std::string& dataset, const Ranks& ranks);

 private:
  void Write(std::span<const float> observation, std::size_t env, std::span<const float> state,
             std::span<float> rows) const;

  std::size_t envs_, size_, memory_;
  std::vector<float> observation_, final_observation_;  // [N, D]
  std::vector<float> state_;                            // [N, M]
};

}  // namespace berth
