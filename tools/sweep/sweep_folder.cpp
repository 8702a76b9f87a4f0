#include "tools/sweep/sweep_folder.hpp"

#include <cstring>
#include <filesystem>
#include <sstream>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

constexpr const char* kHead = "# berth sweep --config reads this";
constexpr const char* kRecord = "/sweep.ini";
constexpr const char* kSource = "# source ";
constexpr const char* kOwn = "# scheduler ";  // NAME: HASH

// The first line in which the two differ, said for people.
std::string Difference(const std::string& there, const std::string& here) {
  std::istringstream a(there), b(here);
  const auto next = [](std::istringstream& text) {
    std::string line;
    return std::getline(text, line) ? line : std::string("nothing more");
  };
  for (;;) {
    const std::string line = next(a), other = next(b);
    if (line == other && a && b) continue;
    if (line.starts_with(kSource) && other.starts_with(kSource))
      return Join("expected the build that began it, ", line.substr(std::strlen(kSource)), ", found ",
                  other.substr(std::strlen(kSource)));
    const std::size_t name = line.rfind(": ");
    if (line.starts_with(kOwn) && name != std::string::npos && other.starts_with(line.substr(0, name + 2)))
      return Join("expected the scheduler ", line.substr(std::strlen(kOwn), name - std::strlen(kOwn)),
                  " as it was when the cells were run, found that it has changed");
    return Join("expected ", line, ", found ", other);
  }
}

}  // namespace

std::string SweepRecord::ToString() const {
  std::string text = Join(kHead, "\n", kSource, source, "\n");
  for (const auto& [path, hash] : files) text += Join("# file ", path, " ", hash, "\n");
  for (const auto& [name, hash] : own) text += Join(kOwn, name, ": ", hash, "\n");
  for (const auto& [name, value] : settings) text += Join(name, "=", value, "\n");
  return text;
}

bool HoldsSweep(const std::string& folder, const SweepRecord& record, const std::string& where) {
  const std::string path = folder + kRecord, text = record.ToString();
  if (!std::filesystem::exists(path)) return false;
  const std::string there = ReadText(path);
  if (there == text) return true;
  if (!there.starts_with(kHead))
    throw Error(Join(path, ": expected what berth sweep wrote, found another file"));
  throw Error(
      Join(where, ": ", folder, " holds another sweep: ", Difference(there, text), "; give another folder"));
}

void WriteRecord(const std::string& folder, const SweepRecord& record) {
  WriteTextFile(folder + kRecord, record.ToString());
}

std::string CellPath(const std::string& folder, std::int64_t cell) {
  return Join(folder, "/cells/", cell, ".csv");
}

}  // namespace berth
