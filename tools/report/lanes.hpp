// Rows for intervals that may overlap, as slices on one track must not.
#pragma once

#include <vector>

namespace berth {

// Gives out lanes 0, 1, ...; an interval gets the first that is free. Intervals come by begin.
class Lanes {
 public:
  int Take(double begin, double end) {
    std::size_t lane = 0;
    while (lane < free_from_.size() && free_from_[lane] > begin) ++lane;
    if (lane == free_from_.size()) free_from_.push_back(end);
    free_from_[lane] = end;
    return static_cast<int>(lane);
  }
  int count() const { return static_cast<int>(free_from_.size()); }

 private:
  std::vector<double> free_from_;
};

}  // namespace berth
