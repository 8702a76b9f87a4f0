// When jobs of Shockwave's traces change their batch size. The traces name the mode of a job; what follows
// from it stands in the authors' program.
#pragma once

#include <string>
#include <vector>

namespace berth {

struct BatchChange {
  double steps;  // of the job's first batch, after which it holds
  int batch;     // samples
};

// Of a job of `job_type`, "NAME (batch size N)", by get_accordion_bs_pattern and get_gns_bs_pattern of
// scheduler/utils.py (github.com/uw-mad-dash/shockwave, commit 8a44f4a2), epoch by epoch: Accordion trains
// with the first batch in the first 30% and in what the model's critical regimes are, otherwise with the
// largest; GNS doubles the batch at epochs that were recorded for the model, its first batch and its gang. In
// their tables a job of GNS goes back to its first batch for its last epoch, by a slip in a loop: here it
// does not. An epoch is the whole data set, so that it has D / N steps of N samples. `mode`: "static",
// "accordion" or "gns"; static jobs, and models that they do not know, change nothing.
std::vector<BatchChange> BatchChanges(const std::string& job_type, int gang, const std::string& mode,
                                      double total_steps);

// Epochs of such a job, and its steps in each; 0 where the model is not known.
struct EpochsOfJob {
  int epochs = 0;
  double steps = 0.0;
};
EpochsOfJob EpochsOf(const std::string& job_type, double total_steps);

}  // namespace berth
