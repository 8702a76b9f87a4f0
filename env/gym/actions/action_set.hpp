// Which kinds of commands a process has, by name: "start", "start,resize,pack". `start` puts a job on a GPU
// type, and is always there; in a preemptive process it also moves a job, keeps it, and stops whoever is left
// out of the plan. "start,resize?" has `resize` where the cluster has the feature for it, and else its
// channels alone, all 0: one policy for clusters with and without.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/sim/action_kind.hpp"

namespace berth {

inline constexpr const char* kStartAlone = "start";

// A kind in the list of a process.
struct ActionUse {
  const ActionInfo* info;
  Spec params;
  bool optional = false;
};

std::span<const ActionInfo> Actions();  // every kind but `start`

// Beside `start`, in the order of Actions(). Throws Error with the nearest name.
std::vector<ActionUse> ParseActions(const std::string& text);
std::string ResolveActions(const std::string& text);  // canonical, with every parameter
// `start` and what the features that are on add, without kinds that are on request (ActionInfo). Of several
// clusters: of any of them, optional where not all have it.
std::string ActionsOf(const Features& features);
std::string ActionsOf(std::span<const Features> clusters);

// What the grid adds behind the channels of an encoder, in the order of the observation.
struct ActionChannels {
  std::vector<ChannelInfo> job, pair, type;
};
ActionChannels ChannelsOf(std::span<const ActionUse> uses);

}  // namespace berth
