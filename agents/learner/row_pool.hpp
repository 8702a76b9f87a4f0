// Rows of one width, kept once however many refer to them: what follows a step within the same instant is the
// same observation under another mask, and most masks repeat. Memory grows by blocks as rows are added and is
// used again once nobody refers to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "env/base/check.hpp"

namespace berth {

template <class T>
class RowPool {
 public:
  explicit RowPool(int width) : width_(static_cast<std::size_t>(width)) {}

  // A slot that holds a copy of `row` [width], with one reference.
  std::int32_t Add(const T* row) {
    if (free_.empty()) Grow();
    const std::int32_t slot = free_.back();
    free_.pop_back();
    std::copy_n(row, width_, Mutable(slot));
    references_[static_cast<std::size_t>(slot)] = 1;
    return slot;
  }
  // The slot `same` once more where its row is bit for bit `row`, otherwise a new one. `same` < 0: none.
  std::int32_t AddOrShare(const T* row, std::int32_t same) {
    if (same < 0 || std::memcmp((*this)[same], row, width_ * sizeof(T)) != 0) return Add(row);
    ++references_[static_cast<std::size_t>(same)];
    return same;
  }
  void Release(std::int32_t slot) {
    std::int32_t& references = references_[static_cast<std::size_t>(slot)];
    BERTH_DCHECK(references > 0, "slot ", slot, " is free");
    if (--references == 0) free_.push_back(slot);
  }
  const T* operator[](std::int32_t slot) const {
    const auto s = static_cast<std::size_t>(slot);
    return blocks_[s / kBlock].get() + s % kBlock * width_;
  }
  std::int64_t used() const { return static_cast<std::int64_t>(references_.size() - free_.size()); }
  std::size_t width() const { return width_; }

 private:
  static constexpr std::size_t kBlock = 256;  // rows

  T* Mutable(std::int32_t slot) { return const_cast<T*>((*this)[slot]); }
  void Grow() {
    const std::size_t old = references_.size();
    blocks_.push_back(std::make_unique<T[]>(kBlock * width_));
    references_.resize(old + kBlock, 0);
    for (std::size_t s = old + kBlock; s > old; --s) free_.push_back(static_cast<std::int32_t>(s - 1));
  }

  std::size_t width_;
  std::vector<std::unique_ptr<T[]>> blocks_;
  std::vector<std::int32_t> references_, free_;
};

}  // namespace berth
