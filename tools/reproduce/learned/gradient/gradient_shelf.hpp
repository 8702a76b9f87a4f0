// The policies of training_sets.hpp that are there: OUT/policies/seeds/NAME_STEPS_SEED.h5, each with a record
// (.json) of the options and of the source that trained it, and its learning curve (.csv).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/gradient/training_sets.hpp"

namespace berth {

// The build that trains: RunSource(), and where the tree had changes the bytes of the learners' library too.
const std::string& LearnerSource();

// What decides a policy, and what it took.
struct TrainingRecord {
  std::string key;     // Training::Key
  std::string source;  // LearnerSource
  double cpu_s = 0.0;  // of one core, so far
};
// Nothing where there is no such file, or another one.
std::optional<TrainingRecord> ReadRecord(const std::string& path);
void WriteRecord(const std::string& path, const TrainingRecord& record);

// Thread rule: any thread at once, while nobody writes there.
class GradientShelf {
 public:
  explicit GradientShelf(GradientChoice choice) : choice_(std::move(choice)) {}

  std::string PolicyFile(const Training& training) const;
  std::string RecordFile(const Training& training) const;
  std::string RunFolder(const Training& training) const;  // its checkpoint, while it trains
  // Its record, where the policy is there, of these options and, unless the choice takes any, of this source.
  std::optional<TrainingRecord> Kept(const Training& training) const;

  // What is there of a set, by seed, whether this page's options would train it or not.
  std::vector<TrainedPolicy> Find(const TrainingSet& set, std::int64_t steps) const;
  std::vector<std::string> Specs(const TrainingSet& set, std::int64_t steps, bool sample = false) const;
  double MeanCpuSeconds(const TrainingSet& set, std::int64_t steps) const;  // NaN where there are none
  // Which seeds are not there and why, "" where all are.
  std::string Missing(const TrainingSet& set, std::int64_t steps) const;

  // " Trained by SOURCE, SOURCE." of what is there for the experiment, "" where nothing is.
  std::string SourcesText(const std::string& experiment) const;

  const GradientChoice& choice() const { return choice_; }

 private:
  GradientChoice choice_;
};

}  // namespace berth
