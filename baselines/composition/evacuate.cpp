// Leaves GPUs before they go (env/features/failures/failures.hpp: maintenance, spot nodes): at the last
// moment at which a job can still be saved, the jobs on GPUs that are announced to leave move to idle ones of
// their type, else of the fastest other one, or stop where there are none: as wide as they are, those that
// they keep included. All else an inner scheduler decides, at once where one that stopped or others that wait
// could run.
//
// The last moment is `margin` before the GPU goes; where decisions come once a round, the boundary before.
#include <algorithm>
#include <cmath>
#include <vector>

#include "baselines/composition/inner.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

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
  bool resizes() const override { return inner_.resizes(); }
  void Reset(const ClusterView& view) override { inner_.Reset(view); }

  void Decide(const ClusterView& view, Decision& decision) override {
    inner_.DecideAll(view, decision);
    if (!view.AnyLeaving()) return;
    room_.assign(view.free_gpus().begin(), view.free_gpus().end());
    named_.assign(U(view.num_jobs()), 0);
    for (const Command& c : decision.commands) {  // what stops or moves frees is left to the next decision
      named_[U(c.job)] = 1;
      if (c.kind == CommandKind::kPack && c.host >= 0) named_[U(c.host)] = 1;
      if (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove) room_[U(c.type)] -= WidthOf(view, c);
    }
    for (int job : view.running()) {
      const double leave = FirstLeavesAt(view, job) - margin_;
      if (leave == kNever || named_[U(job)] != 0) continue;
      if (!LastBefore(view, leave)) {
        decision.wake_at = std::min(decision.wake_at, leave);
        continue;
      }
      const int here = view.TypeOf(job), freed = FreedBy(view, job);
      room_[U(here)] += freed;
      const int type = Goal(view, job);
      if (type >= 0) {
        room_[U(type)] -= view.Width(job);
        decision.Resize(job, type, view.Width(job));  // as wide as it is
      } else {
        decision.Stop(job);
      }
      if (type < 0 || (type != here && freed > 0 && view.num_waiting() > 0))
        decision.wake_at = std::min(decision.wake_at, std::nextafter(view.now(), kNever));
    }
  }

 private:
  // The type with room for the job as wide as it is: its own, else the fastest; -1 = none.
  int Goal(const ClusterView& view, int job) const {
    if (view.Partner(job) >= 0) return -1;
    const int here = view.TypeOf(job), width = view.Width(job);
    int best = -1;
    double best_rate = 0.0;
    for (int type = 0; type < view.num_types(); ++type) {
      const double rate = type == here ? kNever : view.RateAt(job, type, width);
      if (room_[U(type)] >= width && rate > best_rate) best = type, best_rate = rate;
    }
    return best;
  }

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
