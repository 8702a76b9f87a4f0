#include "tests/learn/shell.hpp"

#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "env/base/check.hpp"

namespace berth::test {

int Shell::operator()(const std::string& arguments) const {
  return WEXITSTATUS(std::system(
      Join("cd '", folder_.path(), "' && '" BERTH_BINARY "' ", arguments, " >log 2>&1").c_str()));
}

}  // namespace berth::test
