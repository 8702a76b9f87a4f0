// The round mechanism against the rounds of Gavel's own simulator, recorded: the allocations recorded with
// them are fed in, and every placement, priority, deficit and time must come out. The replay is
// tools/reproduce/gavel_mechanism.cpp, which `berth reproduce gavel --mechanism` runs too. And what objectives
// are told of gangs where GPUs are out.
#include "tools/reproduce/gavel_mechanism.hpp"

#include <filesystem>
#include <fstream>

#include "baselines/gavel/python_random.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tests/with_features.hpp"
#include "tools/json.hpp"

namespace berth::gavel {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = BERTH_SOURCE_DIR "/../shared/gavel/mechanism/public";
const char* const kNeeds = "needs records of Gavel's own code (not shipped)";

}  // namespace

TEST_CASE("gavel mechanism: the reference's recorded rounds, replayed", "[gavel][golden]") {
  if (!fs::exists(kFolder)) return test::Skip(kNeeds);
  const std::vector<MechanismReplay> replays = ReplayMechanism(kFolder.string());
  REQUIRE(replays.size() >= 15);
  int rounds = 0;
  for (const MechanismReplay& replay : replays) {
    INFO(replay.run << ": " << replay.first);
    CHECK(replay.held());
    CHECK(replay.differing == 0);
    CHECK(replay.priority <= kMechanismPriority);
    CHECK(replay.seconds <= kMechanismSeconds);
    CHECK(replay.resets > 0);
    rounds += replay.rounds;
  }
  CHECK(rounds > 1000);
}

TEST_CASE("gavel mechanism: a recording that is off is noticed", "[gavel][golden]") {
  if (!fs::exists(kFolder)) return test::Skip(kNeeds);
  std::ifstream file(kFolder / "mech_multi.max_min_fairness.json");
  const Json run = Json::parse(file);
  const test::TemporaryFolder folder;
  fs::copy(kFolder / "mech_multi.trace", folder / "mech_multi.trace");
  const auto difference = [&folder](const Json& changed) {
    std::ofstream(folder / "run.json") << changed;
    return ReplayMechanism(folder.path())[0].first;
  };
  REQUIRE(difference(run).empty());
  Json changed = run;
  auto& assignments = changed["rounds"][20]["assignments"];
  REQUIRE_FALSE(assignments.empty());
  assignments.erase(assignments.begin());
  CHECK_THAT(difference(changed), Catch::Contains("round 20: placement"));
  changed = run;
  for (auto& [job, value] : changed["rounds"][30]["priorities"]["v100"].items())
    value = value.get<double>() * 1.0001 + 1e-4;
  CHECK_THAT(difference(changed), Catch::Contains("round 30: priority"));
  changed = run;
  changed["rounds"][10]["t"] = changed["rounds"][10]["t"].get<double>() + 0.01;
  CHECK_THAT(difference(changed), Catch::Contains("round 10: time"));
  changed = run;
  std::swap(changed["rounds"][5]["worker_type_order"][0], changed["rounds"][5]["worker_type_order"][1]);
  CHECK_THAT(difference(changed), Catch::Contains("round 5: order"));
  changed = run;
  changed["completion_time_s"]["3"] = changed["completion_time_s"]["3"].get<double>() + 0.01;
  CHECK_THAT(difference(changed), Catch::Contains("completion"));
  changed.erase("rounds");
  CHECK_THROWS_AS(difference(changed), Error);
}

// The only GPU is out from 30 to 50 s, in the middle of job 0, while job 1 waits. An allocation of that time gives nobody a share,
// and who takes none but what the allocation gives would wait for ever if nobody asked again when the GPU is back.
TEST_CASE("gavel mechanism: GPUs that return are given out again", "[gavel]") {
  for (const char* clock : {"event", "rounds(10)"}) {
    CAPTURE(clock);
    const Scenario scenario = test::With(test::TinyData({{"v100", 1}}, {{1.0}}, {{0, 100}, {35, 50}}),
                                         "failures(mtbf_h=0,events=30:50:gpu:v100/0)", clock);
    const std::vector<double> ends = test::Ends("fcfs", scenario);
    CHECK(test::Ends("gavel(objective=fifo,reset_s=0)", scenario) == ends);
    CHECK(test::Ends("gavel(objective=fifo,aware=false,reset_s=0)", scenario) == ends);
    for (const double end : test::Ends("gavel(idle=given,reset_s=0)", scenario)) CHECK(end < 1e4);
  }
}

// Shares are made anew at 120 s, for the second job, and then not before 2,040 s: the third, which comes at 500 s, uses up the other GPU
// until then, but does not run. The first job's GPU is to go at 1,500 s, which is told at 600 s: it has that other one at once.
TEST_CASE("gavel mechanism: who waits for shares keeps nobody on a GPU about to go", "[gavel]") {
  const Scenario scenario = test::With(test::TinyData({{"a", 2}}, {{1.0}}, {{0, 1900}, {100, 200}, {500, 1000}}),
                                       "failures(mtbf_h=0,events=1500:9000:gpu:a/0:900)", "rounds(60)");
  for (const char* spec : {"gavel", "gavel(objective=max_sum_throughput)", "gandiva"}) {
    CAPTURE(spec);
    CHECK(test::Ends(spec, scenario)[0] == Approx(1900.0));
  }
}

// Gangs of 4 on a and b of 4 GPUs: job 0 runs on b alone, job 1 ten times as fast on a, where one GPU is out for ever.
// So both have half of b's time, 100 rounds of work each: neither ends before the 199th.
TEST_CASE("gavel mechanism: a gang has no speed on a type with fewer GPUs than it now needs", "[gavel]") {
  const Scenario scenario =
      test::With(test::TinyData({{"a", 4}, {"b", 4}}, {{0, 1}, {10, 1}}, {{0, 36000, 0, 4}, {0, 36000, 1, 4}}),
                 "failures(mtbf_h=0,events=0:100000000:gpu:a/0)", "rounds(360)");
  for (const char* objective : {"max_min", "proportional_fairness", "finish_time_fairness", "max_min,packed=true"}) {
    CAPTURE(objective);
    for (const double end : test::Ends(Join("gavel(reset_s=0,objective=", objective, ")"), scenario)) {
      CHECK(end >= 199.0 * 360.0);
      CHECK(end <= 201.0 * 360.0);
    }
  }
}

// From CPython 3.11: random.Random(5) gives these getrandbits(32), the 1000th past two refills; started anew,
// these five shuffles of [0, 1, 2]; random.Random(2**40 + 5), whose seed has two words, starts with
// 2166296868.
TEST_CASE("gavel mechanism: Python's generator", "[gavel]") {
  PythonRandom words(5);
  for (const std::uint32_t expected : {2675342405U, 1097127993U, 3185950873U, 1539898300U}) {
    CHECK(words.Bits() == expected);
  }
  for (int k = 4; k < 999; ++k) words.Bits();
  CHECK(words.Bits() == 142892084U);
  CHECK(PythonRandom((std::uint64_t{1} << 40) + 5).Bits() == 2166296868U);

  PythonRandom shuffles(5);
  const std::vector<std::vector<int>> expected = {{0, 1, 2}, {0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 0, 2}};
  for (const auto& order : expected) {
    std::vector<int> values = {0, 1, 2};
    shuffles.Shuffle(values);
    CHECK(values == order);
  }
}

}  // namespace berth::gavel
