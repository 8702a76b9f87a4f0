// A running job saves its state now: before its GPUs are reclaimed, or where a failure would cost much.
#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/sim/action_kind.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kCheckpointPair[] = {
    {"may", "1 = it runs and has made progress since it started or last saved", 0, 1},
    {"unsaved", "ln(1 + seconds that it ran since its state was last safe / 60 s) / 10", 0, 2},
    {"takes", "ln(1 + seconds to save its state / 60 s) / 10", 0, 2},
    {"due", "time until it saves by itself over its interval; 1 = there is none", 0, 1},
    {"leaves", "1 = a GPU that it is on takes no new job, as before a reclaim", 0, 1},
};

class SaveNow final : public ActionKind {
 public:
  void AddColumns(const ClusterView& view, std::vector<ActionColumn>& columns) const override {
    FeatureFor<CheckpointSettings>("checkpoint", view);
    columns.push_back({});
  }
  void Open(const ClusterView& /*view*/, Plan& /*plan*/) override { chosen_.clear(); }
  void WritePair(const ClusterView& view, const Plan& /*plan*/, int job, const ActionColumn& column,
                 float* f) override {
    if (column.type >= 0 || !view.IsRunning(job)) return;
    const CheckpointState& state = *view.Find<CheckpointState>();
    if (!state.MaySave(job, view.now())) return;
    double safe = view.RunStart(job);
    if (state.saved_at[U(job)] < kNever) safe = std::max(safe, state.saved_at[U(job)]);
    f[0] = 1.0F;
    f[1] = LogMinutes(view.now() - safe);
    f[2] = LogMinutes(state.save_s[U(job)]);
    const double due = state.DueAt(job);
    f[3] = due == kNever
               ? 1.0F
               : static_cast<float>(std::clamp((due - view.now()) / state.interval_s[U(job)], 0.0, 1.0));
    const auto devices = view.Devices(job);
    f[4] =
        std::any_of(devices.begin(), devices.end(), [&](int d) { return !view.InService(d); }) ? 1.0F : 0.0F;
  }
  Legality Legal(const ClusterView& view, const Plan& /*plan*/, int job,
                 const ActionColumn& /*column*/) const override {
    const bool may = view.IsRunning(job) && view.Find<CheckpointState>()->MaySave(job, view.now()) &&
                     std::find(chosen_.begin(), chosen_.end(), job) == chosen_.end();
    return may ? Legality::kYes : Legality::kNo;
  }
  void Put(const ClusterView& /*view*/, Plan& /*plan*/, int job, const ActionColumn& /*column*/) override {
    chosen_.push_back(job);
  }
  // Who stops or moves saves with that. Kinds whose Close adds commands (`gather`) are of features that stand
  // before this one in the table, and are closed before it.
  void Close(const ClusterView& /*view*/, const Plan& /*plan*/, Decision& decision) override {
    for (int job : chosen_) {
      const bool named = std::any_of(decision.commands.begin(), decision.commands.end(),
                                     [&](const Command& c) { return c.job == job; });
      if (!named) decision.controls.push_back({kSaveControl, job, 1.0});
    }
  }

 private:
  std::vector<int> chosen_;
};

}  // namespace

ActionInfo CheckpointAction() {
  return {.name = "checkpoint",
          .summary = "a job that runs saves its state now, and goes on where it is",
          .pair = kCheckpointPair,
          .make = MakeAction<SaveNow>,
          .on_request = true};
}

}  // namespace berth
