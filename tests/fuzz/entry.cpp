// libFuzzer's side of one target: BERTH_FUZZ_TARGET is its name. Whatever it throws ends the process, which is what libFuzzer takes for a
// crash.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#define BERTH_FUZZ_PASTE(name) berth::fuzz::Run_##name
#define BERTH_FUZZ_RUN(name) BERTH_FUZZ_PASTE(name)

// -1 = not worth keeping.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return BERTH_FUZZ_RUN(BERTH_FUZZ_TARGET)({data, size}) ? 0 : -1;
}
