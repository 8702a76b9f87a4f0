// Leaves GPUs before they go (env/features/failures/failures.hpp: maintenance, spot nodes): at the last
// moment at which a job can still be saved, the jobs on GPUs that are announced to leave move to idle ones of
// their type, or stop where there are none. All else an inner scheduler decides.
//
// The last moment is `margin` before the GPU goes; where decisions come once a round, the boundary before.
#include <algorithm>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/failures/failures.hpp"

namespace berth {
namespace {

constexpr ParamInfo kEvacuateParams[] = {
    {"inner", "srpt", "the scheduler that decides all else"},
    {"margin", "1", "s before a GPU goes that its job leaves"},
};

class Evacuate final : public Scheduler {
 public:
  Evacuate(double margin, Inner inner) : margin_(margin), inner_(std::move(inner)) {}
  Knowledge knowledge() const override { return inner_.knowledge(); }
  void Reset(const ClusterView& view) override { inner_.Reset(view); }

  void Decide(const ClusterView& view, Decision& decision) override {
    inner_.DecideAll(view, decision);
    const FailureState* failures = view.Find<FailureState>();
    if (failures == nullptr || !failures->Announced()) return;
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    named_.assign(U(view.num_jobs()), 0);
    for (const Command& c : decision.commands) {  // what stops or moves frees is left to the next decision
      named_[U(c.job)] = 1;
      if (c.kind == CommandKind::kPack && c.host >= 0) named_[U(c.host)] = 1;
      if (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) room_[U(c.type)] -= WidthOf(view, c);
    }
    const Clock clock = view.clock();
    const double next = clock.kind == ClockKind::kEvent ? view.now() : view.now() + clock.round_s;
    for (int job : view.running()) {
      double down = kNever;
      for (int device : view.Devices(job)) down = std::min(down, failures->DownAt(device));
      if (down == kNever || named_[U(job)] != 0) continue;
      if (next < down - margin_) {
        decision.wake_at = std::min(decision.wake_at, down - margin_);
        continue;
      }
      const int type = view.TypeOf(job), width = view.Width(job);
      if (view.Partner(job) < 0 && room_[U(type)] >= width) {
        room_[U(type)] -= width;
        decision.Resize(job, type, width);  // as wide as it is
      } else {
        decision.Stop(job);
      }
    }
  }

 private:
  double margin_;
  Inner inner_;
  std::vector<int> room_;    // [G] idle GPUs that the inner decision leaves
  std::vector<char> named_;  // [J] by it
};

}  // namespace

SchedulerInfo EvacuateInfo() {
  return {"evacuate",
          "any scheduler, but jobs leave GPUs that are announced to go in time; O(n) + inner's",
          "Berth: maintenance drains and spot notices over any scheduler; cf. Harlap et al., Proteus, "
          "EuroSys 2017",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kEvacuateParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            Inner inner("evacuate: parameter 'inner'", params.Text("inner"));
            return std::make_unique<Evacuate>(params.Number("margin", 0.0, 1e9), std::move(inner));
          }};
}

}  // namespace berth
