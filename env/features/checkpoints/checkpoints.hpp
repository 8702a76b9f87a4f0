// What saving, restoring and losing work costs, by size and bandwidth. In place of the constants of Costs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"

namespace berth {

struct ScenarioData;

// A job's state is `checkpoint_gb` of its type (JobTypeTraits), else `gb`. It is saved when a decision stops
// or moves the job (charged when it next runs, as Costs are) and every `interval` of progress, during which
// the job holds its GPUs and waits. It is loaded at every start but the first, after `cold_start_s`. Nothing
// is saved by whoever is interrupted, and nothing loaded that was never saved.
struct CheckpointSettings {
  double gb = 1.0;
  double write_gb_s = 1.0, read_gb_s = 1.0;  // GB/s of storage
  bool shared = false;  // one storage for all, which serves transfers one after another in order of request
  double cold_start_s = 0.0;
  std::string interval = "none";
  double mtbf_h = 0.0;

  static constexpr const char* kHelp = "what saving, restoring and losing work costs, by size and bandwidth";
  static std::span<const Field<CheckpointSettings>> Fields();
  void Check(const ScenarioData& scenario) const;
};

struct CheckpointState {
  // For schedulers. s to write and to read a job's state with the storage to itself.
  std::vector<double> save_s, restore_s;  // [J]
  std::vector<double> saved_at;           // [J] s, when what is safe now was; kNever = nothing is
  std::int64_t saves = 0;                 // periodic ones that ended
  double storage_free_at = 0.0;           // s, of a shared storage

  std::vector<std::uint32_t> run;  // [J] starts so far: timers of earlier ones are forgotten
  std::vector<double> interval_s;  // [J] of progress, of the current run
  std::vector<double> due;         // [J] s, when the next periodic one begins, or one that is under way began
};

class Simulator;
struct InvariantInput;

class CheckpointEngine {
 public:
  static void Start(Simulator& simulator);
  // What a start or move of `job` costs, s; before its phase and type are set. The storage is taken.
  static double StartCost(Simulator& simulator, int job);
  // It progresses from progress_from on. A resize saves nothing, so what was due stays due.
  static void OnStart(Simulator& simulator, int job, bool resizes);
  static bool OnSave(Simulator& simulator, int job, std::uint32_t run);
  static bool OnSaved(Simulator& simulator, int job, std::uint32_t run);

 private:
  static double Transfer(Simulator& simulator, double seconds);  // with what it waits for
  static double Interval(const Simulator& simulator, int job);
};

// What is safe was done, and what is lost is not negative.
std::string CheckpointViolation(const InvariantInput& input);

// The progress between two checkpoints that loses least, s: `save_s` to save, `mtbf_s` between failures.
double YoungInterval(double save_s, double mtbf_s);  // Young, CACM 17(9), 1974, eq. 1: sqrt(2 C M)
double DalyInterval(double save_s, double mtbf_s);   // Daly, FGCS 22, 2006, eq. 37

}  // namespace berth
