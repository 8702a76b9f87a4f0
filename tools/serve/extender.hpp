// What kube-scheduler asks an extender (k8s.io/kube-scheduler/extender/v1, types.go) and what a frozen policy
// answers: JSON in, JSON out, without a network. filter: on which nodes can the pod run at all. prioritize:
// where the policy would rather have it, 0 to 10.
//
// The policy is shown the pod as the only candidate in an idle cluster of the table's GPUs: the protocol says
// one pod and nodes with room for it, nothing of the queue or of who runs.
#pragma once

#include <cstdint>
#include <string>

#include "policies/foreign_decider.hpp"
#include "tools/json.hpp"
#include "tools/serve/extender_table.hpp"

namespace berth {

struct ExtenderReply {
  int status = 200;  // 400: not the published schema, or a pod that cannot be; 404: a node nobody told us of
  std::string body;  // JSON: ExtenderFilterResult, HostPriorityList, or {"Error": why}
  std::int64_t nodes_passed = 0, nodes_failed = 0;  // of a filter call that was answered
};

// Thread rule: one thread at a time.
class Extender {
 public:
  // Throws Error where the policy is not for the table's cluster.
  Extender(ExtenderTable table, PolicyBundle bundle, const std::string& policy_path);

  // `now`: seconds since 1970, against which a pod's creationTimestamp is its age. Never throw: what is wrong
  // with a request is its reply.
  ExtenderReply Filter(const std::string& body, double now);
  ExtenderReply Prioritize(const std::string& body, double now);

  const ExtenderTable& table() const { return table_; }
  const PolicyBundle& bundle() const { return decider_.bundle(); }

 private:
  struct Pod;
  struct Node;
  struct Request;
  Request Parse(const std::string& body, double now) const;
  Pod ReadPod(const Json& json, double now) const;
  Node ReadNode(const Json& json) const;
  std::string WhyNot(const Pod& pod, const Node& node) const;  // "" = it can run there

  ExtenderTable table_;
  ForeignDecider decider_;
};

}  // namespace berth
