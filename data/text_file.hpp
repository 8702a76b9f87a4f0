// Text files as lines: plain, gzip, or one member of a tar archive, "raw-traces.tar.gz:cluster03.csv".
#pragma once

#include <cstddef>
#include <string>

namespace berth {

// The archive of which `path` names a member; "" = it names none.
std::string ArchiveOf(const std::string& path);

// The whole file, unpacked where it is gzip, without a byte order mark. Throws Error naming it.
std::string ReadText(const std::string& path);

// Reads the file at once and hands out its lines. Throws Error naming the file. Thread rule: one thread at a
// time.
class TextFile {
 public:
  explicit TextFile(const std::string& path);
  bool Next(std::string& line);  // false at the end; a carriage return before the line's end is dropped
  int number() const { return number_; }  // of the line last given, from 1
  std::string Where() const;              // "path:number"

 private:
  std::string path_, text_;
  std::size_t at_ = 0;
  int number_ = 0;
};

}  // namespace berth
