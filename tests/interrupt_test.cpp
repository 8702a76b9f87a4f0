// Ctrl-C in `berth train`, through the binary: exit code 130, a checkpoint, the words how to go on, and that
// they work.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test::HaveLearners;
using test::Slurp;
using test::Start;
using test::TemporaryFolder;
using test::Wait;

}  // namespace

TEST_CASE("cli: Ctrl-C in training saves a checkpoint, says how to continue, and --resume does") {
  if (!HaveLearners()) return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const TemporaryFolder folder;
  const pid_t child = Start(
      folder, {"train", "--workload", "toy(jobs=5)", "--cluster", "v100=2", "--envs", "2", "--threads", "1",
               "--device", "cpu", "--steps", "1000000000", "--out", "run", "--json", "first.json"});
  REQUIRE(child > 0);
  // progress.csv is opened when training begins; before that, a signal ends any program as usual.
  bool training = false;
  for (int tenths = 0; tenths < 600 && !training && !Ended(child); ++tenths) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    training = fs::exists(folder / "run/progress.csv");
  }
  if (!Ended(child)) kill(child, SIGINT);
  const int code = Wait(child);
  CAPTURE(Slurp(folder / "out.txt"), Slurp(folder / "error.txt"));
  REQUIRE(training);
  CHECK(code == 130);
  CHECK(Slurp(folder / "out.txt").find("continue with: berth train --resume --out run\n") !=
        std::string::npos);
  REQUIRE(fs::exists(folder / "run/checkpoint.h5"));
  const auto first = nlohmann::json::parse(Slurp(folder / "first.json"));
  CHECK(first["interrupted"] == true);

  const auto steps = first["steps"].get<long long>();
  const std::string more = std::to_string(steps + 500);
  const int resumed =
      Wait(Start(folder, {"train", "--resume", "--out", "run", "--steps", more, "--json", "second.json"}));
  CAPTURE(Slurp(folder / "out.txt"), Slurp(folder / "error.txt"));
  REQUIRE(resumed == 0);
  const auto second = nlohmann::json::parse(Slurp(folder / "second.json"));
  CHECK(second["interrupted"] == false);
  CHECK(second["steps"].get<long long>() >= steps + 500);
  // It went on rather than began anew: what it was told then it still knows.
  CHECK(second["config"]["workload"] == "toy(jobs=5)");
}

TEST_CASE("cli: a run on a scenario file goes on as it is told to, and a refused --resume changes nothing") {
  if (!HaveLearners()) return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const TemporaryFolder folder;
  REQUIRE(Wait(Start(folder, {"generate", "--workload", "toy(jobs=20)", "--cluster", "v100=2", "--out",
                              "s.h5"})) == 0);
  REQUIRE(Wait(Start(folder, {"train", "--scenario", "s.h5", "--episode-jobs", "5", "--warmup-jobs", "0",
                              "--envs", "2", "--threads", "1", "--device", "cpu", "--agent",
                              "ppo(n_steps=16)", "--steps", "32", "--out", "run"})) == 0);
  const std::string config = Slurp(folder / "run/config.ini");
  for (const std::vector<std::string>& other :
       {std::vector<std::string>{"--seed", "7"}, {"--agent", "dqn"}, {"--network", "mlp"}}) {
    std::vector<std::string> words = {"train", "--resume", "--out", "run", "--steps", "64"};
    words.insert(words.end(), other.begin(), other.end());
    CHECK(Wait(Start(folder, words)) == 2);
    CAPTURE(Slurp(folder / "error.txt"));
    CHECK(Slurp(folder / "run/config.ini") == config);
  }
  const int resumed = Wait(Start(folder, {"train", "--resume", "--out", "run", "--steps", "64"}));
  CAPTURE(Slurp(folder / "error.txt"));
  CHECK(resumed == 0);
  CHECK(Slurp(folder / "run/config.ini") != config);  // 64 steps now
}

}  // namespace berth
