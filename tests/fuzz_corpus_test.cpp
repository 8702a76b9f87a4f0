// What fuzzing has found stays fixed: every file of tests/corpus is given to its target once more (tests/fuzz/README.md).
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch.hpp"
#include "tests/fuzz/targets.hpp"
#include "tests/sanitized.hpp"
#include "tools/bench/measure.hpp"

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
      std::ofstream("/proc/self/clear_refs") << 5;  // begins a new peak
      const double before = bench::PeakMemoryBytes(), begin = bench::CpuSeconds();
      CHECK_NOTHROW(target.run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
      // Some of these took minutes or gigabytes once; all others take milliseconds.
      CHECK(bench::CpuSeconds() - begin < 20.0 * (test::kSanitized ? 5.0 : 1.0));
      if (!test::kSanitized) CHECK(bench::PeakMemoryBytes() - before < 1024.0 * 1024.0 * 1024.0);
    }
  }
}

}  // namespace berth
