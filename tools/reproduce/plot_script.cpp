#include "tools/reproduce/plot_script.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "env/check.hpp"

extern char** environ;

namespace berth {

std::string RunPlotScript(const std::string& script, const std::vector<std::string>& arguments) {
  const std::string path = std::string(BERTH_SOURCE_DIR "/tools/") + script;
  const std::string own = BERTH_SOURCE_DIR "/.venv/bin/python";
  const std::string python = access(own.c_str(), X_OK) == 0 ? own : "python3";
  std::vector<std::string> words = {python, path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + word;
  const std::string otherwise = Join("no pictures; draw them with: ", command);
  if (!std::filesystem::exists(path)) return Join(path, ": not found; ", otherwise);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) {
    return Join(python, ": cannot be run; ", otherwise);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return Join(python, ": failed (is matplotlib installed? tools/setup does); ", otherwise);
}

}  // namespace berth
