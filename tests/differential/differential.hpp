// Random small scenarios through the simulator and the slow model, compared at every decision and event by
// event; what the model lacks goes through the invariants and the auditor alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace berth::differential {

struct Tally {
  std::int64_t scenarios = 0, modelled = 0, decisions = 0, events = 0, illegal = 0, unfinished = 0;
  std::map<std::string, int> refused;  // why a scenario could not be made, and how often
  std::map<std::string, int> with;     // scenarios by feature
};

// Scenario `index` of a campaign: the features of an odd one are a random choice of those that are modelled;
// of the even ones every pair of the feature table in turn, then random triples. "" or what differs, in
// words.
std::string CheckScenario(std::uint64_t seed, std::int64_t index, Tally& tally);

}  // namespace berth::differential
