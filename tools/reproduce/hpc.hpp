// Published batch-scheduling results as they were printed, so that a rerun can be held to every printed
// digit. RLScheduler: Zhang, Dai, He, Bao and Xie, SC 2020, and its repository's README; beside these what
// reruns of the authors' code gave, on disjoint windows too, and what an independent implementation of the
// textbook semantics gave.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "env/gym/mdp.hpp"
#include "tools/json.hpp"
#include "tools/results.hpp"

namespace berth {

// The two logs with and without backfilling, in the order of every row below.
inline constexpr int kHpcSettings = 4;
struct HpcSetting {
  const char* name;
  const char* log;         // file in rlscheduler-lublin
  const char* golden_key;  // in golden.json: official10, disjoint8
  const char* golden_log;  // in golden.json: redecide_semantics
  bool backfill;
};
std::span<const HpcSetting> HpcSettings();

// Sequences of 1024 jobs: first jobs, counted from 0 in the order of job numbers.
inline constexpr int kHpcJobs = 1024;
std::span<const int> HpcOfficialStarts();  // gym's seeding(1), randint: they overlap
std::span<const int> HpcDisjointStarts();

struct HpcRow {
  const char* rule;                 // as published
  const char* spec;                 // our scheduler without semantics and backfilling; "" = not rerun
  const char* value[kHpcSettings];  // as printed; "" = not published
};
struct HpcTable {
  const char* title;
  const char* metric;  // "bounded slowdown" | "utilisation"
  Semantics semantics;
  bool official;  // the ten published sequences, otherwise the eight disjoint windows
  bool twice;     // printed values were rounded to two decimals before: 161.749 -> 161.75 -> 161.8
  std::span<const HpcRow> rows;
};
std::span<const HpcTable> HpcTables();

// Rows of the publication whose logs are not to be had.
const char* HpcMissing();

// "sjf", "x=1" -> "sjf(x=1)"; "f(a=1)", "x=1" -> "f(a=1,x=1)".
std::string WithParams(const std::string& spec, const std::string& params);

// Runs of score rules over the sequences of the published experiments, each made once. Thread rule: one
// thread at a time.
class HpcRuns {
 public:
  explicit HpcRuns(std::string folder) : folder_(std::move(folder)) {}  // that of the Lublin logs
  // `commit` runs under clock hpc with the published backfilling, `redecide` under clock event with textbook
  // EASY.
  const ResultRow& Get(const HpcSetting& setting, Semantics semantics, bool official,
                       const std::string& spec);
  int count() const { return count_; }
  double seconds() const { return seconds_; }

 private:
  const Scenario& Log(const char* file);
  std::string folder_;
  std::map<std::string, Scenario> logs_;
  std::map<std::string, ResultRow> rows_;
  int count_ = 0;
  double seconds_ = 0.0;
};

// The recorded answers of the authors' simulator and of the textbook rules, sequence by sequence (a file
// golden.json beside the Lublin logs), against ours.
struct HpcGolden {
  int values = 0;                   // compared
  int skipped = 0;                  // recorded for learned policies, which are not rerun
  double worst = 0.0;               // largest relative deviation of a value recorded with all its digits
  std::vector<std::string> differ;  // what differs, named
};
// Throws Error where the file is not what it should be.
HpcGolden CompareHpcGolden(const std::string& path, HpcRuns& runs);

// Whole public GPU logs (Philly, ITP) under FCFS, EASY and SRPT: summary statistics beside what their
// publishers state, and results with seconds per run.
struct HpcLogs {
  std::string text;                  // tables
  Json json = Json::array();         // one object a log
  std::vector<std::string> skipped;  // logs that are not there
  int differ = 0;                    // stated figures that the reader does not give
};
HpcLogs RunHpcLogs(const std::string& traces);

}  // namespace berth
