// Power of two choices: an arrival looks at a few GPUs drawn at random and joins the one with the shortest
// queue (Mitzenmacher 1996; Vvedenskaya, Dobrushin & Karpelevich 1996). A gang of k draws aligned blocks of k
// GPUs of one type, as long as their longest queue. Draws are with replacement, from all GPUs on which it can
// run; they come from the scenario's seed. Blind to speed and size.
#include <algorithm>
#include <optional>

#include "baselines/load_balancing/device_queues.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPowerOfTwoParams[] = {
    {"choices", "2", "GPUs drawn, from 1 (then dispatch is at random)"},
};

class PowerOfTwo final : public Dispatcher {
 public:
  explicit PowerOfTwo(int choices) : choices_(choices) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView& view) override { stream_.emplace(view.seed(), Purpose::kScheduler); }

  void Choose(const ClusterView& view, const DeviceQueues& queues, int job,
              std::vector<int>& devices) override {
    BERTH_CHECK(stream_.has_value(), "Reset comes before Decide");
    int eligible = 0;
    for (int type = 0; type < view.num_types(); ++type) {
      if (CanRun(view, job, type)) eligible += view.types()[U(type)].count;
    }
    std::size_t shortest = 0;
    for (int draw = 0; draw < choices_; ++draw) {
      const int block =
          Block(view, job, static_cast<int>(stream_->Below(static_cast<std::uint32_t>(eligible))));
      std::size_t length = 0;
      block_.clear();
      for (int device = block; static_cast<int>(block_.size()) < view.Gang(job); ++device) {
        if (view.InService(device)) block_.push_back(device);
      }
      for (int device : block_) length = std::max(length, queues.Queue(device).size());
      if (devices.empty() || length < shortest) shortest = length, devices = block_;
    }
  }

 private:
  // Of the GPUs in service, the first of the block that holds the n-th GPU on which the job can run.
  static int Block(const ClusterView& view, int job, int n) {
    for (int type = 0;; ++type) {
      if (!CanRun(view, job, type)) continue;
      const int count = view.types()[U(type)].count, gang = view.Gang(job);
      if (n >= count) {
        n -= count;
        continue;
      }
      int device = view.first_device(type);
      for (int before = std::min(n / gang * gang, count - gang);; ++device) {
        if (view.InService(device) && before-- == 0) return device;
      }
    }
  }

  int choices_;
  std::vector<int> block_;
  std::optional<Stream> stream_;
};

}  // namespace

SchedulerInfo PowerOfTwoInfo() {
  return {"power_of_two",
          "dispatch on arrival to the shortest of two queues drawn at random; O(choices) an arrival",
          "Mitzenmacher 1996; Vvedenskaya, Dobrushin & Karpelevich 1996",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          kPowerOfTwoParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const auto choices = static_cast<int>(params.Integer("choices", 1, 1000000));
            return std::make_unique<DeviceQueues>(std::make_unique<PowerOfTwo>(choices));
          },
          /*claims=*/{.times = true}};
}

}  // namespace berth
