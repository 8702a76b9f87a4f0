#include "tools/reproduce/actions/child_steps.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "env/base/check.hpp"
#include "tools/file_hash.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/learned/gradient/child_process.hpp"
#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string KeyFile(const ChildStep& step) {
  return step.makes + ".made_by";
}

bool Made(const ChildStep& step) {
  std::ifstream in(KeyFile(step));
  const std::string key{std::istreambuf_iterator<char>(in), {}};
  return fs::exists(step.makes) && key == StepKey(step);
}

class RunningStep final : public ChildRun {
 public:
  RunningStep(const ChildStep& step, const std::string& folder)
      : step_(step), key_(StepKey(step)), log_(folder + "/" + step.name + ".log") {
    fs::remove(log_);
    if (!step.scratch.empty()) fs::remove_all(step.scratch);  // what an interrupted or another run left
    fs::remove(KeyFile(step));
    child_.emplace(step.commands[0], log_);
  }
  void Interrupt() const override { child_->Interrupt(); }
  std::string Said() const override { return LastLineOf(log_); }
  State Look() override {
    ChildEnd end{};
    if (!child_->Ended(end)) return State::kRuns;
    if (end.code != 0) return State::kFailed;
    if (++next_ < step_.commands.size()) {
      child_.emplace(step_.commands[next_], log_);
      return State::kRuns;
    }
    if (!fs::exists(step_.makes)) return State::kFailed;
    WriteTextFile(KeyFile(step_), key_);
    return State::kDone;
  }

 private:
  ChildStep step_;
  std::string key_;  // of what the first command finds
  std::string log_;
  std::size_t next_ = 0;
  std::optional<ChildProcess> child_;
};

}  // namespace

std::string StepKey(const ChildStep& step) {
  std::string key = Join("source ", LearnerSource(), "\n");
  std::map<std::string, std::string> files;  // each once, by path
  for (const auto& words : step.commands) {
    key += "berth";
    for (const std::string& word : words) {
      key += " " + word;
      for (const SpecFile& file : SpecFiles(word)) {
        if (fs::is_regular_file(file.path) && files.count(file.path) == 0)
          files[file.path] = FileHash(file.path);
      }
    }
    key += "\n";
  }
  for (const auto& [path, hash] : files) key += Join(path, " ", hash, "\n");
  return key;
}

std::vector<ChildStep> StepsLeft(const std::vector<ChildStep>& steps) {
  std::vector<ChildStep> left;
  for (const ChildStep& step : steps) {
    if (!Made(step)) left.push_back(step);
  }
  return left;
}

ChildrenEnd RunSteps(const std::string& label, const std::vector<ChildStep>& steps, const std::string& folder,
                     int at_once) {
  std::vector<ChildOrder> orders;
  for (const ChildStep& step : StepsLeft(steps)) {
    orders.push_back(
        {step.name, step.seconds, [step, folder] { return std::make_unique<RunningStep>(step, folder); }});
  }
  return orders.empty() ? ChildrenEnd{} : RunAtOnce(label, "", orders, at_once);
}

}  // namespace berth
