// What a run has used so far: energy and money. Jobs and what features let work beside them, each GPU once.
#pragma once

namespace berth {

class SimCore;  // Simulator::core()

// J: the integral of power where a feature knows it; otherwise busy x peak + idle x idle power, where what is
// not a job is busy for its share of the time.
double UsedEnergyJ(const SimCore& core);
// Currency units: device-hours held x price, and electricity where a feature has its price.
double UsedCost(const SimCore& core);
// Device-seconds of a type that jobs or others held, the latter times their share.
double HeldSeconds(const SimCore& core, int type);

}  // namespace berth
