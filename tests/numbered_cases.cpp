#include "tests/numbered_cases.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "env/base/check.hpp"

namespace berth::test {
namespace {

constexpr int kMostKept = 20;  // of a run: behind so many they are mostly the same

}  // namespace

int RunNumberedCases(int argc, char** argv, const char* program,
                     const std::function<std::string(std::uint64_t seed, std::int64_t index)>& check,
                     const std::function<void(int failed)>& ends) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::int64_t first = 0, scenarios = 1'000'000'000, done = 0;
  double seconds = 1e9;
  std::uint64_t seed = 0;
  std::filesystem::path out = ".";
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    if (words[i] == "--first") {
      first = std::stoll(value);
    } else if (words[i] == "--scenarios") {
      scenarios = std::stoll(value);
    } else if (words[i] == "--seconds") {
      seconds = std::stod(value);
    } else if (words[i] == "--seed") {
      seed = std::stoull(value);
    } else if (words[i] == "--out") {
      out = value;
    } else {
      throw Error(Join("expected --first, --scenarios, --seconds, --seed or --out, found '", words[i], "'"));
    }
  }
  std::filesystem::create_directories(out / "findings");
  const auto begin = std::chrono::steady_clock::now();
  std::string findings;
  int failed = 0;
  const std::filesystem::path running = out / "findings" / Join("running-", seed);  // left behind by a crash
  for (std::int64_t index = first; index < first + scenarios; ++index, ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    std::ofstream(running) << program << " --seed " << seed << " --first " << index << " --scenarios 1\n";
    const std::string what = check(seed, index);
    if (what.empty()) continue;
    std::cout << what << std::endl;
    if (++failed > kMostKept) continue;
    const std::string file = (out / "findings" / Join("case-", seed, '-', index, ".txt")).string();
    std::ofstream(file) << what << "\n" << program << " --seed " << seed << " --first " << index << " --scenarios 1\n";
    findings += (findings.empty() ? "\"" : ", \"") + file + "\"";
  }
  std::filesystem::remove(running);
  if (ends) ends(failed);
  std::cout << "{\"executions\": " << done << ", \"findings\": [" << findings << "]}" << std::endl;
  return failed > 0 ? 1 : 0;
} catch (const std::exception& error) {
  std::cerr << program << ": " << error.what() << '\n';
  return 2;
}

}  // namespace berth::test
