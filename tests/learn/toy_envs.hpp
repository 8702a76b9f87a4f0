// Small environments with known answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/gym/batch_env.hpp"
#include "env/gym/vec_env.hpp"

namespace berth {

// A deterministic table: from state s, action a pays reward[s][a] and leads to next[s][a] (-1 = terminated;
// the next episode starts in state 0). The observation is one-hot; mask[s][a] says what is legal. An illegal
// action is a failure. After `limit` steps the episode is cut (0 = never).
struct Table {
  std::vector<std::vector<float>> reward;
  std::vector<std::vector<int>> next;
  std::vector<std::vector<std::uint8_t>> mask;
  double gamma = 0.9;
  int limit = 0;
  int states() const { return static_cast<int>(reward.size()); }
  int actions() const { return static_cast<int>(reward[0].size()); }
};

class TableEnv final : public BatchEnv {
 public:
  TableEnv(Table table, int num_envs) : table_(std::move(table)), at_(static_cast<std::size_t>(num_envs)) {}
  int num_envs() const override { return static_cast<int>(at_.size()); }
  int num_actions() const override { return table_.actions(); }
  ObservationLayout layout() const override { return {.global_channels = table_.states()}; }
  void Reset(const StepBuffers& out) override {
    for (Where& w : at_) w = {};
    Write(0, num_envs(), out);
  }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto s = static_cast<std::size_t>(at_[i].state), a = static_cast<std::size_t>(actions[i]);
      BERTH_CHECK(table_.mask[s][a] == 1, "illegal action ", a, " in state ", s);
      out.reward[i] = table_.reward[s][a];
      out.discount[i] = static_cast<float>(table_.gamma);
      out.terminated[i] = table_.next[s][a] < 0;
      ++at_[i].step;
      out.truncated[i] = !out.terminated[i] && at_[i].step == table_.limit;
      at_[i].state = table_.next[s][a];
      if (!out.terminated[i] && !out.truncated[i]) continue;
      OneHot(out.final_observation, i, at_[i].state);
      if (out.truncated[i] && !out.final_mask.empty()) Legal(out.final_mask, i);
      at_[i] = {};
    }
    Write(begin, end, out);
  }
  EpisodeStats TakeStats() override { return {}; }
  std::vector<std::uint8_t> SaveState() const override { throw Error("not saved"); }
  void LoadState(std::span<const std::uint8_t>, const StepBuffers&) override { throw Error("not saved"); }

 private:
  struct Where {
    int state = 0, step = 0;
  };
  void OneHot(std::span<float> rows, std::size_t i, int state) const {
    for (int c = 0; c < table_.states(); ++c) {
      rows[i * static_cast<std::size_t>(table_.states()) + static_cast<std::size_t>(c)] =
          c == state ? 1.0F : 0.0F;
    }
  }
  void Write(int begin, int end, const StepBuffers& out) const {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      OneHot(out.observation, i, at_[i].state);
      Legal(out.action_mask, i);
    }
  }
  void Legal(std::span<std::uint8_t> rows, std::size_t i) const {
    const auto& legal = table_.mask[static_cast<std::size_t>(at_[i].state)];
    std::copy(legal.begin(), legal.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * legal.size()));
  }
  Table table_;
  std::vector<Where> at_;
};

// One job, two GPU types, two states, laid out as a cluster is, so that every network can read it. In state 0
// type 0 pays nothing and leads to state 1, and type 1 pays 0.1 and stays: what pays at once is wrong. In
// state 1 type 1 pays 1 and type 0 nothing, and both lead to state 0. "Done" pays nothing and stays; it is
// legal in state 0 alone. Episodes are cut after 8 steps, so the best return is 4, and that of the
// short-sighted 0.8.
class TwoTypes final : public BatchEnv {
 public:
  static constexpr int kSteps = 8;
  static constexpr double kBestReturn = 4.0;
  explicit TwoTypes(int num_envs) : at_(static_cast<std::size_t>(num_envs)) {}
  int num_envs() const override { return static_cast<int>(at_.size()); }
  int num_actions() const override { return 3; }
  ObservationLayout layout() const override {
    return {.q = 1, .g = 2, .job_channels = 1, .pair_channels = 1, .type_channels = 1, .global_channels = 1};
  }
  void Reset(const StepBuffers& out) override {
    for (Where& w : at_) w = {};
    Write(0, num_envs(), out);
  }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Where& w = at_[i];
      const int action = actions[i];
      BERTH_CHECK(action < 2 || w.state == 0, "illegal action ", action, " in state ", w.state);
      const bool first = w.state == 0;
      out.reward[i] = action != 1 ? 0.0F : first ? 0.1F : 1.0F;
      w.state = first && action == 0 ? 1 : 0;
      out.discount[i] = 0.9F;
      out.terminated[i] = 0;
      out.truncated[i] = ++w.step == kSteps;
      if (!out.truncated[i]) continue;
      Observe(out.final_observation, i);
      if (!out.final_mask.empty()) Legal(out.final_mask, i);
      w = {};
    }
    Write(begin, end, out);
  }
  EpisodeStats TakeStats() override { return {}; }
  std::vector<std::uint8_t> SaveState() const override { throw Error("not saved"); }
  void LoadState(std::span<const std::uint8_t>, const StepBuffers&) override { throw Error("not saved"); }

 private:
  struct Where {
    int state = 0, step = 0;
  };
  // The job is present; the pairs say which type is the state's own, the last number which state it is.
  void Observe(std::span<float> rows, std::size_t i) const {
    const float sign = at_[i].state == 0 ? 1.0F : -1.0F;
    const float row[] = {1.0F, sign, -sign, 1.0F, 1.0F, sign};
    std::copy(std::begin(row), std::end(row), rows.begin() + static_cast<std::ptrdiff_t>(i * std::size(row)));
  }
  void Write(int begin, int end, const StepBuffers& out) const {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      Observe(out.observation, i);
      Legal(out.action_mask, i);
    }
  }
  void Legal(std::span<std::uint8_t> rows, std::size_t i) const {
    const std::uint8_t mask[] = {1, 1, at_[i].state == 0};
    std::copy(std::begin(mask), std::end(mask),
              rows.begin() + static_cast<std::ptrdiff_t>(i * std::size(mask)));
  }
  std::vector<Where> at_;
};

// Reward 1 for ever in a ring of `states` states, one action; a second action is never legal.
inline Table Ring(int states, double gamma) {
  Table table;
  for (int s = 0; s < states; ++s) {
    table.reward.push_back({1.0F, 100.0F});
    table.next.push_back({(s + 1) % states, 0});
    table.mask.push_back({1, 0});
  }
  table.gamma = gamma;
  return table;
}

// Episodes of 12 jobs on three GPUs of two types: several micro-actions, each with a mask of its own, see the
// same observation.
inline MdpSpec SmallMdp() {
  MdpSpec mdp;
  mdp.visible = 4;
  mdp.tau_s = 600.0;
  return mdp;
}

// Environments first_env and those after it of all_envs (0: these are all).
inline std::unique_ptr<BatchEnv> ToyEnv(const MdpSpec& mdp, int envs, std::uint64_t seed, int first_env = 0,
                                        int all_envs = 0) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=2,k80=1");
  settings.clock = Clock{ClockKind::kEvent};
  SchedEnvOptions options;
  options.mdp = mdp;
  options.seed = seed;
  options.episode_jobs = 12;
  options.warmup_jobs = 0;
  options.signal = "auto";  // as berth train
  options.first_env = first_env;
  options.all_envs = all_envs;
  return MakeVecEnv(MakeWorkload("toy", settings), options, envs, 1);
}

}  // namespace berth
