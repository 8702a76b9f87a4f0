#include "env/vec_env.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "env/index.hpp"
#include "env/sched_env.hpp"
#include "env/thread_team.hpp"

namespace berth {
namespace {

constexpr int kEnvsPerBlock = 8;     // fewer are not worth waking a thread
constexpr int kBlocksPerThread = 4;  // so that a thread that is kept off its core holds up little

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

// Steps environments in blocks; results do not depend on who takes which.
class VecEnv : public BatchEnv {
 public:
  VecEnv(std::shared_ptr<const ScenarioSource> source, const SchedEnvOptions& options, int num_envs,
         int threads)
      : team_(std::clamp(threads, 1, num_envs)), stats_(U(num_envs)) {
    for (int i = 0; i < num_envs; ++i) envs_.emplace_back(source, options, static_cast<std::uint32_t>(i));
  }

  int num_envs() const override { return static_cast<int>(envs_.size()); }
  int num_actions() const override { return envs_.front().num_actions(); }
  ObservationLayout layout() const override { return envs_.front().layout(); }
  std::string metric_name() const override { return "mean_jct_s"; }

  void Reset(const StepBuffers& out) override {
    ForEach([&](int i) {
      envs_[U(i)].Begin(0);
      Write(i, out);
    });
  }

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
      sum.metric_sum += s.metric_sum;
      s = {};
    }
    for (const SchedEnv& env : envs_) {
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
    Append(bytes, static_cast<std::uint32_t>(num_envs()));
    for (std::size_t i = 0; i < envs_.size(); ++i) {
      Append(bytes, stats_[i]);
      Append(bytes, envs_[i].episode());
      Append(bytes, static_cast<std::uint32_t>(envs_[i].history().size()));
      for (std::int32_t action : envs_[i].history()) Append(bytes, action);
    }
    return bytes;
  }

  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
    if (const auto n = Take<std::uint32_t>(state); n != envs_.size()) {
      throw Error(Join("environment state: expected ", envs_.size(), " environments, found ", n));
    }
    for (int i = 0; i < num_envs(); ++i) {
      stats_[U(i)] = Take<EpisodeStats>(state);
      envs_[U(i)].Begin(Take<std::uint32_t>(state));
      for (auto left = Take<std::uint32_t>(state); left > 0; --left) {
        const auto action = Take<std::int32_t>(state);
        if (action < 0 || action >= num_actions() || envs_[U(i)].mask()[U(action)] == 0) {
          throw Error(Join("environment state: action ", action, " of environment ", i, " is not legal"));
        }
        envs_[U(i)].Step(action);
      }
      Write(i, out);
    }
  }

 private:
  static std::ptrdiff_t Row(int i, std::size_t width) { return static_cast<std::ptrdiff_t>(U(i) * width); }

  void StepOne(int i, std::int32_t action, const StepBuffers& out) {
    SchedEnv& env = envs_[U(i)];
    const SchedEnv::Outcome outcome = env.Step(action);
    out.reward[U(i)] = static_cast<float>(outcome.reward);
    out.discount[U(i)] = static_cast<float>(outcome.discount);
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
      s.metric_sum += env.MeanJct();
      env.Begin(env.episode() + 1);
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
  std::vector<SchedEnv> envs_;
  std::vector<EpisodeStats> stats_;
};

}  // namespace

StepStorage::StepStorage(int num_envs, int observation_size, int num_actions)
    : observation(U(num_envs) * U(observation_size)),
      reward(U(num_envs)),
      discount(U(num_envs)),
      final_observation(U(num_envs) * U(observation_size)),
      action_mask(U(num_envs) * U(num_actions)),
      terminated(U(num_envs)),
      truncated(U(num_envs)),
      final_mask(U(num_envs) * U(num_actions)) {}

StepBuffers StepStorage::buffers() {
  return {observation, action_mask,       reward,     terminated, truncated,
          discount,    final_observation, final_mask, {}};
}

std::unique_ptr<BatchEnv> MakeVecEnv(std::shared_ptr<const ScenarioSource> source,
                                     const SchedEnvOptions& options, int num_envs, int threads) {
  if (num_envs < 1) throw Error(Join("envs: expected at least 1, found ", num_envs));
  if (threads < 1) throw Error(Join("threads: expected at least 1, found ", threads));
  if (options.mdp.visible < 1) throw Error(Join("visible: expected at least 1, found ", options.mdp.visible));
  if (options.episode_jobs < 1)
    throw Error(Join("episode jobs: expected at least 1, found ", options.episode_jobs));
  if (!(options.mdp.tau_s > 0.0)) throw Error(Join("tau: expected seconds > 0, found ", options.mdp.tau_s));
  return std::make_unique<VecEnv>(std::move(source), options, num_envs, threads);
}

}  // namespace berth
