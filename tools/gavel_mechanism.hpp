// Gavel's round mechanism against recorded rounds of the reference's simulator (folders of the format of
// mechanism/public: RUN.json beside the trace that it names).
#pragma once

#include <string>

namespace berth {

// Replays every run with its recorded allocations: placements exactly, priorities to 1e-6, times to 1 ms.
// Prints a row a run. 0, or 1 where one differs. Throws Error for a folder of another format.
int CheckGavelMechanism(const std::string& folder);

}  // namespace berth
