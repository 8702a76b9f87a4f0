// The states of the features that are on in one simulation, in the order of the table. Copies are copies of
// every state (FeatureState::Clone).
#pragma once

#include <memory>
#include <vector>

#include "env/sim/features.hpp"

namespace berth {

class FeatureStates {
 public:
  FeatureStates() = default;
  FeatureStates(const FeatureStates& other);
  FeatureStates(FeatureStates&&) noexcept = default;
  FeatureStates& operator=(const FeatureStates& other);
  FeatureStates& operator=(FeatureStates&&) noexcept = default;
  ~FeatureStates();

  bool empty() const { return all_.empty(); }
  FeatureState& Add(const FeatureModule& module, std::unique_ptr<FeatureState> state);

  // A feature's own state by its type; null = off.
  template <class T>
  T* Find() {
    return static_cast<T*>(Find(TagOf(T::Settings::kName)));
  }
  template <class T>
  const T* Find() const {
    return static_cast<const T*>(Find(TagOf(T::Settings::kName)));
  }

  struct Entry {
    FeatureTag tag;
    const FeatureModule* module;
    std::unique_ptr<FeatureState> state;
  };
  const std::vector<Entry>& entries() const { return all_; }

  template <class Entries, class State>
  class Iterator {
   public:
    explicit Iterator(Entries at) : at_(at) {}
    State& operator*() const { return *at_->state; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    Entries at_;
  };
  auto begin() { return Iterator<Entry*, FeatureState>(all_.data()); }
  auto end() { return Iterator<Entry*, FeatureState>(all_.data() + all_.size()); }
  auto begin() const { return Iterator<const Entry*, const FeatureState>(all_.data()); }
  auto end() const { return Iterator<const Entry*, const FeatureState>(all_.data() + all_.size()); }

 private:
  FeatureState* Find(FeatureTag tag) const {
    for (const Entry& entry : all_) {
      if (entry.tag == tag) return entry.state.get();
    }
    return nullptr;
  }
  std::vector<Entry> all_;
};

}  // namespace berth
