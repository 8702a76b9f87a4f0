// What saving, restoring and losing work costs, by size and bandwidth. In place of the constants of Costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

// A job's state is `checkpoint_gb` of its type (JobTypeTraits), else `gb`. It is saved when a decision stops
// or moves the job (charged when it next runs, as Costs are) and every `interval` of progress, during which
// the job holds its GPUs and waits. It is loaded at every start but the first, after `cold_start_s`. Nothing
// is saved by whoever is interrupted, and nothing loaded that was never saved.
//
// A decision may have a running job save now (kSaveControl), as a periodic checkpoint does: it keeps its GPUs
// and makes no progress for as long as its state takes to be written, of a shared storage once it is its
// turn; only then what was done by now is safe, and the next periodic checkpoint is a whole interval away. A
// failure or a stop before that loses or pays as if it had not begun; a resize breaks it off, and it begins
// anew only where there is an interval.
struct CheckpointSettings final : SettingsOf<CheckpointSettings> {
  double gb = 1.0;
  double write_gb_s = 1.0, read_gb_s = 1.0;  // GB/s of storage
  bool shared = false;  // one storage for all, which serves transfers one after another in order of request
  double cold_start_s = 0.0;
  std::string interval = "none";
  double mtbf_h = 0.0;

  static constexpr const char* kName = "checkpoints";
  static constexpr const char* kHelp = "what saving, restoring and losing work costs, by size and bandwidth";
  static std::span<const Field<CheckpointSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  double LaunchSeconds() const override { return cold_start_s; }
};

// Job `index` begins to save its state now; `value` is 1. Of a running job that has made progress since it
// started or last saved, is neither starting nor saving, and that no command of the decision names.
inline constexpr ControlKind kSaveControl{4};
inline constexpr TimerKind kSave{4};   // index: job; it begins to save its state
inline constexpr TimerKind kSaved{5};  // index: job; what it began to save is safe

class CheckpointState final : public StateOf<CheckpointState, CheckpointSettings> {
 public:
  CheckpointState(const CheckpointSettings& settings, const ScenarioData& scenario);

  // For schedulers. s to write and to read a job's state with the storage to itself.
  std::vector<double> save_s, restore_s;  // [J]
  std::vector<double> saved_at;           // [J] s, when what is safe now was; kNever = nothing is
  std::int64_t saves = 0;                 // that ended, periodic ones and ordered ones
  double storage_free_at = 0.0;           // s, of a shared storage

  // Has a running job made progress since it started or saved? Then it may save.
  bool MaySave(int job, double now) const { return now > busy_until_[static_cast<std::size_t>(job)]; }
  bool Saves(int job, double now) const {  // at this moment
    return due_[static_cast<std::size_t>(job)] <= now && busy_until_[static_cast<std::size_t>(job)] > now;
  }
  double DueAt(int job) const { return due_[static_cast<std::size_t>(job)]; }  // s; kNever = no interval

  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  // A start is charged what it saves and loads; a resize saves nothing, so what was due stays due.
  void StartCost(SimCore& core, int job, int type, RunStart& start) override;
  void OnStart(SimCore& core, int job, const RunStart& start) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;

  std::vector<double> interval_s;  // [J] s of progress, of the current run

 private:
  double Transfer(const SimCore& core, double seconds);  // with what it waits for
  double Interval(const SimCore& core, int job) const;   // of a job where it now stands
  void BeginSave(SimCore& core, int job, std::uint32_t run);
  void EndSave(SimCore& core, int job, std::uint32_t run);

  const CheckpointSettings* settings_;
  std::vector<std::uint32_t> run_;  // [J] starts so far: timers of earlier ones are forgotten
  std::vector<double> due_;  // [J] s, when the next periodic one begins, or one that is under way began
  std::vector<double> busy_until_;  // [J] s, until when a running job starts or saves
};

// The progress between two checkpoints that loses least, s: `save_s` to save, `mtbf_s` between failures.
double YoungInterval(double save_s, double mtbf_s);  // Young, CACM 17(9), 1974, eq. 1: sqrt(2 C M)
double DalyInterval(double save_s, double mtbf_s);   // Daly, FGCS 22, 2006, eq. 37

BlockInfo CheckpointsBlock();   // what observations show of it
ActionInfo CheckpointAction();  // what policies may do with it

}  // namespace berth
