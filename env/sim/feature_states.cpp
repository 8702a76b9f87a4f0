#include "env/sim/feature_states.hpp"

#include <utility>

#include "env/sim/feature.hpp"

namespace berth {

FeatureStates::FeatureStates(const FeatureStates& other) {
  all_.reserve(other.all_.size());
  for (const Entry& entry : other.all_)
    all_.push_back({entry.tag, entry.listens, entry.module, entry.state->Clone()});
}

FeatureStates& FeatureStates::operator=(const FeatureStates& other) {
  if (this != &other) *this = FeatureStates(other);
  return *this;
}

FeatureStates::~FeatureStates() = default;

FeatureState& FeatureStates::Add(const FeatureModule& module, std::unique_ptr<FeatureState> state) {
  all_.push_back({module.tag, state->Listens(), &module, std::move(state)});
  return *all_.back().state;
}

}  // namespace berth
