// berth_differential --scenarios N [--first I] [--seconds S] [--seed N] --out DIR
//
// Checks scenarios [first, first + N) of a seed. The last line is what tools/campaign reads:
// {"executions": n, "findings": [files]}.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "env/base/check.hpp"
#include "tests/differential/differential.hpp"

namespace {

int Campaign(const std::vector<std::string>& words) {
  std::int64_t first = 0, scenarios = 1'000'000'000;
  double seconds = 1e9;
  std::uint64_t seed = 0;
  std::filesystem::path out = ".";
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    if (words[i] == "--first") {
      first = std::stoll(words[i + 1]);
    } else if (words[i] == "--scenarios") {
      scenarios = std::stoll(words[i + 1]);
    } else if (words[i] == "--seconds") {
      seconds = std::stod(words[i + 1]);
    } else if (words[i] == "--seed") {
      seed = std::stoull(words[i + 1]);
    } else if (words[i] == "--out") {
      out = words[i + 1];
    } else {
      throw berth::Error(
          berth::Join("expected --first, --scenarios, --seconds, --seed or --out, found '", words[i], "'"));
    }
  }
  std::filesystem::create_directories(out / "findings");
  const auto begin = std::chrono::steady_clock::now();
  berth::differential::Tally tally;
  std::string findings;
  int found = 0;
  const std::filesystem::path running = out / berth::Join("running-", seed);  // left behind by a crash
  for (std::int64_t index = first; index < first + scenarios; ++index) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds) break;
    std::ofstream(running) << "berth_differential --seed " << seed << " --first " << index << " --scenarios 1\n";
    const std::string what = berth::differential::CheckScenario(seed, index, tally);
    if (what.empty()) continue;
    std::cout << what << '\n';
    if (++found > 20) continue;
    const std::string file = (out / "findings" / berth::Join("differential-", seed, '-', index, ".txt")).string();
    std::ofstream(file) << what << '\n';
    findings += (findings.empty() ? "\"" : ", \"") + file + "\"";
  }
  std::filesystem::remove(running);
  std::cout << tally.scenarios << " scenarios, " << tally.modelled << " against the model, "
            << tally.decisions << " decisions, " << tally.events << " events, " << tally.illegal
            << " commands refused, " << tally.unfinished << " cut, " << found << " differ\n";
  for (const auto& [name, count] : tally.with) std::cout << "  " << name << ": " << count << '\n';
  for (const std::string& pair : berth::differential::NeverTogether(tally)) std::cout << "  never: " << pair << '\n';
  for (const auto& [why, count] : tally.refused)
    std::cout << "  not made " << count << " times: " << why << '\n';
  std::cout << "{\"executions\": " << tally.scenarios << ", \"findings\": [" << findings << "]}" << std::endl;
  return found > 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Campaign({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "berth_differential: " << error.what() << '\n';
    return 2;
  }
}
