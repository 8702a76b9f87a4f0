#include "data/pai.hpp"

#include <algorithm>
#include <cmath>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr const char* kTasks[] = {"job_name", "task_name", "inst_num", "status",   "start_time",
                                  "end_time", "plan_cpu",  "plan_mem", "plan_gpu", "gpu_type"};
constexpr const char* kJobColumns[] = {"job_name", "inst_id", "user", "status", "start_time", "end_time"};
constexpr const char* kInstances[] = {"job_name", "task_name",  "inst_name", "worker_name", "inst_id",
                                      "status",   "start_time", "end_time",  "machine"};
constexpr const char* kTags[] = {"inst_id", "user", "gpu_type_spec", "group", "workload"};
constexpr const char* kMachines[] = {"machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"};
constexpr int kMostAmount = 1'000'000;  // of any amount: more is damage, and would not fit an int

// An amount that may be missing, which is 0.
double Amount(const CsvFile& file, const char* column) {
  if (file.Text(column).empty()) return 0.0;
  const double value = file.Number(column);
  if (!(value >= 0.0 && value <= kMostAmount))
    throw Error(Join(file.Where(), ": ", column, ": expected 0 to ", kMostAmount, ", found ", value));
  return value;
}

// The table writes whole numbers as "2.0".
int WholeAmount(const CsvFile& file, const char* column) {
  const double value = Amount(file, column);
  if (value != std::floor(value))
    throw Error(Join(file.Where(), ": ", column, ": expected a whole number, found ", value));
  return static_cast<int>(value);
}

// 0 = unknown.
double Moment(const CsvFile& file, const char* column) {
  return file.Text(column).empty() ? 0.0 : std::max(file.Number(column), 0.0);
}

// From start_time to end_time; 0 where one of them is unknown, or they are the wrong way round.
double RunSeconds(const CsvFile& file) {
  const double start = Moment(file, "start_time"), end = Moment(file, "end_time");
  return start > 0.0 && end > start ? end - start : 0.0;
}

std::string KeyOf(const std::string& job, const std::string& task) {
  return Join(job, ",", task);
}

}  // namespace

PaiTasks ReadPaiTasks(const std::string& path) {
  CsvFile file(path, NoHeader{}, kTasks);
  PaiTasks read;
  while (file.Next()) {
    PaiTask task;
    task.gpus = Amount(file, "plan_gpu") / 100.0;
    task.instances = WholeAmount(file, "inst_num");
    task.seconds = RunSeconds(file);
    task.cores = Amount(file, "plan_cpu") / 100.0;
    task.memory_gb = Amount(file, "plan_mem");
    if (task.gpus == 0.0) {
      ++read.without_gpu;
    } else if (file.Text("status") != "Terminated") {
      ++read.not_terminated;
    } else if (task.instances == 0 || task.seconds == 0.0) {
      ++read.not_run;
    } else {
      task.job = file.Text("job_name");
      task.name = file.Text("task_name");
      task.gpu_type = file.Text("gpu_type");
      task.line = file.line();
      read.tasks.push_back(std::move(task));
    }
  }
  return read;
}

PaiJobs ReadPaiJobs(const std::string& path) {
  CsvFile file(path, NoHeader{}, kJobColumns);
  PaiJobs jobs;
  while (file.Next()) {
    const double submitted = Moment(file, "start_time");
    if (submitted > 0.0)
      jobs.try_emplace(file.Text("job_name"), PaiJob{file.Text("inst_id"), file.Text("user"), submitted});
  }
  return jobs;
}

PaiTypeSpecs ReadPaiTypeSpecs(const std::string& path) {
  CsvFile file(path, NoHeader{}, kTags);
  PaiTypeSpecs specs;
  while (file.Next()) {
    if (!file.Text("gpu_type_spec").empty())
      specs.try_emplace(file.Text("inst_id"), PaiTypeSpec{file.Text("gpu_type_spec"), file.line()});
  }
  return specs;
}

OpenbNodes ReadPaiMachines(const std::string& path) {
  CsvFile file(path, NoHeader{}, kMachines);
  OpenbNodes all;
  while (file.Next()) {
    OpenbNode node;
    node.name = file.Text("machine");
    node.cpu_milli = 1000 * WholeAmount(file, "cap_cpu");
    node.memory_mib = static_cast<int>(1024.0 * Amount(file, "cap_mem"));
    node.gpus = WholeAmount(file, "cap_gpu");
    if (node.gpus > 0) {
      const std::string& model = file.Text("gpu_type");
      if (model.empty()) throw Error(Join(file.Where(), ": gpu_type: expected a name, found nothing"));
      const auto at = std::find(all.models.begin(), all.models.end(), model);
      node.model = static_cast<int>(at - all.models.begin());
      if (at == all.models.end()) all.models.push_back(model);
      if (all.models.size() > 64)
        throw Error(Join(file.Where(), ": expected at most 64 GPU types, found more"));
    }
    all.nodes.push_back(std::move(node));
  }
  if (all.models.empty()) throw Error(Join(path, ": expected a machine a line, found none with GPUs"));
  return all;
}

void TimeByInstances(const std::string& path, PaiTasks& tasks) {
  struct Runs {
    double seconds = 0.0;
    int count = 0;
  };
  std::unordered_map<std::string, Runs> runs;  // of the tasks' instances
  for (const PaiTask& task : tasks.tasks) runs.try_emplace(KeyOf(task.job, task.name));
  CsvFile file(path, NoHeader{}, kInstances);
  while (file.Next()) {
    const double seconds = RunSeconds(file);
    const auto of_task = runs.find(KeyOf(file.Text("job_name"), file.Text("task_name")));
    if (seconds == 0.0 || of_task == runs.end()) continue;
    of_task->second.seconds += seconds;
    ++of_task->second.count;
  }
  for (PaiTask& task : tasks.tasks) {
    const Runs& own = runs.at(KeyOf(task.job, task.name));
    task.seconds = own.count > 0 ? own.seconds / own.count : 0.0;
  }
  tasks.not_run +=
      static_cast<int>(std::erase_if(tasks.tasks, [](const PaiTask& t) { return t.seconds <= 0.0; }));
}

}  // namespace berth
