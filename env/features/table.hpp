// The one table of the features that ship: a line each. Its order is that of texts, of what is printed and,
// but where env/sim/feature.hpp says otherwise, of hooks: changing it changes results.
//
//   Features features = ParseFeatures("failures(mtbf_h=500);power(cap_w=9000)");
//
// To add one: a folder beside this file and a line here. A test may hand in a table of its own instead.
#pragma once

#include <string_view>

#include "env/sim/features.hpp"

// X(name): `FeatureModule nameFeature()` stands in the folder of the feature.
#define BERTH_FEATURES(X) \
  X(Topology)             \
  X(Partitions)           \
  X(Sharing)              \
  X(Elasticity)           \
  X(Checkpoints)          \
  X(Failures)             \
  X(Latency)              \
  X(Power)                \
  X(Services)             \
  X(Stages)               \
  X(Goodput)              \
  X(BatchSchedule)        \
  X(Estimates)            \
  X(Monitoring)           \
  X(Forecast)

namespace berth {

#define BERTH_FEATURE(name) FeatureModule name##Feature();
BERTH_FEATURES(BERTH_FEATURE)
#undef BERTH_FEATURE

FeatureTable ShippedFeatures();

inline Features ParseFeatures(std::string_view text) {
  return ParseFeatures(text, ShippedFeatures());
}
// What `named` says, as ParseFeatures reads it, and those of `own` that it does not name again.
Features ParseFeaturesBeside(const Features& own, std::string_view named);

}  // namespace berth
