// A run of a scheduler on one of the Pollux artifact's workloads, kept in a folder so that an interrupted
// reproduction goes on where it was.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth::pollux {

struct Measured {
  std::vector<double> seconds;  // [J] from submission to completion
  std::vector<int> restarts;    // [J] starts after the first, moves among them
  double cpu_s = 0.0;
  double Mean() const;  // of seconds
};

// To the end of all jobs. `scheduler`: a spec. Any thread.
Measured RunToEnd(const Scenario& scenario, const std::string& scheduler);

// FOLDER/NAME.json. Nothing where the file is missing, damaged, or made by another source or scheduler.
std::optional<Measured> ReadMeasured(const std::string& folder, const std::string& name,
                                     const std::string& scheduler);
void WriteMeasured(const std::string& folder, const std::string& name, const std::string& scheduler,
                   const Measured& measured);

}  // namespace berth::pollux
