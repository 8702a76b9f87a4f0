// The timer of a GPU whose layout changes (partitions.hpp).
#pragma once

#include "env/timers.hpp"

namespace berth {

inline constexpr auto kReconfigured = static_cast<TimerKind>(40);  // index: GPU of PartitionState

}  // namespace berth
