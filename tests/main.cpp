// Entry point of berth_tests. `--update-golden` writes tests/golden/ anew instead of comparing with it; `--shard K/N` runs every
// N-th case, from the K-th, for processes side by side.
#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <cstring>

#include "tests/golden.hpp"
#include "tests/listener.hpp"

namespace {

// False where `shard` is no K/N.
bool Choose(Catch::Session& session, const std::string& shard) {
  unsigned part = 0, parts = 0;
  char more = 0;
  if (std::sscanf(shard.c_str(), "%u/%u%c", &part, &parts, &more) != 2 || part >= parts) return false;
  Catch::ConfigData chosen = session.configData();
  unsigned index = 0;
  for (const Catch::TestCase& test : Catch::getAllTestCasesSorted(session.config())) {
    if (test.isHidden() || index++ % parts != part) continue;
    // As Catch reads names from a file; a comma would end one.
    std::string name;
    for (const char c : test.name) name += (std::strchr("\",[\\", c) != nullptr ? "\\" : "") + std::string(1, c);
    chosen.testsOrTags.push_back('"' + name + '"');
    chosen.testsOrTags.emplace_back(",");
  }
  session.useConfigData(chosen);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  bool update = false;
  std::string shard;
  session.cli(session.cli() | Catch::clara::Opt(update)["--update-golden"]("write tests/golden/ anew") |
              Catch::clara::Opt(shard, "K/N")["--shard"]("every N-th case, from the K-th"));
  if (const int bad = session.applyCommandLine(argc, argv); bad != 0) return bad;
  if (!shard.empty() && !Choose(session, shard)) {
    std::fprintf(stderr, "--shard: expected K/N with K < N, found '%s'\n", shard.c_str());
    return 2;
  }
  berth::test::UpdateGolden() = update;
  return session.run();
}
