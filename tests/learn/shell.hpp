// The berth binary in tests of whole trainings: run in a folder of its own, with what it said.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "policies/bundle.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::test {

inline std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Shell {
 public:
  // Exit code of `berth ARGUMENTS`.
  int operator()(const std::string& arguments) const;
  std::string log() const { return ReadAll(folder_ / "log"); }  // of the last run
  bool Said(const std::string& words) const { return log().find(words) != std::string::npos; }
  PolicyBundle Policy(const std::string& run) const {
    REQUIRE((*this)("export " + run + " --out " + run + ".h5") == 0);
    return LoadBundle(folder_ / (run + ".h5"));
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

}  // namespace berth::test
