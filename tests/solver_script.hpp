// Answers of ours, a line of JSON each, before a script that asks other solvers.
#pragma once

#include <cstdlib>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/output_file.hpp"

namespace berth::test {

// The script gets a file of these lines, says what differs, and ends with 0 where nothing does. What it said is shown where it does not,
// and always where `shown`.
inline void CheckLines(const std::string& python, const std::string& script, const std::string& lines, bool shown) {
  const TemporaryFolder folder;
  WriteTextFile(folder / "lines.jsonl", lines);
  const std::string command =
      Join("'", python, "' '", script, "' '", (folder / "lines.jsonl"), "' > '", (folder / "said"), "' 2>&1");
  const int status = std::system(command.c_str());
  const std::string said = Slurp(folder / "said");
  INFO(said);
  CHECK(status == 0);
  if (shown) WARN(said);
}

}  // namespace berth::test
