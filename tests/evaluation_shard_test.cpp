// An evaluation by several processes, merged, is that of one; what does not belong together is refused by
// name.
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::CheckOneLine;
using test::Slurp;
using test::Start;
using test::TemporaryFolder;
using test::Wait;

test::Outcome Evaluate(const TemporaryFolder& folder, const std::vector<std::string>& more,
                       const test::Variables& variables = {}) {
  std::vector<std::string> words = {"evaluate"};
  words.insert(words.end(), more.begin(), more.end());
  const int code = Wait(Start(folder, words, variables));
  return {code, Slurp(folder / "out.txt"), Slurp(folder / "error.txt")};
}

// fcfs loses nothing; `all` also has some that cannot run, which are named below the table.
const std::vector<std::string> kRun = {
    "--schedulers", "fcfs;all",     "--knowledge", "none", "--workload", "synthetic(rate=1,jobs=24)",
    "--cluster",    "v100=2,k80=2", "--window",    "4:20", "--threads",  "1",
    "--seeds",      "1000:1004"};

std::vector<std::string> With(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void RunShards(const TemporaryFolder& folder, const std::vector<std::string>& words, int ranks,
               const std::string& out) {
  for (int rank = 0; rank < ranks; ++rank) {
    const test::Outcome outcome =
        Evaluate(folder, With(words, {"--out", out}),
                 {{"RANK", std::to_string(rank)}, {"WORLD_SIZE", std::to_string(ranks)}});
    CAPTURE(outcome.error);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out.rfind(Join("shard ", rank, " of ", ranks, ": "), 0) == 0);
  }
}

// The table without its last column, which is a time.
std::string Timeless(const std::string& table) {
  return std::regex_replace(table, std::regex(" +[^ \n]+(?=\n)"), "");
}

nlohmann::json Timeless(nlohmann::json json) {
  for (auto& row : json["schedulers"]) {
    for (const char* time : {"wall_s", "decision_us_mean", "decision_us_p99"}) row.erase(time);
  }
  for (const char* own : {"out", "json"}) json["config"].erase(own);
  return json;
}

}  // namespace

TEST_CASE("evaluate: shards merged are what one process writes, to the last digit") {
  const TemporaryFolder folder;
  const test::Outcome one = Evaluate(folder, With(kRun, {"--out", "one.h5", "--json", "one.json"}));
  REQUIRE(one.code == 0);
  RunShards(folder, kRun, 3, "part.h5");  // seeds 1000 and 1003; 1001; 1002
  const test::Outcome merged =
      Evaluate(folder, {"--merge", "part.2-of-3.h5", "part.0-of-3.h5", "part.1-of-3.h5", "--out", "merged.h5",
                        "--json", "merged.json", "--threads", "1"});
  CAPTURE(merged.error);
  REQUIRE(merged.code == 0);
  CHECK(Timeless(merged.out) == Timeless(one.out));
  CHECK(one.out.find("is left out: ") != std::string::npos);
  CHECK(Timeless(nlohmann::json::parse(Slurp(folder / "merged.json"))) ==
        Timeless(nlohmann::json::parse(Slurp(folder / "one.json"))));
  const h5::Reader a(folder / "one.h5", "evaluation", 1), b(folder / "merged.h5", "evaluation", 1);
  REQUIRE(a.Datasets() == b.Datasets());
  int compared = 0;
  for (const std::string& name : a.Datasets()) {
    CAPTURE(name);
    static const std::set<std::string> kTexts = {"schedulers", "knowledge", "table/keys", "table/titles"};
    if (kTexts.count(name) > 0) {
      CHECK(a.Strings(name) == b.Strings(name));
    } else if (name == "gang" || name == "table/decimals") {
      CHECK(a.Array<std::int32_t>(name) == b.Array<std::int32_t>(name));
    } else if (name.find("signatures") != std::string::npos) {
      CHECK(a.Array<std::uint64_t>(name) == b.Array<std::uint64_t>(name));
    } else if (name == "unstable") {
      CHECK(a.Array<std::uint8_t>(name) == b.Array<std::uint8_t>(name));
    } else if (name.find("seeds") != std::string::npos) {
      CHECK(a.Array<std::int64_t>(name) == b.Array<std::int64_t>(name));
    } else {
      const auto left = a.Array<double>(name), right = b.Array<double>(name);
      REQUIRE(left.size() == right.size());  // NaN where a job did not finish
      CHECK(std::memcmp(left.data(), right.data(), left.size() * sizeof(double)) == 0);
    }
    ++compared;
  }
  CHECK(compared > 40);
}

