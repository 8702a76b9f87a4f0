// The scores of the observations that are acted on now. Rows whose observation did not change since the last
// call are not computed again: within one instant Berth's micro-actions change only the mask, so most steps
// need no forward pass at all. What computes them is the derived class's. Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth {

class ActingCache {
 public:
  // `rows_apart`: a row's scores have the same bits whatever rows are computed beside it. Where they have
  // not, one changed row has all computed, so that a resumed run, which begins with nothing cached, gives the
  // same. `memory`: of the row's last numbers, the network's state (Remembered), and what Compute gives in
  // `next`.
  ActingCache(int envs, int observation_size, int actions, bool rows_apart, int memory = 0);
  virtual ~ActingCache() = default;

  // observation [envs, D], fresh [envs]: 0 where a row is known to be the last one and is not to be read;
  // empty = none is known to be. Refreshes scores and values of the rows that changed.
  void Evaluate(std::span<const float> observation, std::span<const std::uint8_t> fresh = {});
  virtual void Invalidate() { valid_ = false; }              // the parameters changed
  std::span<const float> observation(int env) const;         // [D] at the last Evaluate
  std::span<const float> scores(int env) const;              // [A]
  std::span<const float> values() const { return values_; }  // [envs]
  std::span<const float> state(int env) const { return observation(env).last(memory_); }  // [M] there
  std::span<const float> next(int env) const;  // [M] at the point after it
  // Did this row change at the last Evaluate? Invalidate makes every row changed.
  bool changed(int env) const { return changed_[static_cast<std::size_t>(env)] != 0; }

 protected:
  // Rows [D] to scores [rows, A], values [rows] and `next` [rows, M].
  virtual void Compute(std::span<const float* const> rows, std::span<float> scores, std::span<float> values,
                       std::span<float> next) = 0;

 private:
  std::size_t envs_, size_, actions_, memory_;
  bool rows_apart_;
  bool valid_ = false;
  std::vector<float> observation_, scores_, values_, next_;   // [N, D], [N, A], [N], [N, M]
  std::vector<float> some_scores_, some_values_, some_next_;  // of the rows that are computed
  std::vector<std::uint8_t> changed_;                         // [N]
  std::vector<std::size_t> computed_;                         // environments
  std::vector<const float*> rows_;                            // their observations
};

}  // namespace berth
