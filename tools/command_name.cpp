// Apart from version.cpp, so that a new commit compiles less, and the Python package has it too.
#include <cstdlib>

#include "tools/version.hpp"

namespace berth {

std::string CommandName() {
  const char* name = std::getenv("BERTH_COMMAND");
  return name != nullptr ? name : "berth";
}

}  // namespace berth
