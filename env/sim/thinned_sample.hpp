// Every k-th of a sequence of numbers, k doubling so that no more than a fixed number of them is held: what
// quantiles of as many values as there may be need.
//
// Thread rule: one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth {

class ThinnedSample {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 17;

  void Add(float value) {
    sum_ += value;
    if (count_++ % every_ != 0) return;
    if (kept_.size() == kMost) {  // the even ones are those of twice the step, and this value is the next
      for (std::size_t i = 1; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
      kept_.resize(kMost / 2);
      every_ *= 2;
    }
    kept_.push_back(value);
  }
  std::int64_t count() const { return count_; }  // of all values
  const std::vector<float>& kept() const { return kept_; }
  double Mean() const { return count_ == 0 ? 0.0 : sum_ / static_cast<double>(count_); }  // of all values
  // Of those kept, at the rank below; 0 of none.
  double Quantile(double q) const {
    if (kept_.empty()) return 0.0;
    std::vector<float> sorted = kept_;
    const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return sorted[static_cast<std::size_t>(at)];
  }

 private:
  std::vector<float> kept_;
  std::int64_t count_ = 0, every_ = 1;
  double sum_ = 0.0;
};

}  // namespace berth
