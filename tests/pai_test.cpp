// Alibaba's PAI: what becomes of its tables, what is left out, which line of which table is wrong, and the
// published tables where they are at hand. The rows here are made up.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "data/text_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/packed_files.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::MessageOf;
using test::Says;
using test::TemporaryFolder;

using Tables = std::map<std::string, std::string>;  // by name

// T4 in machines of 2 (4 in all), P100 in one of 2, V100 in one of 8.
Tables Sample() {
  return {{"pai_task_table",
           "j-a,worker,2.0,Terminated,110.0,400.0,600.0,30.0,25.0,T4\n"
           "j-a,ps,1.0,Terminated,105.0,400.0,400.0,10.0,,\n"  // without GPU
           "j-b,tensorflow,3.0,Terminated,60.0,260.0,100.0,4.0,50.0,P100\n"
           "j-b,evaluator,1.0,Terminated,60.0,70.0,,,200.0,P100\n"
           "j-c,worker,1.0,Failed,60.0,70.0,100.0,1.0,100.0,T4\n"        // not Terminated
           "j-d,worker,1.0,Terminated,10.0,,100.0,1.0,100.0,T4\n"        // without end
           "j-d,worker2,1.0,Terminated,0.0,90.0,100.0,1.0,100.0,T4\n"    // without start
           "j-e,worker,1.0,Terminated,60.0,70.0,100.0,1.0,100.0,T4\n"    // its job is not known
           "j-f,worker,9.0,Terminated,60.0,70.0,100.0,1.0,100.0,V100\n"  // there are 8
           "j-g,worker,1.0,Terminated,60.0,70.0,100.0,1.0,100.0,T4\n"},  // submitted at no known time
          {"pai_job_table",
           "j-a,i-a,u-1,Terminated,100.0,400.0\n"
           "j-b,i-b,u-2,Terminated,50.0,260.0\n"
           "j-c,i-c,u-2,Failed,50.0,70.0\n"
           "j-d,i-d,u-2,Terminated,10.0,90.0\n"
           "j-f,i-f,u-2,Terminated,10.0,90.0\n"
           "j-g,i-g,u-2,Terminated,,90.0\n"},
          {"pai_machine_spec",
           "m-0,T4,96,512,2\nm-1,T4,96,512,2\nm-2,P100,64,512,2\nm-3,V100,96,512,8\nm-4,CPU,64,512,0\n"}};
}

void Write(const TemporaryFolder& folder, const Tables& tables) {
  for (const auto& [name, text] : tables) std::ofstream(folder / (name + ".csv")) << text;
}

Scenario Read(const TemporaryFolder& folder, const Tables& tables, const ScenarioSettings& settings = {}) {
  Write(folder, tables);
  return FindFormat("pai").read(folder / "pai_task_table.csv", settings);
}

// Jobs, and lines that the provenance counts as left out: five numbers behind "left out:".
int Accounted(const Scenario& scenario) {
  const std::string& text = scenario.data().provenance;
  int lines = scenario.num_jobs();
  std::size_t at = text.find("left out:");
  for (int group = 0; group < 5; ++group) {
    at = text.find_first_of("0123456789", at);
    REQUIRE(at != std::string::npos);
    lines += std::atoi(text.c_str() + at);
    at = text.find_first_not_of("0123456789", at);
  }
  return lines;
}

ScenarioSettings On(const char* cluster) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  return settings;
}

}  // namespace

TEST_CASE("pai: tasks become jobs on a cluster of the machines", "[readers]") {
  const TemporaryFolder folder;
  const Scenario scenario = Read(folder, Sample());
  const ScenarioData& data = scenario.data();
  REQUIRE(scenario.num_types() == 3);
  CHECK(data.cluster.types[0].name == "T4");
  CHECK(data.cluster.types[0].count == 4);
  CHECK(data.cluster.types[0].gpus_per_node == 2);
  CHECK(data.cluster.types[1].name == "P100");
  CHECK(data.cluster.types[2].memory_gb == 16.0);
  // Lines 3 and 4 were submitted at 50, line 1 at 100.
  CHECK(data.jobs.id == std::vector<std::int64_t>{3, 4, 1});
  CHECK(data.jobs.arrival == std::vector<double>{0, 0, 50});
  CHECK(data.jobs.total_steps == std::vector<double>{200, 10, 290});  // end - start of the task
  // 3 halves need two GPUs, 1 x 200% are two, 2 quarters are half of one.
  CHECK(data.jobs.gang == std::vector<int>{2, 2, 1});
  CHECK(data.jobs.gpu_milli == std::vector<int>{1000, 1000, 500});
  CHECK(data.jobs.allowed == std::vector<std::uint64_t>{2, 2, 1});  // where they ran
  CHECK(scenario.Demand(0, 0) == 1.5);                              // 3 x 1 core on two GPUs
  CHECK(scenario.Demand(0, 1) == 6.0);                              // 3 x 4 GB
  CHECK(scenario.Demand(1, 0) == 0.0);
  CHECK(scenario.Demand(2, 0) == 12.0);  // 2 x 6 cores
  CHECK(scenario.Demand(2, 1) == 60.0);
  REQUIRE(data.tenants.size() == 2);
  CHECK(data.tenants[0].name == "u-1");
  CHECK(data.jobs.tenant == std::vector<int>{1, 1, 0});
  CHECK(
      Says(data.provenance,
           "pai_task_table.csv (tasks of 2 jobs; left out: 1 without GPU, 1 not Terminated, 2 without "
           "instances or times, 2 of jobs not submitted, 1 larger than their GPU types; run times of tasks; "
           "GPU types as they ran)"));
}

