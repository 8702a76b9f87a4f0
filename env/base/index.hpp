// Jobs, types, devices and positions are ints; vectors want std::size_t.
#pragma once

#include <cstddef>

namespace berth {

constexpr std::size_t U(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace berth
