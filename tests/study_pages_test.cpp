// What pages of reproductions say of themselves: the command that makes them, and what did not run.
#include <string>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/reproduce/study_options.hpp"

namespace berth {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("study pages: the command has the options that were given and decide the page") {
  const auto command = [](const std::vector<std::string>& words) {
    Options options("reproduce tea", "", "a study");
    options.Value("only", "", "parts");
    options.Value("seeds", "0:3", "of workloads");
    options.Value("threads", "1", "which decide nothing");
    options.Switch("quick", "less of it");
    REQUIRE(options.Parse(words));
    return MadeBy(options, {"only", "seeds", "quick"});
  };
  CHECK(command({"--threads", "2"}) == "berth reproduce tea --out DIR");
  CHECK(command({"--quick", "--seeds", "0:5", "--only", "green,black"}) ==
        "berth reproduce tea --only green,black --seeds 0:5 --quick --out DIR");
  CHECK(command({"--only", "earl grey;it's"}) == "berth reproduce tea --only 'earl grey;it'\\''s' --out DIR");
  CHECK(command({"--quick=false"}) == "berth reproduce tea --quick=false --out DIR");
}

TEST_CASE("study pages: shift names rules that did not end, and has no worst of nothing", "[cli]") {
  const test::TemporaryFolder folder;
  const test::Outcome ran =
      test::Berth(folder, "reproduce shift --quick --seeds 1000:1002 --limit-s 0.001 --threads 1 --out o");
  CAPTURE(ran.error);
  CHECK(ran.code == 0);
  const std::string page = test::Slurp(folder / "o/shift.md");
  CAPTURE(page);
  CHECK(Has(page, "Made by `berth reproduce shift --quick --seeds 1000:1002 --limit-s 0.001 --out DIR`"));
  CHECK(Has(page, "| none | none ran (`srpt` not run, `nash_welfare` not run, `nash_welfare(weight=gpu)` not run, "
                  "`matching` not run) |"));
  CHECK(Has(page, "| **worst of all** |  |  | - | - |"));
  CHECK_FALSE(Has(page, "| 0.00 |"));
}

}  // namespace berth
