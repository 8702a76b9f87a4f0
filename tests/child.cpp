#include "tests/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/binary.hpp"
#include "tests/sanitized.hpp"
#include "tools/json.hpp"

namespace berth::test {

bool HaveLearners() {
  const char* given = std::getenv("BERTH_LEARN_LIBRARY");
  if (given != nullptr && *given != '\0') return std::filesystem::exists(given);
  return std::filesystem::exists(std::filesystem::path(BERTH_BINARY).parent_path() / "libberth_learn.so");
}

pid_t Start(const TemporaryFolder& folder, std::vector<std::string> arguments, const Variables& variables) {
  arguments.insert(arguments.begin(), BERTH_BINARY);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string out = folder / "out.txt", error = folder / "error.txt", in = folder.path();
  const pid_t child = fork();
  if (child != 0) return child;
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  if (kSanitized && arguments.size() > 1 && arguments[1] == "train") {
    const char* const set = std::getenv("ASAN_OPTIONS");
    setenv("ASAN_OPTIONS", (std::string(set == nullptr ? "" : set) + kNoLeakCheck).c_str(), 1);
  }
  const int out_file = open(out.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  const int error_file = open(error.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  if (dup2(out_file, STDOUT_FILENO) >= 0 && dup2(error_file, STDERR_FILENO) >= 0 && chdir(in.c_str()) == 0) {
    execv(argv[0], argv.data());
  }
  _exit(127);
}

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

bool Ended(pid_t child) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
}

int ServedPort(const TemporaryFolder& folder, pid_t process) {
  // Who is no child of ours is gone from the table of processes as it ends.
  for (int tenths = 0; tenths < 300 && kill(process, 0) == 0 && !Ended(process); ++tenths) {
    const std::string said = Slurp(folder / "serve.json");
    if (Json::accept(said)) return Json::parse(said).value("port", 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return 0;
}

}  // namespace berth::test
