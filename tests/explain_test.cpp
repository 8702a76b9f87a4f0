// berth explain: what a policy considered at a moment, and bad input.
#include <cmath>
#include <fstream>
#include <regex>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

const std::string kPolicy = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle_1.h5";

// What the page's chart draws.
Json GanttOf(const std::string& page) {
  const std::string begin = "const GANTT = ";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + begin.size();
  return Json::parse(page.substr(from, page.find(";\n", from) - from));
}

int CountOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace

TEST_CASE("cli: explain shows the commands best first, and what the simulator then does") {
  const test::TemporaryFolder folder;
  const test::Outcome made =
      test::Berth(folder, "generate --workload 'synthetic(rate=20,jobs=40)' --cluster v100=2,p100=2 --out s.h5");
  REQUIRE(made.code == 0);
  const test::Outcome ran =
      test::Berth(folder, "explain --scenario s.h5 --policy " + kPolicy + " --at 3000 --json why.json");
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  const Json why = Json::parse(test::Slurp(folder / "why.json"));
  CHECK(why["time_s"].get<double>() >= 3000.0);
  REQUIRE(why["commands"].size() > 2);
  double last = 1e300;
  int chosen = 0;
  for (const Json& command : why["commands"]) {
    CHECK(command["score"].get<double>() <= last);
    last = command["score"].get<double>();
    chosen += command["chosen"].get<std::string>().empty() ? 0 : 1;
  }
  CHECK(chosen >= 4);  // on four GPUs, more jobs than that
  CHECK(why["blocks"].size() >= 3);
  CHECK(ran.out.find("the decision: ") != std::string::npos);
}

