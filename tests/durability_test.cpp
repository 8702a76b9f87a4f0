// What is finished stays, and what goes on ends as if nothing had been: calls that fail, kills before a call, clocks
// that jump, and two processes at once, through the binary. durability/durability.py does it at random, for as long as
// one likes.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/file_lock.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::CheckOneLine;
using test::HaveLearners;
using test::Slurp;
using test::Start;
using test::TemporaryFolder;
using test::Variables;
using test::Wait;

constexpr int kKilled = -1;
constexpr const char* kNoFaults = "needs libberth_faults.so beside the binary, and no sanitizer";

std::string FaultsLibrary() {
  return fs::path(BERTH_BINARY).parent_path() / "libberth_faults.so";
}
bool HaveFaults() {
  return !test::kSanitized && fs::exists(FaultsLibrary());
}

// durability/faults.c says what `fault` means; calls count for files whose path has `in`.
Variables Faulty(const std::string& fault, const std::string& in) {
  return {{"LD_PRELOAD", FaultsLibrary()}, {"BERTH_FAULT", fault}, {"BERTH_FAULT_IN", in}};
}

// How many such calls a command makes.
int CallsOf(const TemporaryFolder& folder, const std::vector<std::string>& words, const std::string& call,
            const std::string& in) {
  Variables variables = Faulty(call + ":1:none:0", in);
  variables.emplace_back("BERTH_FAULT_LOG", folder / "calls");
  fs::remove(folder / "calls");
  REQUIRE(Wait(Start(folder, words, variables)) == 0);
  const std::string said = Slurp(folder / "calls");
  return static_cast<int>(std::count(said.begin(), said.end(), '\n'));
}

std::vector<std::string> Generate(const std::string& seed) {
  return {"generate", "--workload", "toy(jobs=20)", "--cluster", "v100=2", "--seed", seed, "--out", "s.h5"};
}

const std::vector<std::string> kSweep = {
    "sweep", "--over", "rate=1,2", "--workload", "queueing(rate={rate},jobs=20)", "--cluster", "v100=2", "--schedulers",
    "fcfs;srpt", "--seeds", "0:2", "--threads", "1", "--out", "grid"};
const std::vector<std::string> kTrain = {
    "train", "--workload", "toy(jobs=20)", "--cluster", "v100=2", "--envs", "2", "--threads", "1", "--device", "cpu",
    "--agent", "ppo(n_steps=16)", "--steps", "128", "--episode-jobs", "5", "--warmup-jobs", "0", "--validate", "2",
    "--validations", "4", "--baselines", "fcfs", "--out", "run"};

std::map<std::string, std::string> FilesOf(const std::string& folder, const std::vector<std::string>& names) {
  std::map<std::string, std::string> files;
  for (const std::string& name : names) files[name] = Slurp(folder + "/" + name);
  return files;
}

std::vector<std::string> LeftIn(const std::string& folder) {
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().find(".tmp") != std::string::npos) left.push_back(entry.path());
  }
  return left;
}

}  // namespace

TEST_CASE("durability: whichever call fails, the old file stays or the new one is whole") {
  if (!HaveFaults()) return test::Skip(kNoFaults);
  const TemporaryFolder folder;
  REQUIRE(Wait(Start(folder, Generate("2"))) == 0);
  const std::string second = Slurp(folder / "s.h5");
  REQUIRE(Wait(Start(folder, Generate("1"))) == 0);
  const std::string first = Slurp(folder / "s.h5");
  REQUIRE(first != second);
  struct Case {
    const char *fault, *why;  // nullptr: it takes no notice
    const char* in = "s.h5";
  };
  // The file is opened to be checked, and to be written; the folder is flushed last, which not every file system can.
  for (const Case& c : {Case{"open:1:ENOSPC", "No space left on device"}, {"open:2:EROFS", "Read-only file system"},
                        {"write:1:ENOSPC", "No space left on device"}, {"write:1:EIO", "Input/output error"},
                        {"write:1:EDQUOT", "Disk quota exceeded"}, {"fsync:1:EIO", "Input/output error"},
                        {"rename:1:EIO", "Input/output error"}, {"rename:1:EROFS", "Read-only file system"},
                        {"write:1:short:40", nullptr}, {"write:1:EINTR:3", nullptr}, {"fsync:1:EINTR:2", nullptr},
                        {"rename:1:EINTR", nullptr}, {"close:2:EINTR", nullptr}, {"fsync:2:EIO", nullptr, "berth-test-"}}) {
    CAPTURE(c.fault);
    const int code = Wait(Start(folder, Generate("2"), Faulty(c.fault, c.in)));
    CAPTURE(Slurp(folder / "error.txt"));
    if (c.why == nullptr) {
      CHECK(code == 0);
      CHECK(Slurp(folder / "s.h5") == second);
      REQUIRE(Wait(Start(folder, Generate("1"))) == 0);
    } else {
      CheckOneLine({code, "", Slurp(folder / "error.txt")}, Join("s.h5: cannot be written: ", c.why));
      CHECK(Slurp(folder / "s.h5") == first);
    }
    CHECK(LeftIn(folder.path()).empty());
  }
}

