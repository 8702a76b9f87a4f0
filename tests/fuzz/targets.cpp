#include "tests/fuzz/targets.hpp"

namespace berth::fuzz {

std::span<const Target> Targets() {
#define BERTH_FUZZ_ROW(name, what) {#name, what, Run_##name},
  static const Target targets[] = {BERTH_FUZZ_TARGETS(BERTH_FUZZ_ROW)};
#undef BERTH_FUZZ_ROW
  return targets;
}

}  // namespace berth::fuzz
