#include "env/base/readable.hpp"

#include <unistd.h>

#include <filesystem>

#include "env/base/check.hpp"

namespace berth {

void CheckReadable(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  switch (fs::status(path, code).type()) {
    case fs::file_type::regular:
      break;
    case fs::file_type::not_found:
      throw Error(Join(path, ": no such file"));
    case fs::file_type::directory:
      throw Error(Join(path, ": expected a file, found a directory"));
    case fs::file_type::fifo:
      throw Error(Join(path, ": expected a file, found a pipe"));
    case fs::file_type::none:  // a folder on the way that may not be searched, a name that is too long
      throw Error(Join(path, ": cannot be read: ", code.message()));
    default:
      throw Error(Join(path, ": expected a file, found a device or a socket"));
  }
  if (access(path.c_str(), R_OK) != 0) throw Error(Join(path, ": cannot be read (permissions)"));
}

}  // namespace berth
