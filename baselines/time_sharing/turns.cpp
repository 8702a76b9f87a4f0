// Jobs take turns of a quantum: those that had least, by a key that is charged when a turn ends, go first,
// and among equals those whose last turn is longest ago. With all keys equal this is round robin; with
// service over weight as the key it is stride scheduling.
//
// A plan starts from an empty cluster, so a gang that waits comes to the front as others end their turns, and
// then takes its GPUs whoever is in the middle of a turn: nobody waits for ever. What a stop or a move costs
// (env: Costs) is added to the turn that pays it: a quantum is a quantum of work.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "baselines/preemptive/service_distribution.hpp"
#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"

namespace berth {
namespace {

constexpr ParamInfo kTurnsParams[] = {{"quantum", "360",
                                       "s on GPUs that a job has before others that wait come first; "
                                       "clocks with rounds look at it at boundaries only"}};
constexpr double kQuantumRounding = 1e-9;  // of a quantum: a wake-up may come a rounding error early

// O(n log n) a decision for n jobs in system; a decision a turn while jobs wait.
class Turns final : public Scheduler {
 public:
  // Charged: a turn's GPU-seconds, of the GPUs that were held, over the job's weight are added to its key.
  Turns(double quantum_s, bool charged) : quantum_(quantum_s), charged_(charged) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  void Reset(const ClusterView& view) override;
  void Decide(const ClusterView& view, Decision& decision) override;

 private:
  struct Turn {
    double key = 0.0;
    std::int64_t since = -1;  // when it queued up, counted; -1 = not seen yet
    double begin = 0.0;       // attained seconds when the turn began
    double gpu_begin = 0.0;   // attained GPU-seconds
    double costs = 0.0;       // s of stops and moves that it pays for
  };
  Turn& Of(int job) { return turn_[static_cast<std::size_t>(job)]; }
  void BeginTurn(const ClusterView& view, int job);
  void Admit(const ClusterView& view);
  void EndTurns(const ClusterView& view);

  double quantum_;
  bool charged_;
  std::int64_t queued_ = 0;
  std::vector<Turn> turn_;  // [J]
  std::vector<int> order_;
  Plan plan_;
};

void Turns::Reset(const ClusterView& view) {
  turn_.assign(static_cast<std::size_t>(view.num_jobs()), {});
  queued_ = 0;
}

// A new job starts at the least key in the system (Waldspurger & Weihl's global pass), behind its equals.
void Turns::Admit(const ClusterView& view) {
  double least = kNever;
  for (int job : view.active()) {
    if (Of(job).since >= 0) least = std::min(least, Of(job).key);
  }
  for (int job : view.active()) {
    Turn& turn = Of(job);
    if (turn.since >= 0) continue;
    turn.key = least == kNever ? 0.0 : least;
    BeginTurn(view, job);
  }
}

void Turns::BeginTurn(const ClusterView& view, int job) {
  Turn& turn = Of(job);
  turn.since = queued_++;
  turn.begin = view.AttainedSeconds(job);  // 0 of a new job, unless another scheduler ran it before
  turn.gpu_begin = AttainedGpuSeconds(view, job);
  turn.costs = 0.0;
}

void Turns::EndTurns(const ClusterView& view) {
  for (int job : view.running()) {
    Turn& turn = Of(job);
    const double used = view.AttainedSeconds(job) - turn.begin - turn.costs;
    if (used < quantum_ * (1.0 - kQuantumRounding)) continue;
    if (charged_) {
      const double held = AttainedGpuSeconds(view, job) - turn.gpu_begin;
      turn.key += (held - turn.costs * view.Gang(job)) / view.Weight(job);
    }
    BeginTurn(view, job);
  }
}

void Turns::Decide(const ClusterView& view, Decision& decision) {
  Admit(view);
  EndTurns(view);
  order_.assign(view.active().begin(), view.active().end());
  std::sort(order_.begin(), order_.end(), [this](int a, int b) {
    return Of(a).key != Of(b).key ? Of(a).key < Of(b).key : Of(a).since < Of(b).since;
  });
  plan_.Begin(view, /*preemptive=*/true);
  KeepOnLeaving(view, plan_);
  double soonest = kNever;  // s until the first turn ends
  for (int job : order_) {
    if (plan_.total_room() == 0) break;
    const int type = FastestOrHere(view, plan_, job);
    if (type < 0) continue;
    PutOrStay(view, plan_, job, type);
    Turn& turn = Of(job);
    turn.costs += ChangeSeconds(view, job, type);
    soonest = std::min(soonest, quantum_ + turn.costs - (view.AttainedSeconds(job) - turn.begin));
  }
  plan_.Emit(view, decision);
  LeavingMoves moves(view, plan_, decision);
  for (int job : order_) {
    if (moves.Offer(job)) Of(job).costs += MoveSeconds(view, job);
  }
  if (plan_.placed().size() < order_.size()) {
    decision.wake_at =
        std::min(decision.wake_at, std::max(view.now() + soonest, std::nextafter(view.now(), kNever)));
  }
}

template <bool kCharged>
std::unique_ptr<Scheduler> MakeTurns(Params& params) {
  return std::make_unique<Turns>(params.Number("quantum", 1e-3, 1e12), kCharged);
}

}  // namespace

// Every job has a quantum in turn. Processor sharing is its limit for short quanta.
SchedulerInfo RoundRobinInfo() {
  return {"round_robin",
          "preemptive: every job has a quantum in turn, on the fastest type with room; O(n log n)",
          "Kleinrock 1964; processor sharing in the limit, Kleinrock 1967",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kTurnsParams,
          MakeTurns<false>,
          /*claims=*/{.types = true}};
}

// Weighted time slicing by stride scheduling: GPU-seconds in proportion to weights, within a quantum. The
// deterministic form of lottery scheduling (Waldspurger & Weihl 1994).
SchedulerInfo WeightedRoundRobinInfo() {
  return {
      "weighted_round_robin",
      "preemptive stride scheduling: GPU-seconds in proportion to weights, a quantum at a time; O(n log n)",
      "Waldspurger & Weihl, stride scheduling, MIT/LCS/TM-528, 1995",
      "",
      Knowledge::kBlind,
      /*preemptive=*/true,
      kTurnsParams,
      MakeTurns<true>,
      /*claims=*/{.types = true}};
}

}  // namespace berth
