// Commands of this binary that each leave a file, several at once; what is there is not made again.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/child_runs.hpp"

namespace berth {

struct ChildStep {
  std::string name;
  // One after the other; words of `berth`. The last one writes `makes`.
  std::vector<std::vector<std::string>> commands;
  std::string makes;
  double seconds;            // about, of one core
  std::string scratch = {};  // a folder of its own, which is emptied first; "" = none
};

// What decides the file of a step: its commands, the build that runs them, and the bytes of files that they
// name in specs, policies above all, for a policy made anew keeps its path. It stands in FILE.made_by.
std::string StepKey(const ChildStep& step);

// `folder` takes their logs. A step whose key is another one is made anew. Throws Error where a file cannot
// be written.
ChildrenEnd RunSteps(const std::string& label, const std::vector<ChildStep>& steps, const std::string& folder,
                     int at_once);
// What of the steps is not there, or of another key.
std::vector<ChildStep> StepsLeft(const std::vector<ChildStep>& steps);

}  // namespace berth
