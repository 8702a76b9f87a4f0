// What becomes of a decision: carried out, or which rule it breaks (env/sim/decision_rules.cpp; Explain in
// env/sim/simulator.hpp has the words).
#pragma once

#include <cstdint>

namespace berth {

// The rule that an illegal decision breaks.
enum class Rule : std::uint8_t {
  kNone,
  kUnknownJob,
  kNotArrived,
  kNotWaiting,
  kNotRunning,
  kUnknownType,
  kCannotRun,
  kNoRoom,
  kDeviceBusy,
  kDeviceOfOtherType,
  kWrongDeviceCount,
  kTwice,
  kPackHost,
  kPackGang,
  kPackShared,
  kPackRate,
  kWidth,
  kOutOfService,
  kControl,  // ApplyResult::command counts the decision's controls
  kNodeResources,
};
struct [[nodiscard]] ApplyResult {
  Rule rule = Rule::kNone;
  int command = -1;  // index of the offending command
  bool ok() const { return rule == Rule::kNone; }
};

}  // namespace berth
