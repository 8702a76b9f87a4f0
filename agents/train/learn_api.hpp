// What `train`, `export`, `bench` and `list` ask of libberth_learn.so, which they open at run time: the one
// header of the learners that includes no LibTorch. Errors cross as berth::Error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agents/ranks/world.hpp"
#include "env/base/spec.hpp"
#include "env/gym/batch_env.hpp"
#include "env/gym/mdp.hpp"

namespace berth {

inline constexpr int kMostMembers = 64;

struct TrainProgress {
  std::int64_t steps = 0, total_steps = 0;  // environment steps
  int member = 1, members = 1;              // which of how many is trained
  double wall_s = 0, steps_per_s = 0;       // rate over the last window
  double mean_return = 0, mean_metric = 0;  // of the episodes that ended in the last window (NaN when none)
  // Of the recent episodes: the latest windows, whole, of this session that together hold 100 or more, so
  // thousands where one holds them; all there are where they are fewer. NaN when none.
  double recent_return = 0, recent_metric = 0;
  double running_return = 0, running_metric = 0;  // so far, of the episodes under way (NaN when none)
  double backlog_begin = 0, backlog_end = 0;      // jobs in the system as the recent episodes began and ended
  double env_share = 0, act_share = 0, learn_share = 0;  // of wall time, last window
  std::vector<std::pair<std::string, double>> losses;    // "losses/policy_loss", "charts/learning_rate", ...
};

struct TrainRequest {
  std::string agent = "ppo";            // spec
  std::string network = "pair_scorer";  // spec
  BatchEnv* env = nullptr;              // not owned; already made for the wanted workload and seed
  MdpSpec mdp;                          // recorded in the checkpoint
  std::vector<std::string> gpu_types;   // recorded: names the G columns in training
  std::int64_t steps = 0;               // total environment steps, those before --resume included
  int members = 1;                      // trained one after the other, each for its part of the steps
  double seconds = 0;                   // stop after this much training wall time, 0 = no limit
  int threads = 1;
  std::uint64_t seed = 0;
  std::string device = "auto";  // auto | cpu | cuda
  std::string out_dir;          // RUN/: checkpoint.h5, progress.csv
  bool resume = false;          // continue RUN/checkpoint.h5
  std::string from;      // begin with the weights of this policy.h5, unless resumed; "" = with random ones
  std::string config;    // resolved configuration, recorded
  std::string workload;  // ScenarioSource::Describe(), recorded
  // Everything else that `env` was made with (clock, cluster, costs, episodes, ...), as one line of text:
  // recorded, and must be the same on resume, since a state that is loaded into another environment would go
  // on silently.
  std::string environment;
  std::string commit;  // source commit, recorded
  double checkpoint_every_s = 60;
  // Every so many environment steps, and at the end, the checkpoint is saved and on_validate told of which
  // step it is, after how many seconds, and of what fraction of the training; 0 = never. The figures that it
  // gives back go to TensorBoard, and by these names into progress.csv's next row. What that takes is not
  // training time. Rank 0 alone. Where `interrupted` became true by its end, the run is interrupted, and it
  // is asked for again when that is resumed. A run that is resumed when it is done is asked behind its last
  // step: each time without wants_validation, with it only where that validation is still due.
  std::int64_t validate_every = 0;
  // Asked before, where it is set: is it wanted? Several processes must all say the same.
  std::function<bool(double wall_s, double fraction)> wants_validation = nullptr;
  std::function<std::vector<std::pair<std::string, double>>(std::int64_t steps, double wall_s,
                                                            double fraction)>
      on_validate = nullptr;
  std::vector<std::string> validation_figures;
  std::function<void(const TrainProgress&)> on_progress;  // about once a second, and at the end
  // Once, when learner and checkpoint are accepted and the folder is there. Rank 0 alone.
  std::function<void()> on_begin;
  // Where several processes have met, before they begin: how they work together, as a line.
  std::function<void(const std::string&)> on_joined;
  const std::atomic<bool>* interrupted = nullptr;  // set by Ctrl-C: save and return
  // Several processes, each with this request and `env` made by MakeVecEnv as its part (PartOfRank) of
  // `all_envs`. Only rank 0 writes, and calls on_progress and on_joined.
  World world;
  int all_envs = 0;             // REQUIRED where world.many()
  double dist_timeout_s = 300;  // how long ranks wait for each other
};
struct TrainOutcome {
  bool interrupted = false;
  std::int64_t steps = 0, steps_before = 0;  // in all; of them before this session
  double wall_s = 0;
  double mean_return = 0, mean_metric = 0;  // TrainProgress::recent_return and recent_metric
  std::string checkpoint;                   // path
  std::string device;                       // "cpu" or "cuda:0 (name)"
  std::string lost;  // another rank ended or hung: which one, what was saved; "" = none
};

struct ExportRequest {
  std::string run_dir;      // holds checkpoint.h5
  std::string policy_path;  // policy.h5, or ""
  std::string onnx_path;    // policy.onnx, or ""
  std::string commit;       // source commit, recorded
};
struct ExportOutcome {
  double max_difference = 0;  // torch against torch-free logits on the examples
  std::int64_t parameters = 0;
};

// Training on fixed work, timed: the same agent and network as `train` runs, without checkpoints and reports.
struct BenchTrainRequest {
  std::string agent = "ppo";       // spec
  std::string network = "mlp";     // spec
  BatchEnv* env = nullptr;         // not owned; null: the task below
  std::string task = "synthetic";  // synthetic (agents/tasks/synthetic_task.hpp) | pairs | cartpole
  int num_envs = 8;                // of the task
  std::int64_t warmup_steps = 0;   // environment steps before the clock starts
  std::int64_t steps = 16384;      // environment steps that are timed; a whole rollout at least
  int threads = 1;
  std::string device = "cpu";  // auto | cpu | cuda
  std::uint64_t seed = 0;
  std::function<void()> on_clock = nullptr;  // called as the clock starts, and as it stops
};
struct BenchTrainOutcome {
  std::int64_t steps = 0, updates = 0;       // timed; optimiser steps
  double cpu_s = 0, wall_s = 0;              // CPU of all threads of the process
  double env_s = 0, act_s = 0, learn_s = 0;  // wall clock, means over threads where they play apart
  // Of learn_s: the network's passes, loss and its gradient row by row, optimiser; 0 = not told apart.
  double passes_s = 0, loss_s = 0, optimise_s = 0;
  double multiply_adds_per_step = 0;         // of the network's layers, both passes; 0 = not counted
  double gemm_gflops = 0;                    // one thread's rate in large products now
  double bound_steps_per_cpu_s = 0;          // what gemm_gflops alone allows; 0 = not counted
  double first_return = 0, last_return = 0;  // mean of the episodes that ended in the warm-up, and after
};

// A row of `berth list agents` and `berth list networks`.
struct LearnInfo {
  const char* name;
  const char* summary;
  const char* source;
  std::span<const ParamInfo> params;
};

struct LearnApi {
  int version;  // kLearnApiVersion
  TrainOutcome (*train)(const TrainRequest&);
  ExportOutcome (*export_policy)(const ExportRequest&);
  std::vector<LearnInfo> (*agents)();
  std::vector<LearnInfo> (*networks)();
  // What --device comes to here with a network (a spec, "" = any); throws Error.
  std::string (*device)(const std::string& wanted, const std::string& network);
  std::string (*build)();  // "LibTorch 2.11.0, CPU only"
  BenchTrainOutcome (*bench_training)(const BenchTrainRequest&);
};
inline constexpr int kLearnApiVersion = 14;
inline constexpr const char* kLearnApiSymbol = "berth_learn_api";  // extern "C" const LearnApi* ()

}  // namespace berth
