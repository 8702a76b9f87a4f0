// The training loop: collect, learn, report, save. One loop for every agent.
#pragma once

#include "agents/train/learn_api.hpp"

namespace berth {

// Runs or continues `request`. The environment is the caller's; it is reset, or set to the checkpoint's
// state. Saves RUN/checkpoint.h5 every `checkpoint_every_s`, when interrupted and at the end. An empty
// out_dir writes nothing. Throws Error for what is wrong with the request, the files, or the network
// (parameters that are no longer finite).
TrainOutcome Train(const TrainRequest& request);

// Training timed on fixed work (learn_api.hpp says what is asked and answered).
BenchTrainOutcome BenchTraining(const BenchTrainRequest& request);

}  // namespace berth
