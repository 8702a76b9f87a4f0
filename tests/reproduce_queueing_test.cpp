// berth reproduce queueing, from the command line: every system is listed, the exit code is the verdict, and
// wrong words are one line.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/reproduce/queueing_systems.hpp"

namespace berth {

using test::Berth;
using test::Slurp;

TEST_CASE("cli: reproduce queueing shows every system, on any number of threads the same", "[queueing]") {
  const test::TemporaryFolder folder;
  const std::string run = "reproduce queueing --replications 2 --jobs 100 ";
  const int code = Berth(folder, run + "--threads 1 --json one.json").code;
  CAPTURE(Slurp(folder / "error.txt"));
  const nlohmann::json one = nlohmann::json::parse(Slurp(folder / "one.json"));
  CHECK(code == (one["outside_all_99"].get<int>() > 0 ? 1 : 0));
  std::size_t quantities = 0;
  for (const QueueingSystem& system : QueueingSystems()) {
    quantities += system.quantities.size();
    CHECK(Slurp(folder / "out.txt").find(system.name) != std::string::npos);
  }
  REQUIRE(one["rows"].size() == quantities);
  int outside = 0;
  for (const auto& row : one["rows"]) {
    const double away = row["measured"].get<double>() - row["closed_form"].get<double>();
    CHECK((std::abs(away) <= row["half_width_99"].get<double>()) == row["within_99"].get<bool>());
    outside += !row["within_99"].get<bool>();
  }
  CHECK(outside == one["outside_99"].get<int>());
  for (const char* threads : {"1", "3"}) {
    Berth(folder, Join(run, "--only sjf --threads ", threads, " --json sjf", threads, ".json"));
  }
  const nlohmann::json alone = nlohmann::json::parse(Slurp(folder / "sjf1.json"))["rows"];
  CHECK(alone.size() == 2);
  CHECK(nlohmann::json::parse(Slurp(folder / "sjf3.json"))["rows"] == alone);
  CHECK(std::find(one["rows"].begin(), one["rows"].end(), alone[0]) != one["rows"].end());
}

TEST_CASE("cli: reproduce names what it knows", "[queueing]") {
  const test::TemporaryFolder folder;
  for (const auto& [arguments, expected] : std::vector<std::pair<std::string, std::string>>{
           {"reproduce", "found none; usage: berth reproduce NAME [options]"},
           {"reproduce queueng", "did you mean 'queueing'"},
           {"reproduce queueing --jobs 0", "jobs"},
           {"reproduce queueing --only sprt", "M/M/1 srpt"},
           {"reproduce queueing --replications 1", "replications"},
           {"reproduce queueing --json no/such/q.json", "no/such/q.json"},
       }) {
    CAPTURE(arguments);
    test::CheckOneLine(Berth(folder, arguments), expected);
  }
}

}  // namespace berth
