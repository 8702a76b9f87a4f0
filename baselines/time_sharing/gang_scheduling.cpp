// Gang scheduling by Ousterhout's matrix: a row is a time slot in which all members of its gangs run at once,
// a column a GPU; rows have the cluster in turn. A job keeps its type for life (no migration). GPUs that the
// current row leaves idle go to gangs of the rows behind it that fit (alternative selection).
#include <algorithm>

#include "baselines/ranking.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kGangSchedulingParams[] = {
    {"slice", "360", "s that a row of the matrix has; clocks with rounds look at it at boundaries only"},
};
constexpr double kSliceRounding = 1e-9;  // of a slice: a wake-up may come a rounding error early

struct Place {
  int job, type;
};
struct Row {
  std::vector<Place> places;
  std::vector<int> room;  // [G]
};

class GangScheduling final : public Scheduler {
 public:
  explicit GangScheduling(double slice) : slice_(slice) {}
  Knowledge knowledge() const override { return Knowledge::kNone; }

  void Reset(const ClusterView& view) override {
    rows_.clear();
    known_.assign(U(view.num_jobs()), 0);
    in_slice_ = false;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (RemoveFinished(view)) Unify(view);
    for (int job : view.active()) {
      if (known_[U(job)] == 0 && Insert(view, job)) known_[U(job)] = 1;
    }
    // The first row is the current one.
    if (in_slice_ && view.now() >= slice_end_ - slice_ * kSliceRounding) {
      std::rotate(rows_.begin(), rows_.begin() + 1, rows_.end());
      in_slice_ = false;
    }
    plan_.Begin(view, /*preemptive=*/true);
    KeepOnLeaving(view, plan_);
    double costs = 0.0;  // what the slice's row pays to start, on top of its slice
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const auto& [job, type] : rows_[r].places) {
        if (!FitsOrStays(view, plan_, job, type)) continue;
        PutOrStay(view, plan_, job, type);
        if (r == 0) costs = std::max(costs, ChangeSeconds(view, job, type));
      }
    }
    plan_.Emit(view, decision);
    LeavingMoves moves(view, plan_, decision);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (const auto& [job, type] : rows_[r].places) {
        if (moves.Offer(job, type) && r == 0) costs = std::max(costs, MoveSeconds(view, job));
      }
    }
    if (!in_slice_ && !rows_.empty()) {
      slice_end_ = view.now() + slice_ + costs;
      in_slice_ = true;
    }
    if (in_slice_ && plan_.placed().size() < view.active().size())
      decision.wake_at = std::min(decision.wake_at, slice_end_);
  }

 private:
  bool RemoveFinished(const ClusterView& view) {
    bool any = false;
    for (Row& row : rows_) {
      std::erase_if(row.places, [&](const Place& place) {
        if (!view.IsDone(place.job)) return false;
        row.room[U(place.type)] += view.Gang(place.job);
        return any = true;
      });
    }
    DropEmptyRows();
    return any;
  }

  void DropEmptyRows() {
    if (!rows_.empty() && rows_.front().places.empty()) in_slice_ = false;  // its slice is over
    std::erase_if(rows_, [](const Row& row) { return row.places.empty(); });
  }

  static bool Fits(const ClusterView& view, const Row& row, int job, int type) {
    return view.Rate(job, type) > 0.0 && view.Gang(job) <= row.room[U(type)];
  }

  // Into the first row with room, there on the fastest type with room; else into a row of its own. False
  // where not even an empty row has room: inside another scheduler, which shows a part of the cluster.
  bool Insert(const ClusterView& view, int job) {
    Row empty;
    for (const GpuType& type : view.types()) empty.room.push_back(type.count);
    for (std::size_t r = 0; r <= rows_.size(); ++r) {
      const bool last = r == rows_.size();
      const Row& row = last ? empty : rows_[r];
      int best = -1;
      for (int type = 0; type < view.num_types(); ++type) {
        if (!Fits(view, row, job, type)) continue;
        if (best < 0 || view.Rate(job, type) > view.Rate(job, best)) best = type;
      }
      if (best < 0) continue;
      if (last) rows_.push_back(std::move(empty));
      rows_[r].places.push_back({job, best});
      rows_[r].room[U(best)] -= view.Gang(job);
      return true;
    }
    return false;
  }

  // After a departure jobs of later rows go, on their type, where an earlier row has room for them.
  void Unify(const ClusterView& view) {
    for (std::size_t from = rows_.size(); from-- > 1;) {
      std::erase_if(rows_[from].places, [&](const Place& place) {
        for (std::size_t to = 0; to < from; ++to) {
          if (!Fits(view, rows_[to], place.job, place.type)) continue;
          rows_[to].places.push_back(place);
          rows_[to].room[U(place.type)] -= view.Gang(place.job);
          rows_[from].room[U(place.type)] += view.Gang(place.job);
          return true;
        }
        return false;
      });
    }
    DropEmptyRows();
  }

  double slice_;
  bool in_slice_ = false;
  double slice_end_ = 0.0;   // s, of the first row
  std::vector<Row> rows_;    // in the order in which they have the cluster
  std::vector<char> known_;  // [J] is or was in a row
  Plan plan_;
};

}  // namespace

SchedulerInfo GangSchedulingInfo() {
  return {"gang_scheduling",
          "gang time slicing: the rows of Ousterhout's matrix have the cluster in turn; O(rows x jobs)",
          "Ousterhout, ICDCS 1982; slot unification and alternative selection: Feitelson, JSSPP 1996",
          "",
          Knowledge::kNone,
          /*preemptive=*/true,
          kGangSchedulingParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            return std::make_unique<GangScheduling>(params.Number("slice", 1e-3, 1e12));
          },
          /*claims=*/{.types = true}};
}

}  // namespace berth
