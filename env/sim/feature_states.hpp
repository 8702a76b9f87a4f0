// The states of the features that are on in one simulation, in the order of the table. Copies are copies of
// every state (FeatureState::Clone).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "env/sim/features.hpp"

// Every hook of FeatureState (env/sim/feature.hpp), so that who does not listen to one is passed over.
#define BERTH_HOOKS(X)                                                                                       \
  X(Start)                                                                                                   \
  X(BeforeAdvance)                                                                                           \
  X(AfterAdvance)                                                                                            \
  X(Due)                                                                                                     \
  X(OnTimer)                                                                                                 \
  X(OnTimerDue)                                                                                              \
  X(Settle) X(Withhold) X(ValidateRoom) X(Allows) X(Validate) X(Defers) X(CarryOut) X(Claim) X(OnDecided)    \
      X(OnReported) X(Place) X(Choose) X(MakeRoom) X(OnPlaced) X(OnUnplaced) X(BeforeRelease) X(Vacate)      \
          X(AfterRelease) X(Blocks) X(OnReady) X(OnLeave) X(RunsOn) X(StartCost) X(OnStart) X(OnRun)         \
              X(OnRate) X(OnLost) X(OnIdle) X(OnClocks) X(OnDeviceLoad) X(OwnFactor) X(GpuFactor)            \
                  X(SpreadFactor) X(StepFactor) X(BusyShare) X(StepsOf) X(GpuShare) X(Promised) X(HeldShare) \
                      X(DeviceLoad) X(ClockSpeed) X(MayTake) X(FailuresPerSecond) X(HottestC) X(LeavesAt)    \
                          X(PowerShare) X(DegreesC) X(Used) X(SharedSeconds) X(EnergyJ) X(EnergyCost)        \
                              X(GpuSeconds) X(Late) X(Violation) X(Measure) X(EachSeries) X(AddLanes)

namespace berth {

enum class Hook : std::uint8_t {
#define BERTH_HOOK(name) k##name,
  BERTH_HOOKS(BERTH_HOOK)
#undef BERTH_HOOK
};
using HookSet = std::uint64_t;  // bit Hook
constexpr HookSet BitOf(Hook hook) {
  return HookSet{1} << static_cast<int>(hook);
}

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
    HookSet listens;
    const FeatureModule* module;
    std::unique_ptr<FeatureState> state;
  };
  const std::vector<Entry>& entries() const { return all_; }

  // Those that listen to a hook: for (FeatureState& feature : states.Of(Hook::kSettle)) feature.Settle(core);
  template <class EntryAt, class State>
  class Listeners {
   public:
    class Iterator {
     public:
      Iterator(EntryAt at, EntryAt end, HookSet bit) : at_(at), end_(end), bit_(bit) { Skip(); }
      State& operator*() const { return *at_->state; }
      Iterator& operator++() {
        ++at_;
        Skip();
        return *this;
      }
      bool operator!=(const Iterator& other) const { return at_ != other.at_; }

     private:
      void Skip() {
        while (at_ != end_ && (at_->listens & bit_) == 0) ++at_;
      }
      EntryAt at_, end_;
      HookSet bit_;
    };
    Listeners(EntryAt begin, EntryAt end, Hook hook) : begin_(begin), end_(end), bit_(BitOf(hook)) {}
    Iterator begin() const { return {begin_, end_, bit_}; }
    Iterator end() const { return {end_, end_, bit_}; }

   private:
    EntryAt begin_, end_;
    HookSet bit_;
  };
  Listeners<Entry*, FeatureState> Of(Hook hook) { return {all_.data(), all_.data() + all_.size(), hook}; }
  Listeners<const Entry*, const FeatureState> Of(Hook hook) const {
    return {all_.data(), all_.data() + all_.size(), hook};
  }

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
