// tests/EVIDENCE.md names for every registered scheduler and every objective of gavel the outside evidence
// that it is right, and tests that exist.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "baselines/gavel/objective_list.hpp"
#include "baselines/schedulers.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

struct Row {
  std::string evidence, tests;
};

// The rows of the page's table, by scheduler.
std::map<std::string, Row> EvidenceRows(const std::string& text) {
  static const std::regex kRow(R"(^\| `([^`]+)` \|([^|]*)\|([^|]*)\|\s*$)");
  std::map<std::string, Row> rows;
  std::istringstream in(text);
  std::smatch match;
  for (std::string line; std::getline(in, line);) {
    if (std::regex_match(line, match, kRow)) rows[match[1]] = {match[2], match[3]};
  }
  return rows;
}

// Every scheduler, and every objective of gavel.
std::set<std::string> Registered() {
  std::set<std::string> names;
  for (const SchedulerInfo& info : BaselineSchedulers()) names.insert(info.name);
#define BERTH_NAME(name, function) names.insert("gavel(objective=" #name ")");
  BERTH_GAVEL_OBJECTIVES(BERTH_NAME)
#undef BERTH_NAME
  return names;
}

std::set<std::string> Missing(const std::map<std::string, Row>& rows) {
  std::set<std::string> missing = Registered();
  for (const auto& [name, row] : rows) missing.erase(name);
  return missing;
}

}  // namespace

TEST_CASE("evidence: every registered scheduler has a row that names tests which exist") {
  std::ifstream file(BERTH_SOURCE_DIR "/tests/EVIDENCE.md");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto rows = EvidenceRows(text);
  CHECK(Missing(rows) == std::set<std::string>{});
  const std::set<std::string> registered = Registered();
  const std::regex name(R"(`([^`]+)`)");
  for (const auto& [scheduler, row] : rows) {
    CAPTURE(scheduler, row.tests);
    CHECK(registered.count(scheduler) == 1);
    CHECK(row.evidence.size() > 15);
    int tests = 0;
    for (std::sregex_iterator it(row.tests.begin(), row.tests.end(), name), end; it != end; ++it, ++tests) {
      CHECK(std::filesystem::exists(BERTH_SOURCE_DIR "/tests/" + (*it)[1].str() + ".cpp"));
    }
    CHECK(tests > 0);
  }
  // Without its row a scheduler is missed.
  const std::size_t at = text.find("| `srpt` |");
  REQUIRE(at != std::string::npos);
  CHECK(Missing(EvidenceRows(text.substr(0, at) + text.substr(text.find('\n', at) + 1))) ==
        std::set<std::string>{"srpt"});
}

}  // namespace berth
