// In the place of baselines/ where a target links what could make schedulers and makes none.
#include "baselines/schedulers.hpp"

namespace berth {

SchedulerTable BaselineSchedulers() {
  return {};
}

}  // namespace berth
