// What slurm.conf says about scheduling. Meanings and defaults: slurm.conf(5) and the pages "Multifactor
// Priority" and "Scheduling Configuration Guide" of Slurm 22.05.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "env/base/slurm_conf.hpp"

namespace berth {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

struct SlurmPartitionRules {
  std::string name;
  std::vector<int> nodes;  // of SlurmSettings::nodes; all of the cluster where that is empty
  double max_time = kUnlimited, default_time = kUnlimited;  // s; of default_time infinite = max_time
  double max_nodes = kUnlimited;
  int tier = 1;                     // PriorityTier
  int job_factor = 1;               // PriorityJobFactor
  bool up = true, preempts = true;  // PreemptMode=OFF: its jobs are left alone
};

struct SlurmSettings {
  enum class Preempt { kNone, kPartition, kQos };
  bool multifactor = false;  // PriorityType; otherwise by arrival
  bool backfill = true;      // SchedulerType; false also where bf_interval is -1, then infinite
  bool fair_tree = true;     // PriorityFlags lacks NO_FAIR_TREE
  bool favor_small = false, relative_to_time = false;
  double weight_age = 0.0, weight_fair_share = 0.0, weight_size = 0.0, weight_partition = 0.0,
         weight_qos = 0.0;
  double weight_gpu = 0.0;            // gres/gpu of PriorityWeightTRES
  double fair_share_dampening = 1.0;  // of the classic formula; Fair Tree has none
  double half_life = 604800.0;        // s, infinite = usage is never forgotten
  double calc_period = 300.0;         // s
  double look_s = 1.0;                // s between the moments at which the daemon looks what there is to do
  bool spread = false;                // gangs ask for GPUs a task, which any nodes of a type may give
  double calc_phase = 0.0;            // s; priorities are counted at this moment and every calc_period
  double max_age = 604800.0;          // s
  double batch_sched_delay = 3.0;     // s
  double bf_interval = 30.0, bf_window = 86400.0, bf_resolution = 60.0;  // s
  double bf_window_scale = 0.0;                                          // s; 0 = windows double
  double bf_min_age_reserve = 0.0;                                       // s
  int bf_max_job_test = 500, bf_max_job_part = 0, bf_max_job_user = 0, bf_max_job_start = 0;  // 0 = no limit
  Preempt preempt = Preempt::kNone;
  std::vector<SlurmNode> nodes;                 // with GPUs; empty = those of the scenario
  std::vector<double> node_weights;             // of `nodes`
  std::vector<SlurmPartitionRules> partitions;  // one that has all nodes where the file has none
  int default_partition = 0;
  std::vector<std::string> unread;  // settings of scheduling that are not read, by name
  int other_unread = 0;             // and settings about other things
};

// Slurm's defaults.
SlurmSettings DefaultSlurmSettings();
// Throws Error "file:line: Key: expected ..., found ...".
SlurmSettings ReadSlurmSettings(const std::string& path);

}  // namespace berth
