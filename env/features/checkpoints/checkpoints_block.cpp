#include "env/base/index.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Saving {
  static constexpr ChannelInfo kJob[] = {
      {"unsaved", "ln(1 + seconds that it ran since its state was last safe / 60 s) / 10", 0, 2},
      {"saving", "ln(1 + seconds to save and to load its state / 60 s) / 10 (feature checkpoints)", 0, 2},
  };
  static void Job(const ClusterView& view, int job, float* f) {
    const CheckpointState* saves = view.Find<CheckpointState>();
    if (saves != nullptr) f[1] = LogMinutes(saves->save_s[U(job)] + saves->restore_s[U(job)]);
    // Where nothing saves, whoever interrupts jobs still takes what was done since the start.
    if (!view.IsRunning(job) || (saves == nullptr && !view.features().Interrupt())) return;
    double safe = view.RunStart(job);
    if (saves != nullptr && saves->saved_at[U(job)] < kNever) safe = std::max(safe, saves->saved_at[U(job)]);
    f[0] = LogMinutes(view.now() - safe);
  }
};

}  // namespace

BlockInfo CheckpointsBlock() {
  return RowBlock<Saving>::Info("checkpoints", 1, "what a stop would lose, and what saving takes");
}

}  // namespace berth
