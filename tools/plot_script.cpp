#include "tools/plot_script.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "env/base/check.hpp"
#include "tools/home.hpp"
#include "tools/next_steps.hpp"

extern char** environ;

namespace berth {
namespace {

// Until the other side has closed.
std::string ReadAll(int descriptor) {
  std::string text;
  char part[4096];
  for (ssize_t n = 1; n > 0 || (n < 0 && errno == EINTR);) {
    n = read(descriptor, part, sizeof part);
    if (n > 0) text.append(part, static_cast<std::size_t>(n));
  }
  return text;
}

// Where Python says what went wrong. "" = it said nothing.
std::string LastLine(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string::npos) return "";
  const std::size_t before = text.find_last_of('\n', last);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, last + 1 - begin);
}

std::string WhyItFailed(int status, const std::string& said) {
  const std::string last = LastLine(said);
  if (last.starts_with("ModuleNotFoundError"))
    return last + (IsInstalled() ? " (pip install 'berth[report]' brings it)" : " (tools/setup installs it)");
  if (!last.empty()) return last;
  return WIFSIGNALED(status) ? Join("killed by signal ", WTERMSIG(status))
                             : Join("exit code ", WEXITSTATUS(status));
}

std::string Interpreter() {
  const char* given = std::getenv("BERTH_PYTHON");
  if (given != nullptr && *given != '\0') return given;
  const std::string own = HomeFile(".venv/bin/python");
  return access(own.c_str(), X_OK) == 0 ? own : "python3";
}

}  // namespace

std::string RunPlotScript(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string path = HomeFile("tools/" + script);
  const std::string python = Interpreter();
  std::vector<std::string> words = {python, path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + ForShell(word);
  const std::string otherwise = Join("no pictures; draw them with: ", command);
  if (!std::filesystem::exists(path)) return Join(path, ": not found; ", otherwise);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) return Join(python, ": no pipe to it; ", otherwise);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  for (const int end : ends) posix_spawn_file_actions_addclose(&actions, end);
  pid_t child = 0;
  const int refused = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  const std::string said = refused == 0 ? ReadAll(ends[0]) : "";
  close(ends[0]);
  if (refused != 0) return Join(python, ": cannot be run; ", otherwise);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return Join(script, ": ", WhyItFailed(status, said), "; ", otherwise);
}

}  // namespace berth
