// What a figure was measured on.
#pragma once

#include "tools/json.hpp"

namespace berth::bench {

// Keys: cpu, cores, memory_bytes, kernel, compiler, build_type, load_1min, host.
Json MachineJson();

}  // namespace berth::bench
