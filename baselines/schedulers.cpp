#include "baselines/schedulers.hpp"

namespace berth {

SchedulerTable BaselineSchedulers() {
#define BERTH_ROW(Name) Name##Info(),
  static const SchedulerInfo table[] = {BERTH_BASELINES(BERTH_ROW)};
#undef BERTH_ROW
  return table;
}

}  // namespace berth
