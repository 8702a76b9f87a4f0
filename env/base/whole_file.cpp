#include "env/base/whole_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/write_all.hpp"

namespace berth {
namespace {

constexpr const char* kUnfinished = ".tmp";  // and the process

std::filesystem::path FolderOf(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// The name is in the folder, which is a file of its own. Some file systems cannot flush one: then they
// promise nothing, and nothing is lost by a kill alone.
void FlushFolder(const std::string& path) {
  const int folder = open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  while (fsync(folder) != 0 && errno == EINTR) {
  }
  close(folder);
}

// 0 or the error.
int WriteToDisk(int file, std::string_view bytes) {
  if (const int error = WriteAll(file, bytes); error != 0) return error;
  while (fsync(file) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int Rename(const std::string& from, const std::string& to) {
  while (std::rename(from.c_str(), to.c_str()) != 0) {
    if (errno != EINTR) return errno;
  }
  FlushFolder(to);
  return 0;
}

// What writers in a folder write, or have left: NAME.tmpPROCESS.
std::vector<std::filesystem::path> UnfinishedIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string extension = entry.path().extension().string();
    const std::size_t digits = std::strlen(kUnfinished);
    if (extension.starts_with(kUnfinished) && extension.size() > digits &&
        extension.find_first_not_of("0123456789", digits) == std::string::npos)
      found.push_back(entry.path());
  }
  return found;
}

Error CannotWrite(const std::string& path, int error) {
  std::error_code ignored;
  const bool there = std::filesystem::exists(path, ignored);
  return Error(Join(path, ": cannot be written: ", std::strerror(error),
                    there ? "; what was there before is intact" : ""));
}

}  // namespace

// A name that nobody has: what is there under one may be a link that somebody put there, or what a process of
// the same number has left. Locked, so that whoever tidies up knows that it is being written, on whichever
// machine.
WholeFile::WholeFile(const std::string& path) : path_(path) {
  constexpr int kMostNames = 1000;
  int error = EAGAIN;
  for (int tries = 0; tries < kMostNames; ++tries) {
    temporary_ = Join(path, kUnfinished, getpid(), tries == 0 ? "" : std::to_string(tries));
    file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0) {
      error = errno;
      if (error == EINTR || error == EEXIST) continue;
      break;
    }
    const bool taken = flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;  // to be removed
    struct stat opened = {}, named = {};
    if (!taken && fstat(file_, &opened) == 0 && lstat(temporary_.c_str(), &named) == 0 &&
        opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
      return;
    close(file_);  // somebody tidied it up before it was locked
    file_ = -1;
    error = EAGAIN;
  }
  throw CannotWrite(path_, error);
}

WholeFile::~WholeFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void WholeFile::Fail(int error) {
  unlink(temporary_.c_str());
  throw CannotWrite(path_, error);
}

void WholeFile::Commit(std::string_view bytes) {
  int error = WriteToDisk(file_, bytes);
  if (error == 0) error = Rename(temporary_, path_);
  close(file_);  // behind the name, since it holds the lock; after a flush nothing is left that could fail
  file_ = -1;
  if (error != 0) Fail(error);
}

void WriteWhole(const std::string& path, std::string_view bytes) {
  WholeFile file(path);
  file.Commit(bytes);
}

void MoveWhole(const std::string& from, const std::string& to) {
  if (const int error = Rename(from, to); error != 0) throw CannotWrite(to, error);
}

void RemoveUnfinished(const std::string& folder) {
  std::error_code ignored;
  for (const auto& file : UnfinishedIn(folder)) {
    if (file.stem().string().find('.') != std::string::npos) std::filesystem::remove(file, ignored);
  }
}

void RemoveUnfinishedOf(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  for (const auto& one : UnfinishedIn(FolderOf(path))) {
    if (one.stem() != name) continue;
    const int file = open(one.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);  // no link, no pipe
    if (file < 0) continue;
    if (flock(file, LOCK_EX | LOCK_NB) == 0) unlink(one.c_str());
    close(file);
  }
}

}  // namespace berth
