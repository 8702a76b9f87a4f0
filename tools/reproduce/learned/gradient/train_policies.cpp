#include "tools/reproduce/learned/gradient/train_policies.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "env/base/check.hpp"
#include "tools/interrupt.hpp"
#include "tools/learn_library.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/child_runs.hpp"
#include "tools/reproduce/learned/gradient/child_process.hpp"
#include "tools/reproduce/learned/training.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCurveRows = 200;

// One training on its way: `berth train`, then `berth export`, then the policy is put where it is kept.
class TrainingRun final : public ChildRun {
 public:
  TrainingRun(const GradientShelf& shelf, const Training& training)
      : run_(shelf.RunFolder(training)),
        policy_(shelf.PolicyFile(training)),
        record_file_(shelf.RecordFile(training)),
        record_{training.Key(), LearnerSource(), 0.0} {
    const auto begun = ReadRecord(RunRecord());
    const bool same = begun && begun->key == record_.key && begun->source == record_.source;
    if (same) record_.cpu_s = begun->cpu_s;
    if (!same) fs::remove_all(run_);  // another recipe's, or another build's
    MakeFolder(run_, "--out");
    WriteRecord(RunRecord(), record_);
    std::vector<std::string> words = {"train"};
    if (fs::exists(run_ + "/checkpoint.h5")) {
      words.emplace_back("--resume");
    } else {
      const std::vector<std::string> own = training.Words();
      words.insert(words.end(), own.begin(), own.end());
    }
    words.insert(words.end(), {"--out", run_});
    child_.emplace(words, Log());
  }

  void Interrupt() const override { child_->Interrupt(); }

  State Look() override {
    ChildEnd end{};
    if (!child_->Ended(end)) return State::kRuns;
    record_.cpu_s += end.cpu_s;
    WriteRecord(RunRecord(), record_);
    if (end.code == kExitInterrupted) return State::kInterrupted;
    if (end.code != 0) return State::kFailed;
    if (!exports_) {
      exports_ = true;
      child_.emplace(std::vector<std::string>{"export", run_, "--out", run_ + "/policy.h5"}, Log());
      return State::kRuns;
    }
    Keep();
    return State::kDone;
  }

  std::string Said() const override { return LastLineOf(Log()); }

 private:
  std::string RunRecord() const { return run_ + "/training.json"; }
  std::string Log() const { return run_ + "/log"; }

  // The record last: where it is not, nothing is kept.
  void Keep() {
    std::ifstream progress(run_ + "/progress.csv");
    const std::string rows{std::istreambuf_iterator<char>(progress), {}};
    fs::remove(record_file_);
    fs::rename(run_ + "/policy.h5", policy_);
    WriteTextFile(fs::path(policy_).replace_extension(".csv"), LearningCurve(rows, kCurveRows));
    WriteRecord(record_file_, record_);
    fs::remove_all(run_);  // a checkpoint of DQN holds its buffer
  }

  std::string run_, policy_, record_file_;
  TrainingRecord record_;
  std::optional<ChildProcess> child_;
  bool exports_ = false;
};

double TrainingSeconds(const std::vector<Training>& trainings) {
  double sum = 0.0;
  for (const Training& training : trainings) sum += training.Seconds();
  return sum;
}

// The longest first: begun last, it would keep one thread busy while the others have nothing to do.
std::vector<Training> Left(const GradientShelf& shelf, const std::vector<Training>& trainings) {
  std::vector<Training> left;
  for (const Training& training : trainings) {
    if (!shelf.Kept(training)) left.push_back(training);
  }
  std::stable_sort(left.begin(), left.end(),
                   [](const Training& a, const Training& b) { return a.Seconds() > b.Seconds(); });
  return left;
}

std::string WhyNoLearners() {
  try {
    OpenLearnLibrary();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TrainingOutcome TrainPolicies(const GradientShelf& shelf, const std::vector<Training>& trainings,
                              int at_once) {
  TrainingOutcome outcome;
  const std::vector<Training> left = Left(shelf, trainings);
  if (left.empty()) return outcome;
  outcome.no_learners = WhyNoLearners();
  if (!outcome.no_learners.empty()) return outcome;
  MakeFolder(fs::path(shelf.PolicyFile(left[0])).parent_path(), "--out");
  std::vector<ChildOrder> orders;
  for (const Training& training : left) {
    orders.push_back({training.Name(), training.Seconds(),
                      [&shelf, &training] { return std::make_unique<TrainingRun>(shelf, training); }});
  }
  ChildrenEnd end = RunAtOnce("train", " trainings", orders, at_once);
  outcome.interrupted = end.interrupted;
  outcome.failed = std::move(end.failed);
  return outcome;
}

std::string ListTrainings(const GradientShelf& shelf, const std::vector<Training>& trainings) {
  std::string text;
  for (const Training& training : trainings) {
    const auto kept = shelf.Kept(training);
    text +=
        Join(training.Name(), "  ", training.Key(), "  ",
             kept ? Join("kept, took ", Duration(kept->cpu_s)) : Join("about ", Duration(training.Seconds())),
             "\n");
  }
  const std::vector<Training> left = Left(shelf, trainings);
  return text + Join(trainings.size(), " trainings, ", trainings.size() - left.size(),
                     " of them kept, about ", Duration(TrainingSeconds(left)), " of one core left\n");
}

std::string LeftOut(const GradientShelf& shelf, const std::string& experiment) {
  std::string names;
  std::vector<Training> out;
  for (const TrainingSet& set : TrainingSets()) {
    for (const std::int64_t steps : set.steps) {
      if (experiment != set.experiment || steps <= shelf.choice().steps_up_to) continue;
      const std::vector<Training> left = Left(shelf, TrainingsOf(shelf.choice(), set, steps));
      if (left.empty()) continue;
      names += Join(names.empty() ? "" : ", ", set.name, " ", Thousands(static_cast<double>(steps)));
      out.insert(out.end(), left.begin(), left.end());
    }
  }
  if (out.empty()) return "";
  return Join("left out by --steps-up-to ", shelf.choice().steps_up_to, ": ", names, "; ", out.size(),
              " trainings, about ", Duration(TrainingSeconds(out)), " of one core\n");
}

void DryRunTrainings(const GradientChoice& choice, const std::string& experiment) {
  for (const TrainingSet& set : TrainingSets()) {
    if (experiment != set.experiment) continue;
    std::cout << "\n== " << set.name << "\n";
    std::vector<std::string> words = Training{&set, set.steps.front(), 1}.Words();
    words.insert(words.end(), {"--dry-run", "--out", Join(choice.out, "/training/seeds/", set.name)});
    RunTrain(words);
  }
}

}  // namespace berth
