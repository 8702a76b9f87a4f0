// What a scheduler orders at one decision point: commands, validated by the simulator as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

enum class CommandKind : std::uint8_t {
  kStart,   // a waiting job begins on a type
  kStop,    // a running job is checkpointed and waits
  kMove,    // a running job continues on another type or other devices
  kReject,  // a waiting job is turned away for good
  kPack,    // a job shares the one GPU of another: a waiting job starts, a running one moves there
};

struct Command {
  CommandKind kind;
  int job;
  int type = -1;          // kStart, kMove; kPack takes its host's
  int devices_begin = 0;  // into Decision::devices; explicit placement when devices_count > 0
  int devices_count = 0;
  int host = -1;  // kPack: the job whose GPU is shared
  int width = 0;  // kStart, kMove: GPUs, between the job's MinGang and MaxGang; 0 = its gang
};

// What a decision sets beside its jobs: `index` of what, to which value. Each kind is a feature's own, named
// in its header: 0 to 3 are taken.
enum class ControlKind : std::uint8_t {};
struct Control {
  ControlKind kind;
  int index;
  double value;
};

// Stops and moves free their GPUs before starts take any, whatever the order of the commands; packs come
// last. Without explicit devices a job takes the lowest-numbered free ones of the type.
//
// Packing: two jobs of gang 1 hold one GPU together, where ThroughputTable::pairs has both rates above 0 on
// its type. The host runs after this decision (it ran, starts or moves) and shares with one job only. From
// the instant of the decision both progress at their pair rates; the pair is dissolved when either ends,
// stops, moves or is packed elsewhere, and the other then runs on alone (when: see Simulator).
//
// Reused between calls: Clear keeps the memory.
class Decision {
 public:
  void Clear() { commands.clear(), devices.clear(), controls.clear(), wake_at = kNever; }
  void Start(int job, int type) { commands.push_back({CommandKind::kStart, job, type}); }
  void Start(int job, int type, std::span<const int> on) { Add(CommandKind::kStart, job, type, on); }
  // Where a feature lets it: on another number of GPUs than the gang; of a running job, on the same type
  // too.
  void StartAt(int job, int type, int width) {
    commands.push_back({CommandKind::kStart, job, type, 0, 0, -1, width});
  }
  void Resize(int job, int type, int width) {
    commands.push_back({CommandKind::kMove, job, type, 0, 0, -1, width});
  }
  void Stop(int job) { commands.push_back({CommandKind::kStop, job}); }
  void Move(int job, int type) { commands.push_back({CommandKind::kMove, job, type}); }
  void Move(int job, int type, std::span<const int> on) { Add(CommandKind::kMove, job, type, on); }
  void Reject(int job) { commands.push_back({CommandKind::kReject, job}); }
  void Pack(int job, int host) { commands.push_back({CommandKind::kPack, job, -1, 0, 0, host}); }

  std::vector<Command> commands;
  std::vector<int> devices;
  std::vector<Control> controls;  // carried out after what frees and before what starts
  double wake_at = kNever;  // also decide at this time if it is later than now; with rounds: if nothing runs

 private:
  void Add(CommandKind kind, int job, int type, std::span<const int> on) {
    commands.push_back({kind, job, type, static_cast<int>(devices.size()), static_cast<int>(on.size())});
    devices.insert(devices.end(), on.begin(), on.end());
  }
};

}  // namespace berth