TEST_CASE("durability: a sweep killed before any of its calls goes on to the same tables") {
  if (!HaveFaults()) return test::Skip(kNoFaults);
  const TemporaryFolder whole;
  REQUIRE(Wait(Start(whole, kSweep)) == 0);
  const std::vector<std::string> names = {"table.csv", "summary.csv", "table.h5", "cells/0.csv", "cells/1.csv", "sweep.ini"};
  const auto expected = FilesOf(whole / "grid", names);
  for (const char* call : {"open", "write", "fsync", "rename"}) {
    const TemporaryFolder counted;
    const int calls = CallsOf(counted, kSweep, call, "grid");
    REQUIRE(calls >= 5);
    for (const int at : {1, 2, calls / 2, calls}) {
      CAPTURE(call, at, calls);
      const TemporaryFolder folder;
      CHECK(Wait(Start(folder, kSweep, Faulty(Join(call, ":", at, ":KILL"), "grid"))) == kKilled);
      std::map<std::string, std::string> finished;
      for (const char* cell : {"cells/0.csv", "cells/1.csv"}) {
        if (fs::exists(folder / "grid/" + cell)) finished[cell] = Slurp(folder / "grid/" + cell);
      }
      for (const auto& [cell, text] : finished) CHECK(text == expected.at(cell));
      CHECK(Wait(Start(folder, kSweep)) == 0);
      CHECK(FilesOf(folder / "grid", names) == expected);
      CHECK(LeftIn(folder.path()).empty());
    }
  }
}

TEST_CASE("durability: a training killed in its validation makes it when it goes on, to the same policy") {
  if (!HaveFaults()) return test::Skip(kNoFaults);
  if (!HaveLearners()) return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const std::vector<std::string> export_words = {"export", "run", "--out", "policy.h5"};
  const std::vector<std::string> names = {"run/best.h5", "run/validation.csv", "run/config.ini", "policy.h5"};
  const TemporaryFolder whole;
  REQUIRE(Wait(Start(whole, kTrain)) == 0);
  REQUIRE(Wait(Start(whole, export_words)) == 0);
  const auto expected = FilesOf(whole.path(), names);
  REQUIRE(std::count(expected.at("run/validation.csv").begin(), expected.at("run/validation.csv").end(), '\n') == 5);
  // Between the checkpoint of the second validation and its row; before the third checkpoint is in its place.
  for (const auto& [fault, in] : {std::pair{"rename:2:KILL", "validation.csv"}, {"rename:3:KILL", "checkpoint.h5"}}) {
    CAPTURE(fault, in);
    const TemporaryFolder folder;
    REQUIRE(Wait(Start(folder, kTrain, Faulty(fault, in))) == kKilled);
    const int resumed = Wait(Start(folder, {"train", "--resume", "--out", "run"}));
    CAPTURE(Slurp(folder / "error.txt"));
    REQUIRE(resumed == 0);
    REQUIRE(Wait(Start(folder, export_words)) == 0);
    CHECK(FilesOf(folder.path(), names) == expected);
    CHECK(LeftIn(folder.path()).empty());
  }
}

