// Ctrl-C in `berth train`, through the binary: exit code 130, a checkpoint, the words how to go on, and that
// they work.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using test::TemporaryFolder;

// Where the binary looks for the learners.
bool HaveLearners() {
  const char* given = std::getenv("BERTH_LEARN_LIBRARY");
  if (given != nullptr && *given != '\0') return fs::exists(given);
  return fs::exists(fs::path(BERTH_BINARY).parent_path() / "libberth_learn.so");
}

// A child without a shell between, so that the signal reaches the binary itself. Output goes to out.txt,
// error.txt.
pid_t Start(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), BERTH_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string out = folder / "out.txt", error = folder / "error.txt", in = folder.path();
  const pid_t child = fork();
  if (child != 0) return child;
  const int out_file = open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  const int error_file = open(error.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (dup2(out_file, STDOUT_FILENO) >= 0 && dup2(error_file, STDERR_FILENO) >= 0 && chdir(in.c_str()) == 0) {
    execv(argv[0], argv.data());
  }
  _exit(127);
}

// The exit code; -1 when it was killed by a signal, or had to be after a minute and a half.
int Wait(pid_t child) {
  int status = 0;
  for (int tenths = 0; tenths < 900; ++tenths) {
    if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return -1;
}

// Whether it has ended; Wait can still be called.
bool Ended(pid_t child) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

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
