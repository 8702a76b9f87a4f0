// berth explain: what a policy considered at a moment, and bad input.
#include <fstream>
#include <string>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

const std::string kPolicy = BERTH_SOURCE_DIR "/data/policies/cluster/hetero_oracle_1.h5";

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

TEST_CASE("cli: explain refuses what it cannot explain, in one line") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(test::Berth(folder, "explain --policy none.h5"), "none.h5: no such file");
  test::CheckOneLine(test::Berth(folder, "explain --workload toy --policy " + kPolicy + " --at 1e14"),
                     "--at: expected a time before the run ends");
  test::CheckOneLine(test::Berth(folder, "explain --workload toy --knowledge blind --policy " + kPolicy),
                     "needs knowledge 'oracle'");
  test::CheckOneLine(test::Berth(folder, "explain --top 0 --policy " + kPolicy), "--top");
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
