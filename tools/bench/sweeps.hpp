// The one list of what `berth bench --scaling` varies: a row here is a sweep of its table.
#pragma once

#include <span>
#include <vector>

#include "tools/bench/measure.hpp"

namespace berth::bench {

struct Sweep {
  const char* name;
  const char* what;
  const char* axis;
  const char* expected;  // exponent on paper
  std::vector<int> points;
  Cost (*measure)(int x);
  bool by_wall = false;  // the exponent is of wall time
};
std::span<const Sweep> Sweeps();

}  // namespace berth::bench
