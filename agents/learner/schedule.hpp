// Learning rates and clip ranges over the course of training.
#pragma once

namespace berth {

enum class ScheduleKind { kConstant, kLinear };  // kLinear: from `start` towards 0 at the end

struct Schedule {
  double start = 0.0;
  ScheduleKind kind = ScheduleKind::kConstant;
  // fraction of training done, in [0, 1].
  double At(double fraction) const {
    return kind == ScheduleKind::kLinear ? start * (1.0 - fraction) : start;
  }
};

}  // namespace berth
