// OpenB's nodes and pods as a workload: what a pod becomes, what is left out, which line is wrong.
#include <filesystem>
#include <fstream>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

const std::string kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\nn-1,8000,65536,2,P100\nn-0,8000,65536,4,T4\nn-2,8000,65536,2,T4\n";
const std::string kHead =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,"
    "scheduled_"
    "time\n";

Scenario Read(const test::TemporaryFolder& folder, const std::string& pods,
              const std::string& nodes = kNodes) {
  std::ofstream(folder / "openb_node_list_gpu_node.csv") << nodes;
  std::ofstream(folder / "pods.csv") << pods;
  return FindFormat("openb").read(folder / "pods.csv", {});
}

}  // namespace

TEST_CASE("openb: pods become jobs that hold parts of GPUs, on types by model and node") {
  const test::TemporaryFolder folder;
  const Scenario scenario = Read(folder, kHead +
                                             "p-0,3000,2048,1,250,T4,BE,Succeeded,100,190,130\n"
                                             "p-1,8000,4096,2,1000,,LS,Running,50,250,50\n"
                                             "p-2,1000,1024,0,0,,LS,Running,0,10,0\n"
                                             "p-3,1000,1024,1,1000,,LS,Pending,0,10,\n");
  const ScenarioData& data = scenario.data();
  REQUIRE(scenario.num_types() == 3);  // P100, as the first in the file; T4 in nodes of 2 and of 4
  CHECK(data.cluster.types[0].name == "P100");
  CHECK(data.cluster.types[1].name == "T4x2");
  CHECK(data.cluster.types[2].name == "T4x4");
  CHECK(data.cluster.types[2].count == 4);
  REQUIRE(scenario.num_jobs() == 2);
  CHECK(data.jobs.arrival == std::vector<double>{0, 50});  // from the first that is a job
  CHECK(data.jobs.total_steps == std::vector<double>{200, 60});
  CHECK(data.jobs.gpu_milli == std::vector<int>{1000, 250});
  CHECK(data.jobs.allowed == std::vector<std::uint64_t>{7, 6});
  CHECK(data.jobs.qos == std::vector<int>{0, 2});
  CHECK(scenario.Demand(0, 0) == 4.0);  // cores of each GPU
  CHECK(scenario.Demand(1, 1) == 2.0);  // GB
  CHECK_THAT(data.provenance, Catch::EndsWith(" (left out: 1 pod without GPU, 1 that never ran; 1 that ran on when "
                                              "the trace ended count as ended then)"));
}

TEST_CASE("openb: a pod that was deleted before the end, or is over, did not run on") {
  const test::TemporaryFolder folder;
  const std::string head = kHead + "p-0,1,1,1,1000,,LS,Running,0,10,0\n";
  for (const char* last : {"p-1,1,1,1,1000,,LS,Failed,0,20,0\n", "p-1,1,1,0,0,,LS,Running,0,20,0\n"})
    CHECK_THAT(Read(folder, head + last).data().provenance, Catch::EndsWith("that never ran)"));
}

TEST_CASE("openb: a wrong line is named") {
  const test::TemporaryFolder folder;
  const auto error = [&](const std::string& row, const std::string& nodes = kNodes) -> std::string {
    try {
      Read(folder, kHead + row, nodes);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(error("p-0,1,1,1,1500,,LS,Running,0,10,0\n")
            .find("pods.csv:2: gpu_milli: expected 1 to 1000, found 1500") != std::string::npos);
  CHECK(error("p-0,1,1,2,500,,LS,Running,0,10,0\n").find("expected 1000 of each of 2 GPUs") !=
        std::string::npos);
  CHECK(error("p-0,1,1,1,500,T5,LS,Running,0,10,0\n").find("no node has a 'T5' (did you mean 'T4'?)") !=
        std::string::npos);
  CHECK(error("p-0,1,1,1,500,,Best,Running,0,10,0\n").find("qos: expected LS, Guaranteed") !=
        std::string::npos);
  CHECK(error("p-0,1,1,0,0,,LS,Running,0,10,0\n").find("found none among 1") != std::string::npos);
}

TEST_CASE("openb: the published list with parts of GPUs") {
  const std::string path =
      BERTH_SOURCE_DIR "/../shared/traces/alibaba-gpu-v2023-openb/openb_pod_list_default.csv.gz";
  if (!std::filesystem::exists(path)) return test::Skip("needs Alibaba's OpenB trace (not shipped)");
  const Scenario scenario = FindFormat("openb").read(path, {});
  CHECK(scenario.num_gpus() == 6212);
  // 8,152 pods; 1,088 without a GPU. Of the 7,064 others those that were scheduled and ended later.
  CHECK(scenario.num_jobs() > 6000);
  CHECK(scenario.num_jobs() <= 7064);
  CHECK(scenario.data().jobs.gpu_milli.size() == scenario.data().jobs.arrival.size());
  CHECK_THAT(scenario.data().provenance, Catch::Contains("; 32 that ran on when the trace ended"));
}

}  // namespace berth
