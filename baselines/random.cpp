// Legal choices drawn at random: the floor that every other scheduler should beat. Waiting jobs in random
// order, each on a random type with room; running jobs are left alone.
#include <optional>

#include "baselines/schedulers.hpp"
#include "env/base/rng.hpp"
#include "env/sim/plan.hpp"

namespace berth {
namespace {

class Random final : public Scheduler {
 public:
  Knowledge knowledge() const override { return Knowledge::kNone; }
  void Reset(const ClusterView& view) override { stream_.emplace(view.seed(), Purpose::kScheduler); }

  void Decide(const ClusterView& view, Decision& decision) override {
    BERTH_CHECK(stream_.has_value(), "Reset comes before Decide");
    queue_.assign(view.waiting().begin(), view.waiting().end());
    plan_.Begin(view, /*preemptive=*/false);
    for (std::size_t left = queue_.size(); left > 0 && plan_.total_room() > 0; --left) {
      std::swap(queue_[stream_->Below(static_cast<std::uint32_t>(left))], queue_[left - 1]);
      const int job = queue_[left - 1];
      types_.clear();
      for (int type = 0; type < view.num_types(); ++type) {
        if (plan_.Fits(view, job, type)) types_.push_back(type);
      }
      if (types_.empty()) continue;
      plan_.Put(view, job, types_[stream_->Below(static_cast<std::uint32_t>(types_.size()))]);
    }
    plan_.Emit(view, decision);
  }

 private:
  std::optional<Stream> stream_;
  Plan plan_;
  std::vector<int> queue_, types_;
};

}  // namespace

SchedulerInfo RandomInfo() {
  return {"random",
          "waiting jobs in random order on random types with room; seeded by the scenario; O(n types)",
          "Berth: the floor that every other scheduler must beat",
          "",
          Knowledge::kNone,
          /*preemptive=*/false,
          {},
          [](Params&) -> std::unique_ptr<Scheduler> { return std::make_unique<Random>(); },
          /*claims=*/{.times = true}};
}

}  // namespace berth
