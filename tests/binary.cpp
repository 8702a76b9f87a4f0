#include "tests/binary.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"

namespace berth::test {

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Outcome Berth(const TemporaryFolder& folder, const std::string& arguments, const std::string& before) {
  const std::string options = kSanitized && arguments.starts_with("train")
                                  ? Join("ASAN_OPTIONS=\"$ASAN_OPTIONS", kNoLeakCheck, "\" ")
                                  : "";
  const std::string command = Join("cd '", folder.path(), "' && ", before, options, "timeout 300 '" BERTH_BINARY "' ",
                                   arguments, " >out.txt 2>error.txt </dev/null");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Slurp(folder / "out.txt"),
          Slurp(folder / "error.txt")};
}

void CheckOneLine(const Outcome& outcome, const std::string& expected) {
  CAPTURE(outcome.error, expected);
  CHECK(outcome.code == 2);
  CHECK(std::count(outcome.error.begin(), outcome.error.end(), '\n') == 1);
  CHECK(outcome.error.find(expected) != std::string::npos);
}

}  // namespace berth::test