TEST_CASE("evaluate: shards that do not belong together, are missing or given twice are refused by name") {
  const TemporaryFolder folder;
  std::vector<std::string> words = {"--schedulers", "fcfs;srpt", "--workload",
                                    "toy(jobs=5)",  "--cluster", "v100=2"};
  RunShards(folder, With(words, {"--seeds", "0:3"}), 2, "a.h5");
  RunShards(folder, With(words, {"--seeds", "0:4"}), 2, "b.h5");
  RunShards(folder, With(words, {"--seeds", "0:3"}), 4, "c.h5");
  const auto merge = [&](std::vector<std::string> files) {
    files.insert(files.begin(), "--merge");
    return Evaluate(folder, files);
  };
  CHECK(merge({"a.0-of-2.h5", "a.1-of-2.h5"}).code == 0);
  // Rank 3 of 4 has nothing to do with three workloads, and wrote nothing.
  CHECK_FALSE(std::filesystem::exists(folder / "c.3-of-4.h5"));
  CHECK(merge({"c.0-of-4.h5", "c.1-of-4.h5", "c.2-of-4.h5"}).code == 0);
  CheckOneLine(
      merge({"a.0-of-2.h5", "b.1-of-2.h5"}),
      "--merge: b.1-of-2.h5: expected a shard of the run of a.0-of-2.h5, found another setting: expected "
      "seeds=0:3, found seeds=0:4");
  CheckOneLine(merge({"a.0-of-2.h5", "c.1-of-4.h5"}), "found another number of shards: expected 2, found 4");
  CheckOneLine(merge({"a.1-of-2.h5"}), "--merge: shard 0 of 2 is missing, which holds seeds 0, 2");
  CheckOneLine(merge({"a.0-of-2.h5"}), "--merge: shard 1 of 2 is missing, which holds seeds 1");
  CheckOneLine(merge({"a.0-of-2.h5", "a.1-of-2.h5", "a.0-of-2.h5"}),
               "--merge: expected every shard once, found shard 0 of 2 in both a.0-of-2.h5 and a.0-of-2.h5");
  CheckOneLine(merge({"nothing.h5"}), "nothing.h5");
  REQUIRE(Evaluate(folder, With(words, {"--seeds", "0:1", "--out", "whole.h5"})).code == 0);
  CheckOneLine(merge({"whole.h5"}), "found a whole evaluation; --report DIR --report-with FILE shows");
  CheckOneLine(merge({"a.0-of-2.h5", "--seeds", "0:3"}),
               "--merge: expected with it only --out, --json, --csv, --metrics and --threads");
  const test::Variables rank = {{"RANK", "0"}, {"WORLD_SIZE", "2"}};
  CheckOneLine(Evaluate(folder, With(words, {"--out", "d.h5", "--json", "d.json"}), rank),
               "--json: expected only --out with several processes (WORLD_SIZE is 2)");
  CheckOneLine(Evaluate(folder, With(words, {"--out", "d.h5", "--csv", "d.csv"}), rank),
               "--csv: expected only --out with several processes (WORLD_SIZE is 2)");
  CheckOneLine(Evaluate(folder, words, rank), "--out: expected");
  // Another scenario file of the same name: the workloads are no longer those of the shards.
  REQUIRE(Wait(Start(folder, {"generate", "--workload", "toy(jobs=5)", "--cluster", "v100=2", "--out",
                              "s.h5"})) == 0);
  RunShards(folder, {"--scenario", "s.h5", "--schedulers", "fcfs"}, 2, "e.h5");
  CHECK(merge({"e.0-of-2.h5"}).code == 0);
  REQUIRE(Wait(Start(folder, {"generate", "--workload", "toy(jobs=6)", "--cluster", "v100=2", "--out",
                              "s.h5"})) == 0);
  CheckOneLine(merge({"e.0-of-2.h5"}),
               "--merge: e.0-of-2.h5: window: expected 0:6 by its settings, found 0:5");
}

}  // namespace berth
