// What a scheduler orders at one decision point: commands, validated by the simulator as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/scenario.hpp"

namespace berth {

enum class CommandKind : std::uint8_t {
  kStart,   // a waiting job begins on a type
  kStop,    // a running job is checkpointed and waits
  kMove,    // a running job continues on another type or other devices
  kReject,  // a waiting job is turned away for good
};

struct Command {
  CommandKind kind;
  int job;
  int type = -1;          // kStart, kMove
  int devices_begin = 0;  // into Decision::devices; explicit placement when devices_count > 0
  int devices_count = 0;
};

// Stops and moves free their GPUs before starts take any, whatever the order of the commands.
// Without explicit devices a job takes the lowest-numbered free ones of the type.
// Reused between calls: Clear keeps the memory.
class Decision {
 public:
  void Clear() { commands.clear(), devices.clear(), wake_at = kNever; }
  void Start(int job, int type) { commands.push_back({CommandKind::kStart, job, type}); }
  void Start(int job, int type, std::span<const int> on) { Add(CommandKind::kStart, job, type, on); }
  void Stop(int job) { commands.push_back({CommandKind::kStop, job}); }
  void Move(int job, int type) { commands.push_back({CommandKind::kMove, job, type}); }
  void Move(int job, int type, std::span<const int> on) { Add(CommandKind::kMove, job, type, on); }
  void Reject(int job) { commands.push_back({CommandKind::kReject, job}); }

  std::vector<Command> commands;
  std::vector<int> devices;
  double wake_at = kNever;  // also decide at this time if it is later than now; with rounds: if nothing runs

 private:
  void Add(CommandKind kind, int job, int type, std::span<const int> on) {
    commands.push_back({kind, job, type, static_cast<int>(devices.size()), static_cast<int>(on.size())});
    devices.insert(devices.end(), on.begin(), on.end());
  }
};

}  // namespace berth
