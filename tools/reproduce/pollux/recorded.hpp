// What was recorded of the Pollux artifact's simulator: its workloads, and how runs on them went.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth::pollux {

inline constexpr const char* kLoads[] = {"0.5", "1.0", "1.5",
                                         "2.0"};  // of the artifact's default, 160 jobs in 8 h

// One run. `seconds` [J] from submission to completion; `restarts` [J], empty = not recorded.
struct Run {
  std::string policy, load;  // "tiresias", "1.0"
  int workload = 0;          // from 1
  std::vector<double> seconds;
  std::vector<int> restarts;
  double Mean() const;
};

// A folder with profiles/APPLICATION/*.csv, workloads/load-L/workload-N.csv, and in golden/ the records:
// jct_tiresias_optimus.json.gz, jct_pollux_ga_authors.json.gz, throughput_lookups.csv.gz (step times that
// were asked for, as the artifact's interpolation answered).
class Folder {
 public:
  explicit Folder(std::filesystem::path path);  // throws Error where it is none
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // 16 nodes of 4 GPUs, rounds of 60 s; `batch` as the feature's setting.
  Scenario Workload(const std::string& load, int workload, const std::string& batch,
                    const std::string& more = "") const;
  std::vector<Run> Recorded() const;
  // What Workload gives, in 16 digits: by what is in the files, wherever the folder lies.
  std::string Hash(const std::string& load, int workload, const std::string& batch) const;

 private:
  std::string WorkloadFile(const std::string& load, int workload) const;
  std::filesystem::path path_, unpacked_;  // of the look-ups
  std::string shared_;                     // names and hashes of what all workloads share
};

}  // namespace berth::pollux
