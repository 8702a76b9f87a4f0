// berth bench: what it measures with, not how fast anything is.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <thread>
#include <vector>

#include "env/base/check.hpp"
#include "nlohmann/json.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/golden_suite.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/scaling.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/sweeps.hpp"

namespace berth::bench {
namespace {

// tools/bench/README.md documents these.
const std::vector<std::string> kRowKeys = {
    "name",    "what",    "unit", "target", "value", "met",    "repeats",
    "values",  "low",     "high", "spread", "cpu_s", "wall_s", "peak_memory_bytes",
    "not_run", "failure", "note", "detail"};

std::vector<std::string> KeysOf(const Json& json) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  return keys;
}

BenchRow RowOf(Bound bound, double target, Measured (*measure)(const BenchSetup&)) {
  return {"test/row", "what", "unit", bound, target, 0.0, measure};
}

std::vector<std::string> NamesOf(const std::vector<BenchRow>& rows) {
  std::vector<std::string> names;
  for (const BenchRow& row : rows) names.emplace_back(row.name);
  return names;
}

std::string ErrorOf(const std::string& only) {
  try {
    SelectRows(only);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("bench: the power law through exact points, and by hand through others") {
  const std::vector<double> x = {1.0, 10.0, 50.0, 300.0};
  std::vector<double> y;
  for (const double v : x) y.push_back(3.0 * std::pow(v, 1.5));
  const PowerLaw exact = FitPowerLaw(x, y);
  CHECK(exact.exponent == Approx(1.5).epsilon(1e-12));
  CHECK(exact.factor == Approx(3.0).epsilon(1e-12));
  CHECK(exact.residual < 1e-12);
  // In logarithms to base 2: (0, 0), (1, 2), (2, 2). Means 1 and 4/3; slope (4/3 + 0 + 2/3) / 2 = 1;
  // intercept 4/3 - 1 = 1/3. Off by 1/3, 2/3, 1/3.
  const PowerLaw byhand = FitPowerLaw(std::vector<double>{1, 2, 4}, std::vector<double>{1, 4, 4});
  CHECK(byhand.exponent == Approx(1.0).epsilon(1e-12));
  CHECK(byhand.factor == Approx(std::cbrt(2.0)).epsilon(1e-12));
  CHECK(byhand.residual == Approx(2.0 / 3.0 * std::log(2.0)).epsilon(1e-12));
}

TEST_CASE("bench: median and spread") {
  const Spread odd = SpreadOf(std::vector<double>{5, 1, 2});
  CHECK(odd.median == 2.0);
  CHECK(odd.low == 1.0);
  CHECK(odd.high == 5.0);
  CHECK(odd.relative == 2.0);  // (5 - 1) / 2
  CHECK(SpreadOf(std::vector<double>{1, 3}).median == 2.0);
  CHECK(SpreadOf(std::vector<double>{7}).relative == 0.0);
}

TEST_CASE("bench: rates count the units of the timed calls alone") {
  int calls = 0;
  const auto rates = RatesPerCpuSecond(/*seconds=*/0.0, /*repeats=*/3, [&] {
    ++calls;
    return std::int64_t{10};
  });
  CHECK(rates.size() == 3);
  CHECK(calls == 4);  // one before, and one a repeat, which is more than no time
  for (const double rate : rates) CHECK(rate > 0.0);
}

TEST_CASE("bench: what is set beside another is measured in turn with it") {
  std::string order;
  const auto work = [&order](char name) {
    return [&order, name] {
      order += name;
      return std::int64_t{1};
    };
  };
  const auto ratios = RatiosInTurn(/*seconds=*/0.0, /*repeats=*/3, work('a'), work('b'));
  CHECK(ratios.size() == 3);
  CHECK(order == "aabbaabbaabb");  // one call before each that is timed
}

// The lines that name rows of the bench and a target in percent.
TEST_CASE("bench: targets on the page of results are those of the rows") {
  std::ifstream page(BERTH_SOURCE_DIR "/tools/reproduce/RESULTS.md");
  int compared = 0;
  for (std::string line; std::getline(page, line);) {
    std::smatch target;
    if (!std::regex_search(line, target, std::regex("\\| (\\d+)% \\|$"))) continue;
    for (const BenchRow& row : AllRows()) {
      if (line.find(Join("`", row.name, "`")) == std::string::npos) continue;
      CAPTURE(row.name);
      CHECK(row.target == Approx(std::stod(target[1]) / 100.0));
      ++compared;
    }
  }
  CHECK(compared >= 3);
}

TEST_CASE("bench: --only names rows and groups, and a wrong name names the nearest") {
  const auto all = NamesOf(AllRows());
  CHECK(NamesOf(SelectRows("")) == all);
  CHECK(NamesOf(SelectRows("start/help, env/steps")) == std::vector<std::string>{"env/steps", "start/help"});
  CHECK(NamesOf(SelectRows("start")) == std::vector<std::string>{"start/help", "start/simulate"});
  CHECK(NamesOf(SelectRows("start,start/help")).size() == 2);
  CHECK(ErrorOf("env/step").find("did you mean 'env/steps'") != std::string::npos);
  CHECK(ErrorOf("polcy").find("did you mean 'policy'") != std::string::npos);
  std::set<std::string> unique;
  for (const BenchRow& row : AllRows()) {
    CAPTURE(row.name);
    CHECK(unique.insert(row.name).second);
    CHECK(std::string(row.name).find('/') != std::string::npos);
    CHECK(std::string(row.what).size() > 3);
    CHECK(row.measure != nullptr);
    CHECK((row.bound == Bound::kNone) == (row.target == 0.0));
  }
  std::set<std::string> sweeps;
  for (const Sweep& sweep : Sweeps()) {
    CAPTURE(sweep.name);
    CHECK(sweeps.insert(sweep.name).second);
    CHECK(sweep.points.size() >= 2);
  }
}

TEST_CASE("bench: a row's report has its values, its target's verdict and the documented keys") {
  const auto measure = [](const BenchSetup& setup) {
    return Measured{{2.0, setup.seconds, 4.0}, "said", {{"inside", 1}}};
  };
  BenchSetup setup;
  setup.seconds = 3.0;
  const RowReport least = MeasureRow(RowOf(Bound::kAtLeast, 3.0, measure), setup, 30.0);
  CHECK(least.failure == "");
  CHECK(least.measured.values == std::vector<double>{2.0, 3.0, 4.0});
  CHECK(least.Met());
  CHECK_FALSE(MeasureRow(RowOf(Bound::kAtLeast, 3.1, measure), setup, 30.0).Met());
  CHECK(MeasureRow(RowOf(Bound::kAtMost, 3.0, measure), setup, 30.0).Met());
  CHECK_FALSE(MeasureRow(RowOf(Bound::kAtMost, 2.9, measure), setup, 30.0).Met());
  BenchRow small = RowOf(Bound::kAtMost, 3.0, measure);
  small.memory_gib = 1e-6;
  CHECK_FALSE(MeasureRow(small, setup, 30.0).Met());
  const Json json = JsonOf(least);
  CHECK(KeysOf(json) == kRowKeys);
  CHECK(json["value"] == 3.0);
  CHECK(json["met"] == true);
  CHECK(json["spread"] == Approx(2.0 / 3.0));
  CHECK(json["target"]["bound"] == ">=");
  CHECK(json["not_run"].is_null());
  CHECK(json["detail"]["inside"] == 1);
  CHECK(TableOf({least}).find("test/row: said") != std::string::npos);
}

TEST_CASE("bench: a row that cannot run, throws, dies or does not end is named with the reason") {
  const RowReport cannot = MeasureRow(
      RowOf(Bound::kNone, 0, [](const BenchSetup&) -> Measured { throw CannotRun("needs a trace"); }), {},
      30);
  CHECK(cannot.not_run == "needs a trace");
  CHECK(cannot.failure == "");
  const RowReport threw = MeasureRow(
      RowOf(Bound::kNone, 0, [](const BenchSetup&) -> Measured { throw Error("no answer"); }), {}, 30);
  CHECK(threw.failure == "no answer");
  const RowReport died = MeasureRow(RowOf(Bound::kNone, 0,
                                          [](const BenchSetup&) -> Measured {
                                            std::raise(SIGKILL);
                                            return {};
                                          }),
                                    {}, 30);
  CHECK(died.failure.find("signal 9") != std::string::npos);
  const RowReport endless = MeasureRow(RowOf(Bound::kNone, 0,
                                             [](const BenchSetup&) -> Measured {
                                               std::this_thread::sleep_for(std::chrono::hours(1));
                                               return {};
                                             }),
                                       {}, 0.1);
  CHECK(endless.failure.find("no end within ") != std::string::npos);
  for (const RowReport& report : {cannot, threw, died, endless}) {
    const Json json = JsonOf(report);
    CHECK(KeysOf(json) == kRowKeys);
    CHECK(json["value"].is_null());
    CHECK(json["not_run"].is_null() == (report.failure != ""));
    CHECK(TableOf({report}).find("test/row: ") != std::string::npos);
  }
}

TEST_CASE("bench: peak memory is the row's own") {
  const auto touch = [](const BenchSetup& setup) {
    const std::vector<char> memory(static_cast<std::size_t>(setup.seconds), 'x');
    return Measured{{static_cast<double>(memory[memory.size() / 2])}, "", Json::object()};
  };
  BenchSetup little, much;
  little.seconds = 1.0;
  much.seconds = 256.0 * 1024 * 1024;
  const BenchRow row = RowOf(Bound::kNone, 0, touch);
  const double first = MeasureRow(row, little, 30).peak_bytes, second = MeasureRow(row, much, 30).peak_bytes,
               third = MeasureRow(row, little, 30).peak_bytes;
  CHECK(first > 0.0);
  CHECK(second - first > 250.0 * 1024 * 1024);
  CHECK(third < first + 64.0 * 1024 * 1024);
}

TEST_CASE("bench: a command gives back what it wrote, its code and the environment that was set") {
  const ChildResult said =
      RunCommand({"/bin/sh", "-c", "echo $BENCH_WORD; exit 3"}, 30, true, {{"BENCH_WORD", "hello"}});
  CHECK(said.text == "hello\n");
  CHECK(said.exit_code == 3);
  CHECK(said.failure == "");
  CHECK(RunCommand({"/no/such/program"}, 30, true).failure == "cannot start /no/such/program");
}

TEST_CASE("bench: what runs in a child does not outlive the one that waits for it") {
  // We start one that waits for a child, and kill it: the last to hold the pipe's other end is then gone,
  // well before the child would end by itself.
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t waiting = fork();
  REQUIRE(waiting >= 0);
  if (waiting == 0) {
    RunInChild(
        [&]() -> std::string {
          if (write(ends[1], "x", 1) != 1) _exit(1);
          std::this_thread::sleep_for(std::chrono::seconds(20));
          return "";
        },
        60.0);
    _exit(0);
  }
  close(ends[1]);
  char byte = 0;
  REQUIRE(read(ends[0], &byte, 1) == 1);  // it runs
  REQUIRE(kill(waiting, SIGKILL) == 0);
  REQUIRE(waitpid(waiting, nullptr, 0) == waiting);
  pollfd end{ends[0], POLLIN, 0};
  REQUIRE(poll(&end, 1, /*ms=*/10000) == 1);
  CHECK(read(ends[0], &byte, 1) == 0);
  close(ends[0]);
}

TEST_CASE("bench: the suite's signature depends on every run, name and clock") {
  const auto list = GoldenSignatures();
  CHECK(list.size() % GoldenClocks().size() == 0);
  const std::uint64_t whole = SuiteSignature(list);
  CHECK(SuiteSignature(GoldenSignatures()) == whole);
  auto changed = list;
  changed.back().signature ^= 1;
  CHECK(SuiteSignature(changed) != whole);
  changed = list;
  changed[0].clock = "hpc";
  CHECK(SuiteSignature(changed) != whole);
  changed = list;
  changed.pop_back();
  CHECK(SuiteSignature(changed) != whole);
}

TEST_CASE("bench: the verb writes its JSON, and a wrong row is one line and code 2") {
  const test::TemporaryFolder folder;
  const auto run = [&](const std::string& arguments) {
    const int status = std::system(Join("cd '", folder.path(), "' && '" BERTH_BINARY "' bench ", arguments,
                                        " >out.txt 2>error.txt </dev/null")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const auto slurp = [&](const char* name) {
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  // A row that lacks its trace is named and is no failure; the other is measured.
  CHECK(run("--only start/help,replay/philly_fcfs --repeats 1 --traces . --json b.json") == 0);
  const Json json = Json::parse(slurp("b.json"));
  CHECK(KeysOf(json) == std::vector<std::string>{"config", "version", "commit", "machine", "rows"});
  CHECK(KeysOf(json["machine"]) == KeysOf(MachineJson()));
  REQUIRE(json["rows"].size() == 2);
  CHECK(KeysOf(json["rows"][0]) == kRowKeys);
  CHECK(json["rows"][0]["name"] == "start/help");
  CHECK(json["rows"][0]["value"] > 0.0);
  CHECK(json["rows"][1]["not_run"].get<std::string>().find("philly_sorted.csv.gz") != std::string::npos);
  CHECK(slurp("out.txt").find("replay/philly_fcfs: not measured: needs ") != std::string::npos);

  CHECK(run("--signature --json s.json") == 0);
  CHECK(Json::parse(slurp("s.json"))["signature"]["runs"].size() == GoldenSignatures().size());
  CHECK(slurp("out.txt").find("\nSignature: ") != std::string::npos);

  CHECK(run("--only env/step") == 2);
  CHECK(slurp("error.txt").find("did you mean 'env/steps'") != std::string::npos);
  CHECK(run("--scaling --sweeps jobs/esy") == 2);
  CHECK(slurp("error.txt").find("did you mean 'jobs/easy'") != std::string::npos);
  CHECK(run("--traces no/such/folder --only start/help") == 2);
  CHECK(slurp("error.txt").find("--traces: expected a folder") != std::string::npos);
  CHECK(run("--optimality --schedulers 'srpt;fcsf' --instances 1") == 2);
  CHECK(slurp("error.txt").find("did you mean 'fcfs'") != std::string::npos);
}

}  // namespace berth::bench
