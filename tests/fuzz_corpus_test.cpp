// What fuzzing has found stays fixed: every file of tests/corpus is given to its target once more (tests/fuzz/README.md).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/fuzz/targets.hpp"

namespace berth {

TEST_CASE("fuzz: every target takes every file of its corpus", "[fuzz]") {
  const std::string root = BERTH_SOURCE_DIR "/tests/corpus/";
  for (const fuzz::Target& target : fuzz::Targets()) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(root + target.name)) files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    CAPTURE(target.name);
    CHECK(files.size() >= 4);
    for (const std::string& file : files) {
      CAPTURE(file);
      std::ifstream in(file, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      CHECK_NOTHROW(target.run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
    }
  }
}

}  // namespace berth
