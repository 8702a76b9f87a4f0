// The six placement policies of the published allocation experiment, as their code has them
// (hkust-adsl/kubernetes-scheduler-simulator @ 8f3d6417, pkg/simulator/plugin): each gives a node that fits a
// whole-numbered score from 0 to 100, the highest wins (ties: run.hpp). The score of a
// pod on a node depends on nothing else, so it may be kept until the node changes.
#pragma once

#include <span>

#include "env/base/rng.hpp"
#include "tools/reproduce/fgd/allocation.hpp"

namespace berth::fgd {

struct Choice {
  int score = 0;
  int gpu = -1;  // of which a share is taken
};

struct Policy {
  const char* name;       // as its authors print it
  const char* published;  // in the published tables
  // Null: a node that fits, and a GPU of it that fits, at random.
  Choice (*choose)(const Node& node, const Pod& pod, const Fragmentation& fragmentation);
};
std::span<const Policy> Policies();

// For shares: the fullest GPU that has room, the first of equals; a GPU with room at random.
int BestFitGpu(const Node& node, const Pod& pod);
int RandomGpu(const Node& node, const Pod& pod, Stream& random);

}  // namespace berth::fgd
