// Files as logs are published: gzip, and members of tar archives.
#pragma once

#include <zlib.h>

#include <cstdio>
#include <string>

#include "tests/catch.hpp"

namespace berth::test {

inline void WriteGzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), static_cast<unsigned>(text.size())) == static_cast<int>(text.size()));
  gzclose(file);
}

// One member of a ustar archive: header, contents, padding.
inline std::string TarMember(const std::string& name, const std::string& contents) {
  std::string header(512, '\0');
  header.replace(0, name.size(), name);
  char size[12];
  std::snprintf(size, sizeof(size), "%011o", static_cast<unsigned>(contents.size()));
  header.replace(124, 11, size, 11);
  header.replace(257, 5, "ustar");
  return header + contents + std::string((512 - contents.size() % 512) % 512, '\0');
}

}  // namespace berth::test
