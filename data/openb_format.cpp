// OpenB's pods as jobs and its nodes as the cluster (openb.hpp). A pod that ran arrives when it was created
// and holds its GPUs for as long as it did, at 1 step/s on every type: the trace measures no model. A share
// of a GPU becomes gpu_milli (feature sharing, with share_suffices=true: it ran as long on that share),
// gpu_spec the allowed types, CPU and memory the demand per GPU (cores, GB), qos its class: LS
// (latency-sensitive) counts as guaranteed. Left out and counted in the provenance: pods without GPU and pods
// that never ran. Kept and counted there: pods that run on when the trace ends, which is their deletion_time;
// how long they would have run nobody knows.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "data/alibaba_cluster.hpp"
#include "data/openb.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

std::string NodesBeside(const std::string& pods) {
  const std::string folder = pods.substr(0, pods.find_last_of('/') + 1);
  for (const char* name : {"openb_node_list_gpu_node.csv.gz", "openb_node_list_gpu_node.csv"}) {
    if (std::filesystem::exists(folder + name)) return folder + name;
  }
  throw Error(Join(pods, ": expected openb_node_list_gpu_node.csv[.gz] in the same folder, found none"));
}

int QosOf(const std::string& text, const std::string& where) {
  if (text.empty() || text == "LS" || text == "Guaranteed") return static_cast<int>(Qos::kGuaranteed);
  if (text == "Burstable") return static_cast<int>(Qos::kBurstable);
  if (text == "BE") return static_cast<int>(Qos::kBestEffort);
  throw Error(Join(where, ": qos: expected LS, Guaranteed, Burstable or BE, found '", text, "'"));
}

Scenario ReadOpenb(const std::string& path, const ScenarioSettings& settings) {
  const OpenbNodes nodes = ReadOpenbNodes(NodesBeside(path));
  std::vector<OpenbPod> pods = ReadOpenbPods(path, nodes);
  const AlibabaCluster own = ClusterOf(nodes);
  const bool another = !settings.cluster.types.empty();  // of which gpu_spec says nothing
  const std::size_t all = pods.size();
  double end = 0.0;  // of the trace
  for (const OpenbPod& pod : pods) end = std::fmax(end, pod.deleted);
  const auto without_gpu = std::erase_if(pods, [](const OpenbPod& pod) { return pod.gpus == 0; });
  const auto never_ran = std::erase_if(pods, [](const OpenbPod& pod) {
    return std::isnan(pod.created) || std::isnan(pod.scheduled) || !(pod.deleted > pod.scheduled);
  });
  if (pods.empty()) {
    throw Error(Join(path,
                     ": expected pods with GPUs, creation_time, scheduled_time and a later "
                     "deletion_time, found none among ",
                     all));
  }
  const auto run_on = std::count_if(pods.begin(), pods.end(),
                                    [&](const OpenbPod& pod) { return pod.running && pod.deleted == end; });
  std::stable_sort(pods.begin(), pods.end(),
                   [](const OpenbPod& a, const OpenbPod& b) { return a.created < b.created; });
  ScenarioData data = BaseScenario(
      settings, path.substr(path.find_last_of('/') + 1),
      Join(path, " (left out: ", Counted(without_gpu, "pod"), " without GPU, ", never_ran, " that never ran",
           run_on > 0 ? Join("; ", run_on, " that ran on when the trace ended count as ended then") : "",
           another ? "; gpu_spec passed over: another cluster)" : ")"));
  data.cluster = another ? settings.cluster : own.spec;
  data.throughputs.job_types = {"pod"};
  std::set<int> sizes;
  bool shares = false, specs = false;
  for (const OpenbPod& pod : pods) {
    sizes.insert(pod.gpus);
    shares = shares || pod.gpu_milli < 1000;
    specs = specs || (pod.models != 0 && !another);
  }
  data.throughputs.gang_sizes.assign(sizes.begin(), sizes.end());
  data.throughputs.alone.assign(sizes.size() * data.cluster.types.size(), 1.0);
  JobTable& jobs = data.jobs;
  for (const OpenbPod& pod : pods) {
    jobs.id.push_back(pod.line);
    jobs.arrival.push_back(pod.created);
    jobs.job_type.push_back(0);
    jobs.gang.push_back(pod.gpus);
    jobs.total_steps.push_back(pod.deleted - pod.scheduled);
    jobs.qos.push_back(QosOf(pod.qos, Join(path, ":", pod.line)));
    jobs.demand.push_back(pod.cpu_milli / 1000.0 / pod.gpus);
    jobs.demand.push_back(pod.memory_mib / 1024.0 / pod.gpus);
    if (shares) jobs.gpu_milli.push_back(pod.gpu_milli);
    if (!specs) continue;
    std::uint64_t types = 0;
    for (std::size_t model = 0; model < nodes.models.size(); ++model) {
      if (pod.models == 0 || (pod.models >> model & 1) != 0) types |= own.types_of_model[model];
    }
    jobs.allowed.push_back(types);
  }
  Scenario log(std::move(data), [&](int job) { return Join(path, ":", pods[U(job)].line); });
  return FromOrigin(std::move(log), settings, path);
}

}  // namespace

FormatInfo OpenbFormatInfo() {
  return {"openb",
          "Alibaba cluster-trace-gpu-v2023, a pod list; plain or gzip, with the node list beside it",
          "Weng et al., USENIX ATC 2023",
          {ClockKind::kEvent, 360.0},
          ReadOpenb,
          [](const std::string& path) { return std::vector{NodesBeside(path)}; }};
}

}  // namespace berth
