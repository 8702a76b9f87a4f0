// queue: the block that every cluster has: jobs, what each type is to them, types and the load. What does not
// change of a job (its gang, weight, speeds) is worked out when it is first seen, and a logarithm only where
// its argument differs from the last one: bit for bit what writing everything afresh gives
// (tests/plain_observation.cpp).
#include <algorithm>
#include <cmath>

#include "env/base/batch_math.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/block_table.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kQueueJobChannels[] = {
    {"running", "1 = it runs now", 0, 1},
    {"remaining", "ln(1 + remaining time on its fastest type / 60 s) / 10; 0 when blind", 0, 2},
    {"attained", "ln(1 + attained service / 60 s) / 10", 0, 2},
    {"age", "ln(1 + time since arrival / 60 s) / 10", 0, 2},
    {"gang", "log2(gang size) / 5", 0, 3},
    {"weight", "ln(weight) / 3", -250, 250},
    {"has_deadline", "1 = it has a deadline", 0, 1},
    {"slack", "tanh((deadline - now) / 1 day); 1 without a deadline", -1, 1},
    {"choice", "share of GPU types that can run it", 0, 1},
    {"requested", "ln(1 + requested run time / 60 s) / 10; 0 without a request", 0, 2},
};
constexpr ChannelInfo kQueuePairChannels[] = {
    {"can_run", "1 = the type can run the gang", 0, 1},
    {"speed", "rate over the job's best rate", 0, 1},
    {"advantage", "ln(rate / the job's mean rate over types that can run it), within [-3, 3], / 3", -1, 1},
    {"remaining", "ln(1 + remaining time on this type / 60 s) / 10; 0 when blind or it cannot run", 0, 2},
    {"here", "1 = it runs on this type now", 0, 1},
    {"share", "gang size over the GPUs of the type, at most 1", 0, 1},
};
constexpr ChannelInfo kQueueTypeChannels[] = {
    {"count", "log2(GPUs of the type) / 10", 0, 2},
    {"share", "share of the cluster's GPUs", 0, 1},
    {"idle", "idle share of the type before the decision", 0, 1},
    {"wanted", "ln(1 + GPUs wanted by candidates that run fastest here / GPUs of the type)", 0, 10},
    {"speed", "mean speed (rate over best rate) of the candidates here", 0, 1},
};
constexpr ChannelInfo kQueueGlobalChannels[] = {
    {"candidates", "ln(1 + candidates) / 5", 0, 3},
    {"demand", "ln(1 + GPUs wanted by the candidates / GPUs)", 0, 10},
    {"beyond", "ln(1 + candidates beyond the visible) / 5", 0, 3},
    {"demand_beyond", "ln(1 + GPUs wanted beyond the visible / GPUs)", 0, 10},
    {"idle", "idle share of the cluster before the decision", 0, 1},
    {"remaining", "mean of the job channel 'remaining' over the visible", 0, 2},
    {"age", "mean of the job channel 'age' over the visible", 0, 2},
};

constexpr int kJ = static_cast<int>(std::size(kQueueJobChannels));
constexpr int kP = static_cast<int>(std::size(kQueuePairChannels));
constexpr int kT = static_cast<int>(std::size(kQueueTypeChannels));
constexpr int kG = static_cast<int>(std::size(kQueueGlobalChannels));
static_assert(kJ == 10 && kP == 6 && kT == 5 && kG == 7, "never edited: make queue:2");

// ln(1 + seconds / 60) / 10 in two halves, so that many logarithms are taken at once.
double LogArgument(double seconds) {
  return 1.0 + std::max(seconds, 0.0) / 60.0;
}
float FromLog(double log) {
  return static_cast<float>(log / 10.0);
}

// A rational tanh stand-in would change the range; exp is ours, so tanh is too.
float Tanh(double x) {
  const double e = Exp(-2.0 * std::abs(x));
  const double t = (1.0 - e) / (1.0 + e);
  return static_cast<float>(x < 0.0 ? -t : t);
}

// What was last worked out of a job; NaN = nothing yet.
struct Memo {
  double steps = std::numeric_limits<double>::quiet_NaN();
  double attained = std::numeric_limits<double>::quiet_NaN();
  double now = std::numeric_limits<double>::quiet_NaN();
};

class Queue final : public ObservationBlock {
 public:
  explicit Queue(const BlockSetup& setup)
      : sighted_(setup.knowledge >= Knowledge::kEstimate), attains_(setup.knowledge >= Knowledge::kBlind) {}

