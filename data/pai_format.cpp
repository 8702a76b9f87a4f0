// PAI's tasks as jobs and its machines as the cluster (pai.hpp). The trace to name is pai_task_table; the
// other tables are looked for in its folder. A task is what gets its instances' GPUs at once, so every task
// with GPUs is a job of its own, at 1 step/s on every type: the trace measures no speed.
//   arrival   when its job was submitted (start_time in pai_job_table);
//   run time  the mean of its instances' where pai_instance_table is there; else from the task's start to its
//             end, waiting for instances included;
//   GPUs      its instances packed on as few as hold them: a share of one (gpu_milli, feature sharing with
//             share_suffices=true, since it ran as long on that) where one holds all, else whole GPUs. 2
//             instances of 0.25 are half a GPU, 5 are two GPUs;
//   types     where pai_group_tag_table is there, the one its job asks for, or all; else the one that it ran
//             on: gpu_type is what was assigned, not what was asked for;
//   demand    plan_cpu (cores) and plan_mem (GB) of all instances, for each GPU; tenant: the user.
// Left out and counted in the provenance: tasks without GPU, not Terminated, without instances or times, of
// jobs whose submission is not known, and larger than every type that they may run on.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "data/alibaba_cluster.hpp"
#include "data/pai.hpp"
#include "data/rigid_trace.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// "pai_job_table" in the folder of the table of tasks, as published, unpacked or packed anew; "" = none.
std::string TableBeside(const std::string& tasks, const std::string& name) {
  const std::string table = tasks.substr(0, tasks.find_last_of('/') + 1) + name;
  for (const char* ending : {".csv", ".csv.gz"}) {
    if (std::filesystem::exists(table + ending)) return table + ending;
  }
  return std::filesystem::exists(table + ".tar.gz") ? Join(table, ".tar.gz:", name, ".csv") : "";
}

std::string NeededBeside(const std::string& tasks, const std::string& name, const char* or_else) {
  std::string table = TableBeside(tasks, name);
  if (table.empty()) {
    throw Error(Join(tasks, ": expected ", name, ".csv, .csv.gz or .tar.gz in the same folder", or_else,
                     ", found none"));
  }
  return table;
}

struct Gpus {
  int count = 0;
  int milli = 1000;  // thousandths of each
};

constexpr double kMostGpusOfTask = 1e9;  // of a task: no type has as many

Gpus Packed(const PaiTask& task) {
  if (task.gpus >= 1.0) {
    const double count = task.instances * std::ceil(task.gpus);
    return {static_cast<int>(std::min(count, kMostGpusOfTask)), 1000};
  }
  const double held = std::floor(1.0 / task.gpus);  // instances that a GPU has room for
  if (task.instances > held) return {static_cast<int>(std::ceil(task.instances / held)), 1000};
  return {1, std::clamp(static_cast<int>(std::lround(1000.0 * task.gpus * task.instances)), 1, 1000)};
}

// Which types of the trace's own cluster tasks may run on.
class Types {
 public:
  Types(const std::string& tasks, const OpenbNodes& nodes, const AlibabaCluster& cluster)
      : nodes_(nodes), cluster_(cluster), table_(TableBeside(tasks, "pai_group_tag_table")) {
    if (!table_.empty()) specs_ = ReadPaiTypeSpecs(table_);
  }
  bool specs() const { return !table_.empty(); }
  // Bits; 0 = all.
  std::uint64_t Of(const PaiTask& task, const PaiJob& job, const std::string& where) const {
    if (!specs()) return OfModel(task.gpu_type, Join(where, ": gpu_type"));
    const auto spec = specs_.find(job.inst_id);
    if (spec == specs_.end()) return 0;
    return OfModel(spec->second.type, Join(table_, ":", spec->second.line, ": gpu_type_spec"));
  }

 private:
  std::uint64_t OfModel(const std::string& model, const std::string& where) const {
    if (model.empty()) return 0;
    const auto at = std::find(nodes_.models.begin(), nodes_.models.end(), model);
    if (at == nodes_.models.end())
      throw Error(Join(where, ": no machine has a '", model, "'", DidYouMean(model, nodes_.models)));
    return cluster_.types_of_model[static_cast<std::size_t>(at - nodes_.models.begin())];
  }
  const OpenbNodes& nodes_;
  const AlibabaCluster& cluster_;
  std::string table_;
  PaiTypeSpecs specs_;
};