TEST_CASE("durability: a training on a disk that is full says so, keeps its checkpoint, and goes on when there is room") {
  if (!HaveFaults()) return test::Skip(kNoFaults);
  if (!HaveLearners()) return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  for (const char* full : {"checkpoint.h5", "progress.csv", "events.out", "validation.csv"}) {
    CAPTURE(full);
    const TemporaryFolder folder;
    const int code = Wait(Start(folder, kTrain, Faulty("write:2:ENOSPC:0", full)));
    const std::string error = Slurp(folder / "error.txt");
    CAPTURE(error);
    CHECK(code == 2);
    CHECK(error.find(full) != std::string::npos);
    CHECK(error.find("cannot be written: No space left on device") != std::string::npos);
    const bool begun = fs::exists(folder / "run/checkpoint.h5");
    std::vector<std::string> words = kTrain;
    if (begun) words = {"train", "--resume", "--out", "run"};
    CHECK(Wait(Start(folder, words)) == 0);
  }
}

TEST_CASE("durability: no clock that jumps changes a result, or a file of an earlier session") {
  if (!HaveFaults()) return test::Skip(kNoFaults);
  const TemporaryFolder folder;
  REQUIRE(Wait(Start(folder, kSweep)) == 0);
  const std::vector<std::string> names = {"table.csv", "summary.csv", "table.h5"};
  const auto expected = FilesOf(folder / "grid", names);
  for (const char* clock : {"1:-86400", "3:86400", "2:-300000000"}) {
    CAPTURE(clock);
    fs::remove_all(folder / "grid");
    CHECK(Wait(Start(folder, kSweep, {{"LD_PRELOAD", FaultsLibrary()}, {"BERTH_CLOCK", clock}})) == 0);
    CHECK(FilesOf(folder / "grid", names) == expected);
  }
  if (!HaveLearners()) return;
  // TensorBoard's files are named by the second: one of a session whose clock was ahead.
  fs::create_directories(folder / "run");
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::vector<std::string> ahead;
  for (int second = 0; second < 300; ++second) {
    ahead.push_back(Join(folder / "run/events.out.tfevents.", now + second, ".berth"));
    std::ofstream(ahead.back()) << "earlier";
  }
  REQUIRE(Wait(Start(folder, kTrain)) == 0);
  CHECK(std::all_of(ahead.begin(), ahead.end(), [](const std::string& path) { return Slurp(path) == "earlier"; }));
}

TEST_CASE("durability: a folder in which a process is at work is refused, with who it is and since when") {
  const TemporaryFolder folder;
  const auto busy = [&](const std::string& out) {
    return Join("--out: ", out, " is in use by process ", getpid(), " (this test) on ");
  };
  const auto refused = [&](const std::vector<std::string>& words, const std::string& out) {
    const int code = Wait(Start(folder, words));
    const std::string error = Slurp(folder / "error.txt");
    CheckOneLine({code, "", error}, busy(out));
    CHECK(error.find(" since 20") != std::string::npos);
  };
  {
    const FolderLock held(folder / "grid", "--out", "this test");
    refused(kSweep, "grid");
    const FolderLock gavel(folder / "g", "--out", "this test");
    refused({"reproduce", "gavel", "--only", "makespan", "--quick", "--out", "g"}, "g");
    // Two of one process too.
    CHECK_THROWS_WITH(FolderLock(folder / "g", "--out", "another"), Catch::Contains("is in use by process"));
  }
  CHECK(Wait(Start(folder, kSweep)) == 0);
  // Who was killed holds nothing, whatever the file says.
  CHECK(Slurp(folder / "grid/lock").find("berth sweep") != std::string::npos);
  CHECK(Wait(Start(folder, kSweep)) == 0);
  if (!HaveLearners()) return;
  {
    const FolderLock held(folder / "run", "--out", "this test");
    refused(kTrain, "run");
    CHECK_FALSE(fs::exists(folder / "run/config.ini"));
  }
  REQUIRE(Wait(Start(folder, kTrain)) == 0);
  const std::string config = Slurp(folder / "run/config.ini");
  {
    const FolderLock held(folder / "run", "--out", "this test");
    refused({"train", "--resume", "--out", "run", "--steps", "1000"}, "run");
    CHECK(Slurp(folder / "run/config.ini") == config);
    CHECK(Wait(Start(folder, {"train", "--resume", "--out", "run", "--dry-run"})) == 0);
  }
  // What is refused before it begins leaves no folder, nor one above it.
  CHECK(Wait(Start(folder, {"train", "--agent", "ppo(n_step=1)", "--out", "a/b"})) == 2);
  CHECK_FALSE(fs::exists(folder / "a"));
}

}  // namespace berth
