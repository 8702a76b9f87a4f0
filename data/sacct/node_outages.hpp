// What happened to nodes, from Slurm's log of them to planned outages of the simulator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/sacct/accounting.hpp"
#include "env/base/slurm_conf.hpp"

namespace berth {

struct NodeOutages {
  std::string text;  // down:up:node:TYPE/NUMBER:notice|..., "gpu" in place of "node" for one GPU
  int down = 0, drained = 0, unplaced = 0, unknown = 0, irrelevant = 0;
};

// Whether a node in this state, in capitals, has lost its jobs: "DOWN", "DOWN*" (it does not answer),
// "IDLE+DOWN", but not POWERED_DOWN, which did not break.
bool IsDown(std::string_view state);

// Seconds are counted from `origin` (s since 1970). `nodes` are in the order in which their devices are
// numbered; empty = not known, and no event can be placed. A drain takes no new jobs from its start to its
// end, and its GPUs are gone for the last millisecond, which stops what still runs there.
NodeOutages OutagesOf(const std::vector<NodeEvent>& events, const std::vector<SlurmNode>& nodes,
                      double origin);

}  // namespace berth
