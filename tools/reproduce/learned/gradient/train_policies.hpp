// Trains what is missing of the gradient's policies, several at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"

namespace berth {

struct TrainingOutcome {
  bool interrupted = false;                   // what was trained is kept, and so are the checkpoints
  std::string no_learners;                    // why this build trains nothing, "" where it does
  std::map<std::string, std::string> failed;  // Training::Name, the last that it said
};

// A policy that is kept is not trained again; a run that was interrupted goes on from its checkpoint, if this
// source began it with the same options, and begins anew else. `at_once` processes of one thread each; what
// comes out does not depend on how many. Throws Error when a folder cannot be written.
TrainingOutcome TrainPolicies(const GradientShelf& shelf, const std::vector<Training>& trainings,
                              int at_once);

// A line each and what is left of them, for --estimate.
std::string ListTrainings(const GradientShelf& shelf, const std::vector<Training>& trainings);

// What --steps-up-to leaves out of the experiment, in one line; "" where it is nothing.
std::string LeftOut(const GradientShelf& shelf, const std::string& experiment);

// Resolves the options of every set of the experiment as `berth train --dry-run` does; Error where it
// refuses.
void DryRunTrainings(const GradientChoice& choice, const std::string& experiment);

}  // namespace berth
