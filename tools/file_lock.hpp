// What only one process at a time may write: the folder of a run.
#pragma once

#include <string>
#include <vector>

namespace berth {

// A file that no other process holds, until it goes out of scope or the process ends, in whatever way
// (flock). Two of one process exclude each other too.
class FileLock {
 public:
  // `who` holds it, such as "berth train", alone or `shared` with others that share it. Throws Error where
  // another holds it: "WHAT is in use by process 123 (berth train) on HOST since 2026-01-31 12:00:00 UTC".
  // On a file system without locks it says so on standard error and holds nothing.
  FileLock(const std::string& path, const std::string& what, const std::string& who, bool shared = false);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int file_ = -1;
};

// FOLDER/lock, for one process alone. Makes the folder and those above it. `where` is how messages name the
// option: "--out".
std::string LockOf(const std::string& folder);
class FolderLock : public FileLock {
 public:
  FolderLock(const std::string& folder, const std::string& where, const std::string& who);
};

// The same until the process ends, also where it asks twice: for verbs that end with it. Makes the folders in
// it too, and removes what writers that were killed have left there.
void HoldFolder(const std::string& folder, const std::string& where, const std::string& who,
                const std::vector<std::string>& inside = {});

}  // namespace berth
