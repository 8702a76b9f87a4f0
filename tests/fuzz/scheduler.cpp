// Specs of schedulers, nested ones and all their parameters.
#include "baselines/schedulers.hpp"
#include "tests/fuzz/targets.hpp"

namespace berth::fuzz {

bool Run_scheduler(Bytes bytes) {
  const SchedulerTable tables[] = {BaselineSchedulers()};
  Accepted([&] { MakeScheduler(std::string(bytes.begin(), bytes.end()), tables); });
  return true;
}

}  // namespace berth::fuzz
