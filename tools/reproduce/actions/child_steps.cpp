#include "tools/reproduce/actions/child_steps.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include "env/base/check.hpp"
#include "tools/interrupt.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/learned/gradient/child_process.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kBetweenLooks{50};

// What decides the file, beside it.
std::string KeyFile(const ChildStep& step) {
  return step.makes + ".made_by";
}

std::string KeyOf(const ChildStep& step) {
  std::string key;
  for (const auto& words : step.commands) {
    key += "berth";
    for (const std::string& word : words) key += " " + word;
    key += "\n";
  }
  return key;
}

bool Made(const ChildStep& step) {
  std::ifstream in(KeyFile(step));
  const std::string key{std::istreambuf_iterator<char>(in), {}};
  return fs::exists(step.makes) && key == KeyOf(step);
}

class Running {
 public:
  Running(const ChildStep& step, const std::string& folder)
      : step_(step), log_(folder + "/" + step.name + ".log") {
    fs::remove(log_);
    fs::remove(KeyFile(step));
    child_.emplace(step.commands[0], log_);
  }
  const ChildStep& step() const { return step_; }
  void Interrupt() const { child_->Interrupt(); }
  std::string Said() const { return LastLineOf(log_); }
  enum class State { kRuns, kDone, kFailed };
  State Look() {
    ChildEnd end{};
    if (!child_->Ended(end)) return State::kRuns;
    if (end.code != 0) return State::kFailed;
    if (++next_ < step_.commands.size()) {
      child_.emplace(step_.commands[next_], log_);
      return State::kRuns;
    }
    if (!fs::exists(step_.makes)) return State::kFailed;
    WriteTextFile(KeyFile(step_), KeyOf(step_));
    return State::kDone;
  }

 private:
  ChildStep step_;
  std::string log_;
  std::size_t next_ = 0;
  std::optional<ChildProcess> child_;
};

}  // namespace

std::vector<ChildStep> StepsLeft(const std::vector<ChildStep>& steps) {
  std::vector<ChildStep> left;
  for (const ChildStep& step : steps) {
    if (!Made(step)) left.push_back(step);
  }
  return left;
}

ChildOutcome RunSteps(const std::string& label, const std::vector<ChildStep>& steps,
                      const std::string& folder, int at_once) {
  ChildOutcome outcome;
  const std::vector<ChildStep> left = StepsLeft(steps);
  if (left.empty()) return outcome;
  const std::atomic<bool>& interrupted = WatchInterrupts();
  double total = 0.0, done = 0.0;
  for (const ChildStep& step : left) total += step.seconds;
  std::vector<Running> running;
  std::size_t next = 0, ended = 0;
  bool told = false;
  Progress progress(label);
  while (!running.empty() || (next < left.size() && !interrupted)) {
    while (!interrupted && next < left.size() && running.size() < static_cast<std::size_t>(at_once))
      running.emplace_back(left[next++], folder);
    if (interrupted && !told) {
      for (const Running& run : running) run.Interrupt();
      told = true;
    }
    std::this_thread::sleep_for(kBetweenLooks);
    std::erase_if(running, [&](Running& run) {
      const Running::State state = run.Look();
      if (state == Running::State::kRuns) return false;
      if (state == Running::State::kFailed && !interrupted) outcome.failed[run.step().name] = run.Said();
      done += run.step().seconds;
      ++ended;
      return true;
    });
    const std::string now = running.empty() ? "" : ", " + running.front().step().name;
    progress.Update(done / total, Join(ended, " of ", left.size(), now));
  }
  outcome.interrupted = interrupted;
  return outcome;
}

}  // namespace berth
