#include "tools/sweep/sweep_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
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

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

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
    return Join("expected ", line, ", found ", other);
  }
}

}  // namespace

FileLock::FileLock(const std::string& path, bool shared, const std::string& busy) {
  file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0) throw Error(Join(path, ": cannot be written: ", std::strerror(errno)));
  if (flock(file_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0) {
    const int error = errno;
    close(file_);
    if (error != EWOULDBLOCK) throw Error(Join(path, ": cannot be locked: ", std::strerror(error)));
    const std::string who = ReadText(path);
    throw Error(Join(busy, who.empty() ? "" : Join(" (", who, ")")));
  }
  // Who is refused says who has it; what stands there when nobody does means nothing. Of several nothing.
  const std::string who = shared ? "" : Join("process ", getpid(), " on ", HostName());
  if (ftruncate(file_, 0) != 0 ||
      pwrite(file_, who.data(), who.size(), 0) != static_cast<ssize_t>(who.size()))
    throw Error(Join(path, ": cannot be written: ", std::strerror(errno)));
}

FileLock::~FileLock() {
  close(file_);
}

std::string SweepRecord::ToString() const {
  std::string text = Join(kHead, "\n", kSource, source, "\n");
  for (const auto& [path, hash] : files) text += Join("# file ", path, " ", hash, "\n");
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

void RemoveLeftovers(const std::string& folder) {
  std::vector<std::filesystem::path> left;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator(folder + "/cells")) {
    if (entry.path().filename().string().find(".csv.tmp") != std::string::npos) left.push_back(entry.path());
  }
  std::error_code ignored;
  for (const std::filesystem::path& path : left) std::filesystem::remove(path, ignored);
}

std::string CellPath(const std::string& folder, std::int64_t cell) {
  return Join(folder, "/cells/", cell, ".csv");
}

}  // namespace berth
