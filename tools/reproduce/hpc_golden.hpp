// The recorded answers of the authors' simulator and of the textbook rules, sequence by sequence (golden.json
// beside the Lublin logs), against ours.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/hpc_runs.hpp"

namespace berth {

struct HpcGolden {
  int values = 0;                   // compared
  int skipped = 0;                  // recorded for learned policies, which are not rerun
  double worst = 0.0;               // largest relative deviation of a value recorded with all its digits
  std::vector<std::string> differ;  // what differs, named
};
// Throws Error where the file is not what it should be.
HpcGolden CompareHpcGolden(const std::string& path, HpcRuns& runs);

}  // namespace berth
