#include "tools/home.hpp"

#include <cstdlib>

namespace berth {
namespace {

const char* GivenHome() {
  const char* home = std::getenv("BERTH_HOME");
  return home != nullptr && *home != '\0' ? home : nullptr;
}

}  // namespace

std::string HomeFile(const std::string& inside) {
  const char* home = GivenHome();
  return std::string(home != nullptr ? home : BERTH_SOURCE_DIR) + "/" + inside;
}

bool IsInstalled() {
  return GivenHome() != nullptr;
}

}  // namespace berth
