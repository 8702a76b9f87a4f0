// Commands of this binary that each leave a file, several at once; what is there is not made again.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace berth {

struct ChildStep {
  std::string name;
  // One after the other; words of `berth`. The last one writes `makes`.
  std::vector<std::vector<std::string>> commands;
  std::string makes;
  double seconds;  // about, of one core
};

struct ChildOutcome {
  bool interrupted = false;
  std::map<std::string, std::string> failed;  // step, the last that it said
};

// `folder` takes their logs. A step whose commands were changed is made anew. Throws Error where a file
// cannot be written.
ChildOutcome RunSteps(const std::string& label, const std::vector<ChildStep>& steps,
                      const std::string& folder, int at_once);
// What of the steps is not there.
std::vector<ChildStep> StepsLeft(const std::vector<ChildStep>& steps);

}  // namespace berth
