// Checkpoints of `train` with datasets and attributes changed at random, as a stranger's file may be.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace berth {

// Thread rule: one thread at a time, and one object of a folder.
class ChangedCheckpoints {
 public:
  explicit ChangedCheckpoints(const std::string& folder);  // trains a few short runs in it
  ~ChangedCheckpoints();
  // One of them changed, read as export reads it, and continued for some steps. "" where that went well or was refused with an
  // Error, else what it was that no stranger's file may cause.
  std::string Check(std::uint64_t seed, std::int64_t index);

 private:
  struct Runs;
  std::unique_ptr<Runs> runs_;
};

}  // namespace berth
