// Conservative backfilling on several GPU types: every queued job holds a reservation, so a job may overtake
// only if it delays nobody before it. The profile is planned afresh, in arrival order, at every decision,
// which is the full compression of Mu'alem and Feitelson when jobs end early.
#include "baselines/availability_profile.hpp"
#include "baselines/queue_rule.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kParams[] = {
    {"reserve", "finish", "a job reserves the type on which it would finish | start earliest"}};

class Conservative final : public Scheduler {
 public:
  explicit Conservative(bool by_start) : by_start_(by_start) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (view.waiting().empty()) return;
    profiles_.resize(static_cast<std::size_t>(view.num_types()));
    for (int type = 0; type < view.num_types(); ++type) {
      Profile(type).Reset(view.now(), view.free_gpus()[static_cast<std::size_t>(type)]);
    }
    for (int job : view.running())
      Profile(view.TypeOf(job)).Release(EstimatedRelease(view, job), view.Gang(job));

    int free = 0;
    for (int type : view.free_gpus()) free += type;
    for (int job : view.waiting()) {
      if (free == 0) return;  // nobody further can start now, and plans are made afresh next time
      const Slot slot = Earliest(view, job);
      if (slot.type < 0) continue;
      Profile(slot.type).Reserve(slot.start, slot.end, view.Gang(job));
      if (slot.start > view.now()) continue;
      decision.Start(job, slot.type);
      free -= view.Gang(job);
    }
  }

 private:
  struct Slot {
    int type = -1;
    double start = kNever, end = kNever;  // s
  };

  AvailabilityProfile& Profile(int type) { return profiles_[static_cast<std::size_t>(type)]; }

  Slot Earliest(const ClusterView& view, int job) {
    Slot best;
    for (int type = 0; type < view.num_types(); ++type) {
      if (view.Rate(job, type) <= 0.0) continue;
      const double held = EstimatedRelease(view, job, type, view.now()) - view.now();
      Slot slot;
      slot.type = type;
      slot.start = Profile(type).EarliestStart(view.Gang(job), held);
      if (slot.start == kNever) continue;  // a running job's end is not known
      slot.end = slot.start + held;        // the very sum that the profile was asked about
      const double key = by_start_ ? slot.start : slot.end, other = by_start_ ? slot.end : slot.start;
      const double best_key = by_start_ ? best.start : best.end,
                   best_other = by_start_ ? best.end : best.start;
      if (best.type < 0 || key < best_key || (key == best_key && other < best_other)) best = slot;
    }
    return best;
  }

  bool by_start_;
  std::vector<AvailabilityProfile> profiles_;  // [G]
};

}  // namespace

SchedulerInfo ConservativeInfo() {
  return {"conservative",
          "backfilling with a reservation for every queued job",
          "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<Conservative>(params.Choice("reserve", {"finish", "start"}) == 1);
          },
          /*claims=*/{.types = true, .times = true}};
}

}  // namespace berth
