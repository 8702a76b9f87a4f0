// Random small scenarios through the simulator and the slow model, compared at every decision and event by
// event; what the model lacks goes through the invariants and the auditor alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace berth::differential {

struct Tally {
  std::int64_t scenarios = 0, modelled = 0, decisions = 0, events = 0, illegal = 0, unfinished = 0;
  std::map<std::string, int> refused;  // why a scenario could not be made, and how often
  std::map<std::string, int> with, pairs;  // scenarios by feature, and by two ("topology;power")
};

// Scenario `index` of a campaign: the features of an odd one are a random choice of those that are modelled;
// of the even ones every pair of the feature table in turn, then as many random triples, and so on. "" or what
// differs, in words.
std::string CheckScenario(std::uint64_t seed, std::int64_t index, Tally& tally);

// Pairs of features of which no scenario was made.
std::vector<std::string> NeverTogether(const Tally& tally);

}  // namespace berth::differential
