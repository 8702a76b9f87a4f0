// What Python steps: N environments of one name that write into two sets of buffers in turn, so that what a
// step returned is there, untouched and uncopied, until the step after the next one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/python/environments.hpp"

namespace berth {

// What becomes of an action that the mask forbids.
enum class IllegalAction : std::uint8_t {
  kNextLegal,  // the next legal one is played instead, the first one after the last: any action means
               // something
  kError,
};

// Thread rule: one thread at a time.
class VectorEnvironment {
 public:
  // Throws Error naming the argument.
  VectorEnvironment(const std::string& name, const std::map<std::string, std::string>& keywords, int num_envs,
                    int threads, const std::string& illegal, const EnvironmentExtras& extras = {});

  int num_envs() const { return num_envs_; }
  int num_actions() const { return env_->num_actions(); }
  ObservationLayout layout() const { return env_->layout(); }
  const NamedEnvironment& named() const { return named_; }

  // Both write observation and action_mask of buffers(turn()).
  // Begins episode 0 of `seed`; without one goes on with the next episodes, at first with episode 0 of the
  // option `seed`. What is thrown leaves environments of which some have no episode, so that another one has
  // to follow.
  void Reset(std::optional<std::uint64_t> seed);
  // actions [N]. True when an episode ended. Throws Error, and nothing has happened, for a wrong action; what
  // else is thrown leaves environments of which some have stepped, so that a Reset has to follow.
  bool Step(std::span<const std::int64_t> actions);
  bool begun() const { return begun_; }

  int turn() const { return turn_; }  // which buffers the last Reset or Step wrote: 0 or 1
  StepStorage& storage(int turn) { return storage_[static_cast<std::size_t>(turn)]; }
  std::span<const std::int32_t> played() const { return played_; }  // [N] actions of the last Step
  int replaced() const { return replaced_; }  // how many of those were not the ones given
  EpisodeStats TakeStats() { return env_->TakeStats(); }
  // Both throw Error before a Reset, and where one or a Step has thrown.
  double now(int env) const { return SimulatorOf(env).now(); }                     // s
  std::uint64_t signature(int env) const { return SimulatorOf(env).signature(); }  // of the event log so far

 private:
  const Simulator& SimulatorOf(int env) const;

  NamedEnvironment named_;
  int num_envs_, threads_;
  IllegalAction illegal_;
  std::unique_ptr<VecEnv> env_;
  std::vector<StepStorage> storage_;  // [2]
  std::vector<std::int32_t> played_;
  int turn_ = 0, replaced_ = 0;
  bool drawn_ = false;  // every environment has had an episode of its seed
  bool begun_ = false;  // every environment is within an episode
};

}  // namespace berth
