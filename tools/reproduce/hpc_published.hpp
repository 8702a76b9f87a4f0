// Published batch-scheduling results as they were printed, so that a rerun can be held to every printed
// digit. RLScheduler: Zhang, Dai, He, Bao and Xie, SC 2020, and its repository's README; what of it was
// verified by rerunning the authors' code, the disjoint windows and the textbook semantics:
// traces/PROTOCOL.md §3-4.
#pragma once

#include <span>

#include "env/gym/mdp.hpp"

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

}  // namespace berth
