// Proportional prioritised replay (Schaul et al. 2016, section 3.3): step i is drawn with probability
// p_i^alpha / sum_k p_k^alpha, p = |error| + epsilon when it was learnt from last and the greatest so far
// until then, and its loss is weighted by (N P(i))^-beta over the greatest such weight of the minibatch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/dqn/sum_tree.hpp"
#include "agents/ranks/ranks.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/rng.hpp"

namespace berth {

class Priorities {
 public:
  static constexpr double kEpsilon = 1e-6;
  Priorities(std::size_t steps, double alpha);

  void Add(std::size_t step);  // known from now on, with the greatest priority so far
  void Remove(std::size_t step);
  // One step of each of step.size() equal parts of the mass, and their weights.
  void Draw(Stream& stream, double beta, std::span<std::int64_t> step, std::span<float> weight) const;
  // An error that is not finite counts as the greatest so far.
  void Update(std::span<const std::int64_t> step, std::span<const float> error);

  double Probability(std::size_t step) const { return tree_[step] / tree_.total(); }
  std::int64_t count() const { return count_; }  // N
  // As Replay's, whose steps these are.
  void Save(h5::Writer* out, const std::string& group, const Ranks& ranks = {}) const;
  void Load(const h5::Reader& in, const std::string& group, const Ranks& ranks = {});

 private:
  void Set(std::size_t step, double value);

  double alpha_;
  SumTree tree_;            // of p^alpha
  double greatest_ = 1.0;   // p^alpha
  std::int64_t count_ = 0;  // of steps whose priority is above 0
};

}  // namespace berth
