// What kube-scheduler sends an extender (k8s.io/kube-scheduler/extender/v1, types.go), read with a table:
// members in whatever case, as Go's decoder finds them. Objects of Kubernetes are read no further than they
// are needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "policies/foreign_cluster.hpp"
#include "tools/json.hpp"
#include "tools/serve/extender_table.hpp"

namespace berth {

// A request that gets this status and a reason: 400 = not the published schema, or a pod that cannot be; 404
// = a node nobody told us of.
struct RefusedRequest {
  int status;
  std::string why;
};

// The pod group that a pod is a member of (tools/serve/gangs.hpp).
struct PodGroup {
  std::string key;     // namespace, name, and the UID of the pod's controller where it has one
  bool owned = false;  // it has one
  int members = 0;     // that must run together
};

struct ExtenderPod {
  std::string name;
  int gpus = 0;  // of this pod; 0 = none of our business
  std::optional<PodGroup> group;
  double age_s = 0.0;         // since its creation
  int priority = 0;           // spec.priority
  ForeignJob job;             // the group's, where it is in one; arrived at 0, so that now is its age
  std::vector<double> rates;  // [G] of the job
};

struct ExtenderNode {
  std::string name;
  int type = -1;      // -1 = no GPUs
  int gpus = -1;      // allocatable; -1 = not said
  std::string label;  // the value of the node's label, where it is in no row of the table
};

// ExtenderArgs
struct FilterRequest {
  ExtenderPod pod;
  std::vector<ExtenderNode> nodes;
  Json raw_nodes;        // [] of v1.Node beside `nodes`; empty where names were sent
  bool by_name = false;  // NodeNames, nodeCacheCapable
};

// A pod that would be evicted.
struct VictimPod {
  std::string uid;
  bool known = false;  // what follows: false where only its UID was sent
  int priority = 0;
  int gpus = 0;
  bool saves = false;       // it has checkpoints
  double lost_gpu_s = 0.0;  // what it would compute again, times its weight
};

struct NodeVictims {
  ExtenderNode node;
  std::vector<VictimPod> pods;
  std::int64_t pdb_violations = 0;
};

// ExtenderPreemptionArgs
struct PreemptionRequest {
  ExtenderPod pod;
  std::vector<NodeVictims> nodes;
};

// `now`: seconds since 1970. Throw RefusedRequest.
FilterRequest ReadFilterRequest(const ExtenderTable& table, const std::string& body, double now);
PreemptionRequest ReadPreemptionRequest(const ExtenderTable& table, const std::string& body, double now);

}  // namespace berth
