// One training, from its options to its outcome, without a word to anybody: `berth train` and the Python
// package's berth.train ask by the same names and train the same.
//
//   AddTrainingOptions(options);
//   ...
//   Training training(options, SourceCommit());   // resolved; nothing is written yet
//   training.Open(options);                       // the learners are there and take it
//   training.request.on_progress = ...;
//   TrainOutcome outcome = training.Run(options);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agents/train/learn_api.hpp"
#include "tools/environment_options.hpp"
#include "tools/file_lock.hpp"
#include "tools/json.hpp"
#include "tools/train_validation.hpp"
#include "tools/training_words.hpp"

namespace berth {

// Those of `berth train`; --dry-run, which prints, where they are flags alone.
void AddTrainingOptions(Options& options, bool flags = true);

// Thread rule: one thread at a time. Several at once in a process are independent, each in a folder of its
// own.
class Training {
 public:
  // Resolves what was given, with --resume what the run's config.ini says too. `commit` is recorded. Throws
  // Error naming the option.
  Training(Options& options, const std::string& commit);
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // Makes the environments and opens the learners. Throws Error: one that they have not, or a device.
  void Open(const Options& options);
  // As the learners' train (agents/train/learn_api.hpp), with config.ini in the folder from its begin on. From
  // then on no other process may train there while this object lives.
  // What they refuse of the agent or the network is named by its option. REQUIRES: Open.
  TrainOutcome Run(const Options& options);

  // What is to be said of now, a line each: which member learns, the last validation, findings. Takes each
  // progress once.
  std::vector<std::string> Notes(const TrainProgress& now);
  // At the end: what `berth train --json` writes (tools/FORMATS.md), with what stood out as `findings`, a
  // line each (tools/training_words.hpp).
  Json ToJson(const TrainOutcome& outcome, const Options& options);

  const LearnApi& learners() const { return *learners_; }  // REQUIRES: Open
  const std::string& device() const { return device_; }    // likewise: what --device came to
  const EnvironmentChoice& choice() const { return choice_; }
  int num_envs() const { return num_envs_; }                         // of all processes
  bool writes() const { return request.world.rank == 0; }            // others only learn
  TrainValidation* validation() const { return validation_.get(); }  // null = none
  TrainRequest request;

 private:
  std::vector<Validation::Row> Validations() const;

  std::unique_ptr<FolderLock> lock_;  // from the beginning of Run; where a run is continued, from the first
  EnvironmentChoice choice_;
  int num_envs_ = 0;
  std::unique_ptr<TrainValidation> validation_;
  std::unique_ptr<BatchEnv> env_;
  const LearnApi* learners_ = nullptr;
  std::string device_, metric_;
  TrainingWords words_{TrainingFacts{}};
};

}  // namespace berth
