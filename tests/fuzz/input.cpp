#include "tests/fuzz/input.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace berth::fuzz {
namespace {

namespace fs = std::filesystem;

// Gone with the process, but for one that crashed.
struct MemoryFolder {
  std::string path;
  MemoryFolder() {
    const char* const root = fs::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    path = Join(root, "/berth-fuzz-", getpid());
    fs::create_directories(path);
  }
  ~MemoryFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

const std::string& Folder() {
  static const MemoryFolder folder;
  return folder.path;
}

constexpr double kNumbers[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-320, 1e-9, 1e9, 2147483648.0, 4294967296.0,
                               9.3e18, -9.3e18, 1.9e19, 1e300, -1e300, std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN(), 1000.0, 3600.0, 86400.0, 1.7e9};
constexpr std::int64_t kIntegers[] = {0, 1, -1, 2, 3, 4, 7, 8, 64, 65, 127, 255, 1000, 65536, 1 << 24, 2147483647, -2147483648LL,
                                      2147483648LL, 4294967296LL, 1LL << 40, std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min()};

}  // namespace

std::uint8_t Input::Byte() {
  if (bytes_.empty()) return 0;
  const std::uint8_t byte = bytes_.front();
  bytes_ = bytes_.subspan(1);
  return byte;
}

std::uint64_t Input::Word() {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = word << 8 | Byte();
  return word;
}

double Input::Number() {
  const std::uint8_t which = Byte();
  if (which < std::size(kNumbers)) return kNumbers[which];
  if (which < 128) return which - 24;
  if (which < 192) return (which - 128) * 0.125;
  const std::uint64_t word = Word();
  double number = 0.0;
  std::memcpy(&number, &word, sizeof(number));
  return number;
}

std::int64_t Input::Integer() {
  const std::uint8_t which = Byte();
  if (which < std::size(kIntegers)) return kIntegers[which];
  if (which < 192) return which - 22;
  return static_cast<std::int64_t>(Word());
}

std::string Input::Text(int most) {
  std::string text;
  while (!bytes_.empty() && static_cast<int>(text.size()) < most) {
    const char c = static_cast<char>(Byte());
    if (c == '\0') break;
    text += c;
  }
  return text;
}

std::string Path(const std::string& name) {
  return Folder() + "/" + name;
}

std::string File(const std::string& name, std::string_view content) {
  const std::string path = Path(name);
  std::ofstream out(path, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) Fail(path + " cannot be written");
  return path;
}

void ClearFiles() {
  for (const fs::directory_entry& entry : fs::directory_iterator(Folder())) fs::remove_all(entry.path());
}

bool RunRow(std::span<const TextRow> rows, Bytes bytes) {
  if (bytes.empty() || bytes[0] < '0' || bytes[0] >= '0' + rows.size()) return false;
  const TextRow& row = rows[bytes[0] - '0'];
  row.read(row, std::string(bytes.begin() + 1, bytes.end()));
  return true;
}

std::vector<std::string> Parts(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == kNextFile) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace berth::fuzz
