#include "tools/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/whole_file.hpp"
#include "env/base/write_all.hpp"
#include "tools/output_file.hpp"

namespace berth {
namespace {

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this machine";
}

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  char text[32] = {};
  gmtime_r(&now, &utc);
  return std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc) > 0 ? text : "an unknown time";
}

bool HasNoLocks(int error) {
  return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK;
}

// Whether the name still stands for the file: who made it may have removed it since.
bool Stands(int file, const std::string& path) {
  struct stat opened = {}, named = {};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& path, const std::string& what, const std::string& who, bool shared) {
  for (;;) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) throw Error(Join(path, ": cannot be written: ", std::strerror(errno)));
    int error = 0;
    while (flock(file_, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 && (error = errno) == EINTR) error = 0;
    if (error == EWOULDBLOCK) {
      close(file_);
      const std::string holder = ReadText(path);
      throw Error(Join(what, " is in use by ", holder.empty() ? "another process" : holder));
    }
    if (error != 0) {
      if (!HasNoLocks(error)) {
        close(file_);
        throw Error(Join(path, ": cannot be locked: ", std::strerror(error)));
      }
      std::cerr << who << ": warning: " << path
                << ": the file system has no locks: let no other process work there" << std::endl;
    }
    if (Stands(file_, path)) break;
    close(file_);
  }
  // Who is refused says who has it; what stands there when nobody does means nothing. Of several nothing.
  const std::string holder =
      shared ? "" : Join("process ", getpid(), " (", who, ") on ", HostName(), " since ", Now());
  int error = 0;
  while (ftruncate(file_, 0) != 0 && (error = errno) == EINTR) error = 0;
  if (error == 0) error = WriteAll(file_, holder);
  if (error != 0) {
    close(file_);
    throw Error(Join(path, ": cannot be written: ", std::strerror(error)));
  }
}

FileLock::~FileLock() {
  close(file_);
}

std::string LockOf(const std::string& folder) {
  return folder + "/lock";
}

namespace {

std::string Made(const std::string& folder, const std::string& where) {
  MakeFolder(folder, where);
  return LockOf(folder);
}

}  // namespace

FolderLock::FolderLock(const std::string& folder, const std::string& where, const std::string& who)
    : FileLock(Made(folder, where), Join(where, ": ", folder), who) {}

void HoldFolder(const std::string& folder, const std::string& where, const std::string& who,
                const std::vector<std::string>& inside) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::unique_ptr<FolderLock>> held;
  MakeFolder(folder, where);
  const std::lock_guard lock(mutex);
  std::unique_ptr<FolderLock>& one = held[std::filesystem::weakly_canonical(folder)];
  if (one == nullptr) one = std::make_unique<FolderLock>(folder, where, who);
  RemoveUnfinished(folder);
  for (const std::string& name : inside) {
    MakeFolder(Join(folder, "/", name), where);
    RemoveUnfinished(Join(folder, "/", name));
  }
}

}  // namespace berth
