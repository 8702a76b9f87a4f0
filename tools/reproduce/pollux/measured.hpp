// A run of a scheduler on one of the Pollux artifact's workloads, kept in a folder so that an interrupted
// reproduction goes on where it was.
#pragma once

#include <cstddef>
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

// FOLDER/NAME.json. `key`: what decides the run beside the source, its scheduler and Folder::Hash. Nothing
// where the file is missing, damaged, of another source, key or number of jobs.
std::optional<Measured> ReadMeasured(const std::string& folder, const std::string& name,
                                     const std::string& key, std::size_t jobs);
void WriteMeasured(const std::string& folder, const std::string& name, const std::string& key,
                   const Measured& measured);

}  // namespace berth::pollux
