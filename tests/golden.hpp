// Whether this run writes the golden logs (berth_tests --update-golden) instead of comparing with them.
#pragma once

namespace berth::test {

inline bool& UpdateGolden() {
  static bool update = false;
  return update;
}

}  // namespace berth::test
