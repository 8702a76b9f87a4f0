#include "env/features/table.hpp"

#include <array>

namespace berth {

FeatureTable ShippedFeatures() {
#define BERTH_FEATURE(name) name##Feature(),
  static const std::array kTable = {BERTH_FEATURES(BERTH_FEATURE)};
#undef BERTH_FEATURE
  return kTable;
}

}  // namespace berth
