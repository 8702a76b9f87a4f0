// What is known of an application that trains with data parallelism: its step times by GPU type, its training
// curve, and what batches it may use.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/features/goodput/step_table.hpp"
#include "env/features/goodput/training_curve.hpp"

namespace berth {

// On GPUs of one type: measured, or a model fitted to what was.
struct SpeedOnType {
  std::string gpus;  // "t4" or what its files call it; "" = of whatever type
  StepTable steps;
  int min_local = 0, max_local = 0;             // batch of each GPU
  std::optional<goodput::SpeedModel> fit = {};  // in place of `steps`

  goodput::StepTime At(std::span<const int> gpus_per_node, int atomic) const;
  double SamplesPerSecond() const;  // of one GPU, at its largest batch
  int MaxAtomic(std::span<const int> gpus_per_node) const {
    return fit ? max_local : steps.MaxAtomic(gpus_per_node);
  }
  int MaxAtomicOf(int gpus_in_all) const { return fit ? max_local : steps.MaxAtomicOf(gpus_in_all); }
};

struct Application {
  std::string name;
  TrainingCurve curve;
  std::vector<SpeedOnType> speeds;
  double restart_s = 30.0;       // of a start, before training goes on
  double told_restart_s = 30.0;  // what schedulers take that to be
  int fixed_batch = 0;           // that every job of it trains with; 0 = a job chooses
  int most_gpus = 0;             // that a job of it may use; 0 = as many as its batch feeds
  double slowdown = 1.0;         // of what was measured, for every scheduler alike

  int initial_batch() const { return curve.initial_batch(); }  // M0 in Pollux
  int max_batch() const { return curve.max_batch(); }
  int epochs() const { return curve.epochs(); }
  const SpeedOnType* On(const std::string& gpu_type) const;  // null = it was not measured there
  goodput::BatchLimits Limits(const SpeedOnType& speed) const {
    return {initial_batch(), max_batch(), speed.min_local, speed.max_local};
  }
};

// A folder of applications, each a folder of
//   placements.csv      placement,local_bsz,step_time,sync_time      s; a digit a node, "42" = 4 and 2 GPUs
//   scalability.csv     num_nodes,num_replicas,local_bsz,step_time,sync_time
//   validation-B.csv    progress,iteration,grad_sqr,grad_var         an epoch a row, trained at batch B
// as github.com/petuum/adaptdl (branch osdi21-artifact) has them, or placements-TYPE.csv and
// scalability-TYPE.csv a GPU type as github.com/siasosp23/artifacts. `curves`: where the validation files
// are, if elsewhere. `known`: a file application,placement,local_bsz,step_time_s,sync_time_s of step times
// that stand in place of interpolated ones; "" = none. `content` gets a hash of every name and number that
// was read. Throws Error naming file and line.
std::vector<Application> ReadApplications(const std::string& folder, const std::string& curves,
                                          const std::string& known, std::uint64_t* content = nullptr);

// The applications of the Pollux and Sia papers as fits of their profiles (published_applications.cpp).
std::vector<Application> PublishedApplications();

}  // namespace berth
