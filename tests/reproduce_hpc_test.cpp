// berth reproduce hpc: holds where nothing was touched, and says what differs where something was.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using test::Outcome;
using test::Slurp;

Outcome Reproduce(const test::TemporaryFolder& folder, const std::string& arguments) {
  return test::Berth(folder, "reproduce hpc " + arguments);
}

}  // namespace

TEST_CASE("reproduce hpc: a changed record is named and ends with code 1, all others hold", "[hpc][cli]") {
  const std::string lublin = BERTH_SOURCE_DIR "/../shared/traces/rlscheduler-lublin";
  if (!std::filesystem::exists(lublin)) return test::Skip("needs RLScheduler's Lublin logs (not shipped)");
  const test::TemporaryFolder folder;
  const std::string copy = folder / "traces/rlscheduler-lublin";
  std::filesystem::create_directories(copy);
  for (const char* log : {"lublin_256.swf.gz", "lublin_256_new2.swf.gz"}) {
    std::filesystem::create_symlink(lublin + "/" + log, copy + "/" + log);
  }
  nlohmann::json golden = nlohmann::json::parse(Slurp(lublin + "/golden.json"));
  nlohmann::json& value = golden["official10"]["lublin_256_new2|bf1"]["sjf_score|bsld"][3];
  value = value.get<double>() * (1.0 + 1e-11);
  std::ofstream(copy + "/golden.json") << golden;
  const Outcome changed = Reproduce(folder, "--traces traces --json r.json --out page");
  CAPTURE(changed.out, changed.error);
  CHECK(changed.code == 1);
  CHECK(changed.out.find("lublin_256_new2|bf1 sjf_score|bsld: recorded") != std::string::npos);
  CHECK(changed.out.find("skipped: philly:") != std::string::npos);
  CHECK(Slurp(folder / "page/hpc.md").find("19753.53") != std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(Slurp(folder / "r.json"));
  CHECK(json["differ"] == 1);
  CHECK(json["compared"] > 2600);
  CHECK(json["golden"]["differ"].size() == 1);
  for (const nlohmann::json& cell : json["cells"]) {
    CAPTURE(cell["table"], cell["rule"]);
    CHECK((cell["held"].is_null() || cell["held"] == true));
  }
}

TEST_CASE("reproduce hpc: a wrong folder or file is one line and code 2", "[hpc][cli]") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(Reproduce(folder, "--traces none"),
                     "--traces: expected a folder that holds rlscheduler-lublin, found 'none'");
  std::filesystem::create_directories(folder / "t/rlscheduler-lublin");
  test::CheckOneLine(Reproduce(folder, "--traces t"), "t/rlscheduler-lublin/lublin_256.swf.gz: no such file");
  std::ofstream(folder / "t/rlscheduler-lublin/lublin_256.swf.gz") << "; MaxNodes: 4\n1 0 -1 5 1\n";
  test::CheckOneLine(Reproduce(folder, "--traces t"), "lublin_256.swf.gz:2: expected 18 fields, found 5");
}

}  // namespace berth
