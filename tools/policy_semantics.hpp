// A table never mixes decision semantics (redecide, commit): which one a list of schedulers has.
#pragma once

#include <span>
#include <string>

namespace berth {

// "redecide" unless the list holds frozen policies of "commit", or score rules that say so
// (`semantics=commit`; the other classical schedulers decide afresh at every point, within either). Throws
// Error when the two are mixed. REQUIRES: every spec names a scheduler.
std::string CommonSemantics(std::span<const std::string> schedulers);

}  // namespace berth
