// The multiple-choice knapsack with one capacity for each type of GPU, in whole numbers: what an integer
// program of Sia is solved as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::sia {

struct Option {
  std::int64_t cost = 0;
  int type = -1;  // -1: takes no GPU
  int gpus = 0;
  int configuration = -1;
};

// Each class takes exactly one of its options; one of them takes no GPU, so that something is always
// feasible.
struct Choice {
  std::vector<int> capacity;   // [types] >= 0
  std::vector<Option> option;  // of all classes, class by class
  std::vector<int> begin{0};   // [classes + 1] into option

  int types() const { return static_cast<int>(capacity.size()); }
  int classes() const { return static_cast<int>(begin.size()) - 1; }
  std::span<const Option> options(int its_class) const {
    const auto at = static_cast<std::size_t>(its_class);
    return {option.data() + begin[at], option.data() + begin[at + 1]};
  }
};

}  // namespace berth::sia
