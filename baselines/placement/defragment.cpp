// Migrates spread gangs onto fewer nodes where that pays: an inner scheduler decides who runs on which type,
// and where it starts nothing on a type, running gangs of that type move together, the largest gain first.
//
//   gain = remaining / rate here - remaining / rate there - what a move costs (MoveSeconds)
//
// A gang moves when its gain is positive and the time saved is at least `margin` times what the move costs.
// Migration for consolidation: Gandiva (Xiao et al., OSDI 2018, §4.3).
#include <algorithm>

#include "baselines/composition/inner.hpp"
#include "baselines/placement/node_planner.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"
#include "env/features/topology/placement.hpp"

namespace berth {
namespace {

constexpr ParamInfo kDefragmentParams[] = {
    {"inner", "fcfs", "the scheduler that decides who runs, on which type"},
    {"margin", "1", "how many times its costs a move must save, from 1"},
};

class Defragment final : public Scheduler {
 public:
  Defragment(Inner inner, double margin) : inner_(std::move(inner)), margin_(margin) {}
  Knowledge knowledge() const override { return std::max(inner_.knowledge(), Knowledge::kEstimate); }
  bool resizes() const override { return inner_.resizes(); }

  void Reset(const ClusterView& view) override {
    inner_.Reset(view);
    planner_.Reset(view);
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    inner_.DecideAll(view, decision);
    if (view.Find<PlacementState>() == nullptr) return;
    Candidates(view, decision);
    if (candidates_.empty()) return;
    planner_.Begin(view);
    for (Candidate& candidate : candidates_) candidate.gain = Gain(view, candidate.job);
    std::sort(candidates_.begin(), candidates_.end());
    for (const Candidate& candidate : candidates_) {
      if (candidate.gain <= 0.0 || Gain(view, candidate.job) <= 0.0) continue;  // others may have taken it
      planner_.Release(view, candidate.job);
      planner_.Choose(view, candidate.job, view.TypeOf(candidate.job), PlacementRule::kConsolidate);
      planner_.Take();
      decision.Move(candidate.job, view.TypeOf(candidate.job), planner_.chosen());
    }
  }

 private:
  struct Candidate {
    int job;
    double gain = 0.0;  // s
    bool operator<(const Candidate& other) const {
      return gain != other.gain ? gain > other.gain : job < other.job;
    }
  };

  // Spread gangs that the inner scheduler leaves alone, on types where it starts nothing and all devices
  // serve.
  void Candidates(const ClusterView& view, const Decision& decision) {
    still_.assign(U(view.num_types()), 1);
    named_.assign(U(view.num_jobs()), 0);
    for (const Command& command : decision.commands) {
      named_[U(command.job)] = 1;
      if (command.type >= 0) still_[U(command.type)] = 0;
      if (command.kind == CommandKind::kPack) named_[U(command.host)] = 1;
    }
    const ClusterLayout& layout = *view.Find<PlacementState>()->layout;
    for (int type = 0; type < view.num_types(); ++type) {
      const auto first = U(layout.first_node[U(type)]), last = U(layout.first_node[U(type) + 1]);
      const int devices = layout.first_device[last] - layout.first_device[first];
      if (view.types()[U(type)].count != devices) still_[U(type)] = 0;
    }
    candidates_.clear();
    for (int job : view.running()) {
      const bool whole = view.Width(job) == view.Gang(job) && view.Partner(job) < 0;
      if (named_[U(job)] != 0 || !whole || view.Gang(job) == 1) continue;
      if (still_[U(view.TypeOf(job))] != 0 && FactorHere(view, job) < 1.0) candidates_.push_back({job});
    }
  }

  static double FactorHere(const ClusterView& view, int job) {
    return SpreadFactor(view, job, view.TypeOf(job), view.Width(job),
                        view.Find<PlacementState>()->ExtentOf(view.Devices(job)));
  }

  // s that it would end sooner, 0 or less = stay.
  double Gain(const ClusterView& view, int job) {
    const int type = view.TypeOf(job);
    planner_.Release(view, job);
    const bool fits = planner_.Choose(view, job, type, PlacementRule::kConsolidate);
    planner_.TakeBack(view, job);
    if (!fits) return 0.0;
    const double cost = MoveSeconds(view, job);
    const double left = view.RemainingSeconds(job, type);  // consolidated
    const double saved = left / FactorHere(view, job) - left / planner_.chosen_factor();
    return saved >= margin_ * cost ? saved - cost : 0.0;
  }

  Inner inner_;
  double margin_;
  NodePlanner planner_;
  std::vector<char> still_;  // [G]
  std::vector<char> named_;  // [J]
  std::vector<Candidate> candidates_;
};

}  // namespace

SchedulerInfo DefragmentInfo() {
  return {"defragment",
          "moves spread gangs of an inner scheduler onto fewer nodes where that saves more than it costs; "
          "O(running x nodes)",
          "migration of Gandiva (Xiao et al., OSDI 2018, §4.3) with the costs counted",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/true,
          kDefragmentParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            Inner inner("defragment: parameter 'inner'", params.Text("inner"));
            return std::make_unique<Defragment>(std::move(inner), params.Number("margin", 1.0, 1e6));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
