// The folder of a sweep: what was asked for, a file for each finished cell, and a lock.
//
//   sweep.ini      the settings, as berth sweep --config reads them; comments say which build and files
//   cells/N.csv    the rows of cell N, whole or not there
//   lock, cells/A-B.lock   held by processes at work
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth {

// What decides a sweep's results, as lines: one sweep.ini may be continued by another with the same text.
struct SweepRecord {
  std::string source;                                         // the build
  std::vector<std::pair<std::string, std::string>> files;     // path, hash of what is read
  std::vector<std::pair<std::string, std::string>> own;       // name, hash of schedulers that are not Berth's
  std::vector<std::pair<std::string, std::string>> settings;  // option, text
  std::string ToString() const;
};

// Is it of this record? False where the folder has none yet; throws Error where it has another.
bool HoldsSweep(const std::string& folder, const SweepRecord& record, const std::string& where);
void WriteRecord(const std::string& folder, const SweepRecord& record);

std::string CellPath(const std::string& folder, std::int64_t cell);

}  // namespace berth
