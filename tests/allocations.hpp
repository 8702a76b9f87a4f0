// Counts calls of operator new by this thread: all of berth_tests runs on the counting ones in
// allocations.cpp.
#pragma once

#include <cstdint>

namespace berth::test {

std::int64_t Allocations();

}  // namespace berth::test