  void Begin(const ClusterView& view) override {
    types_ = U(view.num_types());
    stride_ = 1 + U(kJ) + types_ * U(kP);
    memo_.assign(U(view.num_jobs()), {});
    rates_version_ = view.rates_version();
    rows_.assign(U(view.num_jobs()) * stride_, 0.0F);
    wanted_.assign(types_, 0.0F);
    speed_.assign(types_, 0.0F);
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    BERTH_CHECK(types_ == U(view.num_types()) && memo_.size() == U(view.num_jobs()), types_, " types and ",
                memo_.size(), " jobs, not as the episode began");
    if (rates_version_ != view.rates_version()) {  // what was thought of every job may be otherwise
      rates_version_ = view.rates_version();
      std::fill(rows_.begin(), rows_.end(), 0.0F);
      std::fill(memo_.begin(), memo_.end(), Memo{});
    }
    for (int job : input.candidates) {
      if (Row(job)[-1] == 0.0F) Meet(view, job);
    }
    Update(view, input.visible);
    WriteJobs(input, out);
    WriteTypes(input, out);
  }

 private:
  // A job's channels as they were last worked out: jobs [Fj], then pairs [G, Fp]. "running" and "here" stay
  // 0. Before them: 1 = it was met.
  float* Row(int job) { return rows_.data() + U(job) * stride_ + 1; }

  // What never changes of a job.
  void Meet(const ClusterView& view, int job) {
    const double best = view.BestRate(job);
    const std::span<const double> rates = view.Rates(job);
    int able = 0;
    double sum = 0.0;
    for (double rate : rates) {
      able += rate > 0.0;
      sum += rate;
    }
    float* f = Row(job);
    f[-1] = 1.0F;
    f[4] = static_cast<float>(Log2(view.Gang(job)) / 5.0);
    f[5] = static_cast<float>(Log(view.Weight(job)) / 3.0);
    f[6] = view.Deadline(job) < kNever ? 1.0F : 0.0F;
    f[7] = 1.0F;
    f[8] = static_cast<float>(able) / static_cast<float>(types_);
    f[9] = std::isnan(view.Requested(job)) ? 0.0F : FromLog(Log(LogArgument(view.Requested(job))));
    float* p = f + kJ;
    for (std::size_t type = 0; type < types_; ++type, p += kP) {
      const double rate = rates[type];
      if (rate <= 0.0) continue;
      p[0] = 1.0F;
      p[1] = static_cast<float>(rate / best);
      p[2] = static_cast<float>(std::clamp(Log(rate * able / sum), -3.0, 3.0) / 3.0);
      p[5] = static_cast<float>(
          std::min(1.0, static_cast<double>(view.Gang(job)) / view.cluster().types[type].count));
    }
  }

  // Takes the logarithms whose arguments changed, all at once.
  void Update(const ClusterView& view, std::span<const int> visible) {
    arguments_.clear();
    targets_.clear();
    const auto later = [&](double seconds, float* target) {
      arguments_.push_back(LogArgument(seconds));
      targets_.push_back(target);
    };
    const double now = view.now();
    for (int job : visible) {
      Memo& memo = memo_[U(job)];
      float* f = Row(job);
      if (sighted_) {
        const double steps = view.RemainingSteps(job);
        if (steps != memo.steps) {
          memo.steps = steps;
          later(steps / view.BestRate(job), f + 1);
          const std::span<const double> rates = view.Rates(job);
          for (std::size_t type = 0; type < types_; ++type) {
            if (rates[type] > 0.0) later(steps / rates[type], f + U(kJ) + type * U(kP) + 3);
          }
        }
      }
      if (attains_) {
        const double attained = view.AttainedSeconds(job);
        if (attained != memo.attained) {
          memo.attained = attained;
          later(attained, f + 2);
        }
      }
      if (now != memo.now) {
        memo.now = now;
        later(now - view.Arrival(job), f + 3);
        if (f[6] != 0.0F) f[7] = Tanh((view.Deadline(job) - now) / 86400.0);
      }
    }
    Logs(arguments_);
    for (std::size_t i = 0; i < targets_.size(); ++i) *targets_[i] = FromLog(arguments_[i]);
  }

