// What kube-scheduler asks an extender (k8s.io/kube-scheduler/extender/v1, types.go) and what a frozen policy
// answers: JSON in, JSON out, without a network. filter: on which nodes can the pod run at all, and of a pod
// group whether all of it can (gangs.hpp). prioritize: where the policy would rather have it, 0 to 10.
// preempt: whom to evict for it, if anybody.
//
// The policy is shown the pod, or its whole group as one job, as the only candidate in an idle cluster of the
// table's GPUs: the protocol says one pod and nodes with room for it, nothing of the queue or of who runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policies/foreign_decider.hpp"
#include "tools/json.hpp"
#include "tools/serve/extender_request.hpp"
#include "tools/serve/extender_table.hpp"
#include "tools/serve/gangs.hpp"

namespace berth {

struct ExtenderReply {
  int status = 200;  // 400: not the published schema, or a pod that cannot be; 404: a node nobody told us of
  // JSON: ExtenderFilterResult, HostPriorityList, ExtenderPreemptionResult, or {"Error": why}
  std::string body;
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
  // The one node whose victims are evicted, or none.
  ExtenderReply Preempt(const std::string& body, double now);

  const ExtenderTable& table() const { return table_; }
  const PolicyBundle& bundle() const { return decider_.bundle(); }

 private:
  template <class F>
  static ExtenderReply Answered(const F& answer);
  std::string WhyNot(const ExtenderPod& pod, const ExtenderNode& node) const;  // "" = it can run there
  // The same with pod groups; [] beside the request's nodes.
  std::vector<std::string> WhyNotNow(const FilterRequest& request, double now);
  std::vector<float> Scores(const ExtenderPod& pod);         // [G], -infinity = not there
  std::vector<std::int64_t> Points(const ExtenderPod& pod);  // [G], 0 to 10
  void Remember(const FilterRequest& request);
  bool MayEvict(const ExtenderPod& pod, const NodeVictims& on) const;

  ExtenderTable table_;
  ForeignDecider decider_;
  GangBook gangs_;
  std::map<std::string, ExtenderNode>
      shown_;  // nodes of earlier calls by name: what preempt says of a node is its name
};

}  // namespace berth
