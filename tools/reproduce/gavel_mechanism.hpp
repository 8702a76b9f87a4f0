// Gavel's round mechanism against recorded rounds of the reference's simulator (folders of the format of
// mechanism/public: RUN.json beside the trace that it names).
#pragma once

#include <string>
#include <vector>

namespace berth {

// One run replayed with its recorded allocations: they are given at each reset, and every placement,
// priority, deficit and time must come out.
struct MechanismReplay {
  std::string run;
  int rounds = 0;  // replayed
  int resets = 0;
  int differing = 0;      // rounds whose placement or order of types is another
  double priority = 0.0;  // largest relative difference, of values beyond 1e-6
  double deficit = 0.0;   // s, or relative beyond 1 s
  double seconds = 0.0;   // of round times, reset times and completions
  std::string first;      // difference, for people; empty = none
  bool held() const { return first.empty(); }
};
inline constexpr double kMechanismPriority = 1e-6, kMechanismSeconds = 1e-3;

// Every *.json of the folder, by name. Throws Error for a folder without one, or a file of another format.
std::vector<MechanismReplay> ReplayMechanism(const std::string& folder);

// Prints a row a run: placements exactly, priorities to 1e-6, times to 1 ms. 0, or 1 where one differs.
int CheckGavelMechanism(const std::string& folder);

}  // namespace berth
