// Alibaba's cluster-trace-gpu-v2023 (OpenB) as it stands in its files: nodes, and pods that ask for CPU,
// memory and whole GPUs or a share of one. Weng et al., "Beware of Fragmentation", USENIX ATC 2023.
//
// Nodes: sn,cpu_milli,memory_mib,gpu,model. Pods: name,cpu_milli,memory_mib,num_gpu,gpu_milli and, in most
// lists, gpu_spec ('|' between allowed models),qos,pod_phase,creation_time,deletion_time,scheduled_time (s).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace berth {

struct OpenbNode {
  std::string name;
  int cpu_milli = 0;
  int memory_mib = 0;
  int gpus = 0;
  int model = -1;  // into OpenbNodes::models, -1 = no GPU
};
struct OpenbNodes {
  std::vector<std::string> models;  // in order of first appearance, at most 64
  std::vector<OpenbNode> nodes;     // by name
};

struct OpenbPod {
  std::string name;
  int cpu_milli = 0;
  int memory_mib = 0;
  int gpus = 0;
  int gpu_milli = 0;         // of each GPU: 1000, below 1000 with one GPU, 0 with none
  std::uint64_t models = 0;  // bits of OpenbNodes::models; 0 = any
  std::string qos;           // "" where the list has none
  bool running = false;      // it was by pod_phase when it was deleted, or when the trace ended
  // s, NaN where the list or the row has none
  double created = std::numeric_limits<double>::quiet_NaN();
  double scheduled = std::numeric_limits<double>::quiet_NaN();
  double deleted = std::numeric_limits<double>::quiet_NaN();
  int line = 0;
};

// Plain or gzip; throw Error "path:line: expected ..., found ...".
OpenbNodes ReadOpenbNodes(const std::string& path);
std::vector<OpenbPod> ReadOpenbPods(const std::string& path, const OpenbNodes& nodes);

}  // namespace berth
