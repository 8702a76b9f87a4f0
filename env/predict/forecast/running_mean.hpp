// The mean of what has been seen: a forecast, and what stands in for others until they have seen enough.
#pragma once

namespace berth {

class RunningMean {
 public:
  void Add(double value) { sum_ += value, ++count_; }
  double value() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0.0; }

 private:
  double sum_ = 0.0;
  long long count_ = 0;
};

}  // namespace berth
