#include "tools/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/whole_file.hpp"
#include "env/base/write_all.hpp"

namespace berth {
namespace {

// Into a device: nothing is flushed or renamed. 0 or the error.
int WriteInto(const std::string& device, std::string_view bytes) {
  const int file = open(device.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = WriteAll(file, bytes);
  return close(file) != 0 && errno != EINTR && error == 0 ? errno : error;
}

// A scenario in place of a policy, or a policy in place of a table, is a slip of the hand.
void CheckReplaceable(const std::string& path, const std::string& what, const std::string& kind) {
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  if (ignored || size == 0) return;
  const std::string found = h5::IfKindOf(path).value_or("");
  if (found == kind) return;
  throw Error(Join(what, ": expected a new file or one to replace",
                   kind.empty() ? "" : ", of kind '" + kind + "'", ", found ",
                   found.empty() ? "a file that is none of Berth's" : "one of kind '" + found + "'", ": ",
                   path));
}

}  // namespace

void CheckWritable(const std::string& path, const std::string& what, const std::string& kind) {
  if (path.empty()) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(Join(what, ": expected a file to write, found the folder ", path));
  }
  if (IsSpecialFile(path)) throw Error(Join(what, ": expected a file to write, found the device ", path));
  CheckReplaceable(path, what, kind);
  RemoveUnfinishedOf(path);
  try {
    const WholeFile probe(path);
  } catch (const Error& error) {
    throw Error(Join(what, ": ", error.what()));
  }
}

void MakeFolder(const std::string& folder, const std::string& what) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw Error(Join(what, ": cannot make the folder ", folder, ": ", error.message()));
  CheckWritable(folder + "/berth", what);
}

bool IsSpecialFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_other(path, ignored);
}

void WriteTextFile(const std::string& path, const std::string& text) {
  if (!IsSpecialFile(path)) return WriteWhole(path, text);
  if (const int error = WriteInto(path, text); error != 0)
    throw Error(Join(path, ": cannot be written: ", std::strerror(error)));
}

}  // namespace berth
