// What a caller adds to an environment: metrics of each step, of which a reward of its own is made, numbers
// behind the observation, and jobs. Knows no Python.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/gym/observation.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/scenario_source.hpp"
#include "env/sim/cluster_view.hpp"
#include "tools/options.hpp"

namespace berth {

// [names, num_envs] of the last step, float64: what each term of the reward grew by (Reward::Totals), and
// kStepFigures.
struct StepMetrics {
  std::vector<std::string> names;
  int num_envs = 0;
  std::vector<double> values;
};
// s that the step took; jobs that arrived in it; jobs in the system after it.
inline constexpr const char* kStepFigures[] = {"elapsed_s", "arrived_jobs", "jobs_in_system"};

// Writes what stands behind one environment's observation. Thread rule: one thread at a time.
class ObservationTail {
 public:
  virtual ~ObservationTail() = default;
  virtual void Begin(const ClusterView& view) = 0;  // an episode begins
  // Writes every float. `visible`: jobs, by the rows of the observation.
  virtual void Fill(const ClusterView& view, std::span<const int> visible, std::span<float> out) = 0;
};

struct TailBounds {
  std::vector<float> low, high;  // [floats]
};

struct EnvironmentExtras {
  bool metrics = false;
  std::function<TailBounds(const ObservationLayout& layout)> lay_out = {};  // none = there is no tail
  std::function<std::unique_ptr<ObservationTail>()> make_tail = {};         // of one environment
  // The workload in the place of the options'; writes what was resolved back into them.
  std::function<std::shared_ptr<const ScenarioSource>(Options& options)> source = {};
};

// SchedEnv or TaskPlacement with them; members as theirs.
template <class Env>
class ExtendedEnv {
 public:
  using Outcome = typename Env::Outcome;
  // `metrics` may be null; of them column `index` is this environment's. `tail` may be null.
  ExtendedEnv(Env env, std::shared_ptr<StepMetrics> metrics, std::uint32_t index,
              std::unique_ptr<ObservationTail> tail, std::size_t floats, Knowledge knowledge)
      : env_(std::move(env)),
        metrics_(std::move(metrics)),
        tail_(std::move(tail)),
        index_(index),
        floats_(floats),
        knowledge_(knowledge) {
    if (metrics_) before_.resize(metrics_->names.size() - std::size(kStepFigures)), now_ = before_;
  }

  void Begin(std::uint32_t episode) {
    env_.Begin(episode);
    if (metrics_) BeginMetrics();
    if (!tail_) return;
    tail_->Begin(View());
    Fill();
  }

  Outcome Step(int action) {
    const Outcome outcome = env_.Step(action);
    if (metrics_) Measure(outcome.terminated);
    if (tail_ && env_.moved()) Fill();
    return outcome;
  }

  ObservationLayout layout() const {
    ObservationLayout layout = env_.layout();
    layout.global_channels += static_cast<int>(floats_);
    return layout;
  }
  int num_actions() const { return env_.num_actions(); }
  std::span<const float> observation() const { return tail_ ? observation_ : env_.observation(); }
  bool moved() const { return env_.moved(); }
  std::span<const std::uint8_t> mask() const { return env_.mask(); }
  std::uint32_t episode() const { return env_.episode(); }
  std::span<const std::int32_t> history() const { return env_.history(); }
  double MeanJct() const { return env_.MeanJct(); }
  double episode_return() const { return env_.episode_return(); }
  const Simulator& simulator() const { return env_.simulator(); }

 private:
  ClusterView View() const { return env_.simulator().View(knowledge_); }

  void Fill() {
    const std::span<const float> own = env_.observation();
    observation_.resize(own.size() + floats_);
    std::copy(own.begin(), own.end(), observation_.begin());
    tail_->Fill(View(), env_.visible(), std::span(observation_).subspan(own.size()));
  }

  void BeginMetrics() {
    const std::vector<std::string> terms = env_.reward().Names();
    if (!std::equal(terms.begin(), terms.end(), metrics_->names.begin(),
                    metrics_->names.begin() + static_cast<std::ptrdiff_t>(before_.size()))) {
      throw Error("reward: expected workloads without rewards of their own, found one that has");
    }
    env_.reward().Totals(simulator(), /*ended=*/false, before_);
    time_ = simulator().now(), arrived_ = simulator().arrived_jobs();
  }

  void Measure(bool ended) {
    env_.reward().Totals(simulator(), ended, now_);
    double* to = metrics_->values.data() + index_;
    const std::size_t stride = U(metrics_->num_envs);
    for (std::size_t i = 0; i < now_.size(); ++i, to += stride) *to = now_[i] - before_[i];
    *to = simulator().now() - time_;
    to[stride] = simulator().arrived_jobs() - arrived_;
    to[2 * stride] = simulator().jobs_in_system();
    std::swap(before_, now_);
    time_ = simulator().now(), arrived_ = simulator().arrived_jobs();
  }

  Env env_;
  std::shared_ptr<StepMetrics> metrics_;
  std::unique_ptr<ObservationTail> tail_;
  std::size_t index_, floats_;
  Knowledge knowledge_;
  std::vector<double> before_, now_;  // [terms]
  double time_ = 0.0;
  int arrived_ = 0;
  std::vector<float> observation_;
};

}  // namespace berth