TEST_CASE("pai: instances say how long a task ran, tags which GPU type it asked for", "[readers]") {
  const TemporaryFolder folder;
  Tables tables = Sample();
  // Line 3 ran 100, 140 and 60 s: 100 in the mean, beside two that ended no later than they began; line 1 200 s twice; of line 4 no
  // instance has both times.
  tables["pai_instance_table"] =
      "j-b,tensorflow,n0,w0,i-b,Terminated,60.0,160.0,m-2\n"
      "j-b,tensorflow,n1,w1,i-b,Terminated,60.0,200.0,m-2\n"
      "j-b,tensorflow,n2,w2,i-b,Terminated,70.0,130.0,m-2\n"
      "j-b,tensorflow,n2,w3,i-b,Failed,,130.0,m-2\n"
      "j-b,tensorflow,n2,w3,i-b,Failed,1450.0,1150.0,m-2\n"
      "j-b,tensorflow,n2,w3,i-b,Failed,90.0,90.0,m-2\n"
      "j-b,evaluator,n0,w4,i-b,Terminated,60.0,0.0,m-2\n"
      "j-a,worker,n0,w5,i-a,Terminated,150.0,350.0,m-0\n"
      "j-a,worker,n1,w6,i-a,Terminated,130.0,330.0,m-1\n"
      "j-a,ps,n0,w7,i-a,Terminated,1.0,2.0,m-4\n"
      "j-f,worker,n0,w8,i-f,Terminated,60.0,70.0,m-3\n";
  tables["pai_group_tag_table"] = "i-a,u-1,V100,g-1,bert\ni-b,u-2,,g-2,\n";
  const Scenario scenario = Read(folder, tables);
  const JobTable& jobs = scenario.data().jobs;
  CHECK(jobs.id == std::vector<std::int64_t>{3, 1});
  CHECK(jobs.total_steps == std::vector<double>{100, 200});
  CHECK(jobs.allowed == std::vector<std::uint64_t>{7, 4});
  // Without times are lines 6 and 7, and without instances of known times 4, 8 and 10. Line 9 asks for no
  // type, and no type has its 9 GPUs.
  CHECK(Says(
      scenario.data().provenance,
      "5 without instances or times, 0 of jobs not submitted, 1 larger than their GPU types; run times of "
      "instances; GPU types as asked for"));
}

TEST_CASE("pai: instances are packed on GPUs", "[readers]") {
  const TemporaryFolder folder;
  struct Case {
    const char *instances, *plan;
    int gang, milli;
  };
  for (const Case& c :
       {Case{"1.0", "100.0", 1, 1000}, Case{"1.0", "10.0", 1, 100}, Case{"4.0", "25.0", 1, 1000},
        Case{"5.0", "25.0", 2, 1000}, Case{"3.0", "60.0", 3, 1000}, Case{"2.0", "33.0", 1, 660},
        Case{"20.0", "5.0", 1, 1000}, Case{"1.0", "150.0", 2, 1000}, Case{"2.0", "400.0", 8, 1000},
        Case{"1", "0.01", 1, 1}}) {
    CAPTURE(c.instances, c.plan);
    Tables tables = Sample();
    // Beside a share, so that the column is there.
    tables["pai_task_table"] = Join("j-a,w,1,Terminated,1,2,1,1,50,T4\n", "j-b,w,", c.instances,
                                    ",Terminated,1,2,1,1,", c.plan, ",T4\n");
    const Scenario scenario = Read(folder, tables, On("v100=64/8"));
    REQUIRE(scenario.num_jobs() == 2);  // j-b was submitted first
    CHECK(scenario.data().jobs.gang[0] == c.gang);
    CHECK(scenario.data().jobs.gpu_milli[0] == c.milli);
  }
}