TEST_CASE("cli: explain makes a page that needs no network") {
  const test::TemporaryFolder folder;
  const test::Outcome ran = test::Berth(
      folder, "explain --workload 'synthetic(rate=20,jobs=40)' --cluster v100=2,p100=2 --policy " + kPolicy +
                  " --at 3000 --top 5 --html why.html --json why.json");
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  const std::string page = test::Slurp(folder / "why.html");
  const Json why = Json::parse(test::Slurp(folder / "why.json")), gantt = GanttOf(page);
  CHECK(gantt["moment"] == why["time_s"]);
  CHECK(page.find(why["decision"].get<std::string>()) != std::string::npos);
  // A row for each of the five best, and for those below them that were chosen; one for each block.
  int rows = 0, chosen = 0;
  for (std::size_t i = 0; i < why["commands"].size(); ++i) {
    const bool taken = !why["commands"][i]["chosen"].get<std::string>().empty();
    rows += taken || i < 5 ? 1 : 0, chosen += taken ? 1 : 0;
  }
  const std::size_t blocks = page.find("<section id=\"blocks\">");
  REQUIRE(blocks != std::string::npos);
  CHECK(CountOf(page.substr(0, blocks), "<td class=\"bars\">") == rows);
  CHECK(CountOf(page, "<tr class=\"chosen\">") == chosen);
  CHECK(CountOf(page.substr(blocks), "<td class=\"bars around\">") == static_cast<int>(why["blocks"].size()));
  static const std::regex kOutside(R"re((src|href)="(?!data:|#)|url\(|@import|<link rel="style)re");
  CHECK_FALSE(std::regex_search(page, kOutside));
}

TEST_CASE("cli: explain draws the run that the report draws") {
  if (test::Python(BERTH_SOURCE_DIR, "h5py, matplotlib").empty())
    return test::Skip("needs h5py and matplotlib: tools/setup");
  const test::TemporaryFolder folder;
  const std::string what =
      " --workload 'synthetic(rate=20,jobs=40)' --cluster v100=2,p100=2 --features 'failures(mtbf_h=20)'";
  const test::Outcome ran =
      test::Berth(folder, "explain --seed 7 --at 3000 --html why.html --policy " + kPolicy + what);
  INFO(ran.error);
  REQUIRE(ran.code == 0);
  REQUIRE(test::Berth(folder, Join("evaluate --seeds 7:8 --report page --schedulers 'policy(file=", kPolicy, ")'",
                                   what))
              .code == 0);
  const Json ours = GanttOf(test::Slurp(folder / "why.html"));
  const Json theirs = GanttOf(test::Slurp(folder / "page/index.html"));
  for (const char* part : {"ends", "shades", "absences", "greys", "types", "counts", "unseen", "cut"}) {
    CAPTURE(part);
    CHECK(ours[part] == theirs[part]);
  }
  CHECK(ours["jobs"].size() == theirs["jobs"].size());
  REQUIRE(ours["runs"][0].size() > 40);
  REQUIRE(ours["runs"][0].size() == theirs["runs"][0].size());
  for (std::size_t i = 0; i < ours["runs"][0].size(); ++i) {
    const Json &bar = ours["runs"][0][i], &other = theirs["runs"][0][i];
    CAPTURE(bar.dump(), other.dump());
    REQUIRE(bar.size() == other.size());
    for (std::size_t k = 0; k < bar.size(); ++k) {  // tenths of a second may be rounded either way
      REQUIRE(std::abs(bar[k].get<double>() - other[k].get<double>()) < (k == 1 || k == 2 ? 0.11 : 1e-9));
    }
  }
}

// fcfs stops and moves nobody; the policy, which does, decides from the moment on.
TEST_CASE("cli: explain draws the run of --until-then up to the moment") {
  const test::TemporaryFolder folder;
  const std::string ask = "explain --workload 'synthetic(rate=20,jobs=40)' --cluster v100=2,p100=2 --at 30000 "
                          "--html why.html --policy " +
                          kPolicy;
  const auto moved = [&](const std::string& more) {
    const test::Outcome ran = test::Berth(folder, ask + more);
    INFO(ran.error);
    REQUIRE(ran.code == 0);
    const Json gantt = GanttOf(test::Slurp(folder / "why.html"));
    int before = 0, after = 0;
    for (const Json& bar : gantt["runs"][0]) {
      const std::string end = gantt["ends"][bar[4].get<std::size_t>()];
      if (end != "stopped" && end != "moved") continue;
      (bar[2].get<double>() < gantt["moment"].get<double>() - 0.1 ? before : after) += 1;
    }
    return std::pair{before, after};
  };
  const auto [before, after] = moved(" --until-then fcfs");
  CHECK(before == 0);
  CHECK(after > 0);
  CHECK(test::Slurp(folder / "why.html").find("The whole run: fcfs decides until the moment") != std::string::npos);
  CHECK(moved("").first > 0);
  CHECK(test::Slurp(folder / "why.html").find("The whole run under this policy") != std::string::npos);
}

TEST_CASE("cli: explain refuses what it cannot explain, in one line") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(test::Berth(folder, "explain --policy none.h5"), "none.h5: no such file");
  test::CheckOneLine(test::Berth(folder, "explain --workload toy --policy " + kPolicy + " --at 1e14"),
                     "--at: expected a time before the run ends");
  test::CheckOneLine(test::Berth(folder, "explain --workload toy --knowledge blind --policy " + kPolicy),
                     "needs knowledge 'oracle'");
  test::CheckOneLine(test::Berth(folder, "explain --workload toy --knowledge blind --until-then srpt --policy " BERTH_SOURCE_DIR
                                         "/data/policies/cluster/hetero_blind_1.h5"),
                     "--until-then: scheduler 'srpt' needs knowledge");
  test::CheckOneLine(test::Berth(folder, "explain --top 0 --policy " + kPolicy), "--top");
  test::CheckOneLine(test::Berth(folder, "explain --html no/such/why.html --policy " + kPolicy),
                     "--html: no/such/why.html: cannot be written");
  test::CheckOneLine(test::Berth(folder, "explain --html " + kPolicy + " --policy " + kPolicy), "--html");
}

TEST_CASE("cli: commands that do not exist or that a cluster lacks are named in one line") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(test::Berth(folder, "train --out a --actions fly"), "--actions: expected names of");
  test::CheckOneLine(test::Berth(folder, "train --out a --actions start,resiz"), "did you mean 'resize'");
  test::CheckOneLine(test::Berth(folder, "train --out a --actions start,resize"), "feature elasticity");
  test::CheckOneLine(test::Berth(folder, "train --out a --actions start,reject"), "the term 'deadline'");
  test::CheckOneLine(test::Berth(folder, "train --out a --visible 0"), "--visible");
  test::CheckOneLine(test::Berth(folder, "reproduce actions --only fly --out a"), "--only");
}

}  // namespace berth
