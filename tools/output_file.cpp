#include "tools/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

std::string TemporaryName(const std::string& path) {
  return path + ".tmp" + std::to_string(getpid());
}

Error CannotWrite(const std::string& path, int error) {
  return Error(Join(path, ": cannot write: ", std::strerror(error)));
}

// All of `text`, flushed where the file can be; 0 or the error.
int WriteAll(int file, const std::string& text, bool flush) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return errno;
    written += static_cast<std::size_t>(count);
  }
  return flush && fsync(file) != 0 ? errno : 0;
}

int CloseAfter(int file, int error) {
  const int closed = close(file) == 0 ? 0 : errno;
  return error != 0 ? error : closed;
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
  const std::string temporary = TemporaryName(path);
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw Error(Join(what, ": cannot write ", path, ": ", std::strerror(errno)));
  close(file);
  unlink(temporary.c_str());
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
  const bool direct = IsSpecialFile(path);
  const std::string name = direct ? path : TemporaryName(path);
  const int file =
      open(name.c_str(), direct ? O_WRONLY | O_CLOEXEC : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) throw CannotWrite(path, errno);
  int error = CloseAfter(file, WriteAll(file, text, /*flush=*/!direct));
  if (!direct && error == 0 && std::rename(name.c_str(), path.c_str()) != 0) error = errno;
  if (!direct && error != 0) unlink(name.c_str());
  if (error != 0) throw CannotWrite(path, error);
}

}  // namespace berth
