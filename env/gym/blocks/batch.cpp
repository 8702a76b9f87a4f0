// batch: what a scheduler of rigid jobs with requests goes by, in logarithms, so that a job on a cluster k
// times as fast or as large looks alike but for constants, and products such as request x gang (SAF) or
// wait / request (WFP3) are linear: a policy trained on one log can be used on another. What no score rule
// has is in the pairs: when each job would fit at the earliest, if what runs ends as requested.
//
// Times are in units of 10 s, the bound of the bounded slowdown (Feitelson & Rudolph 1998). Non-preemptive.
#include <algorithm>
#include <vector>

#include "env/base/batch_math.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/rigid_jobs.hpp"
#include "env/predict/releases.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr double kUnit = 10.0;  // s
constexpr double kScale = 5.0;  // of every logarithm of a time

constexpr ChannelInfo kBatchJobChannels[] = {
    {"request", "ln(max(requested time, 10 s) / 10 s) / 5", 0, 6},
    {"gang", "ln(gang size) / ln(GPUs of the cluster)", 0, 1},
    {"wait", "ln(1 + time since arrival / 10 s) / 5", 0, 6},
    {"stretch", "ln(1 + time since arrival / max(requested time, 10 s)) / 5", 0, 6},
    {"overdue", "ln(1 + time since arrival / (max(requested time, 10 s) x gang size)) / 5", 0, 6},
};
constexpr ChannelInfo kBatchPairChannels[] = {
    {"fits", "1 = the gang fits now", 0, 1},
    {"delay", "ln(1 + time until it would fit / 10 s) / 5, if what runs ends as requested", 0, 6},
    {"drag", "ln(1 + time until it would fit / max(requested time, 10 s)) / 5", 0, 6},
    {"idled", "ln(1 + that time x idle share of the type / 10 s) / 5", 0, 6},
};
constexpr ChannelInfo kBatchTypeChannels[] = {
    {"idle", "idle share of the type", 0, 1},
    {"count", "share of the cluster's GPUs", 0, 1},
};
constexpr ChannelInfo kBatchGlobalChannels[] = {
    {"waiting", "ln(1 + candidates) / 5", 0, 3},
    {"backlog", "ln(1 + requested GPU-seconds of the candidates / GPUs / 10 s) / 5", 0, 6},
};

constexpr int kBatchJ = static_cast<int>(std::size(kBatchJobChannels));
constexpr int kBatchP = static_cast<int>(std::size(kBatchPairChannels));
constexpr int kBatchT = static_cast<int>(std::size(kBatchTypeChannels));
constexpr int kBatchG = static_cast<int>(std::size(kBatchGlobalChannels));
static_assert(kBatchJ == 5 && kBatchP == 4 && kBatchT == 2 && kBatchG == 2, "never edited: make batch:2");

class Batch final : public ObservationBlock {
 public:
  explicit Batch(const BlockSetup& setup) { ExpectRigidJobs("batch", setup); }

  void Begin(const ClusterView& view) override {
    releases_.resize(U(view.num_types()));
    log_gpus_ = Log(std::max(2, view.num_whole_gpus()));
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    const std::size_t types = releases_.size();
    BERTH_CHECK(types == U(view.num_types()), types, " types, not as the episode began");
    arguments_.clear();
    targets_.clear();
    for (std::size_t g = 0; g < types; ++g)
      releases_[g].Collect(view, static_cast<int>(g), input.room[g], input.started);
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      Pairs(input, input.visible[row], out.pairs[row * types], out.pairs.stride);
      Job(view, input.visible[row], out.jobs[row]);
    }
    double backlog = 0.0;  // GPU-seconds
    for (int job : input.candidates) backlog += RequestedSeconds(view, job) * view.Gang(job);
    Later(1.0 + static_cast<double>(input.candidates.size()), out.global);
    Later(1.0 + std::min(backlog / view.num_whole_gpus(), kLongestSeconds) / kUnit, out.global + 1);
    Logs(arguments_);
    for (std::size_t i = 0; i < targets_.size(); ++i)
      *targets_[i] = static_cast<float>(arguments_[i] / kScale);
    for (std::size_t type = 0; type < types; ++type) {
      float* t = out.types[type];
      t[0] = static_cast<float>(static_cast<double>(input.room[type]) / Count(view, type));
      t[1] = static_cast<float>(Count(view, type) * view.PartOfGpu(static_cast<int>(type)) /
                                view.num_whole_gpus());
    }
  }

 private:
  static int Count(const ClusterView& view, std::size_t type) {
    return std::max(1, view.types()[type].count);  // none in service: as if one, not idle
  }

  // *target = ln(argument) / 5, all at once in the end.
  void Later(double argument, float* target) {
    arguments_.push_back(argument);
    targets_.push_back(target);
  }

  void Job(const ClusterView& view, int job, float* f) {
    const double request = std::clamp(RequestedSeconds(view, job), kUnit, kLongestSeconds);
    const double wait = std::max(0.0, view.now() - view.Arrival(job));
    Later(request / kUnit, f);
    f[1] = static_cast<float>(Log(view.Gang(job)) / log_gpus_);
    Later(1.0 + wait / kUnit, f + 2);
    Later(1.0 + wait / request, f + 3);
    Later(1.0 + wait / (request * view.Gang(job)), f + 4);
  }

  void Pairs(const ObservationInput& input, int job, float* f, std::size_t stride) {
    const ClusterView& view = input.view;
    for (std::size_t type = 0; type < releases_.size(); ++type, f += stride) {
      std::fill_n(f, kBatchP, 0.0F);
      if (view.Rate(job, static_cast<int>(type)) <= 0.0) continue;
      const double opens = releases_[type].When(view.Gang(job)).time;
      const double delay = std::min(opens - view.now(), kLongestSeconds);
      if (delay <= 0.0) {
        f[0] = 1.0F;
        continue;
      }
      const double request =
          std::clamp(EstimatedSeconds(view, job, static_cast<int>(type)), kUnit, kLongestSeconds);
      Later(1.0 + delay / kUnit, f + 1);
      Later(1.0 + delay / request, f + 2);
      Later(1.0 + delay * input.room[type] / Count(view, type) / kUnit, f + 3);
    }
  }

  double log_gpus_ = 1.0;
  std::vector<Releases> releases_;  // [G]
  std::vector<double> arguments_;
  std::vector<float*> targets_;  // of the logarithms of arguments_
};

}  // namespace

BlockInfo BatchBlock() {
  BlockInfo info{"batch", 1,
                 "rigid jobs with requests in logarithms, and when each would fit; for one log to another",
                 "channels of the published score rules and of EASY's shadow time (Lifka 1995)"};
  info.job = kBatchJobChannels;
  info.pair = kBatchPairChannels;
  info.type = kBatchTypeChannels;
  info.global = kBatchGlobalChannels;
  info.make = MakeBlock<Batch>;
  return info;
}

}  // namespace berth
