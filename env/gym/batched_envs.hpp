// N environments of one kind as a VecEnv: blocks of them on a team of threads, their episodes and statistics,
// saving and loading. `Env` is SchedEnv or another class with its members.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/thread_team.hpp"
#include "env/gym/vec_env.hpp"

namespace berth {

namespace internal {

template <class T>
void Append(std::vector<std::uint8_t>& bytes, const T& value) {
  bytes.resize(bytes.size() + sizeof(T));
  std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof(T));
}

template <class T>
T Take(std::span<const std::uint8_t>& bytes) {
  if (bytes.size() < sizeof(T)) throw Error("environment state: expected more bytes, found the end");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  bytes = bytes.subspan(sizeof(T));
  return value;
}

}  // namespace internal

// Throws Error where one of them cannot be.
void CheckEpisodes(int num_envs, int threads, int episode_jobs, double tau_s);

// Steps environments in blocks; results do not depend on who takes which.
template <class Env>
class BatchedEnvs final : public VecEnv {
 public:
  // `make(i)` is environment i of all; these are first_env and those after it (SchedEnvOptions).
  template <class Make>
  BatchedEnvs(int num_envs, int threads, const Make& make, int first_env = 0, int all_envs = 0)
      : team_(std::clamp(threads, 1, num_envs)),
        stats_(U(num_envs)),
        backlog_(U(num_envs)),
        first_env_(first_env),
        all_envs_(all_envs > 0 ? all_envs : num_envs) {
    BERTH_CHECK(first_env_ >= 0 && first_env_ + num_envs <= all_envs_, first_env_, " ", all_envs_);
    for (int i = 0; i < num_envs; ++i) envs_.push_back(make(static_cast<std::uint32_t>(first_env_ + i)));
  }

  int num_envs() const override { return static_cast<int>(envs_.size()); }
  int num_actions() const override { return envs_.front().num_actions(); }
  ObservationLayout layout() const override { return envs_.front().layout(); }
  std::string metric_name() const override { return "mean_jct_s"; }

  void Reset(const StepBuffers& out) override {
    ForEach([&](int i) {
      Begin(i, 0);
      Write(i, out);
    });
  }

  void NextEpisodes(const StepBuffers& out) override {
    ForEach([&](int i) {
      Begin(i, envs_[U(i)].episode() + 1);
      Write(i, out);
    });
  }

  const Simulator& simulator(int env) const override { return envs_[U(env)].simulator(); }

