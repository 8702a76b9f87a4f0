// Branch and cut, by HiGHS, for what the dynamic program of sia_core leaves open: clusters of many types.
#pragma once

#include <vector>

#include "baselines/adaptive/sia_choice.hpp"

namespace berth::sia {

struct Branched {
  std::vector<int> chosen;  // [classes] into Choice::option; empty: out of nodes before any choice
  double bound = 0.0;       // no choice among the open options costs less, within HiGHS' tolerances
  bool proven = false;      // `chosen` costs no more than that
};

// The cheapest choice among the options that are `open` [options], of the costs given [options] (not those of
// Option). `start` [classes] into Choice::option is one, of open options. One thread.
Branched Branch(const Choice& choice, const std::vector<double>& cost, const std::vector<bool>& open,
                const std::vector<int>& start, int nodes);

}  // namespace berth::sia
