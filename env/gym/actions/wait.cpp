// The point after this one is no later than a time of the policy's choice, though nothing may happen until
// then. It ends no plan and idles no GPU: `done` follows when it may, and the decision carries the time
// (Decision::wake_at).
//
// Clock event: at that time, or at what happens before it. Rounds: at the next boundary as ever, and where
// nothing runs at the first one not before that time. A process that passes over points at which nothing
// changed (MdpSpec::on_change) does not pass over the one that was asked for, or that comes in its place.
#include <algorithm>

#include "env/gym/actions/action_table.hpp"

namespace berth {
namespace {

enum Until : int { kFiveMinutes, kHour, kChange };

constexpr ChannelInfo kColumn[] = {
    {"seconds", "ln(1 + seconds until then / 60 s) / 10", 0, 2},
    {"change", "1 = until a price or the like that is known in advance changes", 0, 1},
};
constexpr ChannelInfo kRow[] = {{"is_wait", "1 = the row is the time of the next decision", 0, 1}};
constexpr ChannelInfo kWaitPair[] = {
    {"late", "1 = a run that goes on ends before then, where run times are known, so that it does nothing", 0,
     1}};

double NextChange(const ClusterView& view, double now) {
  double next = kNever;
  for (const Features::On& on : view.features().on()) next = std::min(next, on.settings->NextChange(now));
  return next;
}

class Wait final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    columns.push_back({-1, kFiveMinutes});
    columns.push_back({-1, kHour});
    if (NextChange(view, 0.0) < kNever) columns.push_back({-1, kChange});
  }
  void Begin(const ClusterView& /*view*/) override { wakes_ = false; }
  void Open(const ClusterView& /*view*/, Plan& /*plan*/) override { until_ = kNever; }
  void Look(const ClusterView& view, std::span<const int> /*visible*/) override {
    ends_ = kNever;
    if (view.granted() < Knowledge::kEstimate) return;
    for (int job : view.running()) {
      const double rate = view.RateAt(job, view.TypeOf(job), std::max(view.Width(job), 1));
      if (rate > 0.0) ends_ = std::min(ends_, view.now() + view.RemainingSteps(job) / rate);
    }
  }
  bool OfJobs() const override { return false; }
  int RowsLaidOut() const override { return 1; }
  int Rows(const ClusterView& /*view*/) override { return 1; }

  void WriteColumn(const ClusterView& view, const ActionColumn& column, float* f) override {
    f[0] = LogMinutes(At(view, column.level) - view.now());
    f[1] = column.level == kChange ? 1.0F : 0.0F;
  }
  void WriteRow(const ClusterView& /*view*/, int /*row*/, float* f) override { f[0] = 1.0F; }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int /*row*/, const ActionColumn& column,
                 float* f) override {
    f[0] = ends_ < At(view, column.level) ? 1.0F : 0.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& /*plan*/, int /*row*/,
                 const ActionColumn& column) const override {
    return until_ == kNever && At(view, column.level) < kNever ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView& view, Plan& /*plan*/, int /*row*/, const ActionColumn& column) override {
    until_ = At(view, column.level);
  }
  void Close(const ClusterView& /*view*/, const Plan& /*plan*/, Decision& decision) override {
    wakes_ = until_ < kNever;
    decision.wake_at = std::min(decision.wake_at, until_);
  }
  bool Wakes() const override { return wakes_; }

 private:
  static double At(const ClusterView& view, int level) {
    if (level == kChange) return NextChange(view, view.now());
    return view.now() + (level == kHour ? 3600.0 : 300.0);
  }
  double until_ = kNever;  // s, as chosen at this point
  double ends_ = kNever;   // s, of the first run to end
  bool wakes_ = false;     // as closed last
};

}  // namespace

ActionInfo WaitAction() {
  return {.name = "wait",
          .summary =
              "the next decision in 5 min, in 1 h or when a price changes, if nothing calls for one before",
          .column = kColumn,
          .row = kRow,
          .pair = kWaitPair,
          .make = MakeAction<Wait>};
}

}  // namespace berth
