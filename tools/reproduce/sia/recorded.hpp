// What was recorded of the Sia artifact's simulator: its workloads, how runs on them went, and integer
// programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baselines/adaptive/sia_program.hpp"
#include "env/sim/scenario.hpp"

namespace berth::sia {

struct RecordedProgram {
  std::string id;
  Program program;
  double objective;  // the least, by HiGHS without a gap
};

struct RecordedRun {
  std::vector<double> seconds;  // [J] from submission to completion
  std::vector<int> restarts;    // [J]
};

// A folder with profiles/APPLICATION/*.csv, workloads/TRACE/workload-N.csv, ilp/ilp_public.json.gz and in
// golden/ jct_w1.json.gz. The training curves are those of the Pollux artifact: `curves`, its folder of
// profiles.
class Folder {
 public:
  Folder(std::filesystem::path path, std::filesystem::path curves);  // throws Error where one is none
  // 6 nodes of 4 T4, 2 of 8 A100, 3 of 8 RTX 2080 Ti; `batch` as the feature's setting.
  Scenario Workload(const std::string& trace, int workload, double round_s, const std::string& batch) const;
  // Of the first workload of helios-saturn: its jobs' names, what Sia chose (sia/playback.hpp), and how runs
  // went: "sia", "sia_highs" or "gavel+tunedjobs".
  std::vector<std::string> Names() const;
  std::string Choices() const { return (path_ / "golden/rounds_sia_w1.json.gz").string(); }
  RecordedRun Recorded(const std::string& policy) const;
  std::vector<RecordedProgram> Programs() const;

 private:
  std::string WorkloadFile(const std::string& trace, int workload) const;
  std::filesystem::path path_, curves_;
};

}  // namespace berth::sia