bool Fits(int gang, std::uint64_t allowed, const ClusterSpec& cluster) {
  for (std::size_t g = 0; g < cluster.types.size(); ++g) {
    if (cluster.types[g].count >= gang && (allowed == 0 || (allowed >> g & 1) != 0)) return true;
  }
  return false;
}

Scenario ReadPai(const std::string& path, const ScenarioSettings& settings) {
  PaiTasks read = ReadPaiTasks(path);
  const PaiJobs of_name = ReadPaiJobs(NeededBeside(path, "pai_job_table", ""));
  const std::string instances = TableBeside(path, "pai_instance_table");
  if (!instances.empty()) TimeByInstances(instances, read);
  const bool another = !settings.cluster.types.empty();  // of which the trace's types say nothing
  OpenbNodes nodes;
  if (!another) nodes = ReadPaiMachines(NeededBeside(path, "pai_machine_spec", " or --cluster"));
  const AlibabaCluster own = ClusterOf(nodes);
  const ClusterSpec& cluster = another ? settings.cluster : own.spec;
  std::optional<Types> types;
  if (!another) types.emplace(path, nodes, own);

  std::vector<RigidJob> jobs;
  std::vector<Tenant> tenants;
  std::unordered_map<std::string, int> users;
  std::unordered_set<std::string_view> names;
  int without_job = 0, too_large = 0;
  for (const PaiTask& task : read.tasks) {
    const auto of_task = of_name.find(task.job);
    if (of_task == of_name.end()) {
      ++without_job;
      continue;
    }
    const Gpus gpus = Packed(task);
    RigidJob job;
    if (types) job.allowed = types->Of(task, of_task->second, Join(path, ":", task.line));
    if (!Fits(gpus.count, job.allowed, cluster)) {
      ++too_large;
      continue;
    }
    job.id = job.line = task.line;
    job.submit = of_task->second.submitted;
    job.seconds = task.seconds;
    job.gang = gpus.count;
    job.gpu_milli = gpus.milli;
    job.cores = task.cores * task.instances / gpus.count;
    job.memory_gb = task.memory_gb * task.instances / gpus.count;
    const auto [user, is_new] = users.try_emplace(of_task->second.user, static_cast<int>(tenants.size()));
    if (is_new) tenants.push_back(Tenant{user->first});
    job.tenant = user->second;
    names.insert(task.job);
    jobs.push_back(job);
  }
  const std::string note =
      Join(" (tasks of ", names.size(), " jobs; left out: ", read.without_gpu, " without GPU, ",
           read.not_terminated, " not Terminated, ", read.not_run, " without instances or times, ",
           without_job, " of jobs not submitted, ", too_large, " larger than their GPU types; run times of ",
           instances.empty() ? "tasks" : "instances", "; GPU types ",
           another          ? "passed over: another cluster"
           : types->specs() ? "as asked for"
                            : "as they ran",
           ")");
  if (jobs.empty()) throw Error(Join(path, ": expected tasks with GPUs, found none", note));
  return RigidScenario(path, settings, cluster, std::move(jobs), std::move(tenants), note);
}

std::vector<std::string> PaiTablesBeside(const std::string& path) {
  std::vector<std::string> tables;
  for (const char* name :
       {"pai_job_table", "pai_instance_table", "pai_group_tag_table", "pai_machine_spec"}) {
    std::string table = TableBeside(path, name);
    if (!table.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

FormatInfo PaiFormatInfo() {
  return {
      "pai",
      "Alibaba cluster-trace-gpu-v2020, its pai_task_table with the other tables beside it; plain, gzip or "
      "ARCHIVE.tar.gz:FILE",
      "Weng et al., NSDI 2022",
      {ClockKind::kEvent, 360.0},
      ReadPai,
      PaiTablesBeside};
}

}  // namespace berth
