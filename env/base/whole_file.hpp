// Files that are written whole or not at all: under a temporary name, flushed to the disk and renamed, and
// then the folder flushed. A kill, a full disk or a crash of the machine at any moment leaves the old file or
// the new one. Everything that Berth keeps between runs is written by this.
#pragma once

#include <string>
#include <string_view>

namespace berth {

class WholeFile {
 public:
  // Opens the temporary file beside `path`. Throws Error that names `path`.
  explicit WholeFile(const std::string& path);
  ~WholeFile();  // without Commit the temporary file is removed and `path` is untouched
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  // Once. Throws Error, after which `path` is what it was before.
  void Commit(std::string_view bytes);

 private:
  [[noreturn]] void Fail(int error);

  std::string path_, temporary_;
  int file_ = -1;
};

void WriteWhole(const std::string& path, std::string_view bytes);

// A whole file takes another's place. Throws Error, after which both are what they were before.
void MoveWhole(const std::string& from, const std::string& to);

// What writers that were killed have left in a folder: NAME.EXTENSION.tmpPROCESS. Nobody may be writing
// there.
void RemoveUnfinished(const std::string& folder);

// What writers of this file have left that were killed: nobody has it locked any more.
void RemoveUnfinishedOf(const std::string& path);

}  // namespace berth
