// Alibaba's cluster-trace-gpu-v2020 (PAI) as it stands in its tables: jobs of tasks of instances that ask for
// CPU, memory and GPUs or parts of one. Weng et al., "MLaaS in the Wild", NSDI 2022. Schema:
// cluster-trace-gpu-v2020/README.md and data/*.header of github.com/alibaba/clusterdata. The tables have no
// header line:
//   pai_task_table: job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,
//     plan_gpu,gpu_type
//   pai_job_table: job_name,inst_id,user,status,start_time,end_time
//   pai_instance_table: job_name,task_name,inst_name,worker_name,inst_id,status,start_time,end_time,machine
//   pai_group_tag_table: inst_id,user,gpu_type_spec,group,workload
//   pai_machine_spec: machine,gpu_type,cap_cpu,cap_mem,cap_gpu
// Times are seconds; none, and 0 as in the authors' analysis/utils.py, is an unknown one. plan_cpu and
// plan_gpu are hundredths of a core and of a GPU, plan_mem is GB, all for each instance.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "data/openb.hpp"

namespace berth {

struct PaiTask {
  std::string job, name;
  int instances = 0;   // > 0
  double gpus = 0.0;   // of each instance, > 0
  double cores = 0.0;  // of each instance; 0 where it is not stated
  double memory_gb = 0.0;
  double seconds = 0.0;  // > 0
  std::string gpu_type;  // on which it ran; "" = not stated
  int line = 0;
};

struct PaiTasks {
  std::vector<PaiTask> tasks;  // those that have GPUs, are Terminated (the README: successful) and ran
  int without_gpu = 0;         // the others, each counted once, in this order
  int not_terminated = 0;
  int not_run = 0;  // without instances or times, or with an end that is not behind the start
};

struct PaiJob {
  std::string inst_id;  // the job's key in the table of tags
  std::string user;
  double submitted = 0.0;  // s, > 0
};
using PaiJobs = std::unordered_map<std::string, PaiJob>;  // by job_name; only those whose submission is known

struct PaiTypeSpec {
  std::string type;  // that the job asks for
  int line = 0;
};
using PaiTypeSpecs = std::unordered_map<std::string, PaiTypeSpec>;  // by inst_id; only those that ask for one

// Plain, gzip or inside tar; throw Error "path:line: expected ..., found ...". A task's seconds are from its
// start to its end, waiting for instances included.
PaiTasks ReadPaiTasks(const std::string& path);
PaiJobs ReadPaiJobs(const std::string& path);
PaiTypeSpecs ReadPaiTypeSpecs(const std::string& path);
OpenbNodes ReadPaiMachines(const std::string& path);

// Gives each task the mean time that its instances ran (get_dfia in the authors' analysis/utils.py: what the
// paper calls a task's run time). Instances whose times are unknown or the wrong way round do not count, and
// tasks that have no others are taken out and counted as not run.
void TimeByInstances(const std::string& path, PaiTasks& tasks);

}  // namespace berth
