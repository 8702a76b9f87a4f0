#include "env/features/table.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "env/base/spec.hpp"

namespace berth {

FeatureTable ShippedFeatures() {
#define BERTH_FEATURE(name) name##Feature(),
  static const std::array kTable = {BERTH_FEATURES(BERTH_FEATURE)};
#undef BERTH_FEATURE
  return kTable;
}

Features ParseFeaturesBeside(const Features& own, std::string_view named) {
  const std::vector<std::string> again = SplitOutsideParentheses(named, ';');
  std::string text(named);
  for (const std::string& one : SplitOutsideParentheses(ToString(own), ';')) {
    const bool said = std::any_of(again.begin(), again.end(), [&](const std::string& other) {
      return ParseSpec(other).name == ParseSpec(one).name;
    });
    if (!said) text += ";" + one;
  }
  return ParseFeatures(text);
}

}  // namespace berth
