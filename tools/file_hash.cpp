#include "tools/file_hash.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>

#include "env/base/check.hpp"
#include "tools/results.hpp"

namespace berth {

// FNV-1a.
std::string TextHash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return HexSignature(hash);
}

std::string FileHash(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Join(path, ": cannot be read"));
  return TextHash(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace berth