  void Step(std::span<const std::int32_t> actions, const StepBuffers& out) override {
    BERTH_CHECK(static_cast<int>(actions.size()) == num_envs(), actions.size(), " actions");
    ForEach([&](int i) { StepOne(i, actions[U(i)], out); });
  }

  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    for (int i = begin; i < end; ++i) StepOne(i, actions[U(i)], out);
  }

  EpisodeStats TakeStats() override {
    EpisodeStats sum;
    for (EpisodeStats& s : stats_) {  // in order of environments: the same sum on any number of threads
      sum.episodes += s.episodes;
      sum.return_sum += s.return_sum;
      sum.measured += s.measured;
      sum.metric_sum += s.metric_sum;
      sum.backlog_begin_sum += s.backlog_begin_sum;
      sum.backlog_end_sum += s.backlog_end_sum;
      s = {};
    }
    for (const Env& env : envs_) {
      const double metric = env.MeanJct();
      if (!(metric > 0.0)) continue;  // nothing has completed yet
      ++sum.running;
      sum.running_return_sum += env.episode_return();
      sum.running_metric_sum += metric;
    }
    return sum;
  }

  // A state is its episode and the actions since: the simulator is deterministic, so replaying them is exact.
  std::vector<std::uint8_t> SaveState() const override {
    std::vector<std::uint8_t> bytes;
    internal::Append(bytes, static_cast<std::uint32_t>(num_envs()));
    for (std::size_t i = 0; i < envs_.size(); ++i) {
      const EpisodeStats& s = stats_[i];
      internal::Append(bytes, SavedStats{s.episodes, s.return_sum, s.metric_sum, s.measured,
                                         s.backlog_begin_sum, s.backlog_end_sum});
      internal::Append(bytes, envs_[i].episode());
      internal::Append(bytes, static_cast<std::uint32_t>(envs_[i].history().size()));
      for (std::int32_t action : envs_[i].history()) internal::Append(bytes, action);
    }
    return bytes;
  }

  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
    if (const auto n = internal::Take<std::uint32_t>(state); n != U(all_envs_)) {
      throw Error(Join("environment state: expected ", all_envs_, " environments, found ", n));
    }
    for (int i = 0; i < first_env_; ++i) Skip(state);
    for (int i = 0; i < num_envs(); ++i) {
      const auto saved = internal::Take<SavedStats>(state);
      EpisodeStats& s = stats_[U(i)];
      s = {};
      s.episodes = saved.episodes, s.return_sum = saved.return_sum;
      // States that did not count them have 0 beside a sum.
      s.measured = saved.measured == 0 && saved.metric_sum > 0.0 ? saved.episodes : saved.measured;
      s.metric_sum = saved.metric_sum;
      s.backlog_begin_sum = saved.backlog_begin_sum, s.backlog_end_sum = saved.backlog_end_sum;
      Begin(i, internal::Take<std::uint32_t>(state));
      for (auto left = internal::Take<std::uint32_t>(state); left > 0; --left) {
        const auto action = internal::Take<std::int32_t>(state);
        if (action < 0 || action >= num_actions() || envs_[U(i)].mask()[U(action)] == 0) {
          throw Error(Join("environment state: action ", action, " of environment ", i, " is not legal"));
        }
        envs_[U(i)].Step(action);
      }
      Write(i, out);
    }
  }

 private:
  static constexpr int kEnvsPerBlock = 8;     // fewer are not worth waking a thread
  static constexpr int kBlocksPerThread = 4;  // so that a thread that is kept off its core holds up little

  // As states hold it. States of before there were backlogs have zeros in their place.
  struct SavedStats {
    std::int64_t episodes;
    double return_sum, metric_sum;
    std::int64_t measured;
    double backlog_begin_sum, backlog_end_sum;
  };

  void Begin(int i, std::uint32_t episode) {
    envs_[U(i)].Begin(episode);
    backlog_[U(i)] = envs_[U(i)].simulator().jobs_in_system();
  }

  static void Skip(std::span<const std::uint8_t>& state) {
    internal::Take<SavedStats>(state);
    internal::Take<std::uint32_t>(state);
    for (auto left = internal::Take<std::uint32_t>(state); left > 0; --left)
      internal::Take<std::int32_t>(state);
  }

  static std::ptrdiff_t Row(int i, std::size_t width) { return static_cast<std::ptrdiff_t>(U(i) * width); }

  void StepOne(int i, std::int32_t action, const StepBuffers& out) {
    Env& env = envs_[U(i)];
    const auto outcome = env.Step(action);
    out.reward[U(i)] = static_cast<float>(outcome.reward);
    out.discount[U(i)] = static_cast<float>(outcome.discount);
    if constexpr (requires { outcome.signal; }) {
      if (!out.signal.empty()) out.signal[U(i)] = static_cast<float>(outcome.signal);
    }
    if constexpr (requires { outcome.new_jobs; }) {
      if (!out.new_jobs.empty()) out.new_jobs[U(i)] = static_cast<float>(outcome.new_jobs);
      if (!out.new_work.empty()) out.new_work[U(i)] = static_cast<float>(outcome.new_work);
    }
    out.terminated[U(i)] = outcome.terminated;
    out.truncated[U(i)] = outcome.truncated;
    if (outcome.terminated || outcome.truncated) {
      const std::span<const float> last = env.observation();
      std::copy(last.begin(), last.end(), out.final_observation.begin() + Row(i, last.size()));
      if (outcome.truncated && !out.final_mask.empty()) {
        const std::span<const std::uint8_t> legal = env.mask();
        std::copy(legal.begin(), legal.end(), out.final_mask.begin() + Row(i, legal.size()));
      }
      EpisodeStats& s = stats_[U(i)];
      ++s.episodes;
      s.return_sum += env.episode_return();
      if (const double metric = env.MeanJct(); metric > 0.0) {  // a job has completed
        ++s.measured;
        s.metric_sum += metric;
      }
      s.backlog_begin_sum += backlog_[U(i)];
      s.backlog_end_sum += env.simulator().jobs_in_system();
      Begin(i, env.episode() + 1);
    }
    if (!env.moved() && !out.fresh.empty()) {
      out.fresh[U(i)] = 0;
      WriteMask(i, out);
    } else {
      Write(i, out);
    }
  }

  template <class F>
  void ForEach(const F& visit) {
    const int n = num_envs();
    const int blocks = std::clamp(n / kEnvsPerBlock, 1, kBlocksPerThread * team_.size());
    const auto visit_block = [&](int block) {
      for (int i = block * n / blocks; i < (block + 1) * n / blocks; ++i) visit(i);
    };
    team_.Run(blocks,
              std::cref(visit_block));  // by reference: a copy would not fit a std::function without memory
  }

  void Write(int i, const StepBuffers& out) const {
    const std::span<const float> observation = envs_[U(i)].observation();
    std::copy(observation.begin(), observation.end(), out.observation.begin() + Row(i, observation.size()));
    WriteMask(i, out);
  }
  void WriteMask(int i, const StepBuffers& out) const {
    const std::span<const std::uint8_t> mask = envs_[U(i)].mask();
    std::copy(mask.begin(), mask.end(), out.action_mask.begin() + Row(i, mask.size()));
  }

  ThreadTeam team_;
  std::vector<Env> envs_;
  std::vector<EpisodeStats> stats_;
  std::vector<int> backlog_;  // [N] jobs in the system as the present episode began
  int first_env_, all_envs_;
};

}  // namespace berth
