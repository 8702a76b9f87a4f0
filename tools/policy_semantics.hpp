// A table never mixes decision semantics (design.md §5): which one a list of schedulers has.
#pragma once

#include <span>
#include <string>

namespace berth {

// "redecide" unless the list holds frozen policies of "commit" (the classical schedulers decide afresh at
// every point, within either). Throws Error when policies of both are in it. REQUIRES: every spec names a
// scheduler.
std::string CommonSemantics(std::span<const std::string> schedulers);

}  // namespace berth
