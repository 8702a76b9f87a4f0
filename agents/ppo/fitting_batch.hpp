// What would have fitted into the device's memory.
#pragma once

#include <cstdint>
#include <functional>

namespace berth {

// The first of rows / 2, rows / 4, ... down to 1 for which `fits` is true; 0 where none is.
inline std::int64_t FittingBatch(std::int64_t rows, const std::function<bool(std::int64_t)>& fits) {
  for (rows /= 2; rows >= 1; rows /= 2) {
    if (fits(rows)) return rows;
  }
  return 0;
}

}  // namespace berth
