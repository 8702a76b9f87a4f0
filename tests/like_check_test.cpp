// `berth generate --like`: the check of a log against its later weeks, and the command line.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "data/workloads.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/like/check.hpp"

namespace berth {
namespace {

const LikeColumn& ColumnNamed(const LikeCheck& check, const std::string& name) {
  for (const LikeColumn& column : check.columns) {
    if (column.name == name) return column;
  }
  FAIL("no column " << name);
  return check.columns[0];
}

// Four weeks of a job every ten minutes, whose run time and GPUs `of` says by its number.
template <class Of>
Scenario LikeLog(const Of& of) {
  std::vector<test::TinyJob> jobs;
  for (int i = 0; i <= 4 * 7 * 144; ++i) {
    const auto [seconds, gpus] = of(i);
    jobs.push_back({i * 600.0, seconds, 0, gpus});
  }
  return test::Tiny({{"a", 8}}, {{1.0}}, jobs);
}

}  // namespace

TEST_CASE("like: the parts of a log are whole weeks, and columns what they say", "[like]") {
  Stream stream(1, Purpose::kTest);
  const LikeCheck check =
      CheckLike(LikeLog([&](int) { return std::pair(100.0 + stream.Uniform(), stream.Uniform() < 0.5 ? 1 : 2); }), 1, 5);
  CHECK(check.split_s == 21 * 86400.0);
  CHECK(check.later_s == 7 * 86400.0);
  CHECK(check.earlier_jobs == 21 * 144);
  CHECK(check.later_jobs == 7 * 144);
  const LikeColumn& hourly = ColumnNamed(check, "arrivals in an hour");
  CHECK(hourly.earlier == std::vector<double>(21 * 24, 6.0));
  CHECK(hourly.later == std::vector<double>(7 * 24, 6.0));
  const LikeColumn& gaps = ColumnNamed(check, "time between arrivals, s");
  CHECK(gaps.later == std::vector<double>(7 * 144 - 1, 600.0));
  // A log as regular as that has a model as regular; what is drawn at random differs by chance alone.
  CHECK(gaps.of_earlier.distance == 0.0);
  CHECK(check.passed() == static_cast<int>(check.columns.size()));
  const LikeColumn& gpus = ColumnNamed(check, "GPUs");
  CHECK(gpus.categories == std::vector<std::string>{"1", "2"});
  CHECK(gpus.later[0] + gpus.later[1] == 7 * 144);
  // No users, no limits, one type: no columns.
  CHECK(check.columns.size() == 6);
  // The same seed says the same.
  CHECK(LikeCheckJson(check)["columns"].size() == 6);
}

TEST_CASE("like: later weeks of another kind are drift, order that no draw has differs", "[like]") {
  // Run times ten times as long in the last week: the drawn are as far from them as the earlier ones, wholly.
  Stream stream(2, Purpose::kTest);
  const LikeCheck longer = CheckLike(
      LikeLog([&](int i) { return std::pair((i < 21 * 144 ? 1.0 : 10.0) * (100.0 + stream.Uniform()), 1); }), 1, 5);
  CHECK(ColumnNamed(longer, "run time, s").of_earlier.distance == 1.0);
  CHECK(ColumnNamed(longer, "run time, s").verdict == LikeVerdict::kDrift);
  // One and two GPUs in turn: never two alike in a row, which a model that draws each by itself cannot know.
  const LikeCheck turns = CheckLike(LikeLog([](int i) { return std::pair(100.0, 1 + i % 2); }), 1, 5);
  const LikeColumn& alike = ColumnNamed(turns, "jobs in a row alike");
  CHECK(alike.of_earlier.distance == 0.0);
  CHECK(alike.of_drawn.distance == Approx(0.5).margin(0.05));  // half of the runs of a fair coin are longer than 1
  CHECK(alike.verdict == LikeVerdict::kDiffers);
  CHECK(turns.passed() == static_cast<int>(turns.columns.size()) - 1);
  // Said on the page, in the picture's file and as JSON.
  const std::string page = LikeCheckPage(turns, "berth generate");
  CHECK(page.find("| jobs in a row alike | chi-square |") != std::string::npos);
  CHECK(page.find("differs |") != std::string::npos);
  CHECK(LikeCheckTable(turns).find("5 of 6 columns pass") != std::string::npos);
  CHECK(LikeCheckCsv(turns).find("jobs in a row alike,1,held out,1,1\n") != std::string::npos);
}

TEST_CASE("like: a log too short to be divided is an error", "[like]") {
  CHECK_THROWS_WITH(CheckLike(test::Tiny({{"a", 1}}, {{1.0}}, {{0, 1}, {0, 1}, {0, 1}}), 1, 1),
                    Catch::Contains("tiny: expected a log of which the first weeks have jobs and the last ones too, "
                                    "found 3 jobs within 0 h"));
  CHECK_THROWS(CheckLike(test::Tiny({{"a", 1}}, {{1.0}}, {}), 1, 1));
  // Six jobs do: the last quarter of 50 s has two.
  const Scenario six =
      test::Tiny({{"a", 1}}, {{1.0}}, {{0, 1}, {10, 1}, {20, 1}, {30, 1}, {40, 1}, {50, 1}});
  CHECK(CheckLike(six, 1, 2).later_jobs == 2);
}

TEST_CASE("cli: a log is fitted, drawn from and checked", "[like][cli]") {
  const test::TemporaryFolder folder;
  REQUIRE(test::Berth(folder, "generate --workload 'synthetic(jobs=600,gangs=multi)' --cluster v100=16 --out log.h5").code == 0);
  const test::Outcome fit = test::Berth(folder, "generate --like log.h5 --out m.toml --json m.json");
  CAPTURE(fit.error);
  REQUIRE(fit.code == 0);
  CHECK(fit.out.find("berth generate --workload 'like(file=m.toml)' --cluster v100=16 --out drawn.h5") !=
        std::string::npos);
  CHECK(test::Slurp(folder / "m.toml").find("# Jobs like those of log.h5: 600 of ") == 0);
  CHECK(test::Slurp(folder / "m.json").find("\"classes\"") != std::string::npos);
  const std::string draw = "generate --workload 'like(file=m.toml,jobs=50,load=2)' --cluster v100=16 --seed 3 --out ";
  CHECK(test::Berth(folder, draw + "a.h5").code == 0);
  CHECK(test::Berth(folder, draw + "b.h5").code == 0);
  CHECK(ReadScenario(folder / "a.h5").Hash() == ReadScenario(folder / "b.h5").Hash());
  CHECK(ReadScenario(folder / "a.h5").num_jobs() == 50);
  CHECK(test::Berth(folder, "evaluate --workload 'like(file=m.toml,jobs=50)' --cluster v100=16 --schedulers fcfs "
                            "--seeds 0:2").code == 0);
  const test::Outcome check = test::Berth(folder, "generate --like log.h5 --check page --json c.json");
  CAPTURE(check.error);
  CHECK(check.code == 0);
  CHECK(check.out.find(" columns pass; fitted on ") != std::string::npos);
  CHECK(test::Slurp(folder / "page/check.md").find("Made by `berth generate --like log.h5 --check page --json c.json`") !=
        std::string::npos);
  CHECK(std::filesystem::exists(folder / "page/check.csv"));
  CHECK(test::Slurp(folder / "c.json").find("\"earlier_distance\"") != std::string::npos);
  for (const auto& [arguments, expected] : std::vector<std::pair<std::string, std::string>>{
           {"generate --like log.h5", "--out"},
           {"generate --like none.h5 --out x.toml", "--like: none.h5"},
           {"generate --like log.h5 --cluster v100=4 --out x.toml", "--cluster: expected none beside --like, found 'v100=4'"},
           {"generate --like log.h5 --workload toy --out x.toml", "--workload: expected none beside --like, found 'toy'"},
           {"generate --check page --out x.h5", "--check: expected --like with it, the log, found none"},
           {"generate --like log.h5 --out log.h5", "log.h5"},
           {"generate --workload 'like(file=none.toml)' --cluster v100=8 --out x.h5", "--workload: like: none.toml"},
           {"generate --workload 'like(file=m.toml,load=0)' --cluster v100=8 --out x.h5", "load"},
           {"generate --workload 'like(file=m.toml)' --cluster v100=4 --out x.h5", "like: expected a cluster on which jobs of 8 GPUs"},
           {"generate --workload 'like(file=log.h5)' --cluster v100=8 --out x.h5", "log.h5"}}) {
    CAPTURE(arguments);
    test::CheckOneLine(test::Berth(folder, arguments), expected);
  }
  std::ofstream(folder / "bad.toml") << "version = 1\n[[class]]\nrun_s = [3, 1]\n";
  test::CheckOneLine(test::Berth(folder, "generate --workload 'like(file=bad.toml)' --cluster v100=8 --out x.h5"),
                     "like: bad.toml:3: run_s: expected numbers that do not fall, found 1 after 3");
}

TEST_CASE("cli: reproduce like names what it lacks, and runs on what is there", "[like][cli]") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(test::Berth(folder, "reproduce like --traces none"), "--traces: expected a folder that holds philly");
  const std::string logs = BERTH_SOURCE_DIR "/../shared/traces/tiresias";
  if (!std::filesystem::exists(logs)) return test::Skip("needs Tiresias' log of 60 jobs (not shipped)");
  std::filesystem::create_directories(folder / "t");
  std::filesystem::create_symlink(logs, folder / "t/tiresias");
  const test::Outcome run = test::Berth(folder, "reproduce like --traces t --out p --json p.json");
  CAPTURE(run.error);
  CHECK(run.code == 0);
  CHECK(run.out.find("skipped: Philly") != std::string::npos);
  CHECK(test::Slurp(folder / "p/like.md").find("| Tiresias | ") != std::string::npos);
  CHECK(test::Slurp(folder / "p.json").find("\"verdict\"") != std::string::npos);
}

}  // namespace berth
