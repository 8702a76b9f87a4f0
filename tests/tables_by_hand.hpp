// Tables of one's own: three jobs, the speeds of their types, and a cluster.
#pragma once

#include <fstream>
#include <string>

#include "data/tables/job_table.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::test {

inline constexpr const char* kJobs =
    "id,submitted_at,runtime,n_gpu,model,team\n"
    "7,100,1:00:00,4,resnet,vision\n"
    "9,40,30m,1,resnet,nlp\n"
    "8,160,0-01:00:00,8,\"bert, large\",nlp\n";
inline constexpr const char* kSpeeds =
    "job_type,gpu_type,gpus,steps_per_s\n"
    "resnet,h100,1,10\nresnet,h100,4,36\nresnet,a100,1,4\nresnet,a100,4,12\n"
    "\"bert, large\",h100,8,20\n\"bert, large\",a100,8,0\n";
inline constexpr const char* kCluster =
    "clock = \"rounds(300)\"\n\n[[gpu]]\nname = \"h100\"\ncount = 8\nper_node = 8\nprice_per_hour = 2.5\n"
    "[[gpu]]\nname = \"mine\"\ncount = 16\nmemory_gb = 48\n[[tenant]]\nname = \"nlp\"\nweight = 3\n";

struct Tables : TemporaryFolder {
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
  }
  // `text` as jobs on 8 h100 and 8 a100.
  JobTableScenario Read(const std::string& text, const JobTableRequest& request = {}) const {
    ScenarioSettings settings;
    settings.cluster = ParseCluster("h100=8,a100=8");
    return ReadJobTable(Write("jobs.csv", text), request, settings);
  }
};

}  // namespace berth::test
