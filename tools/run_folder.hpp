// What a run of berth train keeps in its folder beside TensorBoard's events, and no other output may replace.
#pragma once

namespace berth {

inline constexpr const char* kRunFiles[] = {"checkpoint.h5", "config.ini", "progress.csv", "best.h5", "validation.csv"};

}  // namespace berth
