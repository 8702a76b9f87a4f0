// Environments around another one, for tests that change or watch what passes between it and a learner.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/batch_env.hpp"
#include "tests/catch.hpp"

namespace berth {

// Passes everything on.
class WrappedEnv : public BatchEnv {
 public:
  explicit WrappedEnv(std::unique_ptr<BatchEnv> env) : env_(std::move(env)) {}
  int num_envs() const override { return env_->num_envs(); }
  int num_actions() const override { return env_->num_actions(); }
  ObservationLayout layout() const override { return env_->layout(); }
  std::string metric_name() const override { return env_->metric_name(); }
  void Reset(const StepBuffers& out) override { env_->Reset(out); }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    env_->StepRange(begin, end, actions, out);
  }
  EpisodeStats TakeStats() override { return env_->TakeStats(); }
  std::vector<std::uint8_t> SaveState() const override { return env_->SaveState(); }
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
    env_->LoadState(state, out);
  }

 private:
  std::unique_ptr<BatchEnv> env_;
};

// Requires every action to be legal in the mask that was given out for it, and counts what comes.
class WatchedEnv final : public WrappedEnv {
 public:
  using WrappedEnv::WrappedEnv;
  void Reset(const StepBuffers& out) override {
    WrappedEnv::Reset(out);
    Keep(out);
  }
  void StepRange(int begin, int end, std::span<const std::int32_t> actions, const StepBuffers& out) override {
    for (std::size_t i = U(begin); i < U(end); ++i) {
      REQUIRE(mask_[i * U(num_actions()) + U(actions[i])] != 0);
      ++chosen;
    }
    WrappedEnv::StepRange(begin, end, actions, out);
    const std::size_t size = U(layout().size());
    for (std::size_t i = U(begin); i < U(end); ++i) {
      infinite += !std::isfinite(out.reward[i]);
      late += out.discount[i] < 1.0F;
      if (!out.fresh.empty() && out.fresh[i] == 0) continue;  // not written: the row before stands
      for (const float x : out.observation.subspan(i * size, size)) infinite += !std::isfinite(x);
    }
    Keep(out);
    if (on_step) on_step();
  }
  void LoadState(std::span<const std::uint8_t> state, const StepBuffers& out) override {
    WrappedEnv::LoadState(state, out);
    Keep(out);
  }

  int chosen = 0;    // actions
  int infinite = 0;  // observations and rewards that are not finite
  int late = 0;      // steps after which time had moved on
  std::function<void()> on_step;

 private:
  void Keep(const StepBuffers& out) { mask_.assign(out.action_mask.begin(), out.action_mask.end()); }
  std::vector<std::uint8_t> mask_;  // [N, A] last given out
};

}  // namespace berth
