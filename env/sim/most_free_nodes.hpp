// Devices for starts and moves that name none: again and again the node with most free GPUs gives what it
// has, up to what is still needed; of equals the lowest. As the baselines of Pollux' evaluation place jobs
// (petuum/adaptdl, branch osdi21-artifact, simulator/tiresias.py and optimus.py).
#pragma once

#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/decision.hpp"

namespace berth {

// Takes the devices off all commands where they cannot be named freely: nodes run out of what jobs need
// beside GPUs, or jobs hold parts of GPUs. The simulator then finds them.
void ForgetNodesUnlessFree(const ClusterView& view, Decision& decision);

class MostFreeNodes {
 public:
  // In the order of the commands. What the decision stops and moves is free by then. A job that finds too few
  // free GPUs keeps no name. O(devices + commands x nodes).
  void Name(const ClusterView& view, Decision& decision);

 private:
  std::vector<std::vector<int>> free_;  // by node, devices in falling order
  std::vector<char> leaves_;            // [J] the decision makes it leave its devices
};

}  // namespace berth
