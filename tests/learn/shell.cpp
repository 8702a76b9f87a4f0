#include "tests/learn/shell.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "env/base/check.hpp"
#include "tests/sanitized.hpp"

namespace berth::test {

int Shell::operator()(const std::string& arguments) const {
  const std::string options = kSanitized && arguments.starts_with("train")
                                  ? Join("ASAN_OPTIONS=\"$ASAN_OPTIONS", kNoLeakCheck, "\" ")
                                  : "";
  return WEXITSTATUS(std::system(
      Join("cd '", folder_.path(), "' && ", options, "'" BERTH_BINARY "' ", arguments, " >log 2>&1")
          .c_str()));
}

}  // namespace berth::test