TEST_CASE("pai: another cluster, shares of its GPUs, no restriction to types", "[readers]") {
  const TemporaryFolder folder;
  Tables tables = Sample();
  tables.erase("pai_machine_spec");
  CHECK(Says(MessageOf([&] { Read(folder, tables); }),
             "pai_task_table.csv: expected pai_machine_spec.csv, .csv.gz or .tar.gz in the same folder or "
             "--cluster, found none"));
  ScenarioSettings settings = On("v100=16/8");
  settings.features = ParseFeatures("sharing");
  const Scenario scenario = Read(folder, tables, settings);
  CHECK(scenario.num_gpus() == 16);
  CHECK(scenario.num_jobs() == 4);  // 9 V100s are there
  CHECK(scenario.data().jobs.allowed.empty());
  CHECK(Says(scenario.data().provenance, "GPU types passed over: another cluster"));
  CHECK(Says(MessageOf([&] {
               Read(folder, {{"pai_task_table", "j-z,w,1,Terminated,1,2,1,1,50,T4\n"}}, settings);
             }),
             "expected tasks with GPUs, found none (tasks of 0 jobs; left out: 0 without GPU"));
}

TEST_CASE("pai: tables packed as published, or with their header put before them", "[readers]") {
  const Tables tables = Sample();
  const TemporaryFolder plain;
  const std::uint64_t hash = Read(plain, tables).Hash();
  const TemporaryFolder packed;
  for (const auto& [name, text] : tables)
    test::WriteGzip(packed / (name + ".tar.gz"),
                    test::TarMember(name + ".csv", text) + std::string(1024, '\0'));
  CHECK(FindFormat("pai").read(packed / "pai_task_table.tar.gz:pai_task_table.csv", {}).Hash() == hash);
  const TemporaryFolder gzip;
  for (const auto& [name, text] : tables) test::WriteGzip(gzip / (name + ".csv.gz"), text);
  CHECK(FindFormat("pai").read(gzip / "pai_task_table.csv.gz", {}).Hash() == hash);
  const TemporaryFolder headed;
  Tables with = tables;
  with["pai_task_table"] =
      "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n" +
      with["pai_task_table"];
  const Scenario read = Read(headed, with);
  CHECK(read.data().jobs.id == std::vector<std::int64_t>{4, 5, 2});  // lines, one further down
  CHECK(read.data().jobs.total_steps == std::vector<double>{200, 10, 290});
}

TEST_CASE("pai: a wrong line is named, of whichever table", "[readers]") {
  const TemporaryFolder folder;
  struct Case {
    const char* table;
    std::string text, expected;
  };
  const std::string task = "j-a,w,1.0,Terminated,110.0,400.0,600.0,30.0,";
  for (const Case& bad : std::vector<Case>{
           {"pai_task_table", "", "expected tasks with GPUs, found none"},
           {"pai_task_table", "j-a,w,1.0\n", ".csv:1: expected 10 comma-separated columns, found 3"},
           {"pai_task_table", task + "half,T4\n", ".csv:1: plan_gpu: expected a number, found 'half'"},
           {"pai_task_table", task + "-50,T4\n", ".csv:1: plan_gpu: expected 0 to 1000000, found -50"},
           {"pai_task_table", task + "inf,T4\n", ".csv:1: plan_gpu: expected 0 to 1000000, found inf"},
           {"pai_task_table", task + "50,T5\n",
            "pai_task_table.csv:1: gpu_type: no machine has a 'T5' (did you mean 'T4'?)"},
           {"pai_task_table", "j-a,w,1.5,Terminated,110,400,600,30,50,T4\n",
            ".csv:1: inst_num: expected a whole number, found 1.5"},
           {"pai_task_table", "j-a,w,1,Terminated,noon,400,600,30,50,T4\n",
            ".csv:1: start_time: expected a number, found 'noon'"},
           {"pai_task_table", "j-a,w,1,Terminated,1,inf,600,30,50,T4\n",
            ".csv:1: total_steps: expected > 0, found inf"},
           {"pai_task_table", "j-a,w,1,Failed,1,2,600,lots,0,\n", ".csv:1: plan_mem: expected a number"},
           {"pai_job_table", "j-a,i-a,u-1,Terminated\n", "pai_job_table.csv:1: expected 6 comma-separated"},
           {"pai_job_table", "j-a,i-a,u-1,Terminated,x,\n",
            "pai_job_table.csv:1: start_time: expected a number, found 'x'"},
           {"pai_job_table", "\n", "expected tasks with GPUs, found none"},
           {"pai_machine_spec", "m-0,T4,96,512,2\nm-1,T4,96,512,two\n",
            "pai_machine_spec.csv:2: cap_gpu: expected a number, found 'two'"},
           {"pai_machine_spec", "m-0,,96,512,2\n", "pai_machine_spec.csv:1: gpu_type: expected a name"},
           {"pai_machine_spec", "m-4,CPU,64,512,0\n", "pai_machine_spec.csv: expected a machine a line"},
           {"pai_instance_table", "j-a\n", "pai_instance_table.csv:1: expected 9 comma-separated columns"},
           {"pai_instance_table", "j-a,worker,n,w,i-a,Terminated,1,x,m-0\n",
            "pai_instance_table.csv:1: end_time: expected a number, found 'x'"},
           {"pai_group_tag_table", "i-z,u,,g,\ni-a,u-1,V10,g,\n",
            "pai_group_tag_table.csv:2: gpu_type_spec: no machine has a 'V10' (did you mean 'V100'?)"}}) {
    const TemporaryFolder own;
    Tables tables = Sample();
    tables[bad.table] = bad.text;
    const std::string message = MessageOf([&] { Read(own, tables); });
    CAPTURE(bad.table, message, bad.expected);
    CHECK(Says(message, bad.expected));
  }
  std::ofstream(folder / "pai_task_table.csv") << Sample().at("pai_task_table");
  CHECK(Says(MessageOf([&] { FindFormat("pai").read(folder / "pai_task_table.csv", {}); }),
             "expected pai_job_table.csv, .csv.gz or .tar.gz in the same folder, found none"));
}

