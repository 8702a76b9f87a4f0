// The small table that tells `berth serve --extender` what the nodes and pods of a Kubernetes cluster are to
// a policy: a JSON file (tools/examples/kubernetes/table.json; its keys: tools/examples/KUBERNETES.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

struct ExtenderTable {
  std::vector<GpuType> types;               // [G] name and count in the whole cluster
  std::string node_label;                   // whose value says the GPU type of a node
  std::map<std::string, int> label_values;  // value of that label: index of the type
  std::map<std::string, int> nodes;         // by name: index of the type, -1 = it has no GPUs
  std::string resource;                     // how pods ask for GPUs and nodes have them
  // Names of a pod's annotations.
  std::string job_type_annotation, remaining_steps_annotation, remaining_s_annotation, weight_annotation;
  std::string checkpoint_annotation;  // seconds between checkpoints; without it a pod loses all
  std::string pod_group_label, min_member_annotation;  // labels, or else annotations
  double gang_timeout_s = 0.0;                         // tools/serve/gangs.hpp
  bool whole_nodes = true;
  // From this priority on a pod may evict pods that have no checkpoints; none = never.
  std::optional<int> evict_unsaved_from;
  // For pods without them; an empty job type is an error of the pod.
  std::string default_job_type;
  double default_remaining_s = 0.0, default_weight = 0.0;

  // Steps/s of a gang on every type, 0 = cannot run: what the table says, else the published measurements
  // (data/throughputs.hpp), where every type of the cluster has some. Error with the nearest name.
  std::vector<double> RatesOf(const std::string& job_type, int gang) const;

  std::map<std::string, std::vector<double>> job_types;  // [G] steps/s at any gang size
  ThroughputTable published;                             // empty where a type has no measurements
};

// Throws Error: unreadable, not JSON, an unknown key (with the nearest name), or a value that cannot be.
ExtenderTable ReadExtenderTable(const std::string& path);

}  // namespace berth
