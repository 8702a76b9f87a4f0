// The states of the dynamic program of sia_core: GPUs left of each type, and the least reduced cost to get
// there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace berth::sia {

// States after one class, one for each vector of GPUs left (negative: lacking). The key is a sum over GPUs,
// so that a move changes it by a constant; equal keys are compared in full.
class States {
 public:
  explicit States(std::size_t types) : types_(types), slots_(1024, -1) {}

  // Of the GPUs of one type; unlike multiples (Steele, Lea and Flood's SplitMix, 2014).
  static std::uint64_t Key(int type, int gpus) {
    std::uint64_t mixed = (static_cast<std::uint64_t>(type) + 1) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (mixed ^ mixed >> 31) * static_cast<std::uint64_t>(gpus);
  }

  std::size_t size() const { return reduced_.size(); }
  const std::int32_t* left(std::size_t state) const { return left_.data() + state * types_; }  // [types]
  std::int64_t reduced(std::size_t state) const { return reduced_[state]; }
  std::uint64_t key(std::size_t state) const { return key_[state]; }
  const std::vector<std::int32_t>& parents() const {
    return parent_;
  }  // [states] index among the states before
  const std::vector<std::int32_t>& options() const { return option_; }  // [states] taken since

  void Clear() {
    reduced_.clear(), key_.clear(), parent_.clear(), option_.clear(), left_.clear();
    std::fill(slots_.begin(), slots_.end(), -1);
  }

  // The index of the state if it is new or cheaper than what stood there, else -1. The first of equals stays.
  std::int32_t Put(std::uint64_t key, const std::int32_t* left, std::int64_t reduced, std::int32_t parent,
                   std::int32_t option) {
    if (2 * size() >= slots_.size()) Grow();
    std::size_t slot = Slot(key);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1)) {
      const auto state = static_cast<std::size_t>(slots_[slot]);
      if (key_[state] != key || !std::equal(left, left + types_, this->left(state))) continue;
      if (reduced_[state] <= reduced) return -1;
      reduced_[state] = reduced, parent_[state] = parent, option_[state] = option;
      return slots_[slot];
    }
    slots_[slot] = static_cast<std::int32_t>(size());
    reduced_.push_back(reduced), key_.push_back(key), parent_.push_back(parent), option_.push_back(option);
    left_.insert(left_.end(), left, left + types_);
    return slots_[slot];
  }

  // Keeps the `width` states of least score (the first of equals), in their order. Nothing may be put
  // before the next Clear.
  template <class Score>
  void Narrow(std::size_t width, const std::vector<Score>& score) {
    std::vector<std::size_t> order(size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto less = [&](std::size_t a, std::size_t b) {
      return score[a] != score[b] ? score[a] < score[b] : a < b;
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(width), order.end(), less);
    order.resize(width);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t from = order[i];
      reduced_[i] = reduced_[from], key_[i] = key_[from], parent_[i] = parent_[from],
      option_[i] = option_[from];
      std::copy_n(left_.data() + from * types_, types_, left_.data() + i * types_);
    }
    reduced_.resize(width), key_.resize(width), parent_.resize(width), option_.resize(width);
    left_.resize(width * types_);
  }

 private:
  std::size_t Slot(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 20) & (slots_.size() - 1);
  }
  void Grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t state = 0; state < size(); ++state) {
      std::size_t slot = Slot(key_[state]);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::int32_t>(state);
    }
  }

  std::size_t types_;
  std::vector<std::int64_t> reduced_;
  std::vector<std::uint64_t> key_;
  std::vector<std::int32_t> parent_, option_;
  std::vector<std::int32_t> left_;   // [states, types]
  std::vector<std::int32_t> slots_;  // open addressing, -1 = empty
};

// GPUs left, modulo a power of two for each type. Gangs come in such numbers, so that the remainders alone
// often tell what cheap moves cannot mend. At most 4,096 remainders in all; of many types the last count
// modulo 1.
class Residues {
 public:
  explicit Residues(std::size_t types) : shift_(types), mask_(types) {
    const int bits = types <= 3 ? 3 : types <= 6 ? 2 : 1;
    for (std::size_t type = 0; type < types; ++type) {
      const int its = bits_ + bits <= 12 ? bits : 0;
      shift_[type] = bits_, mask_[type] = (1 << its) - 1;
      bits_ += its;
    }
  }
  std::size_t count() const { return std::size_t{1} << bits_; }
  std::size_t Of(const std::int32_t* left) const {
    std::size_t residue = 0;
    for (std::size_t type = 0; type < mask_.size(); ++type)
      residue |= static_cast<std::size_t>(left[type] & mask_[type]) << shift_[type];
    return residue;
  }
  int GpusOf(std::size_t residue, std::size_t type) const {
    return static_cast<int>(residue >> shift_[type]) & mask_[type];
  }
  // With so many GPUs more (or fewer) of the type.
  std::size_t Add(std::size_t residue, std::size_t type, int gpus) const {
    const auto digit = static_cast<std::size_t>((GpusOf(residue, type) + gpus) & mask_[type]);
    return (residue & ~(static_cast<std::size_t>(mask_[type]) << shift_[type])) | digit << shift_[type];
  }

 private:
  int bits_ = 0;
  std::vector<int> shift_, mask_;  // [types]
};

}  // namespace berth::sia