  void WriteJobs(const ObservationInput& input, const BlockOutput& out) {
    const ClusterView& view = input.view;
    remaining_ = age_ = 0.0;
    float* jobs = out.jobs.first;
    float* pairs = out.pairs.first;
    for (int job : input.visible) {
      const float* row = Row(job);
      std::copy_n(row, kJ, jobs);
      if (out.pairs.stride == U(kP)) {
        std::copy_n(row + kJ, types_ * U(kP), pairs);
      } else {
        for (std::size_t type = 0; type < types_; ++type)
          std::copy_n(row + U(kJ) + type * U(kP), kP, pairs + type * out.pairs.stride);
      }
      if (view.IsRunning(job)) {
        jobs[0] = 1.0F;
        pairs[U(view.TypeOf(job)) * out.pairs.stride + 4] = 1.0F;
      }
      remaining_ += jobs[1];
      age_ += jobs[3];
      jobs += out.jobs.stride;
      pairs += types_ * out.pairs.stride;
    }
  }

  // Of all candidates: what each type is wanted for, and what lies beyond the visible.
  void WriteTypes(const ObservationInput& input, const BlockOutput& out) {
    const ClusterView& view = input.view;
    std::fill(wanted_.begin(), wanted_.end(), 0.0F);
    std::fill(speed_.begin(), speed_.end(), 0.0F);
    double demand = 0.0, demand_visible = 0.0;
    for (int job : input.candidates) {
      const int gang = view.Gang(job);
      demand += gang;
      const std::span<const double> rates = view.Rates(job);
      const float* p = Row(job) + kJ;
      std::size_t favourite = 0;
      for (std::size_t type = 0; type < types_; ++type) {
        if (rates[type] > rates[favourite]) favourite = type;
        speed_[type] += p[type * U(kP) + 1];
      }
      wanted_[favourite] += static_cast<float>(gang);
    }
    for (int job : input.visible) demand_visible += view.Gang(job);
    double idle = 0.0;
    const auto count = static_cast<float>(std::max<std::size_t>(input.candidates.size(), 1));
    for (std::size_t type = 0; type < types_; ++type) {
      float* t = out.types[type];
      const double gpus = std::max(1, view.types()[type].count);  // none in service: as if one, not idle
      const double part = view.PartOfGpu(static_cast<int>(type));
      idle += input.room[type] * part;
      t[0] = static_cast<float>(Log2(gpus) / 10.0);
      t[1] = static_cast<float>(gpus * part / view.num_whole_gpus());
      t[2] = static_cast<float>(input.room[type] / gpus);
      t[3] = static_cast<float>(Log(1.0 + static_cast<double>(wanted_[type]) / gpus));
      t[4] = speed_[type] / count;
    }
    float* g = out.global;
    const double gpus = view.num_whole_gpus();
    const auto candidates = static_cast<double>(input.candidates.size());
    const auto visible = static_cast<double>(input.visible.size());
    g[0] = static_cast<float>(Log(1.0 + candidates) / 5.0);
    g[1] = static_cast<float>(Log(1.0 + demand / gpus));
    g[2] = static_cast<float>(Log(1.0 + (candidates - visible)) / 5.0);
    g[3] = static_cast<float>(Log(1.0 + (demand - demand_visible) / gpus));
    g[4] = static_cast<float>(idle / gpus);
    g[5] = static_cast<float>(remaining_ / std::max(visible, 1.0));
    g[6] = static_cast<float>(age_ / std::max(visible, 1.0));
  }

  bool sighted_, attains_;
  std::size_t types_ = 0, stride_ = 0;
  std::uint64_t rates_version_ = 0;  // ClusterView's, of what is remembered
  std::vector<Memo> memo_;           // [J]
  std::vector<float> rows_;          // [J, 1 + Fj + G Fp]
  std::vector<double> arguments_;
  std::vector<float*> targets_;         // of the logarithms of arguments_
  std::vector<float> wanted_, speed_;   // [G]
  double remaining_ = 0.0, age_ = 0.0;  // sums of the channels over the visible
};

}  // namespace

BlockInfo QueueBlock() {
  BlockInfo info{"queue", 1, "jobs, (job, type) pairs, types and the load; any queue, any cluster"};
  info.job = kQueueJobChannels;
  info.pair = kQueuePairChannels;
  info.type = kQueueTypeChannels;
  info.global = kQueueGlobalChannels;
  info.make = MakeBlock<Queue>;
  info.foreign = true;
  return info;
}

}  // namespace berth
