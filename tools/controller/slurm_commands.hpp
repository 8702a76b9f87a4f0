// Slurm by its own commands: squeue, sinfo and scontrol, found on PATH, of the cluster that SLURM_CONF in the
// environment names.
#pragma once

#include <string>
#include <vector>

#include "tools/controller/slurm_state.hpp"

namespace berth {

// Thread rule: one thread at a time.
class SlurmCommands {
 public:
  // `recorded`: a folder with squeue.json and sinfo.json to read in place of a cluster; "" = the cluster.
  // `limit_s`: how long a command may take.
  explicit SlurmCommands(std::string recorded = "", double limit_s = 30.0);

  // Throws Error: a command that is missing, fails, takes too long, or says what cannot be read.
  SlurmState Read();
  // Of `scontrol show config`. Throws Error as Read.
  std::string Config();

  // What is asked of scontrol for one job, each several words: {"update", "JobId=17", "ReqNodeList=v1"}. "" =
  // done, else what Slurm says.
  std::string Ask(const std::vector<std::string>& words);
  // Runs any other of Slurm's commands. Throws Error as Read.
  std::string Run(const std::vector<std::string>& words);

 private:
  std::string recorded_, last_squeue_, last_sinfo_;
  double limit_s_;
  bool nodes_by_scontrol_ = false;
  SlurmState state_;
};

// Is this user one whom Slurm lets change others' jobs? "" = yes, else why not, in words. `config`: of
// SlurmCommands::Config.
std::string MissingRights(SlurmCommands& slurm, const std::string& config);
// A value of `scontrol show config`, "" = none.
std::string ConfigValue(const std::string& config, const std::string& key);
// By whom Slurm is asked.
std::string UserName();
// Seconds by which this machine's clock is ahead of the controller's; where clocks repeat an hour the lesser
// of both.
double ClockSkew(const std::string& config, double now_s);

}  // namespace berth
