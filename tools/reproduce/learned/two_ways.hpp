// The same task learned twice: by a search of weights (policies NAME) and by gradient (NAME_gradient, of
// `berth train` alone), beside the best rule.
#pragma once

#include <string>
#include <vector>

#include "tools/reproduce/learned/comparison.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {

std::string ByGradient(const std::string& name);  // NAME_gradient

struct TwoWays {
  std::string row;                     // of the page's targets: "5, makespan"
  std::vector<Grid> search, gradient;  // [training seeds], of the same workloads; smaller is better
  std::string best;                    // of the rules beside them
  Grid best_values;
};

// A row of WriteTwoWays; none where there are no policies by gradient.
void AddTwoWays(const TwoWays& ways, LearnedPage& out);
void WriteTwoWays(const LearnedPage& parts, ReproductionPage& page);

}  // namespace berth