TEST_CASE("pai: random damage to any table is read or refused in one line, never worse", "[readers]") {
  const TemporaryFolder folder;
  Tables sample = Sample();
  sample["pai_instance_table"] =
      "j-b,tensorflow,n0,w0,i-b,Terminated,60.0,160.0,m-2\nj-a,worker,n0,w5,i-a,Terminated,150.0,350.0,m-0\n";
  sample["pai_group_tag_table"] = "i-a,u-1,V100,g-1,bert\ni-b,u-2,,g-2,\n";
  int read = 0, refused = 0;
  std::uint32_t table = 0;
  for (const auto& [name, text] : sample) {
    ++table;
    for (std::uint32_t round = 0; round < 80; ++round) {
      Stream stream(1000 * table + round, Purpose::kTest);
      Tables damaged = sample;
      std::string& bytes = damaged[name];
      for (std::uint32_t flips = 1 + stream.Below(3); flips > 0; --flips) {
        const char with[] = {'\n', ',', '.', '-', '9', 'e', '"', '\0', static_cast<char>(stream.Below(256))};
        bytes[stream.Below(static_cast<std::uint32_t>(bytes.size()))] = with[stream.Below(sizeof(with))];
      }
      CAPTURE(name, bytes);
      try {
        const int jobs = Read(folder, damaged).num_jobs();
        CHECK(jobs > 0);
        ++read;
      } catch (const Error& error) {
        CHECK(Says(error.what(), "pai_"));
        ++refused;
      }
    }
  }
  CHECK(read > 50);
  CHECK(refused > 50);
}

// What the README says of the cluster ("over 6,500 GPUs (on ~1800 machines)"); the authors' page at
// cse.hkust.edu.hk (research/projects/weiwa/mlaas) says 6,742 GPUs. Of the tasks only that none is lost.
TEST_CASE("pai: the published tables", "[readers]") {
  const std::string folder = BERTH_SOURCE_DIR "/../shared/traces/alibaba-gpu-v2020/";
  std::string path = folder + "pai_task_table.csv";
  if (!std::filesystem::exists(path)) path += ".gz";
  if (!std::filesystem::exists(path)) path = folder + "pai_task_table.tar.gz";
  if (!std::filesystem::exists(path)) return test::Skip("needs Alibaba's PAI trace of 2020 (not shipped)");
  if (path.ends_with(".tar.gz")) path += ":pai_task_table.csv";
  const Scenario scenario = FindFormat("pai").read(path, {});
  const ScenarioData& data = scenario.data();
  CAPTURE(data.provenance);
  CHECK(scenario.num_gpus() > 6500);
  CHECK(scenario.num_gpus() <= 6742);
  CHECK(scenario.num_jobs() > 0);
  CHECK(data.tenants.size() > 1);
  TextFile file(path);
  int lines = 0;
  for (std::string line; file.Next(line);) lines += !line.empty();
  CHECK(Accounted(scenario) == lines);
}

}  // namespace berth
