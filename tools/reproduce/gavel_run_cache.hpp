// Kept results of single runs: one JSON file each, named by what decides the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/reproduce/gavel_runs.hpp"

namespace berth {

// Of everything that decides a result: scenario, scheduler, window and the source that ran it. The source is
// its commit; where the tree had changes it is the bytes of this binary.
std::string RunKey(std::uint64_t scenario_hash, const std::string& spec, Window window);

// Nothing when the file is missing or not of this key (damaged, or another format): then the run is done
// again.
std::optional<GavelOutcome> ReadOutcome(const std::string& folder, const std::string& key);
void WriteOutcome(const std::string& folder, const std::string& key, const std::string& what,
                  const GavelOutcome& outcome);

}  // namespace berth
