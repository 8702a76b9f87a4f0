// A set of jobs that is read as a list in ascending order, which is the order of arrival.
//
// While the list is short it is kept as it is read, so that a reader pays nothing; in a long one a change
// costs O(1) and the list is written anew when somebody next reads it. Whoever never reads it never pays.
//
// Thread rule: one thread at a time, reading too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth {

class JobList {
 public:
  // Holds none of the jobs [0, num_jobs).
  void Reset(int num_jobs);
  void Insert(int job);  // REQUIRES: it is not there
  void Erase(int job);   // REQUIRES: it is there
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool Contains(int job) const { return (bits_[Word(job)] >> (job % 64) & 1) != 0; }

  // Valid until the next change.
  std::span<const int> Jobs() const {
    if (stale_) Rewrite();
    return list_;
  }
  operator std::span<const int>() const { return Jobs(); }  // NOLINT: a list is read as one
  auto begin() const { return Jobs().begin(); }
  auto end() const { return Jobs().end(); }
  int operator[](std::size_t i) const { return Jobs()[i]; }

 private:
  static std::size_t Word(int job) { return static_cast<std::size_t>(job) / 64; }
  void Rewrite() const;

  int size_ = 0;
  std::vector<std::uint64_t> bits_;     // [J / 64] who is there
  std::vector<std::uint64_t> summary_;  // [J / 4096] which words of them are not 0
  mutable std::vector<int> list_;       // ascending; unless stale_
  mutable bool stale_ = false;
};

}  // namespace berth
