// Ctrl-C (SIGINT) and SIGTERM as a flag, for work that saves its state before it ends. A second signal kills
// at once.
#pragma once

#include <atomic>

namespace berth {

inline constexpr int kExitInterrupted = 130;

// Installs the handlers; the flag becomes true at the first signal.
const std::atomic<bool>& WatchInterrupts();

}  // namespace berth
