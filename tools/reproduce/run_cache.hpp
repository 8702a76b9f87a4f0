// Kept results of single runs: one JSON file each, named by what decides the result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/file_hash.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

// Of what decides a result: scenario, scheduler and window. A frozen policy counts by its bytes, wherever its
// file lies.
std::string RunKey(std::uint64_t scenario_hash, const std::string& spec, Window window);
// So does the source that ran it (RunSource of tools/file_hash.hpp).

struct KeptRun {
  PlannedOutcome outcome;
  std::string source;
};
// Nothing when the file is missing or not of this key (damaged, or another format): then the run is done
// again. So too, unless `any_source`, when another source made it.
std::optional<KeptRun> ReadOutcome(const std::string& folder, const std::string& key, bool any_source);
void WriteOutcome(const std::string& folder, const std::string& key, const std::string& what,
                  const PlannedOutcome& outcome);

}  // namespace berth
