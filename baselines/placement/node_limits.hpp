// What the nodes have left of CPU cores and memory (feature topology) while a decision names devices: who
// names them must see to it that their nodes hold the job, as the cluster does where it chooses.
//
//   limits.Begin(view);
//   for (int d : idle devices, best first) if (limits.Take(job, d)) chosen.push_back(d);
//   if (chosen is too short) limits.Give(job, chosen);
//
// Members of a gang demand the same, so taking them one by one finds devices wherever there are enough.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "env/features/topology/cluster_layout.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

class NodeLimits {
 public:
  void Begin(const ClusterView& view);  // what is left now; all that was taken is forgotten

  bool limited() const { return !left_.empty(); }  // false: every node holds everything
  bool Holds(int job, int device) const;           // one more member, with what is left
  // A member of the job comes onto the device; false, and nothing done, where its node has not enough.
  bool Take(int job, int device);
  void Give(int job, std::span<const int> devices);  // they leave, or did not come after all

 private:
  std::shared_ptr<const ClusterLayout> layout_;
  std::shared_ptr<const std::vector<NodeDemand>> demand_;  // [J]
  std::vector<NodeCapacity> left_;                         // [N]; empty = no limits
};

}  // namespace berth
