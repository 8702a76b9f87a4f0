// What PPO learns from: n_steps of every environment under the present policy. Each part of the environments
// is played from the first step to the last by one thread, with a network of its own: threads meet once a
// rollout, not at every step, so that a busy neighbour costs no more than its share of the cores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agents/learner/actor.hpp"
#include "agents/learner/agent.hpp"
#include "agents/learner/remembered.hpp"
#include "agents/learner/step_rows.hpp"
#include "agents/learner/workers.hpp"
#include "env/base/rng.hpp"

namespace berth {

class Rollout {
 public:
  // One part a replica. `replicas` and `workers` must outlive it.
  Rollout(int n_steps, const AgentSetup& setup, Replicas& replicas, Workers& workers);

  // Where the first observations are written.
  StepBuffers First();
  // Plays n_steps from the observations at First. act_s and env_s are means over the parts.
  Played Collect(BatchEnv& env);
  // The update is done: what followed the last step goes to First, and the parameters are others.
  void Continue();
  // Parameters and first observations come from elsewhere: nothing of the last rollout counts.
  void Restart();
  // Of a network's memory.
  Remembered& remembered() { return remembered_; }
  // Makes what Examples tells of before anything was played.
  void MakeFirstRows();

  int n_steps() const { return n_steps_; }
  std::span<float> reward() { return rows_.reward().first(size_); }  // [T, N], as the others
  std::span<const float> new_jobs() const { return rows_.new_jobs().first(size_); }
  std::span<const float> new_work() const { return rows_.new_work().first(size_); }
  std::span<const float> discount() const { return rows_.discount().first(size_); }
  std::span<const std::uint8_t> terminated() const { return rows_.terminated().first(size_); }
  std::span<const std::uint8_t> truncated() const { return rows_.truncated().first(size_); }
  const std::vector<float>& value() const { return value_; }
  const std::vector<float>& log_prob() const { return log_prob_; }
  const std::vector<float>& final_value() const { return final_value_; }  // meant only where truncated
  const std::vector<float>& last_value() const { return last_value_; }    // [N]
  // 1 where the observation is another than the one before, in time, of its environment.
  const std::vector<std::uint8_t>& starts() const { return starts_; }
  // An observation row is meant only where starts() is 1, and at step 0.
  StepRows& rows() { return rows_; }
  const StepRows& rows() const { return rows_; }

  // Mean over the rows of the last rollout of log(legal actions), nats: the entropy of who draws uniformly.
  double UniformEntropy(const Ranks& ranks) const;
  // Up to `rows` observations and masks of the last rollout, or First's before there is one.
  void Examples(int rows, std::vector<float>& observation, std::vector<std::uint8_t>& mask) const;
  Actor& actor() { return parts_[0].actor; }  // for what is not part of a rollout

  std::vector<Stream>& explore() { return explore_; }  // [N] action draws
  const std::vector<Stream>& explore() const { return explore_; }

 private:
  struct Part {
    int begin, end;  // environments
    Actor actor;
    std::vector<float> final_rows, final_scores, final_values;  // truncated ones, at most end - begin
    double act_s = 0.0, env_s = 0.0;
  };
  void Invalidate();
  void Play(Part& part, BatchEnv& env);
  void Evaluate(int step, Part& part);
  void Act(int step, Part& part);
  void ValueFinals(int step, Part& part);

  int n_steps_, envs_, all_envs_;
  std::size_t size_;  // T * N
  Workers& workers_;
  StepRows rows_;  // T + 1
  Remembered remembered_;
  std::vector<Part> parts_;
  std::vector<Stream> explore_;
  std::vector<float> value_, log_prob_, final_value_, last_value_;
  std::vector<std::uint8_t> starts_, fresh_;  // [T, N], [N] of the present step
  std::vector<std::int32_t> actions_;         // [N] of the present step
  bool collected_ = false, begun_ = false;    // begun_: what First was given stands among the rows
};

}  // namespace berth
