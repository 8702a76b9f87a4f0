// Every file that a verb reads, where it is a pipe, a folder, missing or something else: one line and code 2.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::TemporaryFolder;

// Command lines that read the file X.
const std::vector<std::string>& Readers() {
  static const std::vector<std::string> kReaders = {
      "convert --format gavel X --cluster v100=2 --out s.h5",
      "convert --format swf X --out s.h5",
      "convert --format philly X --cluster v100=2 --out s.h5",
      "convert --format itp X --cluster v100=2 --out s.h5",
      "convert --format itp X.tar:a.csv --cluster v100=2 --out s.h5",
      "convert --format pai X --out s.h5",
      "convert --format helios X --cluster v100=2 --out s.h5",
      "simulate --scenario X --scheduler fcfs",
      "simulate --config X",
      "simulate --features 'failures(log=X)'",
      "evaluate --schedulers 'fcfs;policy(file=X)'",
      "evaluate --merge X",
      "inspect X",
      "reproduce gavel --golden X",
      "train --scenario X --out run",
  };
  return kReaders;
}

std::string Naming(std::string reader, const std::string& file) {
  return reader.replace(reader.find('X'), 1, file);
}

}  // namespace

TEST_CASE("inputs: what is no regular file is refused in one line, and nobody waits for a pipe", "[cli]") {
  const TemporaryFolder folder;
  for (const char* name : {"pipe", "pipe.tar"}) REQUIRE(mkfifo((folder / name).c_str(), 0600) == 0);
  for (const char* name : {"folder", "folder.tar", "runs"}) std::filesystem::create_directory(folder / name);
  for (const std::string& reader : Readers()) {
    CAPTURE(reader);
    const bool tar = reader.find(".tar:") != std::string::npos;
    CheckOneLine(Berth(folder, Naming(reader, "pipe")), "expected a file, found a pipe");
    CheckOneLine(Berth(folder, Naming(reader, "folder")), "expected a file, found ");
    CheckOneLine(Berth(folder, Naming(reader, "none")),
                 tar ? "none.tar: no such file" : "none: no such file");
    if (!tar) CheckOneLine(Berth(folder, Naming(reader, "/dev/null")), "found a device");
  }
  REQUIRE(mkfifo((folder / "runs/a.json").c_str(), 0600) == 0);
  CheckOneLine(Berth(folder, "reproduce gavel --mechanism runs"),
               "runs/a.json: expected a file, found a pipe");
  CHECK_FALSE(std::filesystem::exists(folder / "s.h5"));
}

TEST_CASE("inputs: a run that lost its options is not continued with others", "[cli]") {
  const TemporaryFolder folder;
  CheckOneLine(Berth(folder, "train --resume --out run"), "--resume: expected run/checkpoint.h5");
  std::filesystem::create_directory(folder / "run");
  std::ofstream(folder / "run/checkpoint.h5") << "whatever";
  CheckOneLine(Berth(folder, "train --resume --out run"),
               "--resume: expected run/config.ini, found no such file");
}

TEST_CASE("inputs: a golden file with a value that cannot be is one line", "[cli][golden]") {
  const std::string golden = BERTH_SOURCE_DIR "/../shared/gavel/golden/golden_public.json";
  if (!std::filesystem::exists(golden)) return test::Skip("needs records of Gavel's own code (not shipped)");
  const TemporaryFolder folder;
  using Json = nlohmann::json;
  Json one = Json::parse(test::Slurp(golden));
  const Json first = one["instances"][3];  // which has a hierarchy
  one["instances"] = {first};
  Json& policies = one["instances"][0]["policies"];
  policies = {{"finish_time_fairness_perf_second_call", policies["finish_time_fairness_perf_second_call"]},
              {"hierarchical_water_filling_perf", policies["hierarchical_water_filling_perf"]}};
  const std::string second = "/instances/0/policies/finish_time_fairness_perf_second_call/";
  const std::string hierarchical = "/instances/0/policies/hierarchical_water_filling_perf/";
  for (const auto& [pointer, value, expected] : std::vector<std::tuple<std::string, Json, std::string>>{
           {second + "num_steps_remaining", Json::array(), "of other jobs"},
           {second + "num_steps_remaining/0", 0, "num_steps_remaining of 0"},
           {"/instances/0/jobs/0/num_steps_remaining", -1, "num_steps_remaining of -1"},
           {"/instances/0/jobs/0/priority_weight", 0, "priority_weight of 0"},
           {"/instances/0/jobs/0/scale_factor", 0, "scale_factor of 0"},
           {"/instances/0/cluster_spec/k80", 1000000000, "cluster_spec of 1000000000"},
           {"/instances/0/jobs/0/throughput/k80", -1.5, "throughput of -1.5"},
           {"/instances/0/jobs/0/throughput/k80", "fast", "must be number"},
           {hierarchical + "normalized_effective_throughputs", Json::array(), "of other jobs"},
           {"/instances/0/policies", 3, "expected at least one policy to check, found none"},
           {"/instances", nullptr, "expected at least one policy to check, found none"}}) {
    CAPTURE(pointer);
    Json spoiled = one;
    spoiled[Json::json_pointer(pointer)] = value;
    std::ofstream(folder / "g.json") << spoiled;
    CheckOneLine(Berth(folder, "reproduce gavel --golden g.json"), expected);
  }
  std::ofstream(folder / "g.json") << one.dump().substr(0, one.dump().size() / 2);
  CheckOneLine(Berth(folder, "reproduce gavel --golden g.json"), "g.json:1: expected JSON, found its end");
}

}  // namespace berth
